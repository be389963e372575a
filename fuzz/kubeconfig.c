/* Kubeconfigs in each form that Cleura sends. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/mem.h"
#include "model/kubeconfig_file.h"
#include "upstream/wire/driver_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text CLEANUP_FREE = fuzz_text(bytes, len);
    struct upstream_result result = {0};
    if (decode_kubeconfig(FUZZ_NOW, text, len, &result)) {
        FUZZ_CHECK(result.kubeconfig && kubeconfig_is_plausible(result.kubeconfig));
        FUZZ_CHECK(result.expires_at >= 0);
    }
    upstream_result_done(&result);
    struct kubeconfig_parts *parts CLEANUP_KUBECONFIG = kubeconfig_parse(text);
    (void)kubeconfig_expiry(text);
    if (parts && parts->key_data) {
        char *pem = kubeconfig_pem(parts->key_data);
        FUZZ_CHECK(!pem || strlen(pem) <= strlen(parts->key_data));
        mem_free_secret(pem);
    }
    return 0;
}
