/* Whole requests up to the handler: request line, header fields, body; each check of a request, and the
 * readers of single fields. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "api/cursor.h"
#include "api/routes.h"
#include "base/etag.h"
#include "base/mem.h"
#include "fuzz/http_input.h"
#include "http/http_private.h"
#include "http/message/content.h"
#include "http/message/target.h"

static void read_fields(struct request *r)
{
    const char *match = r->http.headers.values[HEADER_IF_MATCH];
    const char *none_match = r->http.headers.values[HEADER_IF_NONE_MATCH];
    const struct preconditions p = preconditions_read(match, none_match);
    struct preconditions *copy CLEANUP_FREE = preconditions_copy(&p);
    const struct etag_current whole = {.exists = true, .tag = "\"v1\""}, version = {.tag = "\"v1"};
    FUZZ_CHECK(preconditions_check(&p, &whole) == preconditions_check(copy, &whole));
    FUZZ_CHECK(preconditions_check(&p, &version) == preconditions_check(copy, &version));
    (void)compress_is_wanted(r->http.headers.values[HEADER_ACCEPT_ENCODING]);
    FUZZ_CHECK(accept_quality(r->http.headers.values[HEADER_ACCEPT], TYPE_JSON) <= 1000);
    (void)prefer_read(&r->http.headers);
    FUZZ_CHECK(server_request_trace(&r->http)->id[0]);
}

/* Checks that a request that passed every check is well-formed. */
static void check_passed(struct request *r, const char *body)
{
    struct cursor_place place;
    FUZZ_CHECK(r->route && !r->http.headers.fault && !r->http.answer.status);
    FUZZ_CHECK(r->token || r->route->flags & ROUTE_PUBLIC);
    FUZZ_CHECK(r->http.headers.counts[HEADER_CONTENT_LENGTH] <= 1);
    (void)cursor_read(r, &place);
    (void)server_request_append(&r->http, body, strlen(body));
    const struct content_rules rules = route_content(r->route);
    struct problem *p = http_check_body_size(&r->http);
    problem_free(p ? p : http_read_document(&r->http, &rules));
}

/* Checks that a refusal is a problem document that a client can read. */
static void check_refused(const struct request *r)
{
    FUZZ_CHECK(r->http.answer.status >= 200);
    if (r->http.answer.status < 400)
        return; /* not a refusal, but the answer to OPTIONS */
    json_t *problem CLEANUP_JSON = json_loadb(r->http.answer.bytes, r->http.answer.len, 0, NULL);
    FUZZ_CHECK(json_str(problem, "code"));
    FUZZ_CHECK(strcmp(json_str(problem, "code"), "internal_error") != 0);
}

static void check_request(struct http_input *input)
{
    struct connection *peer = MEM_NEW(struct connection);
    memcpy(peer->address, "127.0.0.1", sizeof("127.0.0.1"));
    peer->is_proxy = true;
    peer->target_len = input->target_len;
    struct server_request *http =
        server_request_new(http_input_server(), input->mhd, peer, input->method, input->version);
    struct request *r = CONTAINER_OF(http, struct request, http);
    read_fields(r);
    if (server_request_check(http, input->target))
        check_passed(r, input->body);
    else
        check_refused(r);
    api_application.done(http, 0, NULL);
    server_request_free(http);
    free(peer->spare);
    free(peer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text CLEANUP_FREE = fuzz_text(bytes, len);
    struct http_input input;
    if (!http_input_read(text, &input))
        return 0;
    char *query = strchr(input.target, '?');
    struct problem *too_many CLEANUP_PROBLEM = query_refuse_target(input.target);
    if (query)
        *query++ = '\0';
    http_input_query(query, NULL);
    if (!too_many)
        check_request(&input);
    return 0;
}
