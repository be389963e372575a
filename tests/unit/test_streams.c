/* The feed of new events, tickets for streams, and streams over a real socket. The test can set the clock
 * ahead. */
#include "tests/support/check.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/api.h"
#include "api/tickets.h"
#include "base/attrs.h"
#include "base/env.h"
#include "base/ids.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/string_list.h"
#include "tests/support/virtual.h"
#include "view/feed.h"
#include "view/render.h"

static void publish(struct feed *f, int64_t sequence, const char *project, size_t filler)
{
    char body[4096];
    (void)snprintf(body, sizeof(body), "{\"id\":\"evt_%d\",\"data\":\"%0*d\"}", (int)sequence, (int)filler,
                   7);
    struct event e = {.sequence = sequence,
                      .type = EVENT_CLUSTER_READY,
                      .project = (char *)(uintptr_t)project,
                      .cluster = (char *)(uintptr_t) "dev",
                      .body = body};
    feed_publish(f, &e);
}

/* ---- the feed ---- */

static void ao19_the_text_of_an_event(void **state)
{
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, 1024);
    struct event e = {
        .sequence = 17, .type = EVENT_CLUSTER_READY, .body = (char *)(uintptr_t) "{\"id\":\"x\"}"};
    render_event_stream(&out, &e);
    assert_string_equal(out.data, "id: 17\nevent: cluster.ready\ndata: {\"id\":\"x\",\"sequence\":17}\n\n");
}

static void check_next(struct feed *f, int64_t after, enum feed_place place, int64_t sequence)
{
    struct feed_entry *e = NULL;
    assert_int_equal(feed_next(f, after, &e), place);
    if (place == FEED_ENTRY)
        assert_int_equal(e->sequence, sequence);
    feed_entry_unref(e);
}

static void the_ring_keeps_the_newest(void **state)
{
    struct feed *f = feed_new(4, 1024 * 1024);
    feed_begin(f, 3, 10);
    check_next(f, 10, FEED_END, 0);
    check_next(f, 9, FEED_BEHIND, 0);
    check_next(f, 12, FEED_END, 0); /* a position ahead of the feed */
    for (int64_t i = 11; i <= 30; i++)
        publish(f, i, "p", 1);
    check_next(f, 30, FEED_END, 0);
    for (int64_t i = 26; i < 30; i++)
        check_next(f, i, FEED_ENTRY, i + 1);
    check_next(f, 25, FEED_BEHIND, 0);
    check_next(f, 0, FEED_BEHIND, 0);
    struct feed_entry *batch[8];
    assert_int_equal(feed_batch(f, 28, batch, 8), 2);
    feed_entry_unref(batch[0]);
    feed_entry_unref(batch[1]);
    assert_int_equal(feed_batch(f, 3, batch, 3), 3);
    feed_free(f);
    for (int i = 0; i < 3; i++) { /* a reference keeps the entry */
        assert_int_equal(batch[i]->sequence, 27 + i);
        assert_int_equal(strlen(batch[i]->text), batch[i]->len);
        feed_entry_unref(batch[i]);
    }
}

static void the_ring_is_bounded_in_bytes(void **state)
{
    struct feed *f = feed_new(1000, 3000);
    for (int64_t i = 1; i <= 20; i++)
        publish(f, i, "p", 900);
    check_next(f, 18, FEED_ENTRY, 19);
    check_next(f, 16, FEED_BEHIND, 0);
    publish(f, 21, "p", 3500); /* this entry alone is larger than the limit for all entries */
    check_next(f, 20, FEED_ENTRY, 21);
    check_next(f, 19, FEED_BEHIND, 0);
    publish(f, 22, "p", 1);
    check_next(f, 21, FEED_ENTRY, 22);
    feed_free(f);
}

static void a_gap_empties_the_ring(void **state)
{
    struct feed *f = feed_new(8, 1024 * 1024);
    publish(f, 1, "p", 1);
    publish(f, 2, "p", 1);
    publish(f, 9, "p", 1);
    check_next(f, 1, FEED_BEHIND, 0);
    check_next(f, 8, FEED_ENTRY, 9);
    struct feed_numbers n;
    feed_numbers(f, &n);
    assert_int_equal(n.oldest, 1);
    assert_int_equal(n.newest, 9);
    assert_int_equal(n.published[EVENT_CLUSTER_READY], 3);
    feed_set_oldest(f, 5);
    feed_numbers(f, &n);
    assert_int_equal(n.oldest, 5);
    feed_free(f);
}

static void waiting_ends_with_news_or_with_time(void **state)
{
    struct feed *f = feed_new(8, 1024 * 1024);
    unsigned wakes = 0;
    feed_wait(f, &wakes, US_PER_MS);
    assert_int_equal(wakes, 0);
    publish(f, 1, "p", 1);
    feed_wake(f);
    feed_wait(f, &wakes, 3600 * US_PER_S);
    assert_int_equal(wakes, 2);
    feed_free(f);
}

/* ---- tickets ---- */

static void a_ticket_is_good_once_and_for_a_minute(void **state)
{
    struct virtual_world w;
    struct tickets t;
    uint8_t mine[TOKEN_DIGEST_BYTES] = {1}, got[TOKEN_DIGEST_BYTES] = {0};
    char one[TICKET_BYTES], two[TICKET_BYTES], three[TICKET_BYTES];
    struct view_blob *jwt;
    virtual_init(&w, 7);
    tickets_init(&t);
    assert_true(tickets_issue(&t, &w.env, mine, NULL, one));
    assert_true(tickets_issue(&t, &w.env, mine, NULL, two));
    assert_string_not_equal(one, two);
    assert_int_equal(strlen(one), strlen("ticket_") + 32);
    assert_false(tickets_use(&t, &w.env, "ticket_none", got, &jwt));
    assert_false(tickets_use(&t, &w.env, "", got, &jwt));
    assert_true(tickets_use(&t, &w.env, two, got, &jwt));
    assert_memory_equal(got, mine, sizeof(mine));
    assert_false(tickets_use(&t, &w.env, two, got, &jwt));
    w.now += TICKET_LIFETIME_S * US_PER_S - 1;
    assert_true(tickets_issue(&t, &w.env, mine, NULL, three));
    w.now += 1;
    assert_false(tickets_use(&t, &w.env, one, got, &jwt));
    assert_true(tickets_use(&t, &w.env, three, got, &jwt));
    assert_int_equal(t.count, 0);
    tickets_done(&t);
}

static void tickets_are_bounded(void **state)
{
    struct virtual_world w;
    struct tickets t;
    uint8_t token[TOKEN_DIGEST_BYTES] = {0};
    char ticket[TICKET_BYTES];
    virtual_init(&w, 7);
    tickets_init(&t);
    for (int i = 0; i < TICKETS_PER_TOKEN_MAX; i++)
        assert_true(tickets_issue(&t, &w.env, token, NULL, ticket));
    assert_false(tickets_issue(&t, &w.env, token, NULL, ticket));
    for (int i = TICKETS_PER_TOKEN_MAX; i < TICKETS_MAX; i++) {
        token[0] = (uint8_t)(i / TICKETS_PER_TOKEN_MAX);
        assert_true(tickets_issue(&t, &w.env, token, NULL, ticket));
    }
    token[0] = 255;
    assert_false(tickets_issue(&t, &w.env, token, NULL, ticket));
    w.now += TICKET_LIFETIME_S * US_PER_S;
    assert_true(tickets_issue(&t, &w.env, token, NULL, ticket));
    assert_int_equal(t.count, 1);
    tickets_done(&t);
}

/* ---- streams: a server with a feed, and a store that contains only numbers ---- */

enum { RING = 64, BACKLOG = 300, ANSWER_BYTES = 4 * 1024 * 1024 };

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct command *queue[64];
    size_t count;
    bool stop;
    atomic_bool broken;
    atomic_int asked;
} store;

static struct env env;
static _Atomic int64_t ahead_us;
static struct view *view;
static struct feed *feed;
static struct api *api;
static struct config_current *current;
static int listen_fd;
static char admin[TOKEN_BYTES];
static char *answer;

static mono_us mono_ahead(const struct env *e)
{
    return env_mono(env_real()) + atomic_load(&ahead_us);
}

static wall_us wall_ahead(const struct env *e)
{
    return env_wall(env_real()) + atomic_load(&ahead_us);
}

/* Answers with all events from 1 to the newest, like the store. */
static void answer_page(struct command *cmd)
{
    struct buffer out;
    buffer_init(&out, SIZE_MAX);
    atomic_fetch_add(&store.asked, 1);
    int64_t newest = feed_newest(feed), last = cmd->events.after;
    while (last < newest && last < cmd->events.after + cmd->events.limit)
        buffer_printf(&out, "id: %lld\ndata: {%0200d}\n\n", (long long)++last, 7);
    cmd->events.count = (size_t)(last - cmd->events.after);
    cmd->events.last = last;
    cmd->events.oldest = 1;
    cmd->events.newest = newest;
    cmd->reply.text = buffer_take(&out, NULL);
    if (atomic_load(&store.broken))
        cmd->reply.problem = problem_new(PROBLEM_STORE_UNAVAILABLE, "broken");
}

static void *run_store(void *arg)
{
    mutex_lock(&store.lock);
    while (!store.stop) {
        if (!store.count) {
            cond_wait(&store.wake, &store.lock);
            continue;
        }
        struct command *cmd = store.queue[--store.count];
        mutex_unlock(&store.lock);
        answer_page(cmd);
        cmd->give_back(cmd);
        mutex_lock(&store.lock);
    }
    mutex_unlock(&store.lock);
    return NULL;
}

static void post(void *ctx, struct command *cmd)
{
    if (cmd->type == COMMAND_TOKEN_USED) { /* no request waits for this command */
        cmd->give_back(cmd);
        return;
    }
    mutex_lock(&store.lock);
    store.queue[store.count++] = cmd;
    cond_signal(&store.wake);
    mutex_unlock(&store.lock);
}

static void add_token(wall_us expires_at)
{
    char hex[TOKEN_HEX_BYTES];
    struct api_token t = {.role = ROLE_ADMIN, .expires_at = expires_at, .created_at = 1};
    token_make(env_real(), admin);
    token_digest(admin, t.digest);
    token_digest_hex(admin, hex);
    (void)id_new(env_real(), ID_TOKEN, t.id);
    t.name = (char *)(uintptr_t) "root";
    t.projects = string_list_copy((char *[]){(char *)(uintptr_t) "*", NULL});
    view_set(view, VIEW_TOKENS, hex, render_api_token_blob(&t));
    view_publish(view);
    string_list_free(t.projects);
}

/* The socket has small buffers, so the server soon detects a client that does not read. */
static void open_socket(void)
{
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int small = 4096;
    listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(setsockopt(listen_fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
    assert_int_equal(bind(listen_fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    assert_int_equal(listen(listen_fd, 64), 0);
}

static int start_with(int64_t backlog)
{
    static struct config config = {.limits = {.http_threads = 2}};
    static struct api_limits limits;
    log_set_level(LOG_LEVEL_ERROR);
    limits = api_limits_default();
    limits.connection.send_us = 400 * US_PER_MS;
    limits.connection.reap_us = 20 * US_PER_MS;
    limits.stream_backlog = backlog;
    env = *env_real();
    env.now_mono = mono_ahead;
    env.now_wall = wall_ahead;
    atomic_store(&ahead_us, 0);
    view = view_new();
    feed = feed_new(RING, 1024 * 1024);
    add_token(env_wall(env_real()) + 3600 * US_PER_S);
    open_socket();
    memset(&store, 0, sizeof(store));
    mutex_init(&store.lock);
    cond_init(&store.wake);
    assert_int_equal(pthread_create(&store.thread, NULL, run_store, NULL), 0);
    char *error = NULL;
    current = config_current_new(&config);
    api = api_start(&(struct api_options){.config = current,
                                          .view = view,
                                          .feed = feed,
                                          .env = &env,
                                          .listen_fd = listen_fd,
                                          .post = post,
                                          .version = "1",
                                          .revision = "1",
                                          .limits = &limits},
                    &error);
    assert_non_null(api);
    answer = mem_calloc(ANSWER_BYTES, 1);
    return 0;
}

static int start(void **state)
{
    return start_with(BACKLOG);
}

static int start_patient(void **state)
{
    return start_with(INT64_MAX);
}

static int stop(void **state)
{
    api_stop(api);
    config_current_free(current);
    mutex_lock(&store.lock);
    store.stop = true;
    cond_signal(&store.wake);
    mutex_unlock(&store.lock);
    (void)pthread_join(store.thread, NULL);
    view_free(view);
    feed_free(feed);
    (void)close(listen_fd);
    free(answer);
    return 0;
}

/* HTTP/1.0: the body has no chunks. */
static int open_stream(const char *query)
{
    struct sockaddr_in sa;
    socklen_t len = sizeof(sa);
    int small = 4096, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char *text CLEANUP_FREE =
        mem_printf("GET /v1/events%s HTTP/1.0\r\nHost: x\r\nAccept: text/event-stream\r\n"
                   "Authorization: Bearer %s\r\n\r\n",
                   query, admin);
    assert_int_equal(getsockname(listen_fd, (struct sockaddr *)&sa, &len), 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, len), 0);
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    return fd;
}

/* Reads until `word` came, the peer closed the connection, or nothing came for 5 s. Appends to `answer`. */
static bool read_until(int fd, const char *word)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    size_t len = strlen(answer);
    while (!(word && strstr(answer, word))) {
        ssize_t n = poll(&p, 1, 5000) == 1 ? recv(fd, answer + len, ANSWER_BYTES - 1 - len, 0) : 0;
        if (n <= 0)
            return !word;
        len += (size_t)n;
        answer[len] = '\0';
    }
    return true;
}

static void begin_reading(int fd, const char *word)
{
    answer[0] = '\0';
    assert_true(read_until(fd, word));
}

/* Returns the number of events in `answer`. The events must be `first`, `first` + 1, ... */
static int64_t count_dense(int64_t first)
{
    int64_t next = first;
    for (char *at = strstr(answer, "\ndata:"); at; at = strstr(at + 1, "\ndata:")) {
        char *id = at;
        while (strncmp(id, "id: ", 4) != 0)
            id--;
        assert_int_equal(strtoll(id + 4, NULL, 10), next++);
    }
    return next - first;
}

/* Whether a metric has this line. */
static bool counted(const char *line)
{
    struct sockaddr_in sa;
    socklen_t len = sizeof(sa);
    static const char text[] = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(getsockname(listen_fd, (struct sockaddr *)&sa, &len), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, len), 0);
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    begin_reading(fd, NULL);
    (void)close(fd);
    return strstr(answer, line) != NULL;
}

static void wait_counted(const char *line)
{
    for (int i = 0; i < 500 && !counted(line); i++)
        (void)usleep(10000);
    assert_true(counted(line));
}

static void mh9_a_reader_that_stalls_is_cut_and_delays_nobody(void **state)
{
    int stalled = open_stream(""), live = open_stream("");
    begin_reading(live, "id: 0\n\n");
    (void)usleep(50000); /* both streams are waiting */
    answer[0] = '\0';
    for (int64_t i = 1; i <= 5000; i++) {
        publish(feed, i, "p", 200);
        if (i % 10 == 0) {
            char *word CLEANUP_FREE = mem_printf("id: %d\n", (int)i);
            assert_true(read_until(live, word));
        }
    }
    assert_true(read_until(live, "\"sequence\":5000}\n\n"));
    assert_int_equal(count_dense(1), 5000);
    wait_counted("shootd_sse_streams_ended_total{end=\"slow\"} 1\n");
    assert_true(counted("shootd_http_connections_reaped_total 1\n"));
    begin_reading(stalled, NULL); /* the bytes that were sent before, and then the end */
    assert_true(count_dense(1) < 5000);
    (void)close(stalled);
    (void)close(live);
}

static void a_reader_that_fell_behind_catches_up_or_is_reported(void **state)
{
    int fd = open_stream("");
    begin_reading(fd, "id: 0\n\n");
    (void)usleep(50000);
    int64_t i = 1;
    for (; i <= 2 * RING + 80; i++) /* outside the ring, within the backlog */
        publish(feed, i, "p", 200);
    answer[0] = '\0';
    char *last CLEANUP_FREE = mem_printf("id: %d\n", (int)i - 1);
    assert_true(read_until(fd, last));
    assert_int_equal(count_dense(1), i - 1);
    for (; i <= 6000; i++)
        publish(feed, i, "p", 200);
    answer[0] = '\0';
    assert_true(read_until(fd, NULL));
    assert_non_null(strstr(answer, ": too far behind"));
    assert_non_null(strstr(answer, "\nretry: "));
    int64_t sent = count_dense(2 * RING + 81);
    char *position CLEANUP_FREE = mem_printf("\nid: %d\nretry:", (int)(2 * RING + 80 + sent));
    assert_non_null(strstr(answer, position)); /* the position for the next stream */
    (void)close(fd);
    wait_counted("shootd_sse_streams_ended_total{end=\"behind\"} 1\n");
}

static void ao24_time_ends_streams_and_ao23_gives_signs_of_life(void **state)
{
    int fd = open_stream("");
    begin_reading(fd, "id: 0\n\n");
    assert_non_null(strstr(answer, "retry: 2000\n"));
    publish(feed, 1, "p", 1);
    assert_true(read_until(fd, "\"sequence\":1}\n\n"));
    answer[0] = '\0';
    atomic_fetch_add(&ahead_us, 16 * US_PER_S);
    assert_true(read_until(fd, ":\n\n"));
    /* more than the longest lifetime: 15 minutes plus 10 % */
    atomic_fetch_add(&ahead_us, 17 * 60 * US_PER_S);
    answer[0] = '\0';
    assert_true(read_until(fd, NULL));
    assert_non_null(strstr(answer, ": end of the lifetime"));
    assert_non_null(strstr(answer, "id: 1\n"));
    (void)close(fd);
    fd = open_stream("");
    begin_reading(fd, "id: 1\n\n");
    atomic_fetch_add(&ahead_us, 45 * 60 * US_PER_S); /* the token expires */
    answer[0] = '\0';
    assert_true(read_until(fd, NULL));
    assert_null(strstr(answer, "lifetime"));
    (void)close(fd);
    wait_counted("shootd_sse_streams_ended_total{end=\"token\"} 1\n");
}

static void a_store_that_cannot_be_read_ends_a_stream(void **state)
{
    for (int64_t i = 1; i <= 2 * RING; i++)
        publish(feed, i, "p", 1);
    atomic_store(&store.broken, true);
    int fd = open_stream("?after=3");
    begin_reading(fd, NULL);
    assert_non_null(strstr(answer, ": the event log cannot be read now\nid: 3\nretry: "));
    (void)close(fd);
    atomic_store(&store.broken, false);
    fd = open_stream("?after=3");
    begin_reading(fd, "\"sequence\":128}\n\n");
    assert_int_equal(count_dense(4), 2 * RING - 3);
    assert_int_equal(atomic_load(&store.asked), 3);
    (void)close(fd);
}

int main(void)
{
    if (sodium_init() < 0)
        return 1;
#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, start, stop)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ao19_the_text_of_an_event),
        cmocka_unit_test(the_ring_keeps_the_newest),
        cmocka_unit_test(the_ring_is_bounded_in_bytes),
        cmocka_unit_test(a_gap_empties_the_ring),
        cmocka_unit_test(waiting_ends_with_news_or_with_time),
        cmocka_unit_test(a_ticket_is_good_once_and_for_a_minute),
        cmocka_unit_test(tickets_are_bounded),
        cmocka_unit_test_setup_teardown(mh9_a_reader_that_stalls_is_cut_and_delays_nobody, start_patient,
                                        stop),
        WITH_SERVER(a_reader_that_fell_behind_catches_up_or_is_reported),
        WITH_SERVER(ao24_time_ends_streams_and_ao23_gives_signs_of_life),
        WITH_SERVER(a_store_that_cannot_be_read_ends_a_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
