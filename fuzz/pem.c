/* The certificate in a kubeconfig: the input is the PEM text. The parser must never ask for a pass phrase. */
#include "fuzz/fuzz.h"

#include <sodium.h>

#include "base/mem.h"
#include "upstream/wire/driver_private.h"

static const char form[] = "apiVersion: v1\nkind: Config\nclusters: []\ncurrent-context: c\n"
                           "contexts: [{name: c, context: {user: u}}]\n"
                           "users: [{name: u, user: {client-certificate-data: %s}}]\n";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    size_t size = sodium_base64_ENCODED_LEN(len, sodium_base64_VARIANT_ORIGINAL);
    char *data CLEANUP_FREE = mem_calloc(size, 1);
    (void)sodium_bin2base64(data, size, bytes, len, sodium_base64_VARIANT_ORIGINAL);
    char text[sizeof(form) + 64 * 1024];
    if (size > 64 * 1024)
        return 0;
    (void)snprintf(text, sizeof(text), form, data);
    (void)kubeconfig_expiry(text);
    return 0;
}
