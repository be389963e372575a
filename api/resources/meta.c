/*
 * Information about the server: metrics, version, contract, issuers of tokens, the caller's token, and the
 * pages for the `type` of problems.
 */
#include "api/resources/handlers.h"

#include <assert.h>
#include <string.h>

#include "api/api_private.h"
#include "api/reads.h"
#include "api/request.h"
#include "base/metric.h"
#include "base/timefmt.h"
#include "model/problem.h"
#include "model/string_list.h"

/* A client that accepts both forms with equal weight gets Prometheus' text. */
static bool wants_openmetrics(const struct request *r)
{
    const char *accept = r->http.headers.values[HEADER_ACCEPT];
    return accept &&
           accept_quality(accept, "application/openmetrics-text") > accept_quality(accept, "text/plain");
}

struct problem *handle_metrics(struct request *r)
{
    enum { MAX_METRICS = 16 * 1024 * 1024 };
    const struct api_options *o = &r->api->options;
    struct buffer text CLEANUP_BUFFER, coded CLEANUP_BUFFER;
    const char *type = "text/plain; version=0.0.4; charset=utf-8";
    struct buffer *out = &text;
    buffer_init(&text, MAX_METRICS);
    buffer_init(&coded, MAX_METRICS);
    const struct http_numbers numbers = http_numbers(r->http.server);
    metrics_write(r->api, &numbers, &text);
    if (o->metrics)
        o->metrics(o->metrics_ctx, &text);
    if (wants_openmetrics(r)) {
        type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        out = &coded;
        metric_to_openmetrics(&text, &coded);
    }
    size_t len;
    char *body = buffer_take(out, &len);
    answer_text(&r->http.answer, MHD_HTTP_OK, type, body, len);
    answer_header(&r->http.answer, "Cache-Control", "no-store");
    answer_header(&r->http.answer, "Vary", "Accept");
    return NULL;
}

struct problem *handle_version(struct request *r)
{
    json_t *doc = json_object();
    json_set_str(doc, "name", "shootd");
    json_set_str(doc, "version", r->api->options.version);
    json_set_str(doc, "revision", r->api->options.revision);
    json_set_str(doc, "api", "v1");
    json_set_str(doc, "store_id", r->api->options.store_id);
    json_set_str(doc, "start_id", r->api->options.start_id);
    return answer_with_public_document(r, doc);
}

static struct problem *answer_contract(struct request *r, const char *type, const unsigned char *bytes,
                                       size_t len, _Atomic(struct http_coded *) *coded_place)
{
    answer_shared(&r->http.answer, MHD_HTTP_OK, type, bytes, len, coded_place, NULL, NULL);
    answer_header(&r->http.answer, "Cache-Control", "max-age=300");
    answer_header(&r->http.answer, "ETag", "%s", r->api->openapi_etag);
    return http_apply_conditions(&r->http, r->api->openapi_etag);
}

struct problem *handle_openapi_yaml(struct request *r)
{
    return answer_contract(r, TYPE_YAML, openapi_yaml, openapi_yaml_len, &r->api->openapi_coded[0]);
}

struct problem *handle_openapi_json(struct request *r)
{
    return answer_contract(r, TYPE_JSON, openapi_json, openapi_json_len, &r->api->openapi_coded[1]);
}

/* The answer is for programs that request a token from an issuer. */
struct problem *handle_auth(struct request *r)
{
    const struct config *config = api_config(r->api);
    json_t *doc = json_object(), *issuers = json_array();
    for (size_t i = 0; i < config->oidc.issuer_count; i++) {
        const struct config_issuer *of = &config->oidc.issuers[i];
        json_t *issuer = json_object();
        json_set_str(issuer, "issuer", of->issuer);
        json_set_str(issuer, "client_id", of->client_id);
        json_set_take(issuer, "scopes", of->client_id ? string_list_to_json(of->scopes) : json_array());
        json_append_take(issuers, issuer);
    }
    json_set_take(doc, "issuers", issuers);
    return answer_with_public_document(r, doc);
}

struct problem *handle_whoami(struct request *r)
{
    const struct api_token *t = r->token;
    assert(t); /* the route requires a token */
    char text[TIME_TEXT_BYTES];
    json_t *doc = json_object();
    json_set_str(doc, "id", t->id);
    json_set_str(doc, "name", t->name);
    json_set_str(doc, "role", role_name(t->role));
    json_set_take(doc, "projects", string_list_to_json(t->projects));
    json_set_str(doc, "expires_at", t->expires_at ? time_rfc3339(t->expires_at, false, text) : NULL);
    json_set_str(doc, "issuer", t->issuer);
    json_set_str(doc, "subject", t->subject);
    return answer_with_document(r, doc);
}

/* ---- problems: rows of the registry, for programs and for people; no token ---- */

#define TYPE_HTML "text/html; charset=utf-8"

static void add_escaped(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        const char *entity = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        buffer_add(out, entity ? entity : text, entity ? strlen(entity) : 1);
    }
}

static void answer_page(struct request *r, const struct problem_kind *kind, const char *responsible)
{
    struct buffer out CLEANUP_BUFFER;
    size_t len;
    buffer_init(&out, 16 * 1024);
    buffer_printf(
        &out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title></head>\n"
        "<body><h1>%s</h1>\n<p>Problem <code>%s</code>, HTTP status %d. Who has to act: %s.</p>\n<p>",
        kind->title, kind->title, kind->code, kind->status, responsible);
    add_escaped(&out, kind->advice);
    buffer_add_str(&out, "</p></body></html>\n");
    char *text = buffer_take(&out, &len);
    answer_text(&r->http.answer, MHD_HTTP_OK, TYPE_HTML, text, len);
    answer_header(&r->http.answer, "Cache-Control", "max-age=300");
    answer_header(&r->http.answer, "Content-Security-Policy", "default-src 'none'");
    answer_header(&r->http.answer, "X-Content-Type-Options", "nosniff");
}

struct problem *handle_problem(struct request *r)
{
    assert(r->item);
    int code = problem_from_name(r->item);
    if (code < 0)
        return problem_new(PROBLEM_NOT_FOUND, "There is no problem of this code.");
    const struct problem_kind *kind = problem_kind((enum problem_code)code);
    json_t *doc = problem_kind_to_json((enum problem_code)code);
    answer_header(&r->http.answer, "Vary", "Accept");
    /* Browsers prefer HTML; a client that accepts anything, or sends no Accept, gets JSON. */
    const char *accept = r->http.headers.values[HEADER_ACCEPT];
    if (!accept || accept_quality(accept, "text/html") <= accept_quality(accept, TYPE_JSON))
        return answer_with_public_document(r, doc);
    answer_page(r, kind, json_str(doc, "responsible"));
    json_decref(doc);
    return NULL;
}
