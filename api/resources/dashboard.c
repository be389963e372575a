/* The web page at / and the files that it loads: prepared bytes, without authentication. The page asks for a
 * token. */
#include "api/resources/handlers.h"

#include <string.h>

#include "api/api_private.h"
#include "api/dashboard_files.h"
#include "api/request.h"
#include "model/problem.h"

/* The page may load its own files and call this server, nothing else: no inline script or style, no frame
 * around it. */
#define POLICY                                                                                            \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "   \
    "trusted-types 'none'"

_Static_assert(sizeof(POLICY) <= ANSWER_HEADER_BYTES, "a field that does not fit would be left out");

/* Why there is no dashboard, or NULL. */
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

/* The form that the client prefers; of equally preferred forms the smallest. */
static const struct dashboard_form *best_form(const struct dashboard_file *file, const char *accept_encoding)
{
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

static struct problem *answer_file(struct request *r, const struct dashboard_file *file, const char *caching)
{
    struct answer *a = &r->http.answer;
    const struct dashboard_form *form = best_form(file, r->http.headers.values[HEADER_ACCEPT_ENCODING]);
    r->http.may_compress = false; /* the build made the compressed forms */
    answer_static(a, MHD_HTTP_OK, file->type, form->bytes, form->len);
    answer_field(a, "Cache-Control", caching);
    answer_field(a, "Vary", "Accept-Encoding");
    answer_field(a, "ETag", form->etag);
    answer_field(a, "X-Content-Type-Options", "nosniff");
    struct problem *p = http_apply_conditions(&r->http, form->etag);
    if (!p && a->status == MHD_HTTP_OK && strcmp(form->coding, "identity") != 0)
        answer_field(a, "Content-Encoding", form->coding);
    return p;
}

struct problem *handle_dashboard(struct request *r)
{
    struct problem *p = check_dashboard(r);
    if (p)
        return p;
    answer_field(&r->http.answer, "Content-Security-Policy", POLICY);
    answer_field(&r->http.answer, "Cross-Origin-Opener-Policy", "same-origin");
    answer_field(&r->http.answer, "Referrer-Policy", "no-referrer");
    return answer_file(r, dashboard_page, "no-cache");
}

struct problem *handle_dashboard_file(struct request *r)
{
    struct problem *p = check_dashboard(r);
    for (size_t i = 0; !p && i < dashboard_file_count; i++)
        if (!strcmp(dashboard_files[i].name, r->item))
            return answer_file(r, &dashboard_files[i], "public, max-age=31536000, immutable");
    if (p)
        return p;
    return problem_new(PROBLEM_NOT_FOUND,
                       "The dashboard has no such file (any more): a page that asks for it is from another "
                       "version. Reload it.");
}
