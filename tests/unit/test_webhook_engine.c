/*
 * Deliveries without the network: the real engine and store with its threads, a virtual clock,
 * and a receiver with scripted answers. Days of retries pass in milliseconds.
 */
#include "tests/support/check.h"

#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "tests/support/test_store.h"
#include "tests/support/virtual.h"
#include "webhook/engine_private.h"
#include "webhook/outcome.h"
#include "webhook/webhook.h"

#define SECRET  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define HOUR_US (3600 * US_PER_S)

enum { REQUESTS_MAX = 256, REAL_WAIT_MS = 5000 };

/* ---- the receiver ---- */

struct request {
    mono_us at;
    wall_us wall;
    char url[128];
    char id[40];
    char timestamp[24];
    char signature[320];
    char content_type[40];
    char authorization[64];
    char body[256];
};

struct reply {
    enum http_outcome outcome;
    int status;
    const char *retry_after;
    const char *error;
    const char *body;
    int64_t latency_us;
};

struct receiver {
    struct transport transport;
    struct loop *loop;
    struct virtual_world *world;
    struct reply (*reply)(const struct request *request, unsigned number);
    struct request seen[REQUESTS_MAX];
    unsigned count;
    unsigned in_flight;
    unsigned max_in_flight;
    unsigned cancelled;
};

struct http_call {
    struct loop_timer timer;
    struct receiver *owner;
    struct reply reply;
    void (*on_done)(void *ctx, const struct http_answer *answer);
    void *ctx;
};

static void answer_now(struct loop_timer *timer)
{
    struct http_call *call = CONTAINER_OF(timer, struct http_call, timer);
    const struct http_answer answer = {
        .outcome = call->reply.outcome,
        .status = call->reply.status,
        .retry_after = call->reply.retry_after,
        .error = call->reply.error,
        .body = call->reply.body ? call->reply.body : "",
        .body_len = call->reply.body ? strlen(call->reply.body) : 0,
        .duration_us = call->reply.latency_us,
    };
    call->owner->in_flight--;
    call->on_done(call->ctx, &answer);
    free(call);
}

static void copy_header(const struct http_request *request, const char *name, char *to, size_t size)
{
    for (const struct http_header *h = request->headers; h->name; h++)
        if (!strcasecmp(h->name, name))
            (void)snprintf(to, size, "%s", h->value);
}

static struct http_call *receiver_start(struct transport *t, const struct http_request *request,
                                        void (*on_done)(void *ctx, const struct http_answer *answer),
                                        void *ctx)
{
    struct receiver *r = CONTAINER_OF(t, struct receiver, transport);
    assert_true(r->count < REQUESTS_MAX);
    assert_string_equal(request->method, "POST");
    assert_true(request->fresh_connection);
    assert_int_equal(request->connect_timeout_us, 5 * US_PER_S);
    assert_int_equal(request->timeout_us, 20 * US_PER_S);
    struct request *seen = &r->seen[r->count];
    *seen = (struct request){.at = r->world->now, .wall = env_wall(&r->world->env)};
    (void)snprintf(seen->url, sizeof(seen->url), "%s", request->url);
    (void)snprintf(seen->body, sizeof(seen->body), "%.*s", (int)request->body_len, request->body);
    copy_header(request, "webhook-id", seen->id, sizeof(seen->id));
    copy_header(request, "webhook-timestamp", seen->timestamp, sizeof(seen->timestamp));
    copy_header(request, "webhook-signature", seen->signature, sizeof(seen->signature));
    copy_header(request, "authorization", seen->authorization, sizeof(seen->authorization));
    copy_header(request, "content-type", seen->content_type, sizeof(seen->content_type));
    struct http_call *call = MEM_NEW(struct http_call);
    *call = (struct http_call){.owner = r, .on_done = on_done, .ctx = ctx, .timer.fire = answer_now};
    call->reply = r->reply(seen, r->count++);
    if (++r->in_flight > r->max_in_flight)
        r->max_in_flight = r->in_flight;
    loop_timer_set(r->loop, &call->timer, r->world->now + call->reply.latency_us);
    return call;
}

static void receiver_cancel(struct transport *t, struct http_call *call)
{
    struct receiver *r = CONTAINER_OF(t, struct receiver, transport);
    loop_timer_clear(r->loop, &call->timer);
    r->in_flight--;
    r->cancelled++;
    free(call);
}

/* ---- the fixture ---- */

struct fixture {
    struct virtual_world world;
    struct loop *loop;
    struct test_store store;
    struct storage *storage;
    void *conn; /* reads what is stored */
    struct config config;
    struct seal_key key;
    struct receiver receiver;
    struct webhook_engine *engine;
    struct list reports; /* the engine's reports that are not decided yet */
    bool undecided;      /* reports are not decided at the end of the turn */
    unsigned report_count;
    struct {
        int64_t version;
        const char *reason;
    } last_report;
    struct {
        unsigned count;
        enum webhook_state state;
        struct webhook_standing standing;
    } shown; /* of any webhook */
};

static void on_given_up(void *ctx, struct webhook_report *report)
{
    struct fixture *f = ctx;
    list_append(&f->reports, &report->link);
    f->last_report.version = report->version;
    f->last_report.reason = report->reason;
    f->report_count++;
}

static void on_shown(void *ctx, const struct subscription *s)
{
    struct fixture *f = ctx;
    f->shown.count++;
    f->shown.state = subscription_state(s);
    f->shown.standing = s->standing;
}

static struct webhook_engine *new_engine(struct fixture *f)
{
    const struct webhook_options options = {.loop = f->loop,
                                            .transport = &f->receiver.transport,
                                            .storage = f->storage,
                                            .config = &f->config,
                                            .key = &f->key,
                                            .given_up = on_given_up,
                                            .shown = on_shown,
                                            .ctx = f};
    return webhook_engine_new(&options);
}

static void end_turn(void *ctx);

static int setup(void **state)
{
    struct fixture *f = MEM_NEW(struct fixture);
    list_init(&f->reports);
    log_set_level(LOG_LEVEL_ERROR);
    virtual_init(&f->world, 11);
    f->loop = loop_new(&f->world.env);
    loop_set_after_turn(f->loop, end_turn, f);
    test_store_init(&f->store);
    const struct store_backend *backend = &f->store.backend;
    assert_int_equal(storage_open(backend, f->store.location, "test", env_real(), &f->storage, NULL),
                     STORE_OK);
    assert_int_equal(backend->open(f->store.location, false, &f->conn, NULL), STORE_OK);
    storage_start(f->storage);
    f->receiver.transport = (struct transport){.start = receiver_start, .cancel = receiver_cancel};
    f->receiver.loop = f->loop;
    f->receiver.world = &f->world;
    f->engine = new_engine(f);
    *state = f;
    return 0;
}

static void lose_reports(struct fixture *f)
{
    for (struct list *item = list_pop(&f->reports); item; item = list_pop(&f->reports))
        free(CONTAINER_OF(item, struct webhook_report, link));
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    storage_close(f->storage);
    webhook_engine_free(f->engine);
    assert_int_equal(f->receiver.in_flight, 0);
    loop_free(f->loop);
    f->store.backend.close(f->conn);
    test_store_done(&f->store);
    lose_reports(f);
    free(f);
    return 0;
}

static void on_written(struct change_set *set, enum store_status status)
{
    assert_int_equal(status, STORE_OK);
    sem_t *done = set->ctx;
    change_set_free(set);
    (void)sem_post(done);
}

/* Stores `set` and all sets submitted before it. */
static void commit(struct fixture *f, struct change_set *set)
{
    sem_t done;
    (void)sem_init(&done, 0, 0);
    set->on_done = on_written;
    set->ctx = &done;
    storage_submit(f->storage, set);
    (void)sem_wait(&done);
    (void)sem_destroy(&done);
}

/* Does the same as reconcile: stores the webhook as disabled together with the delivery. */
static void disable(struct fixture *f, const struct webhook_endpoint *p, const struct delivery *d)
{
    struct subscription *s = subscription_copy(p->subscription);
    struct change_set *set = change_set_new();
    s->disabled = true;
    s->version++;
    change_put_delivery(set, mem_dup(d, sizeof(*d)));
    change_put_subscription(set, subscription_copy(s));
    commit(f, set);
    webhook_engine_set(f->engine, s);
    subscription_free(s);
}

static void decide_reports(struct fixture *f)
{
    for (struct list *item = list_pop(&f->reports); item; item = list_pop(&f->reports)) {
        struct webhook_report *report = CONTAINER_OF(item, struct webhook_report, link);
        const struct webhook_endpoint *p;
        HASH_FIND_STR(f->engine->endpoints, report->delivery.subscription_id, p);
        if (p)
            disable(f, p, &report->delivery);
        free(report);
    }
}

static void end_turn(void *ctx)
{
    struct fixture *f = ctx;
    if (!f->undecided)
        decide_reports(f);
}

static struct subscription *make_subscription(struct fixture *f, const char *id)
{
    struct subscription *s = MEM_NEW(struct subscription);
    char *context CLEANUP_FREE = webhook_seal_context(id);
    (void)snprintf(s->id, sizeof(s->id), "%s", id);
    s->url = mem_printf("https://%s.example/hook?key=private", id);
    s->keys[0].sealed = seal(&f->key, &f->world.env, context, SECRET, &s->keys[0].sealed_len);
    s->key_count = 1;
    s->max_in_flight = 1;
    s->version = 1;
    s->created_at = env_wall(&f->world.env);
    return s;
}

/* Borrows `s`. */
static void subscribe_with(struct fixture *f, const struct subscription *s)
{
    struct change_set *set = change_set_new();
    webhook_engine_set(f->engine, s);
    change_put_subscription(set, subscription_copy(s));
    commit(f, set);
}

static void subscribe(struct fixture *f, const char *id)
{
    struct subscription *s = make_subscription(f, id);
    subscribe_with(f, s);
    subscription_free(s);
}

static char *body_of(const char *event_id)
{
    return mem_printf("{\"id\": \"%s\",  \"type\":\"cluster.ready\"}", event_id);
}

static struct delivery make_delivery(struct fixture *f, const char *subscription, unsigned number)
{
    struct delivery d = {.next_attempt_at = env_wall(&f->world.env)};
    d.created_at = d.next_attempt_at;
    (void)snprintf(d.id, sizeof(d.id), "dlv_%s_%03u", subscription, number);
    (void)snprintf(d.event_id, sizeof(d.event_id), "evt_%s_%03u", subscription, number);
    (void)snprintf(d.subscription_id, sizeof(d.subscription_id), "%s", subscription);
    return d;
}

/* Does the same as reconcile: stores an event with its delivery, and passes the delivery to the engine. */
static void publish_type(struct fixture *f, const char *subscription, unsigned number, const char *type)
{
    struct change_set *set = change_set_new();
    struct event *e = MEM_NEW(struct event);
    struct delivery d = make_delivery(f, subscription, number);
    (void)snprintf(d.event_type, sizeof(d.event_type), "%s", type);
    (void)snprintf(e->id, sizeof(e->id), "%s", d.event_id);
    e->type = EVENT_CLUSTER_READY;
    e->body = body_of(e->id);
    char *body CLEANUP_FREE = mem_strdup(e->body);
    (void)change_append_event(set, e);
    change_put_delivery(set, mem_dup(&d, sizeof(d)));
    commit(f, set);
    webhook_engine_enqueue(f->engine, &d, body);
}

static void publish(struct fixture *f, const char *subscription, unsigned number)
{
    publish_type(f, subscription, number, "cluster.ready");
}

/* Returns the stored row. */
static struct delivery stored(struct fixture *f, const char *subscription, unsigned number)
{
    struct change_set *barrier = change_set_new();
    change_purge(barrier, CHANGE_DELIVERY_PURGE, 1, 1000);
    commit(f, barrier);
    const struct delivery wanted = make_delivery(f, subscription, number);
    struct delivery_query query = {.status = -1, .limit = 100};
    (void)snprintf(query.subscription_id, sizeof(query.subscription_id), "%s", subscription);
    struct delivery *rows = NULL;
    size_t count = 0;
    struct delivery found = {.attempt = -1};
    assert_int_equal(f->store.backend.deliveries(f->conn, &query, &rows, &count), STORE_OK);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].id, wanted.id))
            found = rows[i];
    free(rows);
    assert_int_not_equal(found.attempt, -1);
    return found;
}

static void expect_stored(struct fixture *f, const char *subscription, unsigned number,
                          enum delivery_status status, int attempt, const char *error)
{
    struct delivery d = stored(f, subscription, number);
    assert_string_equal(delivery_status_name(d.status), delivery_status_name(status));
    assert_int_equal(d.attempt, attempt);
    assert_string_equal(d.error, error);
    assert_int_equal(d.next_attempt_at == 0, status != DELIVERY_PENDING);
}

static void run(struct fixture *f, int64_t duration_us)
{
    virtual_run(&f->world, f->loop, duration_us);
}

/* Waits in real time until the receiver has got `count` requests. The virtual clock stands still. */
static void run_until_seen(struct fixture *f, unsigned count)
{
    for (int i = 0; i < REAL_WAIT_MS && f->receiver.count < count; i++) {
        loop_turn(f->loop, f->world.now);
        (void)usleep(1000);
    }
    assert_int_equal(f->receiver.count, count);
}

static struct reply status_ok(const struct request *request, unsigned number)
{
    return (struct reply){.status = 204, .latency_us = 30 * US_PER_MS};
}

static struct reply status_503(const struct request *request, unsigned number)
{
    return (struct reply){.status = 503};
}

/* ---- requests ---- */

static void wh1_wh2_wh3_wh13_sends_the_stored_bytes_signed(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_ok;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    assert_int_equal(f->receiver.count, 0); /* never called directly by publish */
    run(f, US_PER_S);
    assert_int_equal(f->receiver.count, 1);
    const struct request *seen = &f->receiver.seen[0];
    char *body CLEANUP_FREE = body_of("evt_wh_a_001");
    char *signature CLEANUP_FREE =
        webhook_sign(SECRET, seen->id, strtoll(seen->timestamp, NULL, 10), seen->body, strlen(seen->body));
    assert_string_equal(seen->url, "https://wh_a.example/hook?key=private");
    assert_string_equal(seen->body, body);
    assert_string_equal(seen->id, "evt_wh_a_001");
    assert_string_equal(seen->content_type, "application/json");
    assert_string_equal(seen->signature, signature);
    expect_stored(f, "wh_a", 1, DELIVERY_DELIVERED, 1, "");
    struct delivery d = stored(f, "wh_a", 1);
    assert_int_equal(d.response_status, 204);
    assert_int_equal(d.latency_ms, 30);
    assert_int_equal(d.attempts_known, 1);
    assert_int_equal(d.attempts[0].latency_ms, 30);
    assert_int_equal(d.attempts[0].response_status, 204);
    assert_int_equal(d.attempts[0].result, ATTEMPT_DELIVERED);
}

static void wh2_wh14_follows_the_schedule_to_its_end(void **state)
{
    static const int64_t delays_s[] = {5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400};
    struct fixture *f = *state;
    f->receiver.reply = status_503;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    mono_us start = f->world.now;
    run(f, 100 * HOUR_US);
    assert_int_equal(f->receiver.count, 10);
    assert_int_equal(f->receiver.seen[0].at, start);
    char *body CLEANUP_FREE = body_of("evt_wh_a_001");
    for (unsigned i = 0; i < 10; i++) {
        const struct request *seen = &f->receiver.seen[i];
        int64_t at_s = seen->wall / US_PER_S;
        char *timestamp CLEANUP_FREE = mem_printf("%" PRId64, at_s);
        char *signature CLEANUP_FREE = webhook_sign(SECRET, "evt_wh_a_001", at_s, body, strlen(body));
        assert_string_equal(seen->id, "evt_wh_a_001");
        assert_string_equal(seen->body, body);
        assert_string_equal(seen->timestamp, timestamp);
        assert_string_equal(seen->signature, signature);
        if (!i)
            continue;
        int64_t waited = seen->at - f->receiver.seen[i - 1].at;
        assert_in_range(waited, delays_s[i - 1] * US_PER_S / 10 * 8, delays_s[i - 1] * US_PER_S / 10 * 12);
    }
    assert_in_range(f->receiver.seen[9].at - start, 60 * HOUR_US, 91 * HOUR_US);
    expect_stored(f, "wh_a", 1, DELIVERY_FAILED, 10, "http_5xx");
    struct delivery d = stored(f, "wh_a", 1);
    assert_int_equal(d.attempts_known, 10);
    for (unsigned i = 0; i < 10; i++)
        assert_in_range(d.attempts[i].at - f->receiver.seen[i].wall, 0, US_PER_S);
    assert_int_equal(f->report_count, 0);
}

static void stores_every_attempt(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_503;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    run(f, US_PER_S);
    expect_stored(f, "wh_a", 1, DELIVERY_PENDING, 1, "http_5xx");
    struct delivery d = stored(f, "wh_a", 1);
    assert_int_equal(d.response_status, 503);
    assert_in_range(d.next_attempt_at - f->receiver.seen[0].wall, 4 * US_PER_S, 6 * US_PER_S);
    run(f, 10 * US_PER_S);
    expect_stored(f, "wh_a", 1, DELIVERY_PENDING, 2, "http_5xx");
}

/* ---- results ---- */

static char retry_after[TIME_TEXT_BYTES];

static struct reply busy_once(const struct request *request, unsigned number)
{
    return number ? (struct reply){.status = 200} : (struct reply){.status = 429, .retry_after = retry_after};
}

static void expect_second_attempt_after(struct fixture *f, int64_t from_s, int64_t to_s)
{
    f->receiver.reply = busy_once;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    run(f, 30 * HOUR_US);
    assert_int_equal(f->receiver.count, 2);
    int64_t waited = f->receiver.seen[1].at - f->receiver.seen[0].at;
    assert_in_range(waited, from_s * US_PER_S, to_s * US_PER_S);
    expect_stored(f, "wh_a", 1, DELIVERY_DELIVERED, 2, "");
}

static void honours_retry_after_in_seconds(void **state)
{
    (void)snprintf(retry_after, sizeof(retry_after), "120");
    expect_second_attempt_after(*state, 120, 121);
}

static void honours_retry_after_as_a_date(void **state)
{
    struct fixture *f = *state;
    (void)time_http(env_wall(&f->world.env) + HOUR_US, retry_after);
    expect_second_attempt_after(f, 3599, 3601);
}

static void clamps_retry_after_to_a_day(void **state)
{
    (void)snprintf(retry_after, sizeof(retry_after), "99999999999");
    expect_second_attempt_after(*state, 86400, 86401);
}

static void ignores_a_retry_after_that_is_none(void **state)
{
    (void)snprintf(retry_after, sizeof(retry_after), "soon");
    expect_second_attempt_after(*state, 5, 6); /* the pause after 429 is 5 s */
}

static void takes_a_retry_after_for_the_number_it_begins_with(void **state)
{
    (void)snprintf(retry_after, sizeof(retry_after), "119.2, 7 ;x");
    expect_second_attempt_after(*state, 120, 121);
}

static int failing_status;

static struct reply fails_once(const struct request *request, unsigned number)
{
    return number ? (struct reply){.status = 200}
                  : (struct reply){.status = failing_status, .retry_after = "600"};
}

/* docs/webhooks.md: after any failure with Retry-After, all deliveries of the webhook wait. */
static void any_failure_may_ask_to_be_left_alone(void **state)
{
    struct fixture *f = *state;
    static const int statuses[] = {301, 400, 401, 404, 408, 413, 429, 500, 502, 503, 504};
    f->receiver.reply = fails_once;
    subscribe(f, "wh_a");
    unsigned event = 0;
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        failing_status = statuses[i];
        f->receiver.count = 0;
        publish(f, "wh_a", ++event);
        run(f, US_PER_S);
        publish(f, "wh_a", ++event);
        run(f, 597 * US_PER_S);
        if (f->receiver.count != 1)
            fail_msg("after %d something was sent in the pause", failing_status);
        run(f, 10 * US_PER_S);
        assert_int_equal(f->receiver.count, 3);
    }
}

static void a_throttled_endpoint_is_left_alone(void **state)
{
    struct fixture *f = *state;
    (void)snprintf(retry_after, sizeof(retry_after), "600");
    f->receiver.reply = busy_once;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    publish(f, "wh_a", 2);
    run(f, 599 * US_PER_S);
    assert_int_equal(f->receiver.count, 1);
    run(f, 2 * US_PER_S);
    assert_int_equal(f->receiver.count, 3);
}

static struct reply gone(const struct request *request, unsigned number)
{
    return (struct reply){.status = 410};
}

/* Another state of the webhook wh_a; NULL: the URL as it was. */
static void change(struct fixture *f, int64_t version, int64_t target_version, const char *url)
{
    struct subscription *s = make_subscription(f, "wh_a");
    s->version = version;
    s->target_version = target_version;
    if (url)
        mem_set_str(&s->url, url);
    webhook_engine_set(f->engine, s);
    subscription_free(s);
}

static void gone_disables_at_once(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = gone;
    subscribe(f, "wh_a");
    for (unsigned i = 1; i <= 3; i++)
        publish(f, "wh_a", i);
    run(f, HOUR_US);
    assert_int_equal(f->receiver.count, 1);
    assert_int_equal(f->report_count, 1);
    assert_int_equal(f->last_report.version, 1);
    assert_non_null(strstr(f->last_report.reason, "410"));
    expect_stored(f, "wh_a", 1, DELIVERY_FAILED, 1, "gone");
    expect_stored(f, "wh_a", 2, DELIVERY_FAILED, 0, "disabled");
    expect_stored(f, "wh_a", 3, DELIVERY_FAILED, 0, "disabled");
    publish(f, "wh_a", 4);
    expect_stored(f, "wh_a", 4, DELIVERY_FAILED, 0, "disabled");
    change(f, 3, 3, NULL);
    f->receiver.reply = status_ok;
    publish(f, "wh_a", 5);
    run(f, US_PER_S);
    expect_stored(f, "wh_a", 5, DELIVERY_DELIVERED, 1, "");
}

/* ---- what happens between a report and its decision ---- */

/* Three deliveries, of which the first one was answered with 410. */
static void give_up(struct fixture *f)
{
    f->undecided = true;
    f->receiver.reply = gone;
    subscribe(f, "wh_a");
    for (unsigned i = 1; i <= 3; i++)
        publish(f, "wh_a", i);
    run(f, HOUR_US);
    assert_int_equal(f->receiver.count, 1);
    assert_int_equal(f->report_count, 1);
}

/* If the process is killed now, no delivery tells that the webhook was disabled. */
static void nothing_is_sent_or_stored_before_the_decision(void **state)
{
    struct fixture *f = *state;
    give_up(f);
    publish(f, "wh_a", 4);
    assert_true(webhook_engine_expedite(f->engine, "dlv_wh_a_002"));
    run(f, 150 * HOUR_US);
    assert_int_equal(f->receiver.count, 1);
    assert_int_equal(f->report_count, 1);
    for (unsigned i = 1; i <= 4; i++)
        expect_stored(f, "wh_a", i, DELIVERY_PENDING, 0, "");
    decide_reports(f);
    expect_stored(f, "wh_a", 1, DELIVERY_FAILED, 1, "gone");
    for (unsigned i = 2; i <= 4; i++)
        expect_stored(f, "wh_a", i, DELIVERY_FAILED, 0, "disabled");
}

static void a_change_with_the_old_target_is_no_decision(void **state)
{
    struct fixture *f = *state;
    give_up(f);
    change(f, 2, 0, NULL);
    change(f, 3, 1, NULL);
    run(f, HOUR_US);
    assert_int_equal(f->receiver.count, 1);
    decide_reports(f);
    expect_stored(f, "wh_a", 1, DELIVERY_FAILED, 1, "gone");
    expect_stored(f, "wh_a", 2, DELIVERY_FAILED, 0, "disabled");
}

static void another_target_is_a_decision(void **state)
{
    struct fixture *f = *state;
    give_up(f);
    change(f, 2, 2, "https://other.example/hook");
    run(f, HOUR_US);
    assert_int_equal(f->receiver.count, 2);
    assert_string_equal(f->receiver.seen[1].url, "https://other.example/hook");
    assert_int_equal(f->report_count, 2);
    assert_int_equal(f->last_report.version, 2);
    change(f, 3, 3, NULL); /* the same URL again, with another secret */
    f->receiver.reply = status_ok;
    run(f, HOUR_US);
    expect_stored(f, "wh_a", 3, DELIVERY_DELIVERED, 1, "");
}

/* The owner disables the webhook and enables it again. */
static void enabling_ends_what_disabling_began(void **state)
{
    struct fixture *f = *state;
    give_up(f);
    struct subscription *s = make_subscription(f, "wh_a");
    s->version = 2;
    s->disabled = true;
    webhook_engine_set(f->engine, s);
    subscription_free(s);
    expect_stored(f, "wh_a", 2, DELIVERY_FAILED, 0, "disabled");
    change(f, 3, 3, NULL);
    f->receiver.reply = status_ok;
    publish(f, "wh_a", 4);
    run(f, HOUR_US);
    expect_stored(f, "wh_a", 4, DELIVERY_DELIVERED, 1, "");
}

static void removal_before_the_decision(void **state)
{
    struct fixture *f = *state;
    give_up(f);
    webhook_engine_remove(f->engine, "wh_a");
    decide_reports(f);
    run(f, HOUR_US);
    assert_int_equal(f->receiver.count, 1);
    expect_stored(f, "wh_a", 2, DELIVERY_PENDING, 0, ""); /* the store removes it with its webhook */
}

static struct reply gone_later_and_later(const struct request *request, unsigned number)
{
    return (struct reply){.status = 410, .latency_us = (number + 1) * US_PER_S};
}

/* The answers to other attempts in progress are not waited for. */
static void attempts_at_once_make_one_report(void **state)
{
    struct fixture *f = *state;
    f->undecided = true;
    f->receiver.reply = gone_later_and_later;
    struct subscription *s = make_subscription(f, "wh_a");
    s->max_in_flight = 3;
    subscribe_with(f, s);
    subscription_free(s);
    for (unsigned i = 1; i <= 3; i++)
        publish(f, "wh_a", i);
    run(f, HOUR_US);
    assert_int_equal(f->receiver.count, 3);
    assert_int_equal(f->receiver.cancelled, 2);
    assert_int_equal(f->report_count, 1);
    decide_reports(f);
    expect_stored(f, "wh_a", 3, DELIVERY_FAILED, 0, "disabled");
}

static struct reply moved(const struct request *request, unsigned number)
{
    return (struct reply){.status = number ? 200 : 301};
}

static void wh21_a_redirect_is_a_failure(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = moved;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    run(f, US_PER_S);
    expect_stored(f, "wh_a", 1, DELIVERY_PENDING, 1, "redirect");
    run(f, 10 * US_PER_S);
    assert_string_equal(f->receiver.seen[1].url, f->receiver.seen[0].url);
    expect_stored(f, "wh_a", 1, DELIVERY_DELIVERED, 2, "");
}

static void wh22_answers_have_sanitized_names(void **state)
{
    static const struct {
        struct http_answer answer;
        const char *name;
    } rows[] = {
        {{.outcome = HTTP_ANSWERED, .status = 200}, "delivered"},
        {{.outcome = HTTP_ANSWERED, .status = 299}, "delivered"},
        {{.outcome = HTTP_ANSWERED, .status = 199}, "http_other"},
        {{.outcome = HTTP_ANSWERED, .status = 304}, "redirect"},
        {{.outcome = HTTP_ANSWERED, .status = 404}, "http_4xx"},
        {{.outcome = HTTP_ANSWERED, .status = 410}, "gone"},
        {{.outcome = HTTP_ANSWERED, .status = 429}, "throttled"},
        {{.outcome = HTTP_ANSWERED, .status = 500}, "http_5xx"},
        {{.outcome = HTTP_ANSWERED, .status = 502}, "http_5xx"},
        {{.outcome = HTTP_ANSWERED, .status = 503}, "http_5xx"},
        {{.outcome = HTTP_ANSWERED, .status = 504}, "http_5xx"},
        {{.outcome = HTTP_ANSWERED, .status = 999}, "http_other"},
        {{.outcome = HTTP_TOO_LARGE}, "answer_too_large"},
        {{.outcome = HTTP_TOO_LARGE, .status = 200}, "delivered"},
        {{.outcome = HTTP_TIMEOUT, .error = "timeout"}, "timeout"},
        {{.outcome = HTTP_NOT_SENT, .error = "timeout"}, "timeout"},
        {{.outcome = HTTP_NOT_SENT, .error = "resolve"}, "resolve"},
        {{.outcome = HTTP_NOT_SENT, .error = "connect"}, "connect"},
        {{.outcome = HTTP_NOT_SENT, .error = "tls"}, "tls"},
        {{.outcome = HTTP_NOT_SENT, .error = "certificate"}, "certificate"},
        {{.outcome = HTTP_NOT_SENT, .error = "address_refused"}, "address_refused"},
        {{.outcome = HTTP_NOT_SENT, .error = "whatever 10.0.0.1"}, "not_sent"},
        {{.outcome = HTTP_NOT_SENT}, "not_sent"},
        {{.outcome = HTTP_BROKEN, .error = "reset"}, "connection_lost"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(attempt_result_name(attempt_result_of(&rows[i].answer)), rows[i].name);
    for (int i = 0; i < ATTEMPT_RESULT_MAX_; i++)
        assert_true(strlen(attempt_result_name((enum attempt_result)i)) <
                    sizeof(((struct delivery *)0)->error));
}

static void wh15_gives_up_on_a_receiver_that_is_dead_for_days(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_503;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    run(f, 72 * HOUR_US);
    publish(f, "wh_a", 2);
    run(f, 28 * HOUR_US); /* the first delivery has failed, but five days have not passed */
    assert_int_equal(f->report_count, 0);
    run(f, 72 * HOUR_US);
    assert_int_equal(f->report_count, 1);
    assert_non_null(strstr(f->last_report.reason, "5 days"));
}

/* Five days count from the last stored success, not from the start of the process. */
static void wh15_counts_the_days_over_restarts(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_503;
    subscribe(f, "wh_a");
    struct subscription *s = make_subscription(f, "wh_a");
    s->created_at -= 240 * HOUR_US;
    s->last_success_at = s->created_at + 140 * HOUR_US; /* 100 hours ago */
    webhook_engine_set(f->engine, s);
    webhook_engine_remove(f->engine, "wh_a");
    webhook_engine_set(f->engine, s);
    subscription_free(s);
    publish(f, "wh_a", 1);
    run(f, 95 * HOUR_US); /* the schedule ends after about 76 hours */
    assert_int_equal(f->report_count, 1);
}

static void a_waiting_delivery_is_expedited(void **state)
{
    struct fixture *f = *state;
    (void)snprintf(retry_after, sizeof(retry_after), "600");
    f->receiver.reply = busy_once;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    run(f, US_PER_S);
    assert_false(webhook_engine_expedite(f->engine, "dlv_wh_a_002"));
    assert_true(webhook_engine_expedite(f->engine, "dlv_wh_a_001"));
    assert_int_equal(f->receiver.count, 1);
    run(f, US_PER_S);
    assert_int_equal(f->receiver.count, 2);
    expect_stored(f, "wh_a", 1, DELIVERY_DELIVERED, 2, "");
    assert_false(webhook_engine_expedite(f->engine, "dlv_wh_a_001"));
}

/* The table of docs/webhooks.md: the stored data of the first answer, the time of the second attempt, and
 * whether the delivery is over. */
static struct reply first_reply;

static struct reply first_then_ok(const struct request *request, unsigned number)
{
    return number ? (struct reply){.status = 200} : first_reply;
}

static void the_outcome_of_every_kind_of_answer(void **state)
{
    static const struct {
        struct reply reply;
        const char *error;
        enum delivery_status then; /* the status after the first attempt */
        int64_t wait_s;            /* the time until the second attempt, without jitter */
        bool disables;
    } rows[] = {
        {{.status = 200}, "", DELIVERY_DELIVERED, 0, false},
        {{.status = 202, .retry_after = "60"}, "", DELIVERY_DELIVERED, 0, false},
        {{.outcome = HTTP_TOO_LARGE, .status = 200}, "", DELIVERY_DELIVERED, 0, false},
        {{.status = 301}, "redirect", DELIVERY_PENDING, 5, false},
        {{.status = 308, .retry_after = "90"}, "redirect", DELIVERY_PENDING, 90, false},
        {{.status = 400}, "http_4xx", DELIVERY_PENDING, 5, false},
        {{.status = 404}, "http_4xx", DELIVERY_PENDING, 5, false},
        {{.status = 410}, "gone", DELIVERY_FAILED, 0, true},
        {{.status = 429}, "throttled", DELIVERY_PENDING, 5, false},
        {{.status = 429, .retry_after = "120"}, "throttled", DELIVERY_PENDING, 120, false},
        {{.status = 429, .retry_after = "200000"}, "throttled", DELIVERY_PENDING, 86400, false},
        {{.status = 500}, "http_5xx", DELIVERY_PENDING, 5, false},
        {{.status = 502}, "http_5xx", DELIVERY_PENDING, 5, false},
        {{.status = 503}, "http_5xx", DELIVERY_PENDING, 5, false},
        {{.status = 503, .retry_after = "77"}, "http_5xx", DELIVERY_PENDING, 77, false},
        {{.status = 504}, "http_5xx", DELIVERY_PENDING, 5, false},
        {{.outcome = HTTP_TOO_LARGE, .status = 500}, "http_5xx", DELIVERY_PENDING, 5, false},
        {{.outcome = HTTP_TIMEOUT, .error = "timeout"}, "timeout", DELIVERY_PENDING, 5, false},
        {{.outcome = HTTP_BROKEN, .error = "reset"}, "connection_lost", DELIVERY_PENDING, 5, false},
        {{.outcome = HTTP_NOT_SENT, .error = "connect"}, "connect", DELIVERY_PENDING, 5, false},
        {{.outcome = HTTP_NOT_SENT, .error = "resolve"}, "resolve", DELIVERY_PENDING, 5, false},
        {{.outcome = HTTP_NOT_SENT, .error = "tls"}, "tls", DELIVERY_PENDING, 5, false},
        {{.outcome = HTTP_NOT_SENT, .error = "address_refused"},
         "address_refused",
         DELIVERY_PENDING,
         5,
         false},
    };
    struct fixture *f = *state;
    f->receiver.reply = first_then_ok;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char id[40];
        (void)snprintf(id, sizeof(id), "wh_%03zu", i);
        f->receiver.count = f->report_count = 0;
        first_reply = rows[i].reply;
        subscribe(f, id);
        publish(f, id, 1);
        run(f, 10 * US_PER_MS);
        expect_stored(f, id, 1, rows[i].then, 1, rows[i].error);
        assert_int_equal(stored(f, id, 1).response_status, rows[i].reply.status);
        run(f, 2 * rows[i].wait_s * US_PER_S);
        assert_int_equal(f->report_count, rows[i].disables);
        assert_int_equal(f->receiver.count, rows[i].then == DELIVERY_PENDING ? 2 : 1);
        if (rows[i].then != DELIVERY_PENDING)
            continue;
        expect_stored(f, id, 1, DELIVERY_DELIVERED, 2, "");
        int64_t waited = f->receiver.seen[1].at - f->receiver.seen[0].at;
        assert_in_range(waited, rows[i].wait_s * US_PER_S * 8 / 10, rows[i].wait_s * US_PER_S * 12 / 10);
        if (rows[i].reply.retry_after)
            assert_in_range(waited, rows[i].wait_s * US_PER_S, (rows[i].wait_s + 1) * US_PER_S);
    }
}

/* 502 and 504 pause all deliveries as 429 does, although they are counted as what they are. */
static void some_answers_pause_all_deliveries(void **state)
{
    static const struct {
        int status;
        bool pauses;
    } rows[] = {{429, true}, {502, true}, {504, true}, {500, false}, {503, false}};
    struct fixture *f = *state;
    f->receiver.reply = first_then_ok;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char id[40];
        (void)snprintf(id, sizeof(id), "wh_%03zu", i);
        f->receiver.count = 0;
        first_reply = (struct reply){.status = rows[i].status};
        subscribe(f, id);
        publish(f, id, 1);
        publish(f, id, 2);
        run(f, 3 * US_PER_S);
        assert_int_equal(f->receiver.count, rows[i].pauses ? 1 : 2);
        run(f, 10 * US_PER_S);
        assert_int_equal(f->receiver.count, 3);
    }
}

/* A test has one attempt. Neither a 410 nor a long failure disables the webhook. */
static void a_test_is_tried_once_and_disables_nothing(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = gone;
    subscribe(f, "wh_a");
    publish_type(f, "wh_a", 1, "webhook.test");
    run(f, 150 * HOUR_US);
    expect_stored(f, "wh_a", 1, DELIVERY_FAILED, 1, "gone");
    f->receiver.reply = status_503;
    publish_type(f, "wh_a", 2, "webhook.test");
    run(f, 150 * HOUR_US);
    expect_stored(f, "wh_a", 2, DELIVERY_FAILED, 1, "http_5xx");
    assert_int_equal(f->receiver.count, 2);
    assert_int_equal(f->report_count, 0);
    f->receiver.reply = status_ok;
    publish_type(f, "wh_a", 3, "webhook.test");
    run(f, US_PER_S);
    expect_stored(f, "wh_a", 3, DELIVERY_DELIVERED, 1, "");
}

static void wh18_the_configuration_of_now_decides(void **state)
{
    int ports[] = {8443, 0};
    struct fixture *f = *state;
    f->receiver.reply = status_ok;
    struct subscription *s = make_subscription(f, "wh_a");
    free(s->url);
    s->url = mem_strdup("https://hooks.example:8443/");
    subscribe_with(f, s);
    subscription_free(s);
    publish(f, "wh_a", 1);
    run(f, US_PER_S);
    expect_stored(f, "wh_a", 1, DELIVERY_PENDING, 1, "address_refused");
    assert_int_equal(f->receiver.count, 0);
    f->config.webhooks.ports = ports;
    run(f, 10 * US_PER_S);
    expect_stored(f, "wh_a", 1, DELIVERY_DELIVERED, 2, "");
}

/* ---- secrets in requests and in answers ---- */

#define OTHER_SECRET "whsec_dGVzdC1zZWNyZXQta2V5LTI0LWJ5dGVzIQ=="

static void wh6_a_rotation_signs_with_both(void **state)
{
    struct fixture *f = *state;
    struct signing_key key;
    f->receiver.reply = status_ok;
    struct subscription *s = make_subscription(f, "wh_a");
    assert_true(webhook_key_given(&f->world.env, &f->key, s->id, OTHER_SECRET, &key));
    subscription_rotate(s, &key, env_wall(&f->world.env), HOUR_US);
    subscribe_with(f, s);
    publish(f, "wh_a", 1);
    run(f, HOUR_US);
    publish(f, "wh_a", 2);
    run(f, US_PER_S);
    subscription_free(s);
    assert_int_equal(f->receiver.count, 2);
    const struct request *seen = f->receiver.seen;
    int64_t at_s[] = {strtoll(seen[0].timestamp, NULL, 10), strtoll(seen[1].timestamp, NULL, 10)};
    char *newer CLEANUP_FREE =
        webhook_sign(OTHER_SECRET, seen[0].id, at_s[0], seen[0].body, strlen(seen[0].body));
    char *older CLEANUP_FREE = webhook_sign(SECRET, seen[0].id, at_s[0], seen[0].body, strlen(seen[0].body));
    char *both CLEANUP_FREE = mem_printf("%s %s", newer, older);
    char *later CLEANUP_FREE =
        webhook_sign(OTHER_SECRET, seen[1].id, at_s[1], seen[1].body, strlen(seen[1].body));
    assert_string_equal(seen[0].signature, both);
    assert_string_equal(seen[1].signature, later);
}

static struct reply echoes(const struct request *request, unsigned number)
{
    static char body[4096];
    (void)snprintf(body, sizeof(body), "%0200d you sent %s\r\nBearer abcdef %02000d", 0,
                   request->authorization, 0);
    return (struct reply){.status = 500, .body = body};
}

static void an_extra_header_goes_along_and_never_comes_back(void **state)
{
    struct fixture *f = *state;
    struct webhook_header header;
    f->receiver.reply = echoes;
    struct subscription *s = make_subscription(f, "wh_a");
    assert_true(webhook_header_seal(&f->world.env, &f->key, s->id, "Authorization",
                                    "Basic c2VjcmV0OnNlY3JldA==", &header));
    assert_true(subscription_set_header(s, &header));
    subscribe_with(f, s);
    publish(f, "wh_a", 1);
    run(f, US_PER_S);
    assert_string_equal(f->receiver.seen[0].authorization, "Basic c2VjcmV0OnNlY3JldA==");
    char *expected CLEANUP_FREE = mem_printf("%0200d you sent **************************  Bearer ****", 0);
    struct delivery d = stored(f, "wh_a", 1);
    assert_int_equal(strlen(d.snippet), DELIVERY_SNIPPET_BYTES - 1);
    assert_memory_equal(d.snippet, expected, strlen(expected));

    s->headers[0].sealed[0] ^= 1;
    webhook_engine_set(f->engine, s);
    subscription_free(s);
    run(f, 10 * US_PER_S);
    assert_int_equal(f->receiver.count, 1);
    expect_stored(f, "wh_a", 1, DELIVERY_PENDING, 2, "secret_unreadable");
}

static void wh22_snippets_are_printable(void **state)
{
    static const struct {
        const char *body;
        const char *snippet;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"a\r\n\tb\x7f", "a   b "},
        {"\x1b[31mred", " [31mred"},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xc3(", "?("},
        {"\xff\xfe", "??"},
        {"\xc0\xaf", "??"},           /* overlong */
        {"\xed\xa0\x80", "???"},      /* a surrogate */
        {"\xf5\x80\x80\x80", "????"}, /* beyond Unicode */
        {"\xe2\x82", "??"},
        {"\xc2\x9b[0m", " [0m"}, /* C1 */
        {"a\xe2\x80\xae"
         "b",
         "a b"}, /* a mark that reverses the line */
        {"token shd_abc whsec_QUJD", "token shd_*** whsec_****"},
    };
    const struct subscription none = {0};
    const struct seal_key key = {{0}};
    char snippet[DELIVERY_SNIPPET_BYTES];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        snippet_write(snippet, rows[i].body, strlen(rows[i].body), &none, &key);
        assert_string_equal(snippet, rows[i].snippet);
    }
    snippet_write(snippet, "a\0b", 3, &none, &key);
    assert_string_equal(snippet, "a b");
    /* A character of several bytes is not cut. */
    char *wide CLEANUP_FREE = mem_printf("%0255d\xc3\xbc", 0);
    snippet_write(snippet, wide, strlen(wide), &none, &key);
    assert_int_equal(strlen(snippet), 255);
}

/* ---- limits of attempts in flight ---- */

static struct reply slow(const struct request *request, unsigned number)
{
    return (struct reply){.status = 200, .latency_us = 10 * US_PER_S};
}

static void one_at_a_time_per_subscription(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = slow;
    subscribe(f, "wh_a");
    for (unsigned i = 1; i <= 3; i++)
        publish(f, "wh_a", i);
    run(f, 40 * US_PER_S);
    assert_int_equal(f->receiver.count, 3);
    assert_int_equal(f->receiver.max_in_flight, 1);
    assert_int_equal(f->receiver.seen[1].at - f->receiver.seen[0].at, 10 * US_PER_S);
    assert_int_equal(f->receiver.seen[2].at - f->receiver.seen[1].at, 10 * US_PER_S);
}

static struct reply a_hangs_all(const struct request *request, unsigned number)
{
    return (struct reply){.outcome = HTTP_TIMEOUT, .error = "timeout", .latency_us = 20 * US_PER_S};
}

static void as_many_at_a_time_as_the_subscription_says(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = slow;
    struct subscription *s = make_subscription(f, "wh_a");
    s->max_in_flight = 3;
    subscribe_with(f, s);
    for (unsigned i = 1; i <= 7; i++)
        publish(f, "wh_a", i);
    run(f, US_PER_S);
    assert_int_equal(f->receiver.count, 3);
    run(f, 29 * US_PER_S + 500 * US_PER_MS);
    assert_int_equal(f->receiver.count, 7);
    assert_int_equal(f->receiver.max_in_flight, 3);
    s->max_in_flight = 1; /* the new limit applies to attempts that have not begun */
    s->version = 2;
    webhook_engine_set(f->engine, s);
    subscription_free(s);
    for (unsigned i = 8; i <= 10; i++)
        publish(f, "wh_a", i);
    run(f, 15 * US_PER_S);
    assert_int_equal(f->receiver.count, 9);
}

/* A subscription with a high limit whose receiver is down takes only one place of the common limit, not as
 * many places as its own limit allows. */
static void a_failing_receiver_is_tried_one_by_one(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = a_hangs_all;
    struct subscription *s = make_subscription(f, "wh_a");
    s->max_in_flight = 10;
    subscribe_with(f, s);
    subscription_free(s);
    for (unsigned i = 1; i <= 20; i++)
        publish(f, "wh_a", i);
    run(f, 19 * US_PER_S);
    assert_int_equal(f->receiver.count, 10);
    run(f, 20 * US_PER_S);
    assert_int_equal(f->receiver.count, 11);
    f->receiver.reply = slow;
    run(f, 12 * US_PER_S); /* the current attempt fails, the next one succeeds */
    run(f, 60 * US_PER_S);
    assert_int_equal(f->receiver.in_flight, 0);
    assert_int_equal(f->receiver.max_in_flight, 10);
}

static struct reply a_hangs(const struct request *request, unsigned number)
{
    if (strstr(request->url, "wh_a"))
        return (struct reply){.outcome = HTTP_TIMEOUT, .error = "timeout", .latency_us = 20 * US_PER_S};
    return (struct reply){.status = 200};
}

static void wh12_subscriptions_do_not_wait_for_each_other(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = a_hangs;
    subscribe(f, "wh_a");
    subscribe(f, "wh_b");
    for (unsigned i = 1; i <= 5; i++) {
        publish(f, "wh_a", i);
        publish(f, "wh_b", i);
    }
    run(f, US_PER_S);
    for (unsigned i = 1; i <= 5; i++)
        expect_stored(f, "wh_b", i, DELIVERY_DELIVERED, 1, "");
    expect_stored(f, "wh_a", 1, DELIVERY_PENDING, 0, "");
    run(f, 20 * US_PER_S);
    expect_stored(f, "wh_a", 1, DELIVERY_PENDING, 1, "timeout");
}

static void all_together_have_a_limit(void **state)
{
    enum { SUBSCRIPTIONS = 140, LIMIT = 128 };
    struct fixture *f = *state;
    f->receiver.reply = slow;
    for (unsigned i = 0; i < SUBSCRIPTIONS; i++) {
        char id[40];
        (void)snprintf(id, sizeof(id), "wh_%03u", i);
        subscribe(f, id);
        publish(f, id, 1);
    }
    run(f, 5 * US_PER_S);
    assert_int_equal(f->receiver.count, LIMIT);
    webhook_engine_remove(f->engine, "wh_139"); /* a subscription that waits for its turn */
    run(f, 60 * US_PER_S);
    assert_int_equal(f->receiver.count, SUBSCRIPTIONS - 1);
    assert_int_equal(f->receiver.max_in_flight, LIMIT);
}

/* ---- restarts, removals, special cases ---- */

struct reload {
    struct fixture *f;
    unsigned count;
};

static void reload_subscription(void *ctx, struct subscription *s)
{
    const struct reload *reload = ctx;
    webhook_engine_set(reload->f->engine, s);
    subscription_free(s);
}

static void reload_delivery(void *ctx, struct delivery *d)
{
    struct reload *reload = ctx;
    reload->count++;
    webhook_engine_enqueue(reload->f->engine, d, NULL);
    free(d);
}

static void restart_engine(struct fixture *f, unsigned expected)
{
    struct reload reload = {.f = f};
    const struct store_visitor visitor = {
        .subscription = reload_subscription, .delivery = reload_delivery, .ctx = &reload};
    webhook_engine_free(f->engine);
    f->engine = new_engine(f);
    assert_int_equal(f->store.backend.load(f->conn, &visitor, NULL), STORE_OK);
    assert_int_equal(reload.count, expected);
}

static void wh16_sends_again_after_a_restart(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = slow;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    publish(f, "wh_a", 2);
    run(f, 15 * US_PER_S); /* the first delivery is done, the second is in progress */
    assert_int_equal(f->receiver.count, 2);
    expect_stored(f, "wh_a", 1, DELIVERY_DELIVERED, 1, "");
    restart_engine(f, 1);
    assert_int_equal(f->receiver.cancelled, 1);
    expect_stored(f, "wh_a", 2, DELIVERY_PENDING, 0, "");
    run_until_seen(f, 3);
    assert_string_equal(f->receiver.seen[2].id, f->receiver.seen[1].id);
    assert_string_equal(f->receiver.seen[2].body, f->receiver.seen[1].body);
    assert_string_not_equal(f->receiver.seen[2].timestamp, f->receiver.seen[1].timestamp);
    run(f, 15 * US_PER_S);
    expect_stored(f, "wh_a", 2, DELIVERY_DELIVERED, 1, "");
}

/* The process was killed before the report was decided. The next one comes to the same end. */
static void a_lost_report_is_made_again_after_a_restart(void **state)
{
    struct fixture *f = *state;
    give_up(f);
    lose_reports(f);
    restart_engine(f, 3);
    f->undecided = false;
    run_until_seen(f, 2);
    run(f, HOUR_US);
    assert_int_equal(f->receiver.count, 2);
    assert_int_equal(f->report_count, 2);
    expect_stored(f, "wh_a", 1, DELIVERY_FAILED, 1, "gone");
    expect_stored(f, "wh_a", 2, DELIVERY_FAILED, 0, "disabled");
}

static void keeps_its_place_in_the_schedule_over_a_restart(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_503;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    run(f, 60 * US_PER_S); /* two attempts; the third is 4 to 6 minutes away */
    assert_int_equal(f->receiver.count, 2);
    wall_us due = stored(f, "wh_a", 1).next_attempt_at;
    restart_engine(f, 1);
    run(f, due - env_wall(&f->world.env) - US_PER_S);
    assert_int_equal(f->receiver.count, 2);
    run(f, 2 * US_PER_S);
    run_until_seen(f, 3);
    run(f, US_PER_S);
    expect_stored(f, "wh_a", 1, DELIVERY_PENDING, 3, "http_5xx");
}

/* ---- what is known about the receiver ---- */

static void expect_metric(struct fixture *f, const char *line);

static void expect_standing(struct fixture *f, enum webhook_state state, wall_us failing_since,
                            unsigned pending, int last_status)
{
    assert_string_equal(webhook_state_name(f->shown.state), webhook_state_name(state));
    assert_int_equal(f->shown.standing.failing_since, failing_since);
    assert_int_equal(f->shown.standing.pending, pending);
    assert_int_equal(f->shown.standing.last_status, last_status);
}

static void a_receiver_fails_until_it_accepts_something(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_503;
    subscribe(f, "wh_a");
    expect_standing(f, WEBHOOK_ENABLED, 0, 0, 0);
    publish(f, "wh_a", 1);
    publish(f, "wh_a", 2);
    const wall_us since = env_wall(&f->world.env);
    run(f, 60 * US_PER_S);
    assert_int_equal(f->receiver.count, 4);
    expect_standing(f, WEBHOOK_FAILING, since, 2, 503);
    assert_true(f->shown.standing.last_at > since);
    assert_int_equal(f->shown.standing.last_result, ATTEMPT_SERVER_ERROR);
    expect_metric(f, "shootd_webhooks{state=\"failing\"} 1\n");
    f->receiver.reply = status_ok;
    publish(f, "wh_a", 3);
    run(f, 5 * US_PER_S);
    expect_standing(f, WEBHOOK_ENABLED, 0, 2, 204);
}

/* The failed deliveries may be purged, so the state does not depend on them. */
static void a_receiver_fails_over_a_restart(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_503;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    const wall_us since = env_wall(&f->world.env);
    run(f, 100 * HOUR_US);
    expect_stored(f, "wh_a", 1, DELIVERY_FAILED, SCHEDULE_ATTEMPTS, "http_5xx");
    const wall_us last_at = f->shown.standing.last_at;
    restart_engine(f, 0);
    expect_standing(f, WEBHOOK_FAILING, since, 0, 503);
    assert_int_equal(f->shown.standing.last_at, last_at);
    f->receiver.reply = status_ok;
    publish(f, "wh_a", 2);
    run(f, 5 * US_PER_S);
    (void)stored(f, "wh_a", 2);
    restart_engine(f, 0);
    expect_standing(f, WEBHOOK_ENABLED, 0, 0, 204);
}

static void another_target_has_not_failed(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_503;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    const wall_us since = env_wall(&f->world.env);
    run(f, 5 * US_PER_S);
    change(f, 2, 0, "https://wh_a.example/hook?key=private");
    expect_standing(f, WEBHOOK_FAILING, since, 1, 503);
    change(f, 3, 3, "https://other.example/");
    expect_standing(f, WEBHOOK_ENABLED, 0, 1, 0);
    (void)stored(f, "wh_a", 1);
    restart_engine(f, 1);
    expect_standing(f, WEBHOOK_ENABLED, 0, 0, 0);
}

static void a_test_tells_nothing_about_the_receiver(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_503;
    subscribe(f, "wh_a");
    publish_type(f, "wh_a", 1, "webhook.test");
    run(f, 5 * US_PER_S);
    expect_stored(f, "wh_a", 1, DELIVERY_FAILED, 1, "http_5xx");
    expect_standing(f, WEBHOOK_ENABLED, 0, 0, 0);
}

/* What a client sees of a stored delivery. */
static void expect_wait(struct fixture *f, unsigned number, const char *wait, wall_us from, wall_us to)
{
    struct delivery d = stored(f, "wh_a", number);
    webhook_engine_look_up(f->engine, &d);
    assert_string_equal(delivery_wait_name((enum delivery_wait)d.waits_for), wait);
    assert_in_range(d.next_attempt_at, from, to);
}

static void the_next_attempt_is_never_in_the_past(void **state)
{
    struct fixture *f = *state;
    (void)snprintf(retry_after, sizeof(retry_after), "600");
    f->receiver.reply = busy_once;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    const wall_us end = env_wall(&f->world.env) + 600 * US_PER_S;
    run(f, 30 * US_PER_S);
    publish(f, "wh_a", 2); /* it was due when it was made, and the receiver has requested a pause */
    run(f, 300 * US_PER_S);
    assert_true(stored(f, "wh_a", 2).next_attempt_at < env_wall(&f->world.env));
    expect_wait(f, 1, "time", end, end);
    expect_wait(f, 2, "time", end, end);
    f->receiver.reply = a_hangs_all;
    run(f, 275 * US_PER_S); /* the pause ends, and the receiver does not answer */
    expect_wait(f, 2, "answer", 0, 0);
    expect_wait(f, 1, "turn", 0, 0);
    run(f, 17 * US_PER_S); /* the attempt has failed */
    expect_wait(f, 1, "answer", 0, 0);
    struct delivery d = stored(f, "wh_a", 2);
    webhook_engine_look_up(f->engine, &d);
    assert_int_equal(d.waits_for, WAIT_TIME);
    assert_true(d.next_attempt_at > env_wall(&f->world.env));
    f->receiver.reply = status_ok;
    run(f, HOUR_US);
    d = stored(f, "wh_a", 1);
    webhook_engine_look_up(f->engine, &d);
    assert_int_equal(d.status, DELIVERY_DELIVERED);
    assert_null(delivery_wait_name((enum delivery_wait)d.waits_for));
}

/* Hundreds of deliveries in a few seconds are a few entity tags. */
static void what_is_shown_changes_once_a_second(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_ok;
    subscribe(f, "wh_a");
    const unsigned before = f->shown.count;
    for (unsigned i = 1; i <= 100; i++)
        publish(f, "wh_a", i);
    run(f, 5 * US_PER_S); /* each attempt takes 30 ms */
    assert_int_equal(f->receiver.count, 100);
    expect_standing(f, WEBHOOK_ENABLED, 0, 0, 204);
    assert_in_range(f->shown.count - before, 2, 5);
}

/* The clock was ahead when the attempt was planned, or has been set back since then. */
static void waits_no_longer_than_its_own_delay_over_a_restart(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_503;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    run(f, 60 * US_PER_S); /* two attempts; the third is 4 to 6 minutes away */
    assert_int_equal(f->receiver.count, 2);
    (void)stored(f, "wh_a", 1);
    f->world.wall_offset -= 10 * 86400 * US_PER_S;
    restart_engine(f, 1);
    run(f, 150 * US_PER_S);
    assert_int_equal(f->receiver.count, 2);
    run(f, 211 * US_PER_S);
    run_until_seen(f, 3);
}

static void a_backlog_keeps_its_bodies_in_the_store(void **state)
{
    enum { BACKLOG = 255 };
    struct fixture *f = *state;
    f->receiver.reply = status_ok;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    for (unsigned i = 0; i < BACKLOG; i++) {
        /* later deliveries, which only fill the queue */
        struct delivery d = make_delivery(f, "wh_a", 300 + i);
        d.next_attempt_at += HOUR_US;
        webhook_engine_enqueue(f->engine, &d, "{}");
    }
    publish(f, "wh_a", 2); /* the engine drops the body here */
    run_until_seen(f, 1);
    run(f, 100 * US_PER_MS);
    run_until_seen(f, 2);
    char *body CLEANUP_FREE = body_of("evt_wh_a_002");
    assert_string_equal(f->receiver.seen[1].body, body);
}

static void an_event_that_is_gone_is_given_up(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_ok;
    subscribe(f, "wh_a");
    struct delivery d = make_delivery(f, "wh_a", 1);
    struct change_set *set = change_set_new();
    change_put_delivery(set, mem_dup(&d, sizeof(d)));
    commit(f, set);
    webhook_engine_enqueue(f->engine, &d, NULL);
    for (int i = 0; i < REAL_WAIT_MS && stored(f, "wh_a", 1).status == DELIVERY_PENDING; i++) {
        loop_turn(f->loop, f->world.now);
        (void)usleep(1000);
    }
    expect_stored(f, "wh_a", 1, DELIVERY_FAILED, 0, "event_gone");
    assert_int_equal(f->receiver.count, 0);
}

static void removal_stops_what_is_under_way(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = slow;
    subscribe(f, "wh_a");
    subscribe(f, "wh_b");
    publish(f, "wh_a", 1);
    publish(f, "wh_a", 2);
    publish(f, "wh_b", 1);
    run(f, US_PER_S);
    webhook_engine_remove(f->engine, "wh_a");
    webhook_engine_remove(f->engine, "wh_a");
    assert_int_equal(f->receiver.cancelled, 1);
    run(f, HOUR_US);
    assert_int_equal(f->receiver.count, 2);
    publish(f, "wh_a", 3);
    run(f, HOUR_US);
    assert_int_equal(f->receiver.count, 2);
    expect_stored(f, "wh_b", 1, DELIVERY_DELIVERED, 1, "");
}

/* The read returns after the endpoint was removed, and after the engine was freed. */
static void removal_while_a_body_is_read(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_ok;
    subscribe(f, "wh_a");
    subscribe(f, "wh_b");
    struct delivery a = make_delivery(f, "wh_a", 1);
    struct delivery b = make_delivery(f, "wh_b", 1);
    webhook_engine_enqueue(f->engine, &a, NULL);
    loop_turn(f->loop, f->world.now);
    webhook_engine_remove(f->engine, "wh_a");
    for (int i = 0; i < 20; i++) {
        loop_turn(f->loop, f->world.now);
        (void)usleep(1000);
    }
    webhook_engine_enqueue(f->engine, &b, NULL);
    loop_turn(f->loop, f->world.now);
    assert_int_equal(f->receiver.count, 0);
}

static void disabling_stops_what_is_under_way(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = slow;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    publish(f, "wh_a", 2);
    run(f, US_PER_S);
    struct subscription *s = make_subscription(f, "wh_a");
    s->version = 2;
    s->disabled = true;
    webhook_engine_set(f->engine, s);
    subscription_free(s);
    run(f, HOUR_US);
    assert_int_equal(f->receiver.cancelled, 1);
    assert_int_equal(f->receiver.count, 1);
    assert_int_equal(f->report_count, 0);
    expect_stored(f, "wh_a", 1, DELIVERY_FAILED, 0, "disabled");
    expect_stored(f, "wh_a", 2, DELIVERY_FAILED, 0, "disabled");
}

static struct reply slowly_gone(const struct request *request, unsigned number)
{
    bool is_old = strstr(request->url, "key=private") != NULL;
    return (struct reply){.status = is_old ? 410 : 200, .latency_us = 10 * US_PER_S};
}

/* The answer of the former receiver does not apply to the present receiver. */
static void an_attempt_under_way_ends_with_another_url(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = slowly_gone;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    run(f, US_PER_S);
    struct subscription *s = make_subscription(f, "wh_a");
    s->version = 2;
    free(s->url);
    s->url = mem_strdup("https://other.example/hook");
    webhook_engine_set(f->engine, s);
    subscription_free(s);
    run(f, HOUR_US);
    assert_int_equal(f->receiver.cancelled, 1);
    assert_int_equal(f->receiver.count, 2);
    assert_int_equal(f->report_count, 0);
    expect_stored(f, "wh_a", 1, DELIVERY_DELIVERED, 1, "");
}

static void a_test_pauses_nothing(void **state)
{
    struct fixture *f = *state;
    (void)snprintf(retry_after, sizeof(retry_after), "3600");
    f->receiver.reply = busy_once;
    subscribe(f, "wh_a");
    publish_type(f, "wh_a", 1, "webhook.test");
    run(f, US_PER_S);
    expect_stored(f, "wh_a", 1, DELIVERY_FAILED, 1, "throttled");
    publish(f, "wh_a", 2);
    run(f, US_PER_S);
    assert_int_equal(f->receiver.count, 2);
}

static void known_or_final_state_is_ignored(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = slow;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    struct delivery d = make_delivery(f, "wh_a", 1);
    webhook_engine_enqueue(f->engine, &d, "{}");
    run(f, US_PER_S);
    webhook_engine_enqueue(f->engine, &d, "{}"); /* in progress */
    d = make_delivery(f, "wh_a", 2);
    d.status = DELIVERY_FAILED;
    webhook_engine_enqueue(f->engine, &d, "{}");
    run(f, HOUR_US);
    assert_int_equal(f->receiver.count, 1);
}

static void a_secret_that_cannot_be_opened_fails_the_attempt(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = status_ok;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    f->key.bytes[0] ^= 1;
    run(f, US_PER_S);
    assert_int_equal(f->receiver.count, 0);
    expect_stored(f, "wh_a", 1, DELIVERY_PENDING, 1, "secret_unreadable");
    f->key.bytes[0] ^= 1;
    run(f, 10 * US_PER_S);
    expect_stored(f, "wh_a", 1, DELIVERY_DELIVERED, 2, "");
}

static char metrics_text[16384];

static void expect_metric(struct fixture *f, const char *line)
{
    struct buffer out;
    buffer_init(&out, sizeof(metrics_text) - 1);
    webhook_metrics(&out, env_wall(&f->world.env));
    assert_false(out.overflow);
    (void)snprintf(metrics_text, sizeof(metrics_text), "%s", out.data);
    buffer_done(&out);
    if (!strstr(metrics_text, line))
        fail_msg("no '%s' in\n%s", line, metrics_text);
}

static void counts_what_it_does(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = gone;
    expect_metric(f, "\nshootd_webhook_pending 0\n");
    expect_metric(f, "shootd_webhooks{state=\"enabled\"} 0\n");
    expect_metric(f, "shootd_webhooks{state=\"disabled\"} 0\n");
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    expect_metric(f, "\nshootd_webhook_pending 1\n");
    expect_metric(f, "\nshootd_webhook_in_flight 0\n");
    f->world.now += 7 * US_PER_S;
    expect_metric(f, "\nshootd_webhook_oldest_pending_age_seconds 7\n");
    expect_metric(f, "shootd_webhooks{state=\"enabled\"} 1\n");
    run(f, US_PER_S);
    expect_metric(f, "\nshootd_webhook_pending 0\n");
    expect_metric(f, "\nshootd_webhook_oldest_pending_age_seconds 0\n");
    expect_metric(f, "shootd_webhooks{state=\"enabled\"} 0\n");
    expect_metric(f, "shootd_webhooks{state=\"failing\"} 0\n");
    expect_metric(f, "shootd_webhooks{state=\"disabled\"} 1\n");
    for (int i = 0; i < ATTEMPT_RESULT_MAX_; i++) {
        char *series CLEANUP_FREE = mem_printf("\nshootd_webhook_attempts_total{outcome=\"%s\"} ",
                                               attempt_result_name((enum attempt_result)i));
        expect_metric(f, series);
    }
}

static void measures_from_event_to_delivery(void **state)
{
    struct fixture *f = *state;
    f->receiver.reply = slow;
    subscribe(f, "wh_a");
    publish(f, "wh_a", 1);
    expect_metric(f, "shootd_webhook_delivery_delay_seconds_count 0\n");
    run(f, US_PER_S);
    expect_metric(f, "\nshootd_webhook_in_flight 1\n");
    run(f, 10 * US_PER_S);
    expect_metric(f, "\nshootd_webhook_in_flight 0\n");
    expect_metric(f, "shootd_webhook_delivery_delay_seconds_bucket{le=\"5.0\"} 0\n");
    expect_metric(f, "shootd_webhook_delivery_delay_seconds_bucket{le=\"30.0\"} 1\n");
    expect_metric(f, "shootd_webhook_delivery_delay_seconds_bucket{le=\"+Inf\"} 1\n");
    expect_metric(f, "shootd_webhook_delivery_delay_seconds_sum 10.000000\n");
    expect_metric(f, "shootd_webhook_delivery_delay_seconds_count 1\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(counts_what_it_does),
        TEST(measures_from_event_to_delivery),
        TEST(wh1_wh2_wh3_wh13_sends_the_stored_bytes_signed),
        TEST(wh2_wh14_follows_the_schedule_to_its_end),
        TEST(stores_every_attempt),
        TEST(honours_retry_after_in_seconds),
        TEST(honours_retry_after_as_a_date),
        TEST(clamps_retry_after_to_a_day),
        TEST(ignores_a_retry_after_that_is_none),
        TEST(takes_a_retry_after_for_the_number_it_begins_with),
        TEST(any_failure_may_ask_to_be_left_alone),
        TEST(a_throttled_endpoint_is_left_alone),
        TEST(some_answers_pause_all_deliveries),
        TEST(a_receiver_fails_until_it_accepts_something),
        TEST(a_receiver_fails_over_a_restart),
        TEST(another_target_has_not_failed),
        TEST(a_test_tells_nothing_about_the_receiver),
        TEST(the_next_attempt_is_never_in_the_past),
        TEST(what_is_shown_changes_once_a_second),
        TEST(gone_disables_at_once),
        TEST(nothing_is_sent_or_stored_before_the_decision),
        TEST(a_change_with_the_old_target_is_no_decision),
        TEST(another_target_is_a_decision),
        TEST(enabling_ends_what_disabling_began),
        TEST(removal_before_the_decision),
        TEST(attempts_at_once_make_one_report),
        TEST(wh21_a_redirect_is_a_failure),
        TEST(wh22_answers_have_sanitized_names),
        TEST(wh15_gives_up_on_a_receiver_that_is_dead_for_days),
        TEST(wh15_counts_the_days_over_restarts),
        TEST(a_waiting_delivery_is_expedited),
        TEST(the_outcome_of_every_kind_of_answer),
        TEST(a_test_is_tried_once_and_disables_nothing),
        TEST(wh18_the_configuration_of_now_decides),
        TEST(wh6_a_rotation_signs_with_both),
        TEST(an_extra_header_goes_along_and_never_comes_back),
        TEST(wh22_snippets_are_printable),
        TEST(one_at_a_time_per_subscription),
        TEST(as_many_at_a_time_as_the_subscription_says),
        TEST(a_failing_receiver_is_tried_one_by_one),
        TEST(wh12_subscriptions_do_not_wait_for_each_other),
        TEST(all_together_have_a_limit),
        TEST(wh16_sends_again_after_a_restart),
        TEST(a_lost_report_is_made_again_after_a_restart),
        TEST(keeps_its_place_in_the_schedule_over_a_restart),
        TEST(waits_no_longer_than_its_own_delay_over_a_restart),
        TEST(a_backlog_keeps_its_bodies_in_the_store),
        TEST(an_event_that_is_gone_is_given_up),
        TEST(removal_stops_what_is_under_way),
        TEST(removal_while_a_body_is_read),
        TEST(disabling_stops_what_is_under_way),
        TEST(known_or_final_state_is_ignored),
        TEST(an_attempt_under_way_ends_with_another_url),
        TEST(a_test_pauses_nothing),
        TEST(a_secret_that_cannot_be_opened_fails_the_attempt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
