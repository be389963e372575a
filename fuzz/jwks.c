/* Key sets of issuers: no invented signature is accepted. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "oidc/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static const char token[] = "e30.e30.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const char *why = NULL;
    struct oidc_keys *keys = oidc_keys_read((const char *)bytes, len, &why);
    FUZZ_CHECK(!keys == !!why);
    FUZZ_CHECK(!keys || oidc_keys_count(keys) <= OIDC_KEYS_MAX);
    for (int i = 0; keys && i < OIDC_ALGORITHM_MAX_; i++)
        FUZZ_CHECK(oidc_keys_signed(keys, NULL, (enum oidc_algorithm)i, token, strlen(token)) !=
                   OIDC_SIGNED_BY_KEY);
    oidc_keys_free(keys);
    return 0;
}
