#include "oidc/verify.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

enum { PARTS = 3, SIGNATURE_MAX_BYTES = OIDC_RSA_BITS_MAX / 8 };

static const char *const end_names[] = {
    [OIDC_OK] = "ok",
    [OIDC_MALFORMED] = "malformed",
    [OIDC_TYPE] = "type",
    [OIDC_ISSUER] = "issuer",
    [OIDC_ALGORITHM] = "algorithm",
    [OIDC_KEYS_MISSING] = "keys_missing",
    [OIDC_KEY_UNKNOWN] = "key_unknown",
    [OIDC_SIGNATURE] = "signature",
    [OIDC_AUDIENCE] = "audience",
    [OIDC_EXPIRED] = "expired",
    [OIDC_NOT_YET] = "not_yet",
    [OIDC_LIFETIME] = "lifetime",
    [OIDC_CLAIMS] = "claims",
    [OIDC_ID_TOKEN] = "id_token",
    [OIDC_NO_RULE] = "no_rule",
};
_Static_assert(ARRAY_LEN(end_names) == OIDC_END_MAX_, "each end has a name");

const char *oidc_end_name(enum oidc_end end)
{
    assert(end < OIDC_END_MAX_);
    return end_names[end];
}

/* ---- form ---- */

struct jwt_part {
    const char *text;
    size_t len;
};

static bool split(const char *token, size_t len, struct jwt_part parts[static PARTS])
{
    const char *end = token + len;
    for (size_t i = 0; i < PARTS; i++) {
        const char *dot = memchr(token, '.', (size_t)(end - token));
        if ((dot == NULL) != (i == PARTS - 1))
            return false;
        parts[i] = (struct jwt_part){token, (size_t)((dot ? dot : end) - token)};
        if (!parts[i].len)
            return false;
        token += parts[i].len + 1;
    }
    return true;
}

/* Decodes a part. False when the text is not canonical base64url: it has other characters, padding, or bits
 * after the last byte. */
static bool decode(const struct jwt_part *part, uint8_t *bytes, size_t size, size_t *ret_len)
{
    return sodium_base642bin(bytes, size, part->text, part->len, NULL, ret_len, NULL,
                             sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0;
}

/* Returns an object without duplicate members; NULL for any other text. */
static json_t *read_object(const struct jwt_part *part)
{
    static const struct json_limits limits = {OIDC_TOKEN_BYTES, 1000, 500};
    char text[OIDC_TOKEN_BYTES];
    size_t len = 0;
    if (!decode(part, (uint8_t *)text, sizeof(text), &len) || json_scan(text, len, &limits) != JSON_SCAN_OK)
        return NULL;
    json_t *doc = json_parse_strict(text, len, NULL);
    if (json_is_object(doc))
        return doc;
    json_decref(doc);
    return NULL;
}

/* ---- header ---- */

static bool is_access_token_type(const char *typ)
{
    static const char prefix[] = "application/";
    if (!strncasecmp(typ, prefix, sizeof(prefix) - 1))
        typ += sizeof(prefix) - 1;
    return !strcasecmp(typ, "at+jwt");
}

/* Whether the type and the key id are acceptable, and there is no critical extension. Members that refer to
 * other keys (jku, jwk, x5u, x5c) are ignored. */
static bool header_is_known(const json_t *header)
{
    const json_t *typ = json_object_get(header, "typ"), *key = json_object_get(header, "kid");
    const char *text = json_string_value(typ);
    if (json_object_get(header, "crit") || json_object_get(header, "b64"))
        return false;
    if (key && (!json_is_string(key) || strlen(json_string_value(key)) > OIDC_KEY_ID_MAX))
        return false;
    return !typ || (text && (!strcasecmp(text, "JWT") || is_access_token_type(text)));
}

static bool is_allowed(const struct config_issuer *issuer, int algorithm)
{
    for (char *const *name = issuer->algorithms; name && *name; name++)
        if (oidc_algorithm_from_name(*name) == algorithm)
            return algorithm >= 0;
    return false;
}

/* ---- claims ---- */

/* Reads a time: seconds since 1970, with or without a fraction, in the supported range. */
static bool read_time(const json_t *claims, const char *name, wall_us *ret)
{
    const json_t *value = json_object_get(claims, name);
    static const double latest_s = 253402300800.0; /* the year 10000 */
    const double seconds = json_number_value(value);
    if (!json_is_number(value) || !(seconds > 0 && seconds < latest_s))
        return false;
    *ret = (wall_us)(seconds * US_PER_S);
    return true;
}

static bool is_text_or_list_with(const json_t *value, const char *text)
{
    const json_t *item;
    size_t i;
    if (json_is_string(value))
        return !strcmp(json_string_value(value), text);
    json_array_foreach (value, i, item)
        if (json_is_string(item) && !strcmp(json_string_value(item), text))
            return true;
    return false;
}

static bool is_printable(const char *text)
{
    size_t len = strlen(text);
    if (!len || len > OIDC_SUBJECT_MAX)
        return false;
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

/* Whether a claim of the issuer says what the token is: Keycloak's `typ` or Cognito's `token_use`. */
static bool says(const json_t *claims, const char *typ, const char *use)
{
    return !strcasecmp(json_str_or(claims, "typ", ""), typ) ||
           !strcasecmp(json_str_or(claims, "token_use", ""), use);
}

/* Whether the token is an ID token by positive evidence. `nonce` and `at_hash` are none: Keycloak before 25
 * and Dex write them into access tokens, too. Only an ID token comes together with a code, whose hash it has
 * (OpenID Connect Core 3.3.2.11). */
static bool is_id_token(const json_t *header, const json_t *claims)
{
    if (says(claims, "ID", "id"))
        return true;
    if (says(claims, "Bearer", "access") || is_access_token_type(json_str_or(header, "typ", "")))
        return false;
    return json_object_get(claims, "c_hash") || json_object_get(claims, "s_hash");
}

static enum oidc_end check_times(const json_t *claims, const struct config_issuer *issuer, wall_us now,
                                 struct oidc_claims *ret)
{
    const int64_t leeway = OIDC_LEEWAY_S * US_PER_S;
    wall_us not_before = 0, issued = now;
    if (!read_time(claims, "exp", &ret->expires_at) ||
        (json_object_get(claims, "nbf") && !read_time(claims, "nbf", &not_before)) ||
        (json_object_get(claims, "iat") && !read_time(claims, "iat", &issued)))
        return OIDC_CLAIMS;
    if (ret->expires_at + leeway <= now)
        return OIDC_EXPIRED;
    if (not_before > now + leeway || issued > now + leeway)
        return OIDC_NOT_YET;
    return ret->expires_at - issued > issuer->max_lifetime_us ? OIDC_LIFETIME : OIDC_OK;
}

static enum oidc_end check_claims(const json_t *header, const json_t *claims,
                                  const struct config_issuer *issuer, wall_us now, struct oidc_claims *ret)
{
    ret->subject = json_str(claims, "sub");
    if (!ret->subject || !is_printable(ret->subject))
        return OIDC_CLAIMS;
    if (!is_text_or_list_with(json_object_get(claims, "aud"), issuer->audience))
        return OIDC_AUDIENCE;
    enum oidc_end end = check_times(claims, issuer, now, ret);
    return end == OIDC_OK && is_id_token(header, claims) ? OIDC_ID_TOKEN : end;
}

/* ---- the whole token ---- */

/* Finds the issuer of a token. The claims are not verified yet; here they only select the keys for the
 * check. */
static bool find_trust(const json_t *claims, const struct oidc_trust *trusts, size_t count, size_t *ret)
{
    const char *issuer = json_str(claims, "iss");
    for (*ret = 0; issuer && *ret < count; (*ret)++)
        if (!strcmp(trusts[*ret].issuer->issuer, issuer))
            return true;
    return false;
}

/* Whether the issuer allows the algorithm and the type of the token. */
static enum oidc_end check_header(const json_t *header, const struct config_issuer *issuer)
{
    if (!is_allowed(issuer, oidc_algorithm_from_name(json_str(header, "alg"))))
        return OIDC_ALGORITHM;
    return issuer->at_jwt_only && !is_access_token_type(json_str_or(header, "typ", "")) ? OIDC_TYPE : OIDC_OK;
}

static enum oidc_end check_signature(const char *token, size_t len, const json_t *header,
                                     const struct oidc_trust *trust)
{
    const int algorithm = oidc_algorithm_from_name(json_str(header, "alg"));
    if (!trust->keys)
        return OIDC_KEYS_MISSING;
    assert(algorithm >= 0 && algorithm < OIDC_ALGORITHM_MAX_); /* checked by check_header */
    static const enum oidc_end ends[] = {[OIDC_NO_KEY_FITS] = OIDC_KEY_UNKNOWN,
                                         [OIDC_SIGNED_BY_NONE] = OIDC_SIGNATURE,
                                         [OIDC_SIGNED_BY_KEY] = OIDC_OK};
    return ends[oidc_keys_signed(trust->keys, json_str(header, "kid"), (enum oidc_algorithm)algorithm, token,
                                 len)];
}

bool oidc_has_form(const char *token, size_t len)
{
    struct jwt_part parts[PARTS];
    return len <= OIDC_TOKEN_BYTES && split(token, len, parts);
}

enum oidc_end oidc_verify(const char *token, size_t len, const struct oidc_trust *trusts, size_t count,
                          wall_us now, struct oidc_claims *ret)
{
    struct jwt_part parts[PARTS];
    uint8_t signature[SIGNATURE_MAX_BYTES];
    size_t signature_len;
    *ret = (struct oidc_claims){0};
    if (len > OIDC_TOKEN_BYTES || !split(token, len, parts) ||
        !decode(&parts[2], signature, sizeof(signature), &signature_len))
        return OIDC_MALFORMED;
    json_t *header CLEANUP_JSON = read_object(&parts[0]);
    json_t *claims CLEANUP_JSON = read_object(&parts[1]);
    if (!header || !claims)
        return OIDC_MALFORMED;
    if (!header_is_known(header))
        return OIDC_TYPE;
    if (!find_trust(claims, trusts, count, &ret->trust))
        return OIDC_ISSUER;
    const struct oidc_trust *trust = &trusts[ret->trust];
    /* The signature comes last, because its check takes longer than all others. */
    enum oidc_end end = check_header(header, trust->issuer);
    if (end == OIDC_OK)
        end = check_claims(header, claims, trust->issuer, now, ret);
    if (end == OIDC_OK)
        end = check_signature(token, len, header, trust);
    if (end == OIDC_OK)
        ret->all = json_incref(claims);
    assert(end != OIDC_OK ||
           (ret->trust < count && ret->subject && ret->expires_at > now - OIDC_LEEWAY_S * US_PER_S));
    return end;
}
