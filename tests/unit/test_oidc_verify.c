/*
 * JWTs of issuers (AU-12 to AU-14): valid ones of each algorithm, hostile ones, and a corpus of mutated ones.
 * OpenSSL signs them; the libraries of the daemon check them.
 */
#include "tests/support/check.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "oidc/verify.h"
#include "tests/support/jwt.h"

#define ISSUER   "https://login.example.com/realms/it"
#define AUDIENCE "shootd"
#define NOW_S    INT64_C(1790000000)
#define NOW_US   (NOW_S * US_PER_S)

static EVP_PKEY *keys[OIDC_ALGORITHM_MAX_]; /* the keys of the issuer */
static EVP_PKEY *strangers[OIDC_ALGORITHM_MAX_];
static struct oidc_keys *published;
static char rs256[] = "RS256", ps256[] = "PS256", es256[] = "ES256", eddsa[] = "EdDSA";
static char *all_algorithms[] = {rs256, ps256, es256, eddsa, NULL};
static char issuer_text[] = ISSUER, audience_text[] = AUDIENCE;
static struct config_issuer issuer = {.issuer = issuer_text,
                                      .audience = audience_text,
                                      .algorithms = all_algorithms,
                                      .max_lifetime_us = 24 * 3600 * US_PER_S};

static char *header_of(int algorithm)
{
    const char *name = oidc_algorithm_name((enum oidc_algorithm)algorithm);
    return mem_printf("{\"alg\":\"%s\",\"typ\":\"at+jwt\",\"kid\":\"key-%s\"}", name, name);
}

#define GOOD_START "\"iss\":\"" ISSUER "\",\"sub\":\"alice\",\"aud\":[\"other\",\"" AUDIENCE "\"]"
#define GOOD_CLAIMS \
    "{" GOOD_START ",\"iat\":1789999990,\"nbf\":1789999990,\"exp\":1790003590,\"groups\":[\"platform\"]}"

/* Takes over `jwk`. */
static struct oidc_keys *read_one(json_t *jwk, const char **ret_why)
{
    json_t *set CLEANUP_JSON = json_pack("{s:[o]}", "keys", jwk);
    char *text CLEANUP_FREE = json_text(set);
    return oidc_keys_read(text, strlen(text), ret_why);
}

static int make_keys(void **state)
{
    const char *why = NULL;
    json_t *set CLEANUP_JSON = json_pack("{s:[]}", "keys");
    assert_true(sodium_init() >= 0);
    for (int i = 0; i < OIDC_ALGORITHM_MAX_; i++) {
        keys[i] = jwt_new_key(i);
        strangers[i] = jwt_new_key(i);
        json_append_take(json_object_get(set, "keys"), jwt_public_key(keys[i], i));
    }
    char *text CLEANUP_FREE = json_text(set);
    published = oidc_keys_read(text, strlen(text), &why);
    assert_non_null(published);
    assert_int_equal(oidc_keys_count(published), OIDC_ALGORITHM_MAX_);
    return 0;
}

static int free_keys(void **state)
{
    oidc_keys_free(published);
    for (int i = 0; i < OIDC_ALGORITHM_MAX_; i++) {
        EVP_PKEY_free(keys[i]);
        EVP_PKEY_free(strangers[i]);
    }
    return 0;
}

/* ---- checks ---- */

static enum oidc_end ask_at(const char *token, wall_us now)
{
    const struct oidc_trust trust = {&issuer, published};
    struct oidc_claims claims;
    enum oidc_end end = oidc_verify(token, strlen(token), &trust, 1, now, &claims);
    assert_true((end == OIDC_OK) == (claims.all != NULL));
    json_decref(claims.all);
    return end;
}

static enum oidc_end ask(const char *token)
{
    return ask_at(token, NOW_US);
}

static void expect(enum oidc_end want, const char *header, const char *claims)
{
    char *token CLEANUP_FREE = jwt_sign(keys[OIDC_RS256], OIDC_RS256, header, claims);
    enum oidc_end end = ask(token);
    if (end != want)
        fail_msg("%s %s: %s, not %s", header, claims, oidc_end_name(end), oidc_end_name(want));
}

#define RS_HEADER "{\"alg\":\"RS256\",\"kid\":\"key-RS256\"}"

static void expect_claims(enum oidc_end want, const char *claims)
{
    expect(want, RS_HEADER, claims);
}

static void expect_header(enum oidc_end want, const char *header)
{
    expect(want, header, GOOD_CLAIMS);
}

/* ---- tests ---- */

static void good_tokens_of_each_algorithm(void **state)
{
    for (int i = 0; i < OIDC_ALGORITHM_MAX_; i++) {
        char *header CLEANUP_FREE = header_of(i);
        char *token CLEANUP_FREE = jwt_sign(keys[i], i, header, GOOD_CLAIMS);
        char *forged CLEANUP_FREE = jwt_sign(strangers[i], i, header, GOOD_CLAIMS);
        char other[] = "https://other.example";
        const struct config_issuer stranger = {.issuer = other};
        const struct oidc_trust trusts[] = {{&stranger, NULL}, {&issuer, published}};
        struct oidc_claims claims;
        assert_int_equal(oidc_verify(token, strlen(token), trusts, 2, NOW_US, &claims), OIDC_OK);
        assert_int_equal(claims.trust, 1);
        assert_string_equal(claims.subject, "alice");
        assert_int_equal(claims.expires_at, INT64_C(1790003590) * US_PER_S);
        json_decref(claims.all);
        assert_int_equal(ask(forged), OIDC_SIGNATURE);
    }
}

static void only_allowed_algorithms(void **state)
{
    static char *only_es[] = {es256, NULL};
    char *header CLEANUP_FREE = header_of(OIDC_RS256);
    char *token CLEANUP_FREE = jwt_sign(keys[OIDC_RS256], OIDC_RS256, header, GOOD_CLAIMS);
    issuer.algorithms = only_es;
    assert_int_equal(ask(token), OIDC_ALGORITHM);
    issuer.algorithms = all_algorithms;
    assert_int_equal(ask(token), OIDC_OK);
    expect_header(OIDC_ALGORITHM, "{\"alg\":\"none\"}");
    expect_header(OIDC_ALGORITHM, "{\"alg\":\"None\",\"kid\":\"key-RS256\"}");
    expect_header(OIDC_ALGORITHM, "{\"alg\":\"HS256\",\"kid\":\"key-RS256\"}");
    expect_header(OIDC_ALGORITHM, "{\"alg\":\"RS512\",\"kid\":\"key-RS256\"}");
    expect_header(OIDC_ALGORITHM, "{\"alg\":\"rs256\",\"kid\":\"key-RS256\"}");
    expect_header(OIDC_ALGORITHM, "{\"alg\":[\"RS256\"],\"kid\":\"key-RS256\"}");
    expect_header(OIDC_ALGORITHM, "{\"kid\":\"key-RS256\"}");
}

/* A signature is checked only when nothing else is wrong, because its check takes longest. */
static void cheap_refusals_come_first(void **state)
{
    static const struct {
        enum oidc_end end;
        const char *claims;
    } rows[] = {
        {OIDC_SIGNATURE, GOOD_CLAIMS},
        {OIDC_EXPIRED, "{" GOOD_START ",\"iat\":1789990000,\"exp\":1789999000}"},
        {OIDC_AUDIENCE, "{\"iss\":\"" ISSUER "\",\"sub\":\"a\",\"aud\":\"other\",\"exp\":1790003590}"},
        {OIDC_CLAIMS, "{\"iss\":\"" ISSUER "\",\"aud\":\"shootd\",\"exp\":1790003590}"},
        {OIDC_LIFETIME, "{" GOOD_START ",\"exp\":1890003590}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *forged CLEANUP_FREE = jwt_sign(strangers[OIDC_RS256], OIDC_RS256, RS_HEADER, rows[i].claims);
        assert_int_equal(ask(forged), rows[i].end);
    }
}

static void no_signature(void **state)
{
    static const char *const headers[] = {"{\"alg\":\"none\"}", RS_HEADER};
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        char *text CLEANUP_FREE = jwt_unsigned(headers[i], GOOD_CLAIMS);
        char *with_dot CLEANUP_FREE = mem_printf("%s.", text);
        assert_int_equal(ask(text), OIDC_MALFORMED);
        assert_int_equal(ask(with_dot), OIDC_MALFORMED);
    }
}

/* A checker that trusts the token's algorithm would use the public key as a shared secret. */
static void the_public_key_is_no_secret(void **state)
{
    unsigned char mac[32];
    unsigned int len = sizeof(mac);
    char *pem = NULL;
    BIO *out = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_PUBKEY(out, keys[OIDC_RS256]), 1);
    long pem_len = BIO_get_mem_data(out, &pem);
    json_t *jwk CLEANUP_JSON = jwt_public_key(keys[OIDC_RS256], OIDC_RS256);
    char *jwk_text CLEANUP_FREE = json_text(jwk);
    const struct {
        const void *bytes;
        size_t len;
    } secrets[] = {{pem, (size_t)pem_len}, {jwk_text, strlen(jwk_text)}};
    static const char *const headers[] = {"{\"alg\":\"HS256\",\"kid\":\"key-RS256\"}", RS_HEADER};
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
        for (size_t j = 0; j < ARRAY_LEN(headers); j++) {
            char *text CLEANUP_FREE = jwt_unsigned(headers[j], GOOD_CLAIMS);
            assert_non_null(HMAC(EVP_sha256(), secrets[i].bytes, (int)secrets[i].len,
                                 (const unsigned char *)text, strlen(text), mac, &len));
            char *token CLEANUP_FREE = jwt_with_signature(text, mac, len);
            assert_int_equal(ask(token), j ? OIDC_SIGNATURE : OIDC_ALGORITHM);
        }
    BIO_free(out);
}

static void key_ids_only_choose(void **state)
{
    expect_header(OIDC_KEY_UNKNOWN, "{\"alg\":\"RS256\",\"kid\":\"key-XX\"}");
    expect_header(OIDC_KEY_UNKNOWN, "{\"alg\":\"RS256\",\"kid\":\"\"}");
    expect_header(OIDC_KEY_UNKNOWN, "{\"alg\":\"RS256\",\"kid\":\"../../../dev/null\"}");
    /* the kid of a key of another type, and of a key for another algorithm */
    expect_header(OIDC_KEY_UNKNOWN, "{\"alg\":\"RS256\",\"kid\":\"key-ES256\"}");
    expect_header(OIDC_KEY_UNKNOWN, "{\"alg\":\"RS256\",\"kid\":\"key-PS256\"}");
    expect_header(OIDC_TYPE, "{\"alg\":\"RS256\",\"kid\":7}");
    expect_header(OIDC_TYPE, "{\"alg\":\"RS256\",\"kid\":{\"kid\":\"key-RS256\"}}");
    expect_header(OIDC_OK, "{\"alg\":\"RS256\"}"); /* without a kid the only key that fits is used */
    char long_id[OIDC_KEY_ID_MAX + 2] = "";
    memset(long_id, 'k', sizeof(long_id) - 1);
    char *header CLEANUP_FREE = mem_printf("{\"alg\":\"RS256\",\"kid\":\"%s\"}", long_id);
    expect_header(OIDC_TYPE, header);
}

/* An issuer may have several keys for an algorithm without a kid, or with the same kid. */
static void all_keys_that_fit_are_tried(void **state)
{
    static const char *const ids[] = {"same", NULL};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        const char *why = NULL;
        json_t *set CLEANUP_JSON = json_pack("{s:[]}", "keys");
        EVP_PKEY *const both[] = {keys[OIDC_ES256], keys[OIDC_RS256], strangers[OIDC_RS256]};
        for (size_t k = 0; k < ARRAY_LEN(both); k++) {
            json_t *jwk = jwt_public_key(both[k], k ? OIDC_RS256 : OIDC_ES256);
            (void)(ids[i] ? json_object_set_new(jwk, "kid", json_string(ids[i]))
                          : json_object_del(jwk, "kid"));
            json_append_take(json_object_get(set, "keys"), jwk);
        }
        char *text CLEANUP_FREE = json_text(set);
        struct oidc_keys *before = published;
        published = oidc_keys_read(text, strlen(text), &why);
        assert_int_equal(oidc_keys_count(published), 3);
        const char *header = ids[i] ? "{\"alg\":\"RS256\",\"kid\":\"same\"}" : "{\"alg\":\"RS256\"}";
        for (size_t k = 1; k < ARRAY_LEN(both); k++) {
            char *token CLEANUP_FREE = jwt_sign(both[k], OIDC_RS256, header, GOOD_CLAIMS);
            assert_int_equal(ask(token), OIDC_OK);
        }
        EVP_PKEY *nobody = jwt_new_key(OIDC_RS256);
        char *forged CLEANUP_FREE = jwt_sign(nobody, OIDC_RS256, header, GOOD_CLAIMS);
        assert_int_equal(ask(forged), OIDC_SIGNATURE);
        EVP_PKEY_free(nobody);
        oidc_keys_free(published);
        published = before;
    }
}

static void keys_in_the_header_are_not_looked_at(void **state)
{
    json_t *jwk = jwt_public_key(strangers[OIDC_RS256], OIDC_RS256);
    json_t *header CLEANUP_JSON = json_pack("{s:s, s:s, s:o, s:s}", "alg", "RS256", "kid", "key-RS256", "jwk",
                                            jwk, "jku", "https://evil.example/jwks");
    char *text CLEANUP_FREE = json_text(header);
    char *token CLEANUP_FREE = jwt_sign(strangers[OIDC_RS256], OIDC_RS256, text, GOOD_CLAIMS);
    assert_int_equal(ask(token), OIDC_SIGNATURE);
    expect_header(OIDC_OK, "{\"alg\":\"RS256\",\"kid\":\"key-RS256\",\"jku\":\"https://evil.example/jwks\"}");
}

static void types_and_extensions(void **state)
{
    expect_header(OIDC_OK, "{\"alg\":\"RS256\",\"kid\":\"key-RS256\",\"typ\":\"JWT\"}");
    expect_header(OIDC_OK, "{\"alg\":\"RS256\",\"kid\":\"key-RS256\",\"typ\":\"application/at+jwt\"}");
    expect_header(OIDC_TYPE, "{\"alg\":\"RS256\",\"kid\":\"key-RS256\",\"typ\":\"logout+jwt\"}");
    expect_header(OIDC_TYPE, "{\"alg\":\"RS256\",\"kid\":\"key-RS256\",\"typ\":null}");
    expect_header(OIDC_TYPE, "{\"alg\":\"RS256\",\"kid\":\"key-RS256\",\"crit\":[\"exp\"]}");
    expect_header(OIDC_TYPE, "{\"alg\":\"RS256\",\"kid\":\"key-RS256\",\"b64\":false,\"crit\":[\"b64\"]}");
    issuer.at_jwt_only = true;
    expect_header(OIDC_TYPE, "{\"alg\":\"RS256\",\"kid\":\"key-RS256\",\"typ\":\"JWT\"}");
    expect_header(OIDC_TYPE, RS_HEADER);
    expect_header(OIDC_OK, "{\"alg\":\"RS256\",\"kid\":\"key-RS256\",\"typ\":\"at+jwt\"}");
    issuer.at_jwt_only = false;
}

static void duplicate_members(void **state)
{
    expect_header(OIDC_MALFORMED, "{\"alg\":\"none\",\"alg\":\"RS256\",\"kid\":\"key-RS256\"}");
    expect_claims(OIDC_MALFORMED, "{" GOOD_START ",\"exp\":1790003590,\"sub\":\"root\"}");
    expect_claims(OIDC_MALFORMED, "{" GOOD_START ",\"exp\":1790003590,\"a\":{\"b\":1,\"b\":2}}");
    expect_claims(OIDC_MALFORMED, "{" GOOD_START ",\"exp\":1790003590,\"\\u0073ub\":\"root\"}");
}

static void times(void **state)
{
    char *token CLEANUP_FREE = jwt_sign(keys[OIDC_RS256], OIDC_RS256, RS_HEADER, GOOD_CLAIMS);
    const wall_us end = INT64_C(1790003590) * US_PER_S, begin = INT64_C(1789999990) * US_PER_S;
    const int64_t leeway = OIDC_LEEWAY_S * US_PER_S;
    assert_int_equal(ask_at(token, end + leeway - 1), OIDC_OK);
    assert_int_equal(ask_at(token, end + leeway), OIDC_EXPIRED);
    assert_int_equal(ask_at(token, begin - leeway), OIDC_OK);
    assert_int_equal(ask_at(token, begin - leeway - 1), OIDC_NOT_YET);
    expect_claims(OIDC_OK, "{" GOOD_START ",\"exp\":1790003590}");
    expect_claims(OIDC_OK, "{" GOOD_START ",\"exp\":1790003590.5}");
    expect_claims(OIDC_NOT_YET, "{" GOOD_START ",\"exp\":1790003590,\"nbf\":1790000061}");
    expect_claims(OIDC_NOT_YET, "{" GOOD_START ",\"exp\":1790003590,\"iat\":1790000061}");
    expect_claims(OIDC_CLAIMS, "{" GOOD_START "}");
    expect_claims(OIDC_CLAIMS, "{" GOOD_START ",\"exp\":\"1790003590\"}");
    expect_claims(OIDC_CLAIMS, "{" GOOD_START ",\"exp\":null}");
    expect_claims(OIDC_CLAIMS, "{" GOOD_START ",\"exp\":-1}");
    expect_claims(OIDC_CLAIMS, "{" GOOD_START ",\"exp\":1e300}");
    expect_claims(OIDC_CLAIMS, "{" GOOD_START ",\"exp\":9223372036854775807}");
    expect_claims(OIDC_CLAIMS, "{" GOOD_START ",\"exp\":1790003590,\"nbf\":\"now\"}");
    expect_claims(OIDC_CLAIMS, "{" GOOD_START ",\"exp\":1790003590,\"iat\":{}}");
    expect_claims(OIDC_EXPIRED, "{" GOOD_START ",\"exp\":1}");
    expect_claims(OIDC_LIFETIME, "{" GOOD_START ",\"exp\":1790086401}");
    expect_claims(OIDC_LIFETIME, "{" GOOD_START ",\"iat\":1,\"exp\":1790003590}");
}

static void claims(void **state)
{
    static const char rest[] = "\"exp\":1790003590";
    const struct {
        enum oidc_end end;
        const char *start;
    } rows[] = {
        {OIDC_OK, "\"iss\":\"" ISSUER "\",\"sub\":\"a\",\"aud\":\"shootd\""},
        {OIDC_ISSUER, "\"iss\":\"" ISSUER "/\",\"sub\":\"a\",\"aud\":\"shootd\""},
        {OIDC_ISSUER, "\"iss\":\"https://evil.example\",\"sub\":\"a\",\"aud\":\"shootd\""},
        {OIDC_ISSUER, "\"iss\":[\"" ISSUER "\"],\"sub\":\"a\",\"aud\":\"shootd\""},
        {OIDC_ISSUER, "\"sub\":\"a\",\"aud\":\"shootd\""},
        {OIDC_AUDIENCE, "\"iss\":\"" ISSUER "\",\"sub\":\"a\",\"aud\":\"shootd2\""},
        {OIDC_AUDIENCE, "\"iss\":\"" ISSUER "\",\"sub\":\"a\",\"aud\":\"Shootd\""},
        {OIDC_AUDIENCE, "\"iss\":\"" ISSUER "\",\"sub\":\"a\",\"aud\":[]"},
        {OIDC_AUDIENCE, "\"iss\":\"" ISSUER "\",\"sub\":\"a\",\"aud\":{\"shootd\":1}"},
        {OIDC_AUDIENCE, "\"iss\":\"" ISSUER "\",\"sub\":\"a\",\"aud\":[[\"shootd\"]]"},
        {OIDC_AUDIENCE, "\"iss\":\"" ISSUER "\",\"sub\":\"a\""},
        {OIDC_CLAIMS, "\"iss\":\"" ISSUER "\",\"aud\":\"shootd\""},
        {OIDC_CLAIMS, "\"iss\":\"" ISSUER "\",\"sub\":\"\",\"aud\":\"shootd\""},
        {OIDC_CLAIMS, "\"iss\":\"" ISSUER "\",\"sub\":7,\"aud\":\"shootd\""},
        {OIDC_CLAIMS, "\"iss\":\"" ISSUER "\",\"sub\":\"a\\nb\",\"aud\":\"shootd\""},
        {OIDC_MALFORMED, "\"iss\":\"" ISSUER "\",\"sub\":\"a\\u0000b\",\"aud\":\"shootd\""},
        {OIDC_ID_TOKEN, GOOD_START ",\"typ\":\"ID\""},
        {OIDC_ID_TOKEN, GOOD_START ",\"token_use\":\"id\""},
        {OIDC_ID_TOKEN, GOOD_START ",\"c_hash\":\"n\""},
        {OIDC_ID_TOKEN, GOOD_START ",\"s_hash\":\"n\",\"nonce\":\"n\""},
        {OIDC_ID_TOKEN, GOOD_START ",\"typ\":\"ID\",\"token_use\":\"access\""},
        {OIDC_OK, GOOD_START ",\"nonce\":\"n\",\"at_hash\":\"n\""},  /* Dex */
        {OIDC_OK, GOOD_START ",\"typ\":\"Bearer\",\"nonce\":\"n\""}, /* Keycloak before 25 */
        {OIDC_OK, GOOD_START ",\"typ\":\"Bearer\",\"c_hash\":\"n\""},
        {OIDC_OK, GOOD_START ",\"token_use\":\"access\",\"at_hash\":\"n\""},
        {OIDC_ID_TOKEN, "\"iss\":\"" ISSUER "\",\"sub\":\"a\",\"aud\":\"shootd\",\"typ\":\"ID\""},
        {OIDC_OK, "\"iss\":\"" ISSUER "\",\"sub\":\"a\",\"aud\":\"shootd\",\"typ\":\"Bearer\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *text CLEANUP_FREE = mem_printf("{%s,%s}", rows[i].start, rest);
        expect_claims(rows[i].end, text);
    }
    char subject[OIDC_SUBJECT_MAX + 2] = "";
    memset(subject, 's', sizeof(subject) - 1);
    char *text CLEANUP_FREE =
        mem_printf("{\"iss\":\"" ISSUER "\",\"sub\":\"%s\",\"aud\":\"shootd\",%s}", subject, rest);
    expect_claims(OIDC_CLAIMS, text);
}

static void other_forms(void **state)
{
    static const char *const texts[] = {
        "", ".", "..", "...", "a.b.c", "e30.e30.e30", "shd_", "e30.e30", "e30.e30.e30.e30.e30", "{}.{}.{}"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_true(ask(texts[i]) == OIDC_MALFORMED || ask(texts[i]) == OIDC_ISSUER);
    char *token CLEANUP_FREE = jwt_sign(keys[OIDC_RS256], OIDC_RS256, RS_HEADER, GOOD_CLAIMS);
    char *padded CLEANUP_FREE = mem_printf("%s=", token);
    char *more CLEANUP_FREE = mem_printf("%s.e30", token);
    char *blank CLEANUP_FREE = mem_printf(" %s", token);
    assert_int_equal(ask(token), OIDC_OK);
    assert_int_equal(ask(padded), OIDC_MALFORMED);
    assert_int_equal(ask(more), OIDC_MALFORMED);
    assert_int_equal(ask(blank), OIDC_MALFORMED);
    expect_header(OIDC_MALFORMED, "[]");
    expect_header(OIDC_MALFORMED, "\"RS256\"");
    expect_header(OIDC_MALFORMED, "{\"alg\":\"RS256\"");
    expect_claims(OIDC_MALFORMED, "[" GOOD_CLAIMS "]");
    expect_header(OIDC_MALFORMED, "{\"alg\":\"RS256\",\"kid\":\"\xff\"}");
}

/* A token within a token is not valid, whoever signed either of them. */
static void nested(void **state)
{
    char *inner CLEANUP_FREE = jwt_sign(keys[OIDC_RS256], OIDC_RS256, RS_HEADER, GOOD_CLAIMS);
    char *outer CLEANUP_FREE = jwt_sign(keys[OIDC_RS256], OIDC_RS256,
                                        "{\"alg\":\"RS256\",\"kid\":\"key-RS256\",\"cty\":\"JWT\"}", inner);
    assert_int_equal(ask(outer), OIDC_MALFORMED);
}

static void large_and_deep(void **state)
{
    char *filler CLEANUP_FREE = mem_calloc(OIDC_TOKEN_BYTES + 1, 1);
    memset(filler, '[', OIDC_TOKEN_BYTES);
    char *large CLEANUP_FREE = mem_printf("{" GOOD_START ",\"exp\":1790003590,\"x\":\"%s\"}", filler);
    expect_claims(OIDC_MALFORMED, large);
    filler[3000] = '\0'; /* 3000 open brackets */
    char *deep CLEANUP_FREE = mem_printf("{" GOOD_START ",\"exp\":1790003590,\"x\":%s}", filler);
    expect_claims(OIDC_MALFORMED, deep);
    for (size_t i = 0; i < 1500; i++)
        memcpy(filler + i * 2, "1,", 2);
    char *many CLEANUP_FREE = mem_printf("{" GOOD_START ",\"exp\":1790003590,\"x\":[%s1]}", filler);
    expect_claims(OIDC_MALFORMED, many);
}

/* r and s with a zero byte added are the same numbers, but not the same signature. */
static void signatures_have_one_length(void **state)
{
    unsigned char bytes[2048];
    for (int i = 0; i < OIDC_ALGORITHM_MAX_; i++) {
        char *header CLEANUP_FREE = header_of(i);
        char *text CLEANUP_FREE = jwt_unsigned(header, GOOD_CLAIMS);
        const size_t len = jwt_signature(keys[i], i, text, bytes);
        bytes[len] = 0;
        char *longer CLEANUP_FREE = jwt_with_signature(text, bytes, len + 1);
        char *shorter CLEANUP_FREE = jwt_with_signature(text, bytes, len - 1);
        assert_int_equal(ask(longer), OIDC_SIGNATURE);
        assert_int_equal(ask(shorter), OIDC_SIGNATURE);
    }
}

static void keys_that_are_missing(void **state)
{
    const struct oidc_trust trust = {&issuer, NULL};
    struct oidc_claims ret;
    char *token CLEANUP_FREE = jwt_sign(keys[OIDC_RS256], OIDC_RS256, RS_HEADER, GOOD_CLAIMS);
    assert_int_equal(oidc_verify(token, strlen(token), &trust, 1, NOW_US, &ret), OIDC_KEYS_MISSING);
    assert_int_equal(oidc_verify(token, strlen(token), NULL, 0, NOW_US, &ret), OIDC_ISSUER);
}

/* Sets a member of a valid key to a value; NULL removes it. The key set then contains no usable key. */
static void refuses_key(int algorithm, const char *member, const char *value)
{
    const char *why = NULL;
    json_t *jwk = jwt_public_key(keys[algorithm], algorithm);
    if (value)
        json_set_str(jwk, member, value);
    else
        (void)json_object_del(jwk, member);
    assert_null(read_one(jwk, &why));
    assert_string_equal(why, "it has no usable key");
}

/* Puts a byte 0 before a number, or takes away the zeros at its begin, as some issuers do. */
static void set_zeros(json_t *jwk, const char *member, bool has_zero)
{
    unsigned char bytes[OIDC_RSA_BITS_MIN / 8 + 2] = {0};
    const char *text = json_string_value(json_object_get(jwk, member));
    size_t len = 0, zeros = 0;
    assert_int_equal(sodium_base642bin(bytes + 1, sizeof(bytes) - 1, text, strlen(text), NULL, &len, NULL,
                                       sodium_base64_VARIANT_URLSAFE_NO_PADDING),
                     0);
    while (!has_zero && !bytes[1 + zeros])
        zeros++;
    char *other CLEANUP_FREE =
        has_zero ? jwt_base64(bytes, len + 1) : jwt_base64(bytes + 1 + zeros, len - zeros);
    json_set_str(jwk, member, other);
}

static void numbers_may_have_another_length(void **state)
{
    static const char *const members[OIDC_ALGORITHM_MAX_][2] = {
        [OIDC_RS256] = {"n", "e"}, [OIDC_PS256] = {"n", "e"}, [OIDC_ES256] = {"x", "y"}};
    for (int i = 0; i < OIDC_EDDSA; i++) {
        for (int has_zero = 0; has_zero < 2; has_zero++) {
            EVP_PKEY *key = jwt_new_key(i);
            json_t *jwk = jwt_public_key(key, i);
            /* One key of 256 has a coordinate that begins with a zero. */
            for (int tries = 0; i == OIDC_ES256 && !has_zero && tries < 100000; tries++) {
                if (!strncmp(json_str(jwk, "x"), "AA", 2))
                    break;
                json_decref(jwk);
                EVP_PKEY_free(key);
                key = jwt_new_key(i);
                jwk = jwt_public_key(key, i);
            }
            for (size_t k = 0; k < 2; k++)
                set_zeros(jwk, members[i][k], has_zero);
            struct oidc_keys *before = published;
            const char *why = NULL;
            published = read_one(jwk, &why);
            assert_non_null(published);
            char *header CLEANUP_FREE = header_of(i);
            char *token CLEANUP_FREE = jwt_sign(key, i, header, GOOD_CLAIMS);
            assert_int_equal(ask(token), OIDC_OK);
            oidc_keys_free(published);
            published = before;
            EVP_PKEY_free(key);
        }
    }
}

static void keys_of_no_use(void **state)
{
    const char *why = NULL;
    EVP_PKEY *small = EVP_RSA_gen(1024);
    assert_null(read_one(jwt_public_key(small, OIDC_RS256), &why));
    EVP_PKEY_free(small);
    refuses_key(OIDC_RS256, "use", "enc");
    refuses_key(OIDC_RS256, "alg", "RS512");
    refuses_key(OIDC_RS256, "alg", "ES256");
    refuses_key(OIDC_RS256, "alg", "HS256");
    refuses_key(OIDC_RS256, "kty", "oct");
    refuses_key(OIDC_RS256, "kty", "EC");
    refuses_key(OIDC_RS256, "n", NULL);
    refuses_key(OIDC_RS256, "n", "AQAB");
    refuses_key(OIDC_RS256, "e", "AQ"); /* with exponent 1 each text is its own signature */
    refuses_key(OIDC_RS256, "e", "AA");
    refuses_key(OIDC_RS256, "e", "AAAB");
    refuses_key(OIDC_RS256, "d", "AQAB"); /* a private key */
    refuses_key(OIDC_RS256, "k", "AQAB");
    refuses_key(OIDC_ES256, "crv", "P-384");
    refuses_key(OIDC_ES256, "x", "AQAB");
    refuses_key(OIDC_ES256, "y", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"); /* no point of the curve */
    refuses_key(OIDC_EDDSA, "crv", "X25519");
    refuses_key(OIDC_EDDSA, "x", "AQAB");
    json_t *only_signs = jwt_public_key(keys[OIDC_RS256], OIDC_RS256);
    json_set_take(only_signs, "key_ops", json_pack("[s]", "sign"));
    assert_null(read_one(only_signs, &why));
    static const char *const texts[] = {
        "", "[]", "{}", "{\"keys\":{}}", "{\"keys\":[]}", "{\"keys\":[1,null]}"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_null(oidc_keys_read(texts[i], strlen(texts[i]), &why));
}

static void a_byte_order_mark_before_a_key_set_is_skipped(void **state)
{
    const char *why = NULL;
    json_t *set CLEANUP_JSON = json_pack("{s:[o]}", "keys", jwt_public_key(keys[OIDC_RS256], OIDC_RS256));
    char *text CLEANUP_FREE = json_text(set);
    char *marked CLEANUP_FREE = mem_printf("\xef\xbb\xbf%s", text);
    struct oidc_keys *read = oidc_keys_read(marked, strlen(marked), &why);
    assert_non_null(read);
    assert_int_equal(oidc_keys_count(read), 1);
    oidc_keys_free(read);
    char *twice CLEANUP_FREE = mem_printf("\xef\xbb\xbf%s", marked);
    assert_null(oidc_keys_read(twice, strlen(twice), &why));
}

/* ---- the corpus ---- */

enum { MUTATIONS = 120000, MUTATED_BYTES = 16 * 1024 };

static uint64_t seed = UINT64_C(0x5eed0f01dc);

static size_t draw(size_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)(seed % below);
}

static const char *const spice[] = {
    "none",
    "HS256",
    "RS256",
    "ES256",
    "EdDSA",
    "\"alg\":\"none\",",
    "\"sub\":\"root\",",
    "{}",
    "e30",
    ".",
    "..",
    "=",
    "-",
    "_",
    "null",
    "true",
    "1e999",
    "\"exp\":9999999999,",
    ISSUER,
    "key-ES256",
};

/* Removes, doubles, overwrites or inserts some bytes at a random place. */
static void mutate_text(char *text)
{
    const size_t len = strlen(text), at = draw(len + 1);
    const size_t run = draw(8) + 1;
    const char *more = spice[draw(ARRAY_LEN(spice))];
    char rest[MUTATED_BYTES];
    switch (draw(6)) {
    case 0:
        if (at < len)
            text[at] = (char)(text[at] ^ (1 << draw(7)));
        break;
    case 1:
        if (at < len)
            text[at] = "ABab019-_.="[draw(11)];
        break;
    case 2:
        memmove(text + at, text + (at + run < len ? at + run : len),
                len - (at + run < len ? at + run : len) + 1);
        break;
    case 3:
        (void)snprintf(rest, sizeof(rest), "%s", text + at);
        (void)snprintf(text + at, MUTATED_BYTES - at, "%s%s", more, rest);
        break;
    case 4:
        (void)snprintf(rest, sizeof(rest), "%s", text + at);
        (void)snprintf(text + at, MUTATED_BYTES - at, "%.*s%s", (int)run, rest, rest);
        break;
    default:
        text[at] = '\0';
        break;
    }
}

/* Changes words in header or claims, and keeps the signature of the valid token. */
static void mutate_inside(char *text, int algorithm)
{
    char header[MUTATED_BYTES], inner[MUTATED_BYTES] = GOOD_CLAIMS;
    char *good CLEANUP_FREE = header_of(algorithm);
    (void)snprintf(header, sizeof(header), "%s", good);
    mutate_text(draw(2) ? header : inner);
    char *start CLEANUP_FREE = jwt_unsigned(header, inner);
    char signature[MUTATED_BYTES];
    const char *dot = strrchr(text, '.');
    (void)snprintf(signature, sizeof(signature), "%s", dot ? dot : "");
    (void)snprintf(text, MUTATED_BYTES, "%s%s", start, signature);
}

/* Replaces a part of one token by a part of another. */
static void mutate_parts(char *text, char *const *tokens)
{
    char *parts[3], copies[3][MUTATED_BYTES];
    for (size_t i = 0; i < 3; i++) {
        char *rest = copies[i], *part = NULL;
        (void)snprintf(copies[i], sizeof(copies[i]), "%s", tokens[draw(OIDC_ALGORITHM_MAX_)]);
        for (size_t j = 0; j <= i; j++)
            part = strsep(&rest, ".");
        parts[i] = part;
    }
    char *joined CLEANUP_FREE = mem_printf("%s.%s.%s", parts[0], parts[1], parts[2]);
    (void)snprintf(text, MUTATED_BYTES, "%s", joined);
}

static void mutated_tokens_never_pass(void **state)
{
    char *tokens[OIDC_ALGORITHM_MAX_];
    char text[MUTATED_BYTES];
    unsigned asked = 0, ends[OIDC_END_MAX_] = {0};
    for (int i = 0; i < OIDC_ALGORITHM_MAX_; i++) {
        char *header CLEANUP_FREE = header_of(i);
        tokens[i] = jwt_sign(keys[i], i, header, GOOD_CLAIMS);
        assert_int_equal(ask(tokens[i]), OIDC_OK);
    }
    while (asked < MUTATIONS) {
        const int algorithm = (int)draw(OIDC_ALGORITHM_MAX_);
        (void)snprintf(text, sizeof(text), "%s", tokens[algorithm]);
        const size_t way = draw(8);
        if (way < 3)
            mutate_inside(text, algorithm);
        else if (way == 3)
            mutate_parts(text, tokens);
        else
            for (size_t times = draw(3) + 1; times; times--)
                mutate_text(text);
        bool is_good = false;
        for (int i = 0; i < OIDC_ALGORITHM_MAX_; i++)
            is_good |= !strcmp(text, tokens[i]);
        if (is_good)
            continue;
        enum oidc_end end = ask(text);
        if (end == OIDC_OK)
            fail_msg("passes: %s", text);
        ends[end]++;
        asked++;
    }
    /* Many mutated tokens reach the check of the signature. */
    assert_true(ends[OIDC_SIGNATURE] > MUTATIONS / 10);
    assert_true(ends[OIDC_MALFORMED] && ends[OIDC_ALGORITHM] && ends[OIDC_KEY_UNKNOWN] && ends[OIDC_ISSUER]);
    for (int i = 0; i < OIDC_ALGORITHM_MAX_; i++)
        free(tokens[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_tokens_of_each_algorithm),
        cmocka_unit_test(only_allowed_algorithms),
        cmocka_unit_test(cheap_refusals_come_first),
        cmocka_unit_test(no_signature),
        cmocka_unit_test(the_public_key_is_no_secret),
        cmocka_unit_test(key_ids_only_choose),
        cmocka_unit_test(all_keys_that_fit_are_tried),
        cmocka_unit_test(keys_in_the_header_are_not_looked_at),
        cmocka_unit_test(types_and_extensions),
        cmocka_unit_test(duplicate_members),
        cmocka_unit_test(times),
        cmocka_unit_test(claims),
        cmocka_unit_test(other_forms),
        cmocka_unit_test(nested),
        cmocka_unit_test(large_and_deep),
        cmocka_unit_test(signatures_have_one_length),
        cmocka_unit_test(keys_that_are_missing),
        cmocka_unit_test(numbers_may_have_another_length),
        cmocka_unit_test(keys_of_no_use),
        cmocka_unit_test(a_byte_order_mark_before_a_key_set_is_skipped),
        cmocka_unit_test(mutated_tokens_never_pass),
    };
    return cmocka_run_group_tests(tests, make_keys, free_keys);
}
