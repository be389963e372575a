/* What the `type` of a problem leads to: its row of the registry, for programs and for people. No token. */
#include "api/resources/handlers.h"

#include <string.h>

#include "api/reads.h"
#include "api/request.h"
#include "model/problem.h"

#define TYPE_HTML "text/html; charset=utf-8"

static void add_escaped(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        const char *entity = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        (void)buffer_add(out, entity ? entity : text, entity ? strlen(entity) : 1);
    }
}

static void answer_page(struct request *r, const struct problem_kind *kind, const char *fault)
{
    struct buffer out CLEANUP_BUFFER;
    size_t len;
    buffer_init(&out, 16 * 1024);
    (void)buffer_printf(
        &out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title></head>\n"
        "<body><h1>%s</h1>\n<p>Problem <code>%s</code>, HTTP status %d, fault: %s.</p>\n<p>",
        kind->title, kind->title, kind->code, kind->status, fault);
    add_escaped(&out, kind->advice);
    (void)buffer_add_str(&out, "</p></body></html>\n");
    char *text = buffer_take(&out, &len);
    answer_text(&r->http.answer, MHD_HTTP_OK, TYPE_HTML, text, len);
    answer_header(&r->http.answer, "Cache-Control", "max-age=300");
    answer_header(&r->http.answer, "Content-Security-Policy", "default-src 'none'");
    answer_header(&r->http.answer, "X-Content-Type-Options", "nosniff");
}

/* Browsers ask for HTML first; whoever takes anything, or says nothing, gets JSON. */
static bool wants_page(const struct request *r)
{
    const char *accept = r->http.headers.values[HEADER_ACCEPT];
    return accept && accept_quality(accept, "text/html") > accept_quality(accept, TYPE_JSON);
}

struct problem *handle_problem(struct request *r)
{
    int code = problem_from_name(r->item);
    if (code < 0)
        return problem_new(PROBLEM_NOT_FOUND, "There is no problem of this code.");
    const struct problem_kind *kind = problem_kind((enum problem_code)code);
    json_t *doc = problem_kind_to_json((enum problem_code)code);
    answer_header(&r->http.answer, "Vary", "Accept");
    if (!wants_page(r))
        return answer_with_public_document(r, doc);
    answer_page(r, kind, json_str(doc, "fault"));
    json_decref(doc);
    return NULL;
}
