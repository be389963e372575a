/* The server about itself: metrics, version, contract, and the caller's token. */
#include "api/resources/handlers.h"

#include "api/api_private.h"
#include "api/openapi.h"
#include "api/reads.h"
#include "api/request.h"
#include "base/timefmt.h"

struct problem *handle_metrics(struct request *r)
{
    enum { MAX_METRICS = 16 * 1024 * 1024 };
    const struct api_options *o = &r->api->options;
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, MAX_METRICS);
    const struct http_numbers numbers = http_numbers(r->http.server);
    metrics_write(r->api, &numbers, &out);
    if (o->metrics)
        o->metrics(o->metrics_ctx, &out);
    size_t len;
    char *text = buffer_take(&out, &len);
    answer_text(&r->http.answer, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", text, len);
    answer_header(&r->http.answer, "Cache-Control", "no-store");
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

struct problem *handle_whoami(struct request *r)
{
    const struct api_token *t = r->token;
    char text[TIME_TEXT_BYTES];
    json_t *doc = json_object();
    json_set_str(doc, "id", t->id);
    json_set_str(doc, "name", t->name);
    json_set_str(doc, "role", role_name(t->role));
    json_set_take(doc, "projects", string_list_to_json(t->projects));
    json_set_str(doc, "expires_at", t->expires_at ? time_rfc3339(t->expires_at, false, text) : NULL);
    return answer_with_document(r, doc);
}
