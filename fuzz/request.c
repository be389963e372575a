/* Whole requests up to the handler: request line, header fields, body; each check of one, and the readers of
 * single fields. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "api/checks.h"
#include "api/compress.h"
#include "api/conditional.h"
#include "api/cursor.h"
#include "api/prefer.h"
#include "api/reaper.h"
#include "api/routes.h"
#include "base/mem.h"
#include "fuzz/http_input.h"

static void read_fields(struct request *r)
{
    const char *match = r->headers.values[HEADER_IF_MATCH];
    const char *none_match = r->headers.values[HEADER_IF_NONE_MATCH];
    (void)condition_of_read(match, none_match, "\"v1\"");
    (void)condition_of_write(match, none_match, "\"v1\"");
    (void)compress_is_wanted(r->headers.values[HEADER_ACCEPT_ENCODING]);
    FUZZ_CHECK(accept_quality(r->headers.values[HEADER_ACCEPT], TYPE_JSON) <= 1000);
    (void)prefer_read(r);
    FUZZ_CHECK(request_trace(r)->id[0]);
}

/* What passed every check is well-formed. */
static void check_passed(struct request *r, const char *body)
{
    struct cursor_place place;
    FUZZ_CHECK(r->route && !r->headers.fault && !r->answer.status);
    FUZZ_CHECK(r->token || r->route->flags & ROUTE_PUBLIC);
    FUZZ_CHECK(r->headers.counts[HEADER_CONTENT_LENGTH] <= 1);
    (void)cursor_read(r, &place);
    (void)body_append(r, body, strlen(body));
    problem_free(check_body(r));
}

/* What is refused is told as a problem, in text that can be read. */
static void check_refused(const struct request *r)
{
    FUZZ_CHECK(r->answer.status >= 200);
    if (r->answer.status < 400)
        return; /* OPTIONS */
    json_t *problem CLEANUP_JSON = json_loadb(r->answer.bytes, r->answer.len, 0, NULL);
    FUZZ_CHECK(json_str(problem, "code"));
    FUZZ_CHECK(strcmp(json_str(problem, "code"), "internal_error") != 0);
}

static void check_request(struct http_input *input)
{
    struct connection *peer = MEM_NEW(struct connection);
    memcpy(peer->address, "127.0.0.1", sizeof("127.0.0.1"));
    peer->is_proxy = true;
    peer->target_len = input->target_len;
    struct request *r = request_new(http_input_api(), input->mhd, peer, input->method, input->version);
    read_fields(r);
    if (request_check(r, input->target))
        check_passed(r, input->body);
    else
        check_refused(r);
    request_free(r);
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
    struct problem *too_many CLEANUP_PROBLEM = params_refuse_target(input.target);
    if (query)
        *query++ = '\0';
    http_input_query(query, NULL);
    if (!too_many)
        check_request(&input);
    return 0;
}
