/* The web page at / and the files that it loads: prepared bytes, without authentication. The page asks for a
 * token. */
#include "api/resources/handlers.h"

#include <assert.h>
#include <string.h>

#include "api/api_private.h"
#include "api/dashboard_files.h"
#include "api/request.h"
#include "base/buffer.h"
#include "base/etag.h"
#include "base/mem.h"
#include "model/problem.h"

/* The page may load its own files, and call this server and the issuers of single sign-on. All else is
 * forbidden: inline scripts, inline styles, and frames around the page. */
#define POLICY_BEFORE "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"
#define POLICY_AFTER                                                                        \
    "; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " \
    "require-trusted-types-for 'script'; trusted-types 'none'"

enum { POLICY_BYTES = sizeof(POLICY_BEFORE POLICY_AFTER) + CONFIG_MAX_ISSUERS * 256 };

/* Returns why there is no dashboard, or NULL. */
static struct problem *check_dashboard(const struct request *r)
{
    if (!api_config(r->api)->dashboard)
        return problem_new(PROBLEM_NOT_FOUND,
                           "The dashboard is switched off (dashboard: false in the configuration).");
    if (!dashboard_page)
        return problem_new(PROBLEM_NOT_FOUND,
                           "This shootd was built without its dashboard: npm was absent. GET /openapi.yaml "
                           "lists the API.");
    return NULL;
}

/* Returns the form that the client prefers; of equally preferred forms, returns the smallest form. */
static const struct dashboard_form *best_form(const struct request *r, const struct dashboard_file *file)
{
    const char *accept_encoding = r->http.headers.values[HEADER_ACCEPT_ENCODING];
    const struct dashboard_form *best = &file->forms[DASHBOARD_FORMS - 1];
    int best_quality = 0;
    for (size_t i = 0; i < DASHBOARD_FORMS; i++) {
        const int quality = coding_quality(accept_encoding, file->forms[i].coding);
        if (quality > best_quality) {
            best = &file->forms[i];
            best_quality = quality;
        }
    }
    return best;
}

static struct problem *answer_form(struct request *r, const struct dashboard_file *file,
                                   const struct dashboard_form *form, const char *tag, const char *caching)
{
    struct answer *a = &r->http.answer;
    r->http.may_compress = false; /* the compressed forms were made at the build */
    answer_static(a, MHD_HTTP_OK, file->type, form->bytes, form->len);
    answer_field(a, "Cache-Control", caching);
    answer_field(a, "Vary", "Accept-Encoding");
    answer_field(a, "ETag", tag);
    answer_field(a, "X-Content-Type-Options", "nosniff");
    struct problem *p = http_apply_conditions(&r->http, tag);
    if (!p && a->status == MHD_HTTP_OK && strcmp(form->coding, "identity") != 0)
        answer_field(a, "Content-Encoding", form->coding);
    return p;
}

/* ---- the policy ---- */

/* Length of the origin at the beginning of an issuer's URL. */
static size_t origin_len(const char *url)
{
    const char *host = strstr(url, "://");
    return host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/") : 0;
}

/* Whether the page may call this issuer. It must have a client_id, and a policy must be able to name its
 * host, which is impossible for IPv6 addresses. */
static bool is_called(const struct config_issuer *issuer)
{
    return issuer->client_id && !memchr(issuer->issuer, '[', origin_len(issuer->issuer));
}

static bool is_named_before(const struct config *config, size_t at)
{
    const char *url = config->oidc.issuers[at].issuer;
    const size_t len = origin_len(url);
    for (size_t i = 0; i < at; i++) {
        const struct config_issuer *other = &config->oidc.issuers[i];
        if (is_called(other) && origin_len(other->issuer) == len && !strncmp(other->issuer, url, len))
            return true;
    }
    return false;
}

/* Makes the policy, which the caller frees. The check of the configuration ensures that an issuer has no
 * character with a special meaning in a policy. */
static char *policy_of(const struct config *config)
{
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, POLICY_BYTES);
    buffer_add_str(&out, POLICY_BEFORE);
    for (size_t i = 0; i < config->oidc.issuer_count; i++) {
        const char *url = config->oidc.issuers[i].issuer;
        if (is_called(&config->oidc.issuers[i]) && !is_named_before(config, i))
            buffer_printf(&out, " %.*s", (int)origin_len(url), url);
    }
    buffer_add_str(&out, POLICY_AFTER);
    assert(!out.overflow);
    return buffer_take(&out, NULL);
}

/* Makes the ETag of the page. The ETag also depends on the policy, because after a reload of the
 * configuration a browser must not use the old policy. */
static void tag_of(const char *policy, const struct dashboard_form *form, char tag[static ETAG_BYTES])
{
    char *both CLEANUP_FREE = mem_printf("%s %s", form->etag, policy);
    etag_of_bytes(both, strlen(both), tag);
}

struct problem *handle_dashboard(struct request *r)
{
    struct problem *p = check_dashboard(r);
    if (p)
        return p;
    char *policy = policy_of(api_config(r->api)), tag[ETAG_BYTES];
    const struct dashboard_form *form = best_form(r, dashboard_page);
    tag_of(policy, form, tag);
    answer_long_field(&r->http.answer, "Content-Security-Policy", policy);
    answer_field(&r->http.answer, "Cross-Origin-Opener-Policy", "same-origin");
    answer_field(&r->http.answer, "Referrer-Policy", "no-referrer");
    return answer_form(r, dashboard_page, form, tag, "no-cache");
}

struct problem *handle_dashboard_file(struct request *r)
{
    struct problem *p = check_dashboard(r);
    for (size_t i = 0; !p && i < dashboard_file_count; i++)
        if (!strcmp(dashboard_files[i].name, r->item)) {
            const struct dashboard_form *form = best_form(r, &dashboard_files[i]);
            return answer_form(r, &dashboard_files[i], form, form->etag,
                               "public, max-age=31536000, immutable");
        }
    if (p)
        return p;
    return problem_new(PROBLEM_NOT_FOUND, "The dashboard has no such file, or no longer has it. A page that "
                                          "requests it is from another version: reload the page.");
}
