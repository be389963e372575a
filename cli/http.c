#include "cli/http.h"

#include <assert.h>
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/env.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/version.h"
#include "cli/glyphs.h"
#include "cli/cli_settings.h"
#include "cli/when.h"

/* The limits of one answer (a list has one answer per page). A larger answer is refused. */
enum {
    BODY_MAX_BYTES = 64 * 1024 * 1024,
    BODY_MAX_VALUES = 2000000,
    CONNECT_TIMEOUT_MS = 10000,
    REQUEST_TIMEOUT_MS = 60000,
    TICK_MS = 100,
};

struct cli_http {
    struct cli_http_options options;
    char *url, *socket; /* url: the base address; socket: the path of a Unix socket, or NULL */
    bool is_loopback;   /* the server is on this machine */
    bool has_answered;  /* there was an answer, so the host name exists */
    CURLM *multi;
    CURL *easy;
    const struct cli_exchange *current; /* the request in progress; NULL: no request is in progress */
    char curl_error[CURL_ERROR_SIZE];
};

/* An attempt in progress. */
struct cli_exchange {
    struct cli_http *http;
    const struct cli_request *request;
    struct cli_answer *answer;
    char *content_type, *location;
    struct curl_slist *fields;
    struct buffer piece; /* for a stream: the bytes that were not read yet */
    mono_us began;
    int running; /* the number of running transfers as libcurl reports it: 0 or 1 */
    bool too_large, stopped;
};

struct http_stream {
    struct cli_exchange x;
};

struct cli_http *http_new(const struct cli_http_options *options, struct buffer *fault)
{
    assert(options->url && fault);
    struct cli_http *http = MEM_NEW(struct cli_http);
    bool is_socket = strncmp(options->url, "unix:", 5) == 0;
    http->options = *options;
    http->url = mem_strdup(is_socket ? "http://localhost" : options->url);
    http->socket = is_socket ? mem_strdup(options->url + 5) : NULL;
    http->is_loopback = url_is_loopback(http->url);
    for (size_t len = strlen(http->url); len && http->url[len - 1] == '/'; len--)
        http->url[len - 1] = '\0';
    if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) {
        http->multi = curl_multi_init();
        http->easy = curl_easy_init();
    }
    if (http->multi && http->easy)
        return http;
    buffer_add_str(fault, "libcurl cannot be used");
    http_free(http);
    return NULL;
}

void http_free(struct cli_http *http)
{
    assert(!http->current);
    if (http->easy)
        curl_easy_cleanup(http->easy);
    if (http->multi)
        (void)curl_multi_cleanup(http->multi);
    free(http->url);
    free(http->socket);
    free(http);
}

void http_answer_done(struct cli_answer *answer)
{
    json_decref(answer->json);
    if (answer->body.data)
        explicit_bzero(answer->body.data, answer->body.len); /* the body may contain a kubeconfig */
    buffer_done(&answer->body);
    free(answer->etag);
    free(answer->request_id);
    *answer = (struct cli_answer){0};
}

/* ---- one attempt ---- */

static bool has_type(const struct cli_exchange *x, const char *word)
{
    return x->content_type && strcasestr(x->content_type, word);
}

/* Whether the answer is the stream of events that was requested. */
static bool is_stream(const struct cli_exchange *x)
{
    long status = 0;
    (void)curl_easy_getinfo(x->http->easy, CURLINFO_RESPONSE_CODE, &status);
    return x->request->is_stream && status == 200 && has_type(x, "text/event-stream");
}

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx)
{
    struct cli_exchange *x = ctx;
    size_t len = size * count;
    struct buffer *body = is_stream(x) ? &x->piece : &x->answer->body;
    buffer_add(body, bytes, len);
    x->too_large = body->overflow;
    return x->too_large ? 0 : len;
}

static char *field_value(const char *line, size_t len, const char *name)
{
    size_t name_len = strlen(name);
    if (len <= name_len || strncasecmp(line, name, name_len) != 0 || line[name_len] != ':')
        return NULL;
    const char *value = line + name_len + 1, *end = line + len;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && strchr("\r\n \t", end[-1]))
        end--;
    return mem_strndup(value, (size_t)(end - value));
}

static void take_field(char **target, const char *line, size_t len, const char *name)
{
    char *value = field_value(line, len, name);
    if (value) {
        free(*target);
        *target = value;
    }
}

static size_t on_header(char *line, size_t size, size_t count, void *ctx)
{
    struct cli_exchange *x = ctx;
    size_t len = size * count;
    take_field(&x->answer->etag, line, len, "ETag");
    take_field(&x->answer->request_id, line, len, "X-Request-Id");
    take_field(&x->content_type, line, len, "Content-Type");
    take_field(&x->location, line, len, "Location");
    char *retry CLEANUP_FREE = field_value(line, len, "Retry-After");
    if (retry)
        x->answer->retry_after_s = time_parse_retry_after(retry, when_now(), 3600);
    char *date CLEANUP_FREE = x->request->is_api ? field_value(line, len, "Date") : NULL;
    if (date)
        when_hear(date);
    return len;
}

static struct curl_slist *add_field(struct curl_slist *fields, const char *name, const char *value)
{
    if (!value)
        return fields;
    char *line CLEANUP_SECRET = mem_printf("%s: %s", name, value);
    struct curl_slist *longer = curl_slist_append(fields, line);
    if (!longer)
        abort();
    return longer;
}

static struct curl_slist *header_fields(const struct cli_request *rq)
{
    bool reads = strcmp(rq->method, "GET") == 0;
    assert(!rq->body || rq->content_type);
    assert(!rq->only_new || !reads);
    char *bearer CLEANUP_SECRET = rq->token ? mem_printf("Bearer %s", rq->token) : NULL;
    struct curl_slist *fields = add_field(NULL, "Accept", rq->accept ? rq->accept : "application/json");
    fields = add_field(fields, "Authorization", bearer);
    fields = add_field(fields, "Content-Type", rq->body ? rq->content_type : NULL);
    fields = add_field(fields, "Idempotency-Key", rq->idempotency_key);
    fields = add_field(fields, "Last-Event-ID", rq->last_event_id);
    fields = add_field(fields, reads ? "If-None-Match" : "If-Match", rq->etag);
    fields = add_field(fields, "If-None-Match", rq->only_new ? "*" : NULL);
    return add_field(fields, "Expect", ""); /* libcurl must not wait for a 100 Continue */
}

#define SET(option, value) (void)curl_easy_setopt(easy, option, value)

static void prepare(struct cli_exchange *x, const char *url)
{
    const struct cli_request *rq = x->request;
    struct cli_http *http = x->http;
    CURL *easy = http->easy;
    int64_t timeout = rq->timeout_ms ? rq->timeout_ms : REQUEST_TIMEOUT_MS;
    curl_easy_reset(easy);
    http->curl_error[0] = '\0';
    SET(CURLOPT_URL, url);
    SET(CURLOPT_PATH_AS_IS, 1L); /* libcurl must not remove `..`, which may be a name */
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_CUSTOMREQUEST, rq->method);
    SET(CURLOPT_HTTPHEADER, x->fields);
    SET(CURLOPT_USERAGENT, "shootctl");
    SET(CURLOPT_ACCEPT_ENCODING, rq->is_stream ? NULL : "");
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    SET(CURLOPT_TIMEOUT_MS, (long)timeout);
    SET(CURLOPT_QUICK_EXIT, 1L); /* at the end libcurl must not wait for a resolver that hangs */
    SET(CURLOPT_ERRORBUFFER, http->curl_error);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, x);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, x);
    SET(CURLOPT_UNIX_SOCKET_PATH, http->socket);
    if (http->is_loopback)
        SET(CURLOPT_NOPROXY, "*"); /* a token that is sent without encryption must not leave the machine */
    if (http->options.ca_file)
        SET(CURLOPT_CAINFO, http->options.ca_file);
    if (rq->body) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(rq->body));
        SET(CURLOPT_POSTFIELDS, rq->body);
    } else if (strcmp(rq->method, "POST") == 0) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
        SET(CURLOPT_POSTFIELDS, "");
    }
}

/* Calls `tick`; true when it wants to end the request. */
static bool ticks(const struct cli_http *http)
{
    return http->options.tick && http->options.tick(http->options.ctx);
}

/* Continues the transfer. Waits for the next bytes, except when bytes have come already. */
static void step(struct cli_exchange *x)
{
    CURLM *multi = x->http->multi;
    if (curl_multi_perform(multi, &x->running) != CURLM_OK)
        x->running = 0;
    if (x->running && !x->piece.len)
        (void)curl_multi_poll(multi, NULL, 0, TICK_MS, NULL);
}

/* Returns the result of a transfer that has ended or was stopped. */
static CURLcode result_of(const struct cli_exchange *x)
{
    CURLcode result = CURLE_FAILED_INIT;
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(x->http->multi, &left));)
        if (message->msg == CURLMSG_DONE)
            result = message->data.result;
    return x->stopped ? CURLE_ABORTED_BY_CALLBACK : result;
}

static void ends(struct cli_exchange *x, enum http_end end, const char *format, ...) ATTR_PRINTF(3, 4);
static void ends(struct cli_exchange *x, enum http_end end, const char *format, ...)
{
    va_list args;
    x->answer->end = end;
    va_start(args, format);
    (void)vsnprintf(x->answer->error, sizeof(x->answer->error), format, args);
    va_end(args);
}

/* Whether the address, the certificate or its authority is wrong. A retry would fail, too. */
static bool is_mistake(CURLcode result, const char *reason)
{
    static const CURLcode mistakes[] = {
        CURLE_URL_MALFORMAT,      CURLE_PEER_FAILED_VERIFICATION,
        CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
        CURLE_SSL_CIPHER,         CURLE_SSL_ISSUER_ERROR,
        CURLE_SSL_CRL_BADFILE,    CURLE_SSL_INVALIDCERTSTATUS,
        CURLE_NOT_BUILT_IN,
    };
    for (size_t i = 0; i < ARRAY_LEN(mistakes); i++)
        if (result == mistakes[i])
            return true;
    /* The server has refused the handshake. But when the reason contains "SSL_connect:", the connection
     * broke, for example during a restart of the server. */
    return result == CURLE_SSL_CONNECT_ERROR && !strstr(reason, "SSL_connect:");
}

/* Whether the server sent something other than HTTP. libcurl regards plain text as HTTP/0.9, and reports it
 * as an unsupported protocol. */
static bool is_foreign_speech(CURLcode result)
{
    return result == CURLE_BAD_CONTENT_ENCODING || result == CURLE_WEIRD_SERVER_REPLY ||
           result == CURLE_UNSUPPORTED_PROTOCOL;
}

/* Sets the result of a transfer that failed. */
static void ends_by_curl(struct cli_exchange *x, CURLcode result)
{
    const char *reason = x->http->curl_error[0] ? x->http->curl_error : curl_easy_strerror(result);
    if (x->stopped)
        ends(x, HTTP_STOPPED, "stopped");
    else if (x->too_large)
        ends(x, HTTP_TOO_LARGE, "the answer has more than %d MiB", BODY_MAX_BYTES / (1024 * 1024));
    else if (result == CURLE_OPERATION_TIMEDOUT)
        ends(x, HTTP_SLOW, "no answer in time: %s", reason);
    else if (result == CURLE_PARTIAL_FILE || result == CURLE_GOT_NOTHING || result == CURLE_RECV_ERROR)
        ends(x, HTTP_UNREACHABLE, "the connection broke before the answer was whole: %s", reason);
    else if (is_mistake(result, reason))
        ends(x, HTTP_MISTAKEN, "%s", reason);
    else if (is_foreign_speech(result))
        ends(x, HTTP_FOREIGN, "the server is not shootd: %s", reason);
    else
        ends(x, HTTP_UNREACHABLE, "%s", reason);
    x->answer->unknown_host = result == CURLE_COULDNT_RESOLVE_HOST && !x->http->has_answered;
}

/* Checks that a complete answer comes from shootd. */
static void look_at_body(struct cli_exchange *x)
{
    static const struct json_limits limits = {BODY_MAX_BYTES, BODY_MAX_VALUES, BODY_MAX_VALUES};
    struct cli_answer *answer = x->answer;
    enum json_scan_end end = JSON_SCAN_OK;
    bool succeeded = answer->status >= 200 && answer->status < 300;
    bool reads = strcmp(x->request->method, "GET") == 0;
    /* A 304 is right only for a request with an ETag, and a 204 is right only for a request that is not a
     * GET. */
    bool needs_none = (answer->status == 204 && !reads) ||
                      (answer->status == 304 && reads && x->request->etag) || is_stream(x);
    if (answer->status >= 300 && answer->status < 400 && answer->status != 304) {
        ends(x, HTTP_FOREIGN, "the server redirects (HTTP %ld) to %s: use that address", answer->status,
             x->location ? x->location : "nowhere");
        return;
    }
    if (needs_none || (succeeded && x->request->any_text))
        return;
    if (answer->status == 204 || answer->status == 304 || !has_type(x, "json")) {
        ends(x, HTTP_FOREIGN, "HTTP %ld with %s: the server is not shootd, or a proxy answered in its place",
             answer->status, x->content_type ? x->content_type : "no content");
        return;
    }
    answer->json =
        json_parse_foreign(answer->body.data ? answer->body.data : "", answer->body.len, &limits, &end);
    if (!answer->json)
        ends(x, HTTP_FOREIGN, "HTTP %ld with a body that is not JSON, although its type is JSON: %s",
             answer->status, json_scan_text(end));
    else if (!json_is_object(answer->json))
        ends(x, HTTP_FOREIGN, "HTTP %ld with JSON that is no object", answer->status);
    else if (x->request->is_api && answer->status >= 400 && !json_str(answer->json, "code"))
        ends(x, HTTP_FOREIGN, "HTTP %ld with an error that is none of shootd: a proxy answered in its place",
             answer->status);
    if (answer->json && !x->request->any_text)
        buffer_done(&answer->body);
}

static void say_request(const struct cli_exchange *x, int64_t took_us)
{
    char *path CLEANUP_FREE = glyphs_shown(x->request->path),
               *id CLEANUP_FREE = glyphs_shown(x->answer->request_id);
    (void)fprintf(stderr, "shootctl: %s %s: %ld, %" PRId64 " ms, %s\n", x->request->method, path,
                  x->answer->status, took_us / 1000, id);
}

/* ---- an attempt from its beginning to its end ---- */

static void begin(struct cli_exchange *x, struct cli_http *http, const struct cli_request *request,
                  struct cli_answer *ret)
{
    assert(!http->current && request->method && request->path);
    char *url CLEANUP_FREE = mem_printf("%s%s", http->url, request->path);
    *x = (struct cli_exchange){.http = http, .request = request, .answer = ret};
    *ret = (struct cli_answer){.end = HTTP_ANSWERED, .retry_after_s = -1};
    buffer_init(&ret->body, BODY_MAX_BYTES);
    buffer_init(&x->piece, BODY_MAX_BYTES);
    x->fields = header_fields(request);
    x->began = env_mono(env_real());
    prepare(x, url);
    x->running = curl_multi_add_handle(http->multi, http->easy) == CURLM_OK;
    http->current = x;
}

static void finish(struct cli_exchange *x)
{
    struct cli_http *http = x->http;
    struct cli_answer *ret = x->answer;
    CURLcode result = result_of(x);
    assert(http->current == x);
    http->current = NULL;
    (void)curl_multi_remove_handle(http->multi, http->easy);
    (void)curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &ret->status);
    if (result != CURLE_OK)
        ends_by_curl(x, result);
    else
        look_at_body(x);
    http->has_answered = http->has_answered || ret->status > 0;
    if (ret->end != HTTP_ANSWERED) {
        json_decref(ret->json);
        ret->json = NULL;
    }
    if (http->options.verbose)
        say_request(x, env_mono(env_real()) - x->began);
    curl_slist_free_all(x->fields);
    buffer_done(&x->piece);
    free(x->content_type);
    free(x->location);
}

void http_call(struct cli_http *http, const struct cli_request *request, struct cli_answer *ret)
{
    struct cli_exchange x;
    begin(&x, http, request, ret);
    while (x.running && !x.stopped) {
        step(&x);
        x.stopped = x.running && ticks(http);
    }
    finish(&x);
}

struct http_stream *http_stream_open(struct cli_http *http, const struct cli_request *request,
                                     struct cli_answer *ret)
{
    struct http_stream *stream = MEM_NEW(struct http_stream);
    begin(&stream->x, http, request, ret);
    return stream;
}

bool http_stream_read(struct http_stream *stream, const char **ret_bytes, size_t *ret_len)
{
    struct cli_exchange *x = &stream->x;
    buffer_done(&x->piece);
    if (x->running)
        step(x);
    *ret_bytes = x->piece.data;
    *ret_len = x->piece.len;
    return x->running || x->piece.len;
}

void http_stream_close(struct http_stream *stream)
{
    stream->x.stopped = stream->x.running;
    finish(&stream->x);
    free(stream);
}

bool http_pause(struct cli_http *http, int64_t ms)
{
    mono_us end = env_mono(env_real()) + ms * US_PER_MS;
    for (int64_t left; (left = end - env_mono(env_real())) > 0;) {
        int64_t piece = left < TICK_MS * US_PER_MS ? left : TICK_MS * US_PER_MS;
        struct timespec pause = {.tv_nsec = (long)(piece * 1000)};
        (void)nanosleep(&pause, NULL);
        if (ticks(http))
            return true;
    }
    return false;
}
