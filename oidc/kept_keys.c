#include "oidc/kept_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/private_file.h"
#include "oidc/keys.h"

enum { NAME_BYTES = 48, NAME_DIGITS = 16, FILE_BYTES = OIDC_JWKS_BYTES + 8 * 1024 };

/* Writes "issuer-4f1c...json". The name contains a digest, because issuers are URLs of any length. */
static void file_name(const char *issuer, char name[static NAME_BYTES])
{
    char hex[TOKEN_HEX_BYTES];
    token_digest_hex(issuer, hex);
    (void)snprintf(name, NAME_BYTES, "issuer-%.*s.json", NAME_DIGITS, hex);
}

/* Returns the document in the file of this issuer. When it returns NULL, *ret_why is the reason, or NULL when
 * there is no file. */
static json_t *read_document(int directory, const char *issuer, const char **ret_why)
{
    static const struct json_limits limits = {FILE_BYTES, 50000, 10000};
    char name[NAME_BYTES];
    char *bytes CLEANUP_FREE = mem_calloc(FILE_BYTES, 1);
    enum json_scan_end end;
    file_name(issuer, name);
    const int len = private_file_read(directory, name, PRIVATE_TO_OWNER, bytes, FILE_BYTES);
    *ret_why = len >= 0 || len == -ENOENT ? NULL : strerror(-len);
    if (len < 0)
        return NULL;
    json_t *doc = json_parse_foreign(bytes, (size_t)len, &limits, &end);
    if (!doc)
        *ret_why = json_scan_text(end);
    else if (strcmp(json_str_or(doc, "issuer", ""), issuer) != 0 || !json_obj(doc, "jwks"))
        *ret_why = "it is not about this issuer";
    if (*ret_why && doc)
        json_decref(doc);
    return *ret_why ? NULL : doc;
}

char *kept_keys_read(int directory, const char *issuer, size_t *ret_len, wall_us *ret_read_at)
{
    const char *why;
    json_t *doc CLEANUP_JSON = read_document(directory, issuer, &why);
    if (why)
        log_warning("stored issuer keys are not usable", "issuer", issuer, "error", why);
    if (!doc)
        return NULL;
    char *text = json_text(json_obj(doc, "jwks"));
    *ret_len = strlen(text);
    *ret_read_at = json_int(doc, "read_at", 0);
    return text;
}

static bool is_kept(int directory, const char *issuer, const json_t *jwks, wall_us read_at)
{
    const char *why;
    json_t *doc CLEANUP_JSON = read_document(directory, issuer, &why);
    const int64_t age = read_at - json_int(doc, "read_at", 0);
    return doc && json_equal(json_obj(doc, "jwks"), jwks) && age >= 0 && age < KEPT_KEYS_RENEW_S * US_PER_S;
}

void kept_keys_write(int directory, const char *issuer, const char *text, size_t len, wall_us read_at)
{
    static const struct json_limits limits = {OIDC_JWKS_BYTES, 50000, 10000};
    char name[NAME_BYTES];
    enum json_scan_end end;
    json_t *jwks CLEANUP_JSON = json_parse_foreign(text, len, &limits, &end);
    if (!jwks || is_kept(directory, issuer, jwks, read_at))
        return;
    json_t *doc CLEANUP_JSON = json_object();
    json_set_str(doc, "issuer", issuer);
    json_set_int(doc, "read_at", read_at);
    json_set_take(doc, "jwks", json_incref(jwks));
    char *line CLEANUP_FREE = json_text(doc);
    file_name(issuer, name);
    const int r = private_file_write(directory, name, line, strlen(line));
    if (r)
        log_warning("issuer keys cannot be stored for the next start", "issuer", issuer, "error",
                    strerror(-r));
}
