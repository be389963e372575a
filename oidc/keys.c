#include "oidc/keys.h"

#include <assert.h>
#include <cjose/cjose.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

enum { RSA_EXPONENT_MAX_BYTES = 4, P256_BYTES = 32, NUMBER_MAX_BYTES = OIDC_RSA_BITS_MAX / 8 };

enum key_kind { KIND_RSA, KIND_P256, KIND_ED25519 };

static const struct {
    const char *name;
    enum key_kind kind;
} algorithms[] = {
    [OIDC_RS256] = {"RS256", KIND_RSA},
    [OIDC_PS256] = {"PS256", KIND_RSA},
    [OIDC_ES256] = {"ES256", KIND_P256},
    [OIDC_EDDSA] = {"EdDSA", KIND_ED25519},
};

struct oidc_key {
    char *id; /* the id of the key, or NULL */
    int only; /* the enum oidc_algorithm of the key; -1: the key is for all algorithms of its kind */
    enum key_kind kind;
    size_t signature_len;
    cjose_jwk_t *jwk; /* the key when its kind is RSA or P-256 */
    uint8_t ed25519[crypto_sign_PUBLICKEYBYTES];
};

struct oidc_keys {
    unsigned refs;
    size_t count;
    struct oidc_key keys[OIDC_KEYS_MAX];
};

const char *oidc_algorithm_name(enum oidc_algorithm algorithm)
{
    assert(algorithm < OIDC_ALGORITHM_MAX_);
    return algorithms[algorithm].name;
}

int oidc_algorithm_from_name(const char *name)
{
    for (int i = 0; name && i < OIDC_ALGORITHM_MAX_; i++)
        if (!strcmp(algorithms[i].name, name))
            return i;
    return -1;
}

/* ---- checks of a key ---- */

/* Decodes a base64url member and returns its length; 0 when it is absent or longer than `size`. */
static size_t read_bytes(const json_t *jwk, const char *member, uint8_t *bytes, size_t size)
{
    const char *text = json_str(jwk, member);
    size_t len = 0;
    if (!text || sodium_base642bin(bytes, size, text, strlen(text), NULL, &len, NULL,
                                   sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0)
        return 0;
    return len;
}

/* Decodes a number and returns its length without zeros at the begin; 0 when it is absent, zero or longer
 * than `size`. Issuers that write numbers with a sign, as Java does, begin a number with a zero byte. */
static size_t read_number(const json_t *jwk, const char *member, uint8_t *bytes, size_t size)
{
    uint8_t all[NUMBER_MAX_BYTES + 1];
    assert(size < sizeof(all));
    const size_t len = read_bytes(jwk, member, all, size + 1);
    size_t zeros = 0;
    while (zeros < len && !all[zeros])
        zeros++;
    if (len - zeros > size)
        return 0;
    memcpy(bytes, all + zeros, len - zeros);
    return len - zeros;
}

static bool is_rsa(const json_t *jwk)
{
    uint8_t n[OIDC_RSA_BITS_MAX / 8], e[RSA_EXPONENT_MAX_BYTES];
    const size_t n_len = read_number(jwk, "n", n, sizeof(n));
    const size_t e_len = read_number(jwk, "e", e, sizeof(e));
    if (n_len < OIDC_RSA_BITS_MIN / 8 || !e_len)
        return false;
    const bool has_all_bits = n_len > OIDC_RSA_BITS_MIN / 8 || n[0] & 0x80;
    const bool is_odd = n[n_len - 1] & 1 && e[e_len - 1] & 1;
    return has_all_bits && is_odd && (e_len > 1 || e[0] > 1);
}

static bool is_p256(const json_t *jwk)
{
    uint8_t x[P256_BYTES], y[P256_BYTES];
    return !strcmp(json_str_or(jwk, "crv", ""), "P-256") && read_number(jwk, "x", x, sizeof(x)) &&
           read_number(jwk, "y", y, sizeof(y));
}

static bool is_ed25519(const json_t *jwk)
{
    uint8_t x[crypto_sign_PUBLICKEYBYTES];
    return !strcmp(json_str_or(jwk, "crv", ""), "Ed25519") && read_bytes(jwk, "x", x, sizeof(x)) == sizeof(x);
}

static const struct {
    const char *type;
    bool (*is_one)(const json_t *jwk);
} kinds[] = {
    [KIND_RSA] = {"RSA", is_rsa},
    [KIND_P256] = {"EC", is_p256},
    [KIND_ED25519] = {"OKP", is_ed25519},
};

/* Returns the kind of a key; -1 when the key is not usable. */
static int kind_of(const json_t *jwk)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (!strcmp(json_str_or(jwk, "kty", ""), kinds[i].type))
            return kinds[i].is_one(jwk) ? (int)i : -1;
    return -1;
}

static bool is_for_signatures(const json_t *jwk)
{
    const json_t *operations = json_object_get(jwk, "key_ops"), *operation;
    size_t i;
    if (json_object_get(jwk, "use") && strcmp(json_str_or(jwk, "use", ""), "sig") != 0)
        return false;
    json_array_foreach (operations, i, operation)
        if (json_is_string(operation) && !strcmp(json_string_value(operation), "verify"))
            return true;
    return !operations;
}

/* Only public keys are used. A signature with a published private key, or with a symmetric key, proves
 * nothing. */
static bool is_public(const json_t *jwk)
{
    return !json_object_get(jwk, "d") && !json_object_get(jwk, "k");
}

/* Copies a number to `to`, with `size` bytes, or with as many as it needs (0), and returns its length.
 * kind_of has checked that it can be read. */
static size_t copy_number(json_t *to, const json_t *jwk, const char *member, size_t size)
{
    uint8_t number[NUMBER_MAX_BYTES], padded[NUMBER_MAX_BYTES] = {0};
    char text[sodium_base64_ENCODED_LEN(NUMBER_MAX_BYTES, sodium_base64_VARIANT_URLSAFE_NO_PADDING)];
    const size_t len = read_number(jwk, member, number, size ? size : sizeof(number));
    assert(len && sizeof(padded) >= size);
    size = size ? size : len;
    memcpy(padded + size - len, number, len);
    (void)sodium_bin2base64(text, sizeof(text), padded, size, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    json_set_str(to, member, text);
    return size;
}

/* Makes the key for libcjose, with numbers of the lengths that RFC 7518 requires. */
static bool import_key(const json_t *jwk, struct oidc_key *key)
{
    cjose_err error;
    key->signature_len = crypto_sign_BYTES;
    if (key->kind == KIND_ED25519)
        return read_bytes(jwk, "x", key->ed25519, sizeof(key->ed25519)) == sizeof(key->ed25519);
    json_t *exact CLEANUP_JSON = json_object();
    json_set_str(exact, "kty", kinds[key->kind].type);
    if (key->kind == KIND_RSA) {
        key->signature_len = copy_number(exact, jwk, "n", 0);
        (void)copy_number(exact, jwk, "e", 0);
    } else {
        json_set_str(exact, "crv", "P-256");
        (void)copy_number(exact, jwk, "x", P256_BYTES);
        (void)copy_number(exact, jwk, "y", P256_BYTES);
    }
    char *text CLEANUP_FREE = json_text(exact);
    key->jwk = cjose_jwk_import(text, strlen(text), &error);
    return key->jwk != NULL;
}

static bool read_key(const json_t *jwk, struct oidc_key *ret_key)
{
    const char *id = json_str(jwk, "kid");
    const char *only = json_str(jwk, "alg");
    const int kind = json_is_object(jwk) ? kind_of(jwk) : -1;
    *ret_key = (struct oidc_key){.only = oidc_algorithm_from_name(only)};
    if (kind < 0 || !is_public(jwk) || !is_for_signatures(jwk) || (id && strlen(id) > OIDC_KEY_ID_MAX))
        return false;
    ret_key->kind = (enum key_kind)kind;
    if ((only && ret_key->only < 0) || (only && algorithms[ret_key->only].kind != ret_key->kind) ||
        !import_key(jwk, ret_key))
        return false;
    ret_key->id = mem_strdup(id);
    return true;
}

/* ---- the set ---- */

struct oidc_keys *oidc_keys_read(const char *text, size_t len, const char **ret_why)
{
    static const struct json_limits limits = {OIDC_JWKS_BYTES, 20000, 1000};
    enum json_scan_end end;
    json_t *doc CLEANUP_JSON = json_parse_foreign(text, len, &limits, &end);
    const json_t *rows = doc ? json_arr(doc, "keys") : NULL, *row;
    size_t i;
    *ret_why = !doc ? json_scan_text(end) : !rows ? "it has no list of keys" : NULL;
    if (*ret_why)
        return NULL;
    struct oidc_keys *keys = MEM_NEW(struct oidc_keys);
    keys->refs = 1;
    json_array_foreach (rows, i, row)
        if (keys->count < OIDC_KEYS_MAX && read_key(row, &keys->keys[keys->count]))
            keys->count++;
    assert(keys->count <= OIDC_KEYS_MAX);
    if (keys->count)
        return keys;
    oidc_keys_free(keys);
    *ret_why = "it has no usable key";
    return NULL;
}

struct oidc_keys *oidc_keys_ref(struct oidc_keys *keys)
{
    assert(keys->refs); /* freed keys have no owner */
    keys->refs++;
    return keys;
}

void oidc_keys_free(struct oidc_keys *keys)
{
    assert(!keys || keys->refs);
    if (!keys || --keys->refs)
        return;
    for (size_t i = 0; i < keys->count; i++) {
        free(keys->keys[i].id);
        (void)cjose_jwk_release(keys->keys[i].jwk);
    }
    free(keys);
}

size_t oidc_keys_count(const struct oidc_keys *keys)
{
    return keys->count;
}

static bool suits(const struct oidc_key *key, enum oidc_algorithm algorithm)
{
    assert(algorithm < OIDC_ALGORITHM_MAX_);
    return key->kind == algorithms[algorithm].kind && (key->only < 0 || key->only == (int)algorithm);
}

/* ---- signatures ---- */

_Static_assert(crypto_sign_BYTES == 64 && P256_BYTES * 2 == 64, "signatures of both have the same length");

static bool ed25519_signed(const struct oidc_key *key, const char *token, size_t signed_len,
                           const uint8_t *signature)
{
    return crypto_sign_verify_detached(signature, (const unsigned char *)token, signed_len, key->ed25519) ==
           0;
}

static bool cjose_signed(const struct oidc_key *key, const char *token, size_t len)
{
    cjose_err error;
    assert(key->jwk && key->kind != KIND_ED25519);
    cjose_jws_t *jws = cjose_jws_import(token, len, &error);
    const bool ok = jws && cjose_jws_verify(jws, key->jwk, &error);
    cjose_jws_release(jws);
    return ok;
}

/* The length must be checked here, because libcjose uses the halves of the signature as r and s, whatever its
 * length (AU-14). */
static bool key_signed(const struct oidc_key *key, const char *token, size_t len)
{
    uint8_t signature[OIDC_RSA_BITS_MAX / 8];
    const char *dot = memrchr(token, '.', len);
    size_t signature_len = 0;
    assert(dot);
    const size_t signed_len = (size_t)(dot - token);
    if (sodium_base642bin(signature, sizeof(signature), dot + 1, len - signed_len - 1, NULL, &signature_len,
                          NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        signature_len != key->signature_len)
        return false;
    return key->kind == KIND_ED25519 ? ed25519_signed(key, token, signed_len, signature)
                                     : cjose_signed(key, token, len);
}

enum oidc_signer oidc_keys_signed(const struct oidc_keys *keys, const char *id, enum oidc_algorithm algorithm,
                                  const char *token, size_t len)
{
    enum oidc_signer signer = OIDC_NO_KEY_FITS;
    for (size_t i = 0; i < keys->count && signer != OIDC_SIGNED_BY_KEY; i++) {
        const struct oidc_key *key = &keys->keys[i];
        if (!suits(key, algorithm) || (id && (!key->id || strcmp(key->id, id) != 0)))
            continue;
        signer = key_signed(key, token, len) ? OIDC_SIGNED_BY_KEY : OIDC_SIGNED_BY_NONE;
    }
    return signer;
}
