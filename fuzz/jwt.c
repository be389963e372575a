/* JWTs of an issuer whose tokens have all expired: none is accepted. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "oidc/verify.h"

/* The public keys for the seeds; the private keys were not kept. */
static const char jwks[] =
    "{\"keys\": [{\"use\": \"sig\", \"alg\": \"RS256\", \"kid\": \"one\", \"kty\": \"RSA\", \"n\": \"thxC4"
    "byoAeDtMOU7HXH-gixWfP8Y_Fgnlbsq6IVctGxoo-dZFNcpIeM7U6WUWQbTbYMT7VvmGj7U0cPjkqkSr"
    "D9sSEOlwmj01_aqduFVIld2yKCEcZy6NOI8lBA2MSVCRY72e5ugok67mG8z8-LsOcOu1RfRqMJEAKHm4"
    "JTKFX0cfpKflcNh6i6YtZiuecw9pwH-EUo4dvb14NjRczhRXi8oZOQgwVOkKv7eOV-sEX_FWEg4j7Gsy"
    "RwRuGKCx51qs2n022zw80Pj-fXyJNqGLZP3172ai0F49Qmgctsbb9HEYyBPykATtfxSyQGBNUk5D8-5n"
    "_LZntPsbuH8qSBQFw\", \"e\": \"AQAB\"}, {\"use\": \"sig\", \"alg\": \"ES256\", \"kid\": \"two\", \""
    "kty\": \"EC\", \"crv\": \"P-256\", \"x\": \"SqG5tNGD7hMf-7QCwpDQB2hIPVezVa1pwKZCOzudy6s\", "
    "\"y\": \"qa6zT9UnMfv-l2Mm8yjiick2Q_880s5kByZZUrC0EM0\"}, {\"kty\": \"OKP\", \"crv\": \"Ed25"
    "519\", \"x\": \"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\", \"kid\": \"three\", \"use\":"
    " \"sig\"}]}";
#define NOW_US (INT64_C(1790000000) * US_PER_S)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static char name[] = "https://login.example.com/it", audience[] = "shootd";
    static char rs256[] = "RS256", es256[] = "ES256", eddsa[] = "EdDSA";
    static char *algorithms[] = {rs256, es256, eddsa, NULL};
    static const struct config_issuer issuer = {
        .issuer = name, .audience = audience, .algorithms = algorithms, .max_lifetime_us = 3600 * US_PER_S};
    static struct oidc_trust trust = {.issuer = &issuer};
    const char *why = NULL;
    struct oidc_claims claims;
    if (!trust.keys)
        trust.keys = oidc_keys_read(jwks, strlen(jwks), &why);
    FUZZ_CHECK(trust.keys);
    FUZZ_CHECK(oidc_verify((const char *)bytes, len, &trust, 1, NOW_US, &claims) != OIDC_OK);
    FUZZ_CHECK(!claims.all);
    return 0;
}
