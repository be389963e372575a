#include "fuzz/cli_server.h"

#include <string.h>

#include "base/mem.h"
#include "cli/http.h"
#include "fuzz/fuzz.h"

struct cli_http {
    bool (*tick)(void *ctx);
    void *ctx;
};

static const uint8_t *rest;
static size_t rest_len;

void cli_server_answers(const uint8_t *bytes, size_t len)
{
    rest = bytes;
    rest_len = len;
}

struct cli_http *http_new(const struct cli_http_options *options, struct buffer *fault)
{
    struct cli_http *http = MEM_NEW(struct cli_http);
    http->tick = options->tick;
    http->ctx = options->ctx;
    return http;
}

void http_free(struct cli_http *http)
{
    free(http);
}

void http_answer_done(struct cli_answer *answer)
{
    json_decref(answer->json);
    buffer_done(&answer->body);
    free(answer->etag);
    free(answer->request_id);
    *answer = (struct cli_answer){0};
}

/* Does not sleep. */
bool http_pause(struct cli_http *http, int64_t ms)
{
    return http->tick && http->tick(http->ctx);
}

/* Reads an answer in the same way as cli/http.c: a body that is not an object is not an answer of shootd. */
static void read_answer(char *line, struct cli_answer *ret)
{
    static const struct json_limits limits = {1024 * 1024, 100000, 100000};
    enum json_scan_end end;
    char *json = strchr(line, ' ');
    ret->status = strtol(line, NULL, 10);
    ret->json = json ? json_parse_foreign(json, strlen(json), &limits, &end) : NULL;
    if (ret->status < 200 || ret->status > 599)
        ret->status = 200;
    if (json_is_object(ret->json))
        return;
    json_decref(ret->json);
    ret->json = NULL;
    ret->end = HTTP_FOREIGN;
    (void)snprintf(ret->error, sizeof(ret->error), "no object");
}

void http_call(struct cli_http *http, const struct cli_request *request, struct cli_answer *ret)
{
    *ret = (struct cli_answer){.end = HTTP_ANSWERED, .retry_after_s = -1};
    buffer_init(&ret->body, 1024);
    if (!rest_len || request->is_stream) {
        ret->status = 401;
        ret->json = json_pack("{s:s,s:i}", "title", "Unauthenticated", "status", 401);
        return;
    }
    char *line CLEANUP_FREE = fuzz_line(&rest, &rest_len);
    read_answer(line, ret);
}

struct http_stream *http_stream_open(struct cli_http *http, const struct cli_request *request,
                                     struct cli_answer *ret)
{
    http_call(http, request, ret);
    return NULL;
}

bool http_stream_read(struct http_stream *stream, const char **ret_bytes, size_t *ret_len)
{
    return false;
}

void http_stream_close(struct http_stream *stream)
{
}
