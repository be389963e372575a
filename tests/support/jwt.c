#include "tests/support/jwt.h"

#include "tests/support/check.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/rsa.h>
#include <sodium.h>
#include <string.h>

#include "base/mem.h"

char *jwt_base64(const void *bytes, size_t len)
{
    size_t size = sodium_base64_ENCODED_LEN(len, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    char *text = mem_calloc(size, 1);
    (void)sodium_bin2base64(text, size, bytes, len, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return text;
}

static size_t sign_raw_ecdsa(const unsigned char *der, size_t der_len, unsigned char raw[static 64])
{
    ECDSA_SIG *parsed = d2i_ECDSA_SIG(NULL, &der, (long)der_len);
    assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_r(parsed), raw, 32), 32);
    assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_s(parsed), raw + 32, 32), 32);
    ECDSA_SIG_free(parsed);
    return 64;
}

size_t jwt_signature(EVP_PKEY *key, int algorithm, const char *text, unsigned char out[static 2048])
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    EVP_PKEY_CTX *of_key = NULL;
    size_t len = 2048;
    assert_int_equal(
        EVP_DigestSignInit(ctx, &of_key, algorithm == OIDC_EDDSA ? NULL : EVP_sha256(), NULL, key), 1);
    if (algorithm == OIDC_PS256) {
        assert_true(EVP_PKEY_CTX_set_rsa_padding(of_key, RSA_PKCS1_PSS_PADDING) > 0);
        assert_true(EVP_PKEY_CTX_set_rsa_pss_saltlen(of_key, RSA_PSS_SALTLEN_DIGEST) > 0);
    }
    assert_int_equal(EVP_DigestSign(ctx, out, &len, (const unsigned char *)text, strlen(text)), 1);
    EVP_MD_CTX_free(ctx);
    if (algorithm != OIDC_ES256)
        return len;
    unsigned char der[2048];
    memcpy(der, out, len);
    return sign_raw_ecdsa(der, len, out);
}

/* Returns the first two parts of a JWT, separated by a dot. The caller frees the text. */
char *jwt_unsigned(const char *header, const char *claims)
{
    char *a CLEANUP_FREE = jwt_base64(header, strlen(header));
    char *b CLEANUP_FREE = jwt_base64(claims, strlen(claims));
    return mem_printf("%s.%s", a, b);
}

char *jwt_with_signature(const char *text, const void *bytes, size_t len)
{
    char *c CLEANUP_FREE = jwt_base64(bytes, len);
    return mem_printf("%s.%s", text, c);
}

char *jwt_sign(EVP_PKEY *key, int algorithm, const char *header, const char *claims)
{
    unsigned char bytes[2048];
    char *text CLEANUP_FREE = jwt_unsigned(header, claims);
    size_t len = jwt_signature(key, algorithm, text, bytes);
    return jwt_with_signature(text, bytes, len);
}

static char *number_of(const EVP_PKEY *key, const char *name)
{
    BIGNUM *number = NULL;
    unsigned char bytes[2048];
    assert_int_equal(EVP_PKEY_get_bn_param(key, name, &number), 1);
    int len = BN_bn2bin(number, bytes);
    BN_free(number);
    return jwt_base64(bytes, (size_t)len);
}

json_t *jwt_public_key(const EVP_PKEY *key, int algorithm)
{
    unsigned char bytes[128];
    size_t len = 0;
    const char *name = oidc_algorithm_name((enum oidc_algorithm)algorithm);
    json_t *jwk = json_pack("{s:s, s:s, s:s+}", "use", "sig", "alg", name, "kid", "key-", name);
    if (algorithm == OIDC_RS256 || algorithm == OIDC_PS256) {
        char *n CLEANUP_FREE = number_of(key, OSSL_PKEY_PARAM_RSA_N);
        char *e CLEANUP_FREE = number_of(key, OSSL_PKEY_PARAM_RSA_E);
        json_set_str(jwk, "kty", "RSA");
        json_set_str(jwk, "n", n);
        json_set_str(jwk, "e", e);
    } else if (algorithm == OIDC_ES256) {
        assert_int_equal(
            EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, bytes, sizeof(bytes), &len), 1);
        assert_int_equal(len, 65);
        char *x CLEANUP_FREE = jwt_base64(bytes + 1, 32);
        char *y CLEANUP_FREE = jwt_base64(bytes + 33, 32);
        json_set_str(jwk, "kty", "EC");
        json_set_str(jwk, "crv", "P-256");
        json_set_str(jwk, "x", x);
        json_set_str(jwk, "y", y);
    } else {
        len = sizeof(bytes);
        assert_int_equal(EVP_PKEY_get_raw_public_key(key, bytes, &len), 1);
        char *x CLEANUP_FREE = jwt_base64(bytes, len);
        json_set_str(jwk, "kty", "OKP");
        json_set_str(jwk, "crv", "Ed25519");
        json_set_str(jwk, "x", x);
    }
    return jwk;
}

EVP_PKEY *jwt_new_key(int algorithm)
{
    return algorithm == OIDC_ES256   ? EVP_EC_gen("P-256")
           : algorithm == OIDC_EDDSA ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")
                                     : EVP_RSA_gen(2048);
}
