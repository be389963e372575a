/*
 * The three kubeconfig calls of Cleura (CL-15), and their answers. Checks whether a text is a kubeconfig, and
 * reads when its client certificate expires. The real expiry is read, never assumed (GA-14), because Cleura
 * silently shortens a long requested lifetime. The text is always a secret.
 */
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "model/kubeconfig_file.h"
#include "upstream/wire/driver_private.h"

enum { LONGEST_LIFE_S = 366 * 24 * 3600 };

static const struct json_limits json_limits = {256 * 1024, 1000, 1000};

enum { SERVER_MAX = 300 };

bool kubeconfig_is_plausible(const char *text)
{
    const char *kind = strstr(text, "kind:");
    return kind && strstr(text, "clusters:") && strstr(text, "Config");
}

/* Without this function OpenSSL would ask for a pass phrase on the terminal, and wait. */
static int no_pass_phrase(char *buf ATTR_UNUSED, int size ATTR_UNUSED, int writing ATTR_UNUSED,
                          void *ctx ATTR_UNUSED)
{
    return -1;
}

static wall_us pem_not_after(const unsigned char *pem, size_t len)
{
    BIO *bio = BIO_new_mem_buf(pem, (int)len);
    X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, no_pass_phrase, NULL) : NULL;
    struct tm tm;
    wall_us at = 0;
    if (certificate && ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &tm) == 1)
        at = (wall_us)timegm(&tm) * US_PER_S;
    X509_free(certificate);
    (void)BIO_free(bio);
    ERR_clear_error();
    return at;
}

static wall_us expiry_of(const struct kubeconfig_parts *parts)
{
    char *pem CLEANUP_FREE =
        parts && parts->certificate_data ? kubeconfig_pem(parts->certificate_data) : NULL;
    return pem ? pem_not_after((const unsigned char *)pem, strlen(pem)) : 0;
}

wall_us kubeconfig_expiry(const char *kubeconfig)
{
    struct kubeconfig_parts *parts CLEANUP_KUBECONFIG = kubeconfig_parse(kubeconfig);
    return expiry_of(parts);
}

static char *json_kubeconfig(wall_us now, const char *body, size_t len, struct upstream_result *result)
{
    struct decoding d = {.now = now};
    enum json_scan_end end;
    json_t *doc CLEANUP_JSON = json_parse_tolerant(body, len, &json_limits, &end);
    char *text =
        mem_strdup(json_is_string(doc) ? json_string_value(doc) : decode_text(&d, doc, "kubeconfig"));
    if (json_is_object(doc))
        result->expires_at = decode_time(&d, doc, "expires_at");
    decode_report_unread(&d, doc, &result->unread);
    json_wipe(doc);
    return text;
}

/* The first byte of the body, not the content type, shows its form. v3 returns a JSON object, v1 a JSON
 * string, v2 plain YAML. */
bool decode_kubeconfig(wall_us now, const char *body, size_t len, struct upstream_result *result)
{
    if (len && (body[0] == '{' || body[0] == '"'))
        result->kubeconfig = json_kubeconfig(now, body, len, result);
    else
        result->kubeconfig = strlen(body) == len ? mem_strndup(body, len) : NULL;
    if (!result->kubeconfig || !kubeconfig_is_plausible(result->kubeconfig))
        return false;
    struct kubeconfig_parts *parts CLEANUP_KUBECONFIG = kubeconfig_parse(result->kubeconfig);
    if (!result->expires_at)
        result->expires_at = expiry_of(parts);
    if (parts && parts->server && strlen(parts->server) <= SERVER_MAX &&
        !strncmp(parts->server, "https://", 8))
        result->server = mem_strdup(parts->server);
    /* A kubeconfig is never valid for longer than this, so a later expiry is ignored. */
    if (result->expires_at < 0 || result->expires_at - now > LONGEST_LIFE_S * US_PER_S)
        result->expires_at = 0;
    return true;
}

/* ---- the calls ---- */

static json_t *encode_lifetime(const struct upstream_call *call)
{
    json_t *body = json_object();
    json_set_int(body, "expiration_seconds", call->ttl_seconds);
    return body;
}

static json_t *encode_lifetime_v1(const struct upstream_call *call)
{
    json_t *body = json_object(), *config = json_object();
    json_set_int(config, "expirationSeconds", call->ttl_seconds);
    json_set_take(body, "config", config);
    return body;
}

/* only this call returns the real expiry */
const struct upstream_endpoint kubeconfig_v3 = {
    "POST", "/gardener/v3/{cloud}/shoots/{region}/{project}/{name}/admin-kubeconfig",
    .encode = encode_lifetime, .decode_body = decode_kubeconfig};
const struct upstream_endpoint kubeconfig_v2 = {
    "POST", "/gardener/v2/{cloud}/shoots/{region}/{project}/{name}/admin-kubeconfig",
    .encode = encode_lifetime, .decode_body = decode_kubeconfig};
/* the form of this body is undocumented, but works */
const struct upstream_endpoint kubeconfig_v1 = {
    "POST", "/gardener/v1/{cloud}/shoot/{region}/{project}/{name}/adminkubeconfig",
    .encode = encode_lifetime_v1, .decode_body = decode_kubeconfig};
