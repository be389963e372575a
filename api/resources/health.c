/* /livez and /readyz (OB-9 to OB-11): answered from memory. The status is the result; ?verbose adds one line
 * per check. */
#include "api/resources/handlers.h"

#include "api/api_private.h"
#include "api/request.h"

enum { WHY_BYTES = 240 };

struct health_check {
    const char *name;
    bool ok;
    const char *why;
};

static bool is_well(bool (*question)(void *ctx, char *why, size_t size), void *ctx,
                    char why[static WHY_BYTES])
{
    why[0] = '\0';
    return !question || question(ctx, why, WHY_BYTES);
}

static void answer_health_checks(struct request *r, const struct health_check *checks, size_t count,
                                 const char *remarks)
{
    bool verbose = r->params.given[PARAM_VERBOSE];
    bool all = true;
    struct buffer text CLEANUP_BUFFER;
    buffer_init(&text, 4096);
    for (size_t i = 0; i < count; i++) {
        bool skipped =
            r->params.given[PARAM_EXCLUDE] && param_lists(&r->params, PARAM_EXCLUDE, checks[i].name);
        bool ok = checks[i].ok || skipped;
        all = all && ok;
        if (verbose || !ok)
            buffer_printf(&text, "[%c]%s %s%s%s\n", ok ? '+' : '-', checks[i].name,
                          skipped ? "excluded"
                          : ok    ? "ok"
                                  : "failed",
                          ok ? "" : ": ", ok ? "" : checks[i].why);
    }
    if (verbose && *remarks)
        buffer_printf(&text, "[!]%s\n", remarks);
    buffer_add_str(&text, all ? "ok\n" : "failed\n");
    size_t len;
    char *body = buffer_take(&text, &len);
    answer_text(&r->http.answer, all ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, TYPE_TEXT, body, len);
    answer_header(&r->http.answer, "Cache-Control", "no-store");
}

struct problem *handle_livez(struct request *r)
{
    char why[WHY_BYTES];
    const struct api_options *o = &r->api->options;
    const struct health_check checks[] = {{"progress", is_well(o->live, o->live_ctx, why), why}};
    answer_health_checks(r, checks, 1, "");
    return NULL;
}

struct problem *handle_readyz(struct request *r)
{
    char why_not_live[WHY_BYTES], why_not_writable[WHY_BYTES];
    const struct api_options *o = &r->api->options;
    bool live = is_well(o->live, o->live_ctx, why_not_live);
    bool writable = is_well(o->writable, o->live_ctx, why_not_writable);
    const struct view_snapshot *s = view_enter(r->api->options.view);
    bool ready = s->ready;
    bool draining = s->draining || http_is_draining(&r->http);
    view_leave(r->api->options.view);
    const struct health_check checks[] = {
        {"progress", live, why_not_live},
        {"loaded", ready, "the stored state is not loaded yet"},
        {"store", writable, why_not_writable},
        {"serving", !draining, "the server is being stopped"},
    };
    char remarks[WHY_BYTES] = "";
    if (o->remarks)
        o->remarks(o->live_ctx, remarks, sizeof(remarks));
    answer_health_checks(r, checks, ARRAY_LEN(checks), remarks);
    return NULL;
}
