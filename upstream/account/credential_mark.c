#include <sodium.h>
#include <string.h>

#include "upstream/account/account_private.h"

void credential_mark(const struct upstream_account *a, const char *secret,
                     char mark[static CREDENTIAL_MARK_BYTES])
{
    unsigned char digest[crypto_generichash_BYTES];
    _Static_assert(2 * sizeof(digest) < CREDENTIAL_MARK_BYTES, "the mark is the digest in hex");
    (void)crypto_generichash(digest, sizeof(digest), (const unsigned char *)secret, strlen(secret),
                             a->key->bytes, sizeof(a->key->bytes));
    (void)sodium_bin2hex(mark, CREDENTIAL_MARK_BYTES, digest, sizeof(digest));
}
