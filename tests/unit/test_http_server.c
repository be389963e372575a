/* The functions of the HTTP server itself, with a small application that has no clusters. */
#include "tests/support/check.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "http/event_stream.h"
#include "http/http.h"
#include "http/suspend.h"

enum { ANSWER_BYTES = 64 * 1024 };

static struct http *http;
static int listen_fd;
static struct sockaddr_in address;
static char answer[ANSWER_BYTES];

/* ---- the application: greets, waits for a number, counts ---- */

struct greeting {
    struct server_request http; /* first member */
    int serial;                 /* number of the request, stored by the application */
    bool is_suspended;
};

static char application_ctx[1];
static atomic_int begun, done_count, discarded;
static _Atomic(struct suspension *) waiting;
static _Atomic(const char *) last_outcome;
static atomic_int holds; /* while this is positive, waiting requests get no result */

static const char shared_text[] = "the same for everybody";
static _Atomic(struct http_coded *) shared_coded;
static atomic_int released;

/* An assertion for threads of the server, where the assertions of the test framework do not work. */
#define MUST(x) ((x) ? (void)0 : abort())

static struct greeting *greeting_of(struct server_request *r)
{
    return CONTAINER_OF(r, struct greeting, http);
}

static void app_begin(struct server_request *r, void *ctx)
{
    MUST(ctx == application_ctx);
    MUST(greeting_of(r)->serial == 0); /* zero, although an earlier request used this memory */
    greeting_of(r)->serial = atomic_fetch_add(&begun, 1) + 1;
}

static void app_discard(void *result)
{
    atomic_fetch_add(&discarded, 1);
    free(result);
}

/* The result comes at once, or from the test when `holds` is set. */
static void wait_for(struct server_request *r, const char *owner, char *result)
{
    const struct suspension_terms terms = {owner, r->started + 50 * US_PER_MS, app_discard};
    struct suspension *s = http_suspend(r, &terms);
    greeting_of(r)->is_suspended = true;
    MUST(s != NULL);
    if (!atomic_load(&holds)) {
        suspension_resume(s, result);
        return;
    }
    free(result);
    atomic_store(&waiting, s);
}

/* Below /guard the result of a wait decides. The result is the second segment of the path; when that is
 * "again", the result of the second wait is "yes". */
static void ask_guard(struct server_request *r)
{
    const char *segment = r->segments.count > 1 ? r->segments.items[1] : "yes";
    const bool is_again = greeting_of(r)->is_suspended && !strcmp(segment, "again");
    wait_for(r, NULL, mem_strdup(is_again ? "yes" : segment));
}

static struct problem *check_rest(struct server_request *r)
{
    static const struct content_rules rules = {.flags = CONTENT_BODY | CONTENT_BODY_OPTIONAL,
                                               .body_limit = 1024};
    return http_check_content(r, &rules);
}

static struct problem *app_check_resume(struct server_request *r, void *result)
{
    char *word CLEANUP_FREE = result;
    MUST(greeting_of(r)->is_suspended && !r->body_seen);
    if (!word)
        return problem_new(PROBLEM_OUTCOME_UNKNOWN, "the guard did not come");
    if (!strcmp(word, "no"))
        return problem_new(PROBLEM_FORBIDDEN, "not here");
    if (strcmp(word, "again") != 0)
        return check_rest(r);
    ask_guard(r);
    return NULL;
}

static struct problem *app_check(struct server_request *r)
{
    r->may_compress = true;
    if (r->segments.count && !strcmp(r->segments.items[0], "guard")) {
        ask_guard(r);
        return NULL;
    }
    if (r->segments.count && !strcmp(r->segments.items[0], "forbidden"))
        return problem_new(PROBLEM_FORBIDDEN, "not here");
    if (r->method != METHOD_GET && r->method != METHOD_POST)
        return http_refuse_method(r, 1U << METHOD_GET | 1U << METHOD_POST);
    return check_rest(r);
}

static void release(void *owner)
{
    MUST(owner == application_ctx);
    atomic_fetch_add(&released, 1);
}

struct counter {
    struct event_stream transport; /* first member */
    int next;
    char text[32];
};

static bool counter_next(struct event_stream *transport)
{
    struct counter *c = CONTAINER_OF(transport, struct counter, transport);
    if (c->next == 3) {
        transport->is_ended = true;
        return false;
    }
    (void)snprintf(c->text, sizeof(c->text), "data: %d\n\n", c->next);
    event_stream_begin(transport, c->text, strlen(c->text));
    return true;
}

static void counter_taken(struct event_stream *transport)
{
    CONTAINER_OF(transport, struct counter, transport)->next++;
}

static void counter_free(struct event_stream *transport)
{
    event_stream_done(transport);
    free(CONTAINER_OF(transport, struct counter, transport));
}

static const struct event_stream_content counting = {counter_next, counter_taken, counter_free};

static struct problem *app_handle(struct server_request *r)
{
    const char *what = r->segments.count ? r->segments.items[0] : "";
    struct problem *p = http_check_body_size(r);
    if (p)
        return p;
    if (!strcmp(what, "shared")) {
        answer_shared(&r->answer, 200, TYPE_TEXT, shared_text, strlen(shared_text), &shared_coded,
                      application_ctx, release);
        answer_field(&r->answer, "ETag", "\"one\"");
        return http_apply_conditions(r, "\"one\"");
    }
    if (!strcmp(what, "wait")) {
        wait_for(r, "somebody", mem_strdup("a result"));
        MUST(http_suspended_of(r, "somebody") == 1 && http_suspended(r) == 1);
        MUST(http_suspended_of(r, "somebody else") == 0);
        return NULL;
    }
    if (!strcmp(what, "count")) {
        struct counter *c = MEM_NEW(struct counter);
        event_stream_init(&c->transport, &counting, r);
        r->stream = &c->transport;
        r->must_close = true;
        answer_event_stream(&r->answer, r->stream);
        return NULL;
    }
    if (!strcmp(what, "long")) {
        answer_long_field(&r->answer, "X-Long", mem_printf("%05000d", 7));
        if (r->segments.count > 1)
            return problem_new(PROBLEM_FORBIDDEN, "not this one");
    }
    char *text = mem_printf("hello %s%.*s", what, (int)r->body.len, r->body.len ? r->body.data : "");
    answer_text(&r->answer, 200, TYPE_TEXT, text, strlen(text));
    return NULL;
}

static struct problem *app_resume(struct server_request *r, void *result)
{
    MUST(greeting_of(r)->is_suspended);
    if (!result)
        return problem_new(PROBLEM_OUTCOME_UNKNOWN, "it took too long");
    if (r->segments.count > 1 && !strcmp(r->segments.items[1], "twice") && !r->answer.header_count) {
        answer_field(&r->answer, "X-Waits", "2");
        wait_for(r, "somebody", result);
        return NULL;
    }
    answer_text(&r->answer, 200, TYPE_TEXT, result, strlen(result));
    return NULL;
}

static void app_add_fields(struct server_request *r, enum problem_code code)
{
    if (code == PROBLEM_FORBIDDEN)
        answer_field(&r->answer, "X-Why", "because");
}

static void app_done(struct server_request *r, int64_t duration_us, const char *outcome)
{
    MUST(duration_us >= 0);
    if (r->stream) {
        struct event_stream *s = TAKE_PTR(r->stream);
        mutex_lock(&s->lock);
        MUST(!(event_stream_completed(s)));
        mutex_unlock(&s->lock);
        event_stream_unref(s);
    }
    atomic_store(&last_outcome, outcome ? outcome : "whole");
    atomic_fetch_add(&done_count, 1);
}

static void app_end_streams(void *ctx)
{
}

static const struct http_application application = {
    .request_size = sizeof(struct greeting),
    .begin = app_begin,
    .check = app_check,
    .check_resume = app_check_resume,
    .handle = app_handle,
    .resume = app_resume,
    .add_fields = app_add_fields,
    .done = app_done,
    .end_streams = app_end_streams,
};

/* ---- the server and its client ---- */

static int start(void **state)
{
    socklen_t len = sizeof(address);
    log_set_level(LOG_LEVEL_ERROR);
    atomic_store(&begun, 0);
    atomic_store(&done_count, 0);
    atomic_store(&discarded, 0);
    atomic_store(&released, 0);
    atomic_store(&holds, 0);
    atomic_store(&waiting, NULL);
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listen_fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(listen_fd, 16), 0);
    assert_int_equal(getsockname(listen_fd, (struct sockaddr *)&address, &len), 0);
    struct http_options options = {.env = env_real(),
                                   .listen_fd = listen_fd,
                                   .threads = 2,
                                   .connections = 16,
                                   .limits = http_limits_default(),
                                   .application = &application,
                                   .ctx = application_ctx};
    options.limits.reap_us = 10 * US_PER_MS;
    char *error = NULL;
    http = http_start(&options, &error);
    assert_non_null(http);
    return 0;
}

static int stop(void **state)
{
    if (http)
        http_stop(http);
    http = NULL;
    (void)close(listen_fd);
    return 0;
}

static int dial(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* Sends the requests and reads until the server closes the connection; returns the status of the first
 * answer. */
static int exchange(const char *requests)
{
    int fd = dial();
    size_t n = 0;
    assert_int_equal(send(fd, requests, strlen(requests), MSG_NOSIGNAL), strlen(requests));
    for (ssize_t got = 1; got > 0 && n<sizeof(answer) - 1; n += got> 0 ? (size_t)got : 0)
        got = recv(fd, answer + n, sizeof(answer) - 1 - n, 0);
    answer[n] = '\0';
    (void)close(fd);
    return n > 12 ? atoi(answer + 9) : 0;
}

#define GET(path, fields) "GET " path " HTTP/1.1\r\nHost: a\r\n" fields "\r\n"
#define LAST              "Connection: close\r\n"

static void has(const char *text)
{
    if (!strstr(answer, text))
        fail_msg("no %s in: %s", text, answer);
}

static void requests_have_a_part_of_the_application(void **state)
{
    assert_int_equal(exchange(GET("/a%20b", "") GET("/c", "") GET("/d", LAST)), 200);
    has("hello a b");
    has("hello c");
    has("hello d");
    has("X-Request-Id: ");
    assert_true(http_drained(http, 5000));
    assert_int_equal(atomic_load(&begun), 3);
    assert_int_equal(atomic_load(&done_count), 3);
    assert_string_equal(atomic_load(&last_outcome), "whole");
}

static void problems_are_answered_in_one_way(void **state)
{
    assert_int_equal(exchange(GET("/forbidden", LAST)), 403);
    has("application/problem+json");
    has("\"code\":\"forbidden\"");
    has("X-Why: because");
    assert_int_equal(exchange("DELETE / HTTP/1.1\r\nHost: a\r\n" LAST "\r\n"), 405);
    has("Allow: GET, POST");
    assert_int_equal(exchange("BREW / HTTP/1.1\r\nHost: a\r\n" LAST "\r\n"), 501);
    assert_int_equal(exchange(GET("/%zz", LAST)), 400);
    /* a second Host ends the connection without `Connection: close` */
    assert_int_equal(exchange(GET("/", "Host: b\r\n")), 400);
    assert_int_equal(exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                              "Content-Length: 2000\r\n\r\n"),
                     413);
}

static void a_field_may_be_long(void **state)
{
    assert_int_equal(exchange(GET("/long", LAST)), 200);
    has("X-Long: 0000");
    has("00007\r\n");
    has("hello long");
    assert_int_equal(exchange(GET("/long/no", LAST)), 403);
    assert_null(strstr(answer, "X-Long"));
}

static void shared_bytes_are_kept_for_the_next_answer(void **state)
{
    assert_int_equal(exchange(GET("/shared", "") GET("/shared", "If-None-Match: \"one\"\r\n")
                                  GET("/shared", "If-Match: \"two\"\r\n" LAST)),
                     200);
    has(shared_text);
    has("HTTP/1.1 304 ");
    has("HTTP/1.1 412 ");
    stop(state);
    assert_int_equal(atomic_load(&released), 3); /* every answer released its reference */
}

static void a_suspended_request_goes_on_with_its_result(void **state)
{
    assert_int_equal(exchange(GET("/wait", LAST)), 200);
    has("a result");
    assert_true(http_drained(http, 5000));
    assert_int_equal(http_numbers(http).suspended, 0);
    assert_int_equal(atomic_load(&discarded), 0);
}

static void late_answer_is_discarded(void **state)
{
    atomic_store(&holds, 1);
    assert_int_equal(exchange(GET("/wait", LAST)), 503);
    has("it took too long");
    assert_true(http_drained(http, 5000));
    suspension_resume(atomic_load(&waiting), mem_strdup("too late"));
    assert_int_equal(atomic_load(&discarded), 1);
}

static void a_request_may_wait_more_than_once(void **state)
{
    assert_int_equal(exchange(GET("/wait/twice", "") GET("/wait/twice", LAST)), 200);
    has("X-Waits: 2");
    has("a result");
    assert_int_equal(atomic_load(&done_count), 2);
    assert_int_equal(atomic_load(&discarded), 0);
}

#define POST(path, fields) "POST " path " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" fields

/* The library calls the handler for the header section again, so all further steps are the same as without a
 * wait. */
static void a_check_may_wait(void **state)
{
    assert_int_equal(exchange(GET("/guard", "") GET("/guard/again", "") GET("/guard/no", "") GET("/b", LAST)),
                     200);
    has("hello guard");
    has("HTTP/1.1 403 ");
    has("X-Why: because");
    has("hello b"); /* the refusal of a request without a body does not end the connection */
    assert_int_equal(exchange(POST("/guard", "Content-Length: 5\r\n\r\n[\"x\"]") GET("/c", LAST)), 200);
    has("hello guard[\"x\"]");
    has("hello c");
    assert_int_equal(
        exchange(POST("/guard/again", "Transfer-Encoding: chunked\r\n\r\n5\r\n[\"x\"]\r\n0\r\n\r\n")
                     GET("/c", LAST)),
        200);
    has("hello guard[\"x\"]");
    assert_int_equal(exchange("HEAD /guard HTTP/1.1\r\nHost: a\r\n" LAST "\r\n"), 200);
    /* the remaining checks come after the wait */
    assert_int_equal(exchange(POST("/guard", "Content-Length: 2000\r\n\r\n")), 413);
    assert_int_equal(exchange(POST("/guard/no", "Content-Length: 2000\r\n\r\n")), 403);
    assert_true(http_drained(http, 5000));
    assert_int_equal(atomic_load(&begun), 10);
    assert_int_equal(atomic_load(&done_count), 10);
    assert_int_equal(atomic_load(&discarded), 0);
}

/* 100 (Continue) is sent after the wait, and only when the request may go on. */
static void a_body_is_wanted_after_the_wait(void **state)
{
    static const char head[] = POST("/guard", "Content-Length: 4\r\nExpect: 100-continue\r\n" LAST "\r\n");
    atomic_store(&holds, 1);
    int fd = dial();
    assert_int_equal(send(fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
    while (!atomic_load(&waiting))
        (void)usleep(1000);
    assert_int_equal(recv(fd, answer, sizeof(answer), MSG_DONTWAIT), -1);
    assert_int_equal(http_numbers(http).suspended, 0); /* waits without an owner are not counted */
    assert_int_equal(http_numbers(http).in_flight, 1);
    suspension_resume(atomic_load(&waiting), mem_strdup("yes"));
    ssize_t n = recv(fd, answer, sizeof(answer) - 1, 0);
    assert_true(n > 0);
    answer[n] = '\0';
    has("HTTP/1.1 100 Continue\r\n\r\n");
    assert_int_equal(send(fd, "[17]", 4, MSG_NOSIGNAL), 4);
    n = recv(fd, answer, sizeof(answer) - 1, MSG_WAITALL);
    assert_true(n > 0);
    answer[n] = '\0';
    has("HTTP/1.1 200 ");
    has("hello guard[17]");
    (void)close(fd);
    atomic_store(&holds, 0);
    assert_int_equal(exchange(POST("/guard/no", "Content-Length: 4\r\nExpect: 100-continue\r\n\r\n")), 403);
    assert_null(strstr(answer, "100 Continue"));
}

static void a_check_that_waits_too_long_is_ended(void **state)
{
    atomic_store(&holds, 1);
    assert_int_equal(exchange(GET("/guard", LAST)), 503);
    has("the guard did not come");
    assert_true(http_drained(http, 5000));
    suspension_resume(atomic_load(&waiting), mem_strdup("yes"));
    assert_int_equal(atomic_load(&discarded), 1);
}

/* The client is gone, but the server does not detect that before the result. */
static void a_client_may_leave_while_a_check_waits(void **state)
{
    atomic_store(&holds, 1);
    int fd = dial();
    assert_int_equal(send(fd, GET("/guard", ""), strlen(GET("/guard", "")), MSG_NOSIGNAL),
                     strlen(GET("/guard", "")));
    while (!atomic_load(&waiting))
        (void)usleep(1000);
    const struct linger at_once = {1, 0};
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
    (void)close(fd);
    suspension_resume(atomic_load(&waiting), mem_strdup("yes"));
    assert_true(http_drained(http, 5000));
    while (!atomic_load(&done_count))
        (void)usleep(1000);
    assert_int_equal(http_numbers(http).in_flight, 0);
}

static void a_stop_ends_a_check_that_waits(void **state)
{
    atomic_store(&holds, 1);
    int fd = dial();
    assert_int_equal(send(fd, GET("/guard", ""), strlen(GET("/guard", "")), MSG_NOSIGNAL),
                     strlen(GET("/guard", "")));
    while (!atomic_load(&waiting))
        (void)usleep(1000);
    stop(state);
    (void)close(fd);
    assert_int_equal(atomic_load(&done_count), 1);
    suspension_resume(atomic_load(&waiting), mem_strdup("yes"));
    assert_int_equal(atomic_load(&discarded), 1);
}

static void a_stream_sends_its_pieces(void **state)
{
    assert_int_equal(exchange(GET("/count", "")), 200);
    has("text/event-stream");
    has("data: 0\n\n");
    has("data: 1\n\n");
    has("data: 2\n\n");
}

static void a_server_that_drains_takes_no_writes(void **state)
{
    http_begin_drain(http);
    assert_int_equal(exchange(GET("/", "")), 200);
    has("Connection: close");
    assert_int_equal(exchange("POST / HTTP/1.1\r\nHost: a\r\n\r\n"), 503);
    has("shutting_down");
    http_quiesce(http);
    assert_true(http_drained(http, 5000));
    assert_int_equal(http_numbers(http).in_flight, 0);
}

#define SERVER_TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(requests_have_a_part_of_the_application),
        SERVER_TEST(problems_are_answered_in_one_way),
        SERVER_TEST(a_field_may_be_long),
        SERVER_TEST(shared_bytes_are_kept_for_the_next_answer),
        SERVER_TEST(a_suspended_request_goes_on_with_its_result),
        SERVER_TEST(late_answer_is_discarded),
        SERVER_TEST(a_request_may_wait_more_than_once),
        SERVER_TEST(a_check_may_wait),
        SERVER_TEST(a_body_is_wanted_after_the_wait),
        SERVER_TEST(a_check_that_waits_too_long_is_ended),
        SERVER_TEST(a_client_may_leave_while_a_check_waits),
        SERVER_TEST(a_stop_ends_a_check_that_waits),
        SERVER_TEST(a_stream_sends_its_pieces),
        SERVER_TEST(a_server_that_drains_takes_no_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
