/* Lanes under load and in outages, on a virtual clock: breaker, retry budget, fairness, pauses, timeouts. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "tests/support/account.h"
#include "tests/support/virtual.h"
#include "upstream/account/breaker.h"
#include "upstream/account/budget.h"
#include "upstream/fairness.h"
#include "upstream/upstream.h"

/*
 * Cleura is down for an hour. 5 attempts open the breaker. The pauses of the breaker are at least 5, 10, 20,
 * 40 and then 60 s. Probes therefore start no earlier than 5, 15, 35 and 75 s after the breaker opened, and
 * then every 60 s.
 */
enum { ATTEMPTS_IN_AN_HOUR = 5 + 4 + (3600 - 75) / 60 };

struct fixture {
    struct virtual_world world;
    struct loop *loop;
    struct fake_transport *transport;
    struct worker *worker;
    struct config_account config;
    struct seal_key key;
    struct upstream_account *account;
    struct canned_answer answer; /* for all requests except logins */
    struct canned_answer login;
    enum http_outcome late; /* how a transfer ends at its timeout; HTTP_NOT_SENT while connecting */
    unsigned logins;
    bool in_submit;
    unsigned done;
    unsigned ended[UPSTREAM_CLASS_MAX_];
    enum upstream_class last;
    int retry_after_s;
    char message[128];
    bool again; /* on_done submits the call again */
    struct list open;
};

struct test_call {
    struct list link;
    struct upstream_call call;
    struct fixture *f;
};

static const struct canned_answer good = {HTTP_ANSWERED, 200, "[]", NULL, 10 * US_PER_MS};
static const struct canned_answer refused = {HTTP_NOT_SENT, 0, NULL, NULL, US_PER_MS};
static const struct canned_answer logged_in = {HTTP_ANSWERED, 201,
                                               "{\"result\":\"login_ok\",\"token\":\"t1\"}", NULL, US_PER_MS};

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    struct fixture *f = ctx;
    bool login = strstr(request->url, "/auth/") != NULL;
    f->logins += login;
    struct canned_answer answer = login ? f->login : f->answer;
    if (answer.latency_us > request->timeout_us)
        answer = (struct canned_answer){f->late, 0, NULL, NULL, request->timeout_us};
    return answer;
}

static void open_account(struct fixture *f)
{
    const struct upstream_account_events events = {.ctx = f};
    f->account = upstream_account_new(f->loop, &f->transport->transport, f->worker, &f->config, &f->key, NULL,
                                      2000, &events);
}

static int setup(void **state)
{
    struct fixture *f = MEM_NEW(struct fixture);
    virtual_init(&f->world, 42);
    f->loop = loop_new(&f->world.env);
    f->transport = fake_transport_new(&f->world, f->loop);
    f->worker = inline_worker_new(f->loop);
    f->transport->respond = respond;
    f->transport->ctx = f;
    list_init(&f->open);
    test_account_init(&f->config);
    f->late = HTTP_TIMEOUT;
    f->login = logged_in;
    f->answer = good;
    open_account(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    upstream_account_free(f->account);
    assert_int_equal(upstream_breakers_open(), 0);
    for (struct list *item = list_pop(&f->open); item; item = list_pop(&f->open))
        free(CONTAINER_OF(item, struct test_call, link));
    f->transport->transport.free(&f->transport->transport);
    f->worker->free(f->worker);
    loop_free(f->loop);
    test_account_done(&f->config);
    free(f);
    return 0;
}

static struct upstream_call *submit_for(struct fixture *f, const char *project, enum upstream_op op,
                                        enum lane_priority priority, int64_t deadline_us, bool retry);

static void on_done(struct upstream_call *call, struct upstream_result *result)
{
    struct test_call *t = CONTAINER_OF(call, struct test_call, call);
    struct fixture *f = t->f;
    assert_false(f->in_submit);
    f->done++;
    f->ended[result->class]++;
    f->last = result->class;
    f->retry_after_s = result->retry_after_s;
    (void)snprintf(f->message, sizeof(f->message), "%s", result->message ? result->message : "");
    list_remove(&t->link);
    if (f->again)
        (void)submit_for(f, call->project_id, call->op, call->priority, call->deadline - f->world.now, false);
    free(t);
}

static struct upstream_call *submit_for(struct fixture *f, const char *project, enum upstream_op op,
                                        enum lane_priority priority, int64_t deadline_us, bool retry)
{
    struct test_call *t = MEM_NEW(struct test_call);
    t->f = f;
    t->call = (struct upstream_call){.op = op,
                                     .region = "Sto2",
                                     .project_id = project,
                                     .name = "dev",
                                     .priority = priority,
                                     .deadline = f->world.now + deadline_us,
                                     .retry = retry,
                                     .on_done = on_done};
    list_append(&f->open, &t->link);
    f->in_submit = true;
    upstream_submit(f->account, &t->call);
    f->in_submit = false;
    return &t->call;
}

static struct upstream_call *submit(struct fixture *f, enum lane_priority priority, int64_t deadline_us)
{
    return submit_for(f, "p", UPSTREAM_LIST, priority, deadline_us, false);
}

static void run(struct fixture *f, int64_t duration_us)
{
    virtual_run(&f->world, f->loop, duration_us);
}

static struct upstream_account_status status_of(const struct fixture *f)
{
    struct upstream_account_status status;
    upstream_account_status(f->account, &status);
    return status;
}

/* Makes one successful call, so that there is a token. */
static void warm_up(struct fixture *f)
{
    (void)submit(f, LANE_IDLE_POLL, 60 * US_PER_S);
    run(f, US_PER_S);
    assert_int_equal(f->last, UPSTREAM_OK);
}

/* Makes polls that fail until the breaker opens. */
static void break_it(struct fixture *f)
{
    f->answer = refused;
    for (int i = 0; i < 5; i++) {
        assert_string_equal(status_of(f).breaker, "closed");
        unsigned before = f->done;
        (void)submit(f, LANE_IDLE_POLL, 60 * US_PER_S);
        while (f->done == before)
            loop_turn(f->loop, f->world.now + US_PER_S);
    }
    assert_string_equal(status_of(f).breaker, "open");
}

/* Returns the position of the request for the project, counted from `from`; 0: there is none. */
static unsigned place_of(const struct fixture *f, unsigned from, const char *project)
{
    for (unsigned i = from; i < f->transport->count; i++)
        if (strstr(f->transport->seen[i % ARRAY_LEN(f->transport->seen)].url, project))
            return i - from + 1;
    return 0;
}

/* ---- the breaker without a lane ---- */

/* Letters: S success, F failure, A abandoned. Before S and F a request starts, if the breaker admits it.
 * Digits: seconds that pass; '0' is ten seconds. */
static const struct {
    const char *script;
    enum breaker_state expected;
} scripts[] = {
    {"", BREAKER_CLOSED},
    {"FFFF", BREAKER_CLOSED},
    {"FFFFF", BREAKER_OPEN},
    {"FFFFSFFFF", BREAKER_CLOSED},
    {"F0F0F0F0F", BREAKER_OPEN},
    /* the rate of failures: half of 20 results in 10 s */
    {"SFSFSFSFSFSFSFSFSFS", BREAKER_CLOSED},
    {"SFSFSFSFSFSFSFSFSFSF", BREAKER_OPEN},
    {"SSSSSSSSSSSFFFFSFFFFS", BREAKER_CLOSED},
    {"SFSFSFSFSFSFSFSFSF0SF", BREAKER_CLOSED},
    {"SSFSSFSSFSSFSSFSSFSSFSSF", BREAKER_CLOSED},
    /* half open after at most 6 s; results of earlier calls do not count while the breaker is open */
    {"FFFFF4", BREAKER_OPEN},
    {"FFFFF6", BREAKER_HALF_OPEN},
    {"FFFFFS", BREAKER_OPEN},
    {"FFFFF6S", BREAKER_HALF_OPEN},
    {"FFFFF6SS", BREAKER_HALF_OPEN},
    {"FFFFF6SSS", BREAKER_CLOSED},
    {"FFFFF6SSF", BREAKER_OPEN},
    {"FFFFF6SSSFFFF", BREAKER_CLOSED},
    /* the pause doubles; a success resets it */
    {"FFFFF6F9", BREAKER_OPEN},
    {"FFFFF6F93", BREAKER_HALF_OPEN},
    {"FFFFF6SF6", BREAKER_HALF_OPEN},
    {"FFFFF6F93F99F999999F999999F099999", BREAKER_OPEN},
    /* abandoned: the same pause again, not a longer one */
    {"FFFFF6A4", BREAKER_OPEN},
    {"FFFFF6A6", BREAKER_HALF_OPEN},
    {"A", BREAKER_CLOSED},
};

static void breaker_table(void **state)
{
    struct virtual_world world;
    virtual_init(&world, 7);
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct breaker b = {0};
        mono_us now = 1000 * US_PER_S;
        for (const char *c = scripts[i].script; *c; c++) {
            if (*c >= '0' && *c <= '9') {
                now += (*c == '0' ? 10 : *c - '0') * US_PER_S;
                continue;
            }
            if (breaker_admits(&b, now))
                breaker_started(&b);
            if (*c == 'S')
                breaker_success(&b, now);
            else if (*c == 'F')
                breaker_failure(&b, &world.env, now);
            else
                breaker_abandoned(&b, &world.env, now);
        }
        if (breaker_state(&b, now) != scripts[i].expected)
            fail_msg("\"%s\" ends %s", scripts[i].script, breaker_state_name(breaker_state(&b, now)));
    }
}

static void breaker_pauses_grow_to_a_minute_with_jitter(void **state)
{
    static const int64_t pauses_s[] = {5, 10, 20, 40, 60, 60};
    struct virtual_world world;
    virtual_init(&world, 7);
    struct breaker b = {0};
    mono_us now = 1000 * US_PER_S;
    for (int i = 0; i < 4; i++)
        breaker_failure(&b, &world.env, now);
    int64_t jitter = 0;
    for (size_t i = 0; i < ARRAY_LEN(pauses_s); i++) {
        breaker_failure(&b, &world.env, now);
        assert_in_range(b.until - now, pauses_s[i] * US_PER_S, pauses_s[i] * US_PER_S * 6 / 5);
        jitter += b.until - now - pauses_s[i] * US_PER_S;
        now = b.until - 1;
        assert_false(breaker_admits(&b, now));
        now = b.until;
        assert_true(breaker_admits(&b, now));
        breaker_started(&b);
        assert_false(breaker_admits(&b, now)); /* one probe at a time */
    }
    assert_true(jitter > 0);
    breaker_hold(&b, now + 300 * US_PER_S);
    assert_true(b.until == now); /* half open: Retry-After has no effect until the breaker opens */
    breaker_failure(&b, &world.env, now);
    breaker_hold(&b, now + 300 * US_PER_S);
    assert_int_equal(b.until - now, 300 * US_PER_S);
}

/* ---- the breaker in the lane ---- */

static void an_hour_without_cleura_costs_few_attempts(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    unsigned before = f->transport->count;
    uint64_t opened = upstream_breaker_opened_total();
    f->answer = refused;
    for (int i = 0; i < 3600; i++) {
        (void)submit_for(f, "a", UPSTREAM_LIST, LANE_IDLE_POLL, 120 * US_PER_S, i % 3 == 0);
        (void)submit_for(f, "b", UPSTREAM_GET, LANE_USER_WAITING, 10 * US_PER_S, false);
        (void)submit_for(f, "c", UPSTREAM_DELETE, LANE_USER_WRITE, 30 * US_PER_S, false);
        run(f, US_PER_S);
    }
    unsigned attempts = f->transport->count - before;
    print_message("attempts in an hour: %u, bound %d\n", attempts, ATTEMPTS_IN_AN_HOUR);
    assert_in_range(attempts, 40, ATTEMPTS_IN_AN_HOUR);
    assert_in_range(upstream_breaker_opened_total() - opened, attempts - 5, attempts - 4);
    assert_int_equal(upstream_breakers_open(), 1);
}

static void an_hour_without_logins_costs_few_attempts(void **state)
{
    struct fixture *f = *state;
    f->login = refused;
    for (int i = 0; i < 3600; i++) {
        (void)submit(f, LANE_IDLE_POLL, 120 * US_PER_S);
        (void)submit(f, LANE_USER_WAITING, 10 * US_PER_S);
        run(f, US_PER_S);
    }
    assert_int_equal(f->logins, f->transport->count);
    assert_in_range(f->logins, 40, ATTEMPTS_IN_AN_HOUR);
    assert_int_equal(status_of(f).login, LOGIN_UNREACHABLE);
}

static void a_hanging_cleura_is_asked_less_often(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    unsigned before = f->transport->count;
    f->answer.latency_us = 3600 * US_PER_S;
    for (int i = 0; i < 3600; i++) {
        (void)submit_for(f, "a", UPSTREAM_LIST, LANE_IDLE_POLL, 120 * US_PER_S, false);
        (void)submit_for(f, "b", UPSTREAM_GET, LANE_USER_WAITING, 10 * US_PER_S, false);
        run(f, US_PER_S);
    }
    /* A probe also takes time here: the time limit of a poll is 60 s, so about one probe starts in two
     * minutes. */
    assert_in_range(f->transport->count - before, 20, 5 + 4 + 3600 / 60);
    assert_true(f->ended[UPSTREAM_UNREACHABLE] > 500);
}

static void waiting_users_hear_at_once_others_wait(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    break_it(f);
    unsigned sent = f->transport->count, done = f->done;
    assert_true(status_of(f).breaker_until > env_wall(&f->world.env));
    (void)submit(f, LANE_IDLE_POLL, 120 * US_PER_S);
    (void)submit(f, LANE_USER_WRITE, 120 * US_PER_S);
    (void)submit(f, LANE_USER_WAITING, 10 * US_PER_S);
    run(f, 10 * US_PER_MS);
    assert_int_equal(f->done, done + 1);
    assert_int_equal(f->last, UPSTREAM_UNREACHABLE);
    assert_non_null(strstr(f->message, "Cleura (127.0.0.1:1) cannot be reached since "));
    assert_in_range(f->retry_after_s, 4, 6);
    assert_int_equal(status_of(f).queue_depth, 2);
    run(f, 4 * US_PER_S);
    assert_int_equal(f->transport->count, sent);
    f->answer = good;
    run(f, 3 * US_PER_S);
    assert_int_equal(f->done, done + 3);
    assert_string_equal(status_of(f).breaker, "half_open");
    (void)submit(f, LANE_USER_WAITING, 10 * US_PER_S);
    run(f, US_PER_S);
    assert_int_equal(f->last, UPSTREAM_OK);
    assert_string_equal(status_of(f).breaker, "closed");
    assert_int_equal(status_of(f).breaker_until, 0);
}

static void opening_answers_users_already_queued(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    f->answer = refused;
    f->answer.latency_us = 100 * US_PER_MS;
    for (int i = 0; i < 20; i++)
        (void)submit(f, i < 10 ? LANE_USER_WRITE : LANE_USER_WAITING, 60 * US_PER_S);
    while (strcmp(status_of(f).breaker, "closed") == 0)
        run(f, 10 * US_PER_MS);
    run(f, 10 * US_PER_MS);
    assert_int_equal(f->ended[UPSTREAM_UNREACHABLE], 5 + 10);
    assert_int_equal(status_of(f).queue_depth, 5);
}

static void a_user_who_asks_again_at_once_does_not_stop_the_clock(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    break_it(f);
    f->again = true;
    (void)submit(f, LANE_USER_WAITING, 3600 * US_PER_S);
    run(f, 100 * US_PER_MS);
    assert_in_range(f->done, 10, 120);
    f->again = false;
    run(f, US_PER_S);
}

static void the_most_urgent_call_is_the_probe(void **state)
{
    struct fixture *f = *state;
    f->config.max_in_flight = 4;
    warm_up(f);
    break_it(f);
    unsigned sent = f->transport->count;
    for (int i = 0; i < 5; i++)
        (void)submit_for(f, "polled", UPSTREAM_LIST, LANE_IDLE_POLL, 600 * US_PER_S, false);
    (void)submit_for(f, "urgent", UPSTREAM_GET, LANE_USER_WRITE, 600 * US_PER_S, false);
    f->answer.latency_us = 10 * US_PER_S;
    run(f, 10 * US_PER_S);
    /* Only one probe is sent, although the limit of calls in flight is four. */
    assert_int_equal(f->transport->count, sent + 1);
    assert_int_equal(place_of(f, sent, "urgent"), 1);
    assert_string_equal(status_of(f).breaker, "half_open");
    run(f, 8 * US_PER_S);
    assert_string_equal(status_of(f).breaker, "open");
    f->answer = good;
    f->answer.latency_us = US_PER_S;
    f->transport->max_in_flight = 0;
    sent = f->transport->count;
    while (f->transport->count < sent + 3)
        run(f, 100 * US_PER_MS);
    assert_int_equal(f->transport->max_in_flight, 1);
    run(f, 10 * US_PER_S);
    assert_int_equal(f->transport->max_in_flight, 2); /* closed: the two waiting calls are sent together */
    assert_string_equal(status_of(f).breaker, "closed");
}

static void with_nothing_queued_nothing_is_sent(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    break_it(f);
    unsigned sent = f->transport->count;
    run(f, 3600 * US_PER_S);
    assert_int_equal(f->transport->count, sent);
    assert_string_equal(status_of(f).breaker, "half_open");
}

static void a_cancelled_probe_is_no_stream_of_probes(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    break_it(f);
    run(f, 7 * US_PER_S);
    f->answer.latency_us = 30 * US_PER_S;
    struct upstream_call *call = submit(f, LANE_USER_WAITING, 60 * US_PER_S);
    run(f, US_PER_S);
    assert_int_equal(status_of(f).in_flight, 1);
    upstream_cancel(call);
    assert_string_equal(status_of(f).breaker, "open");
    unsigned sent = f->transport->count;
    (void)submit(f, LANE_USER_WRITE, 60 * US_PER_S);
    run(f, 4 * US_PER_S);
    assert_int_equal(f->transport->count, sent);
    run(f, 3 * US_PER_S);
    assert_int_equal(f->transport->count, sent + 1);
}

static void a_late_success_does_not_close(void **state)
{
    struct fixture *f = *state;
    f->config.max_in_flight = 2;
    warm_up(f);
    f->answer.latency_us = 20 * US_PER_S;
    (void)submit(f, LANE_IDLE_POLL, 60 * US_PER_S);
    run(f, US_PER_S);
    unsigned ok = f->ended[UPSTREAM_OK];
    break_it(f);
    f->answer.latency_us = US_PER_S / 2;
    unsigned sent = f->transport->count;
    (void)submit(f, LANE_USER_WRITE, 60 * US_PER_S);
    run(f, 7 * US_PER_S);
    assert_int_equal(f->transport->count, sent); /* while the breaker is not closed, one call at a time is
                                                  * allowed, and the slow poll is still in progress */
    while (f->ended[UPSTREAM_OK] == ok)
        run(f, 10 * US_PER_MS);
    assert_string_equal(status_of(f).breaker, "half_open");
    run(f, US_PER_S);
    assert_int_equal(f->transport->count, sent + 1);
    assert_string_equal(status_of(f).breaker, "open");
}

static void refusals_and_throttling_open_nothing(void **state)
{
    struct fixture *f = *state;
    static const int statuses[] = {400, 404, 409, 422, 429, 302};
    warm_up(f);
    for (int i = 0; i < 60; i++) {
        f->answer = (struct canned_answer){HTTP_ANSWERED, statuses[i % 6], "{}", NULL, US_PER_MS};
        (void)submit(f, LANE_OPERATION, 60 * US_PER_S);
        run(f, 2 * US_PER_S);
        assert_string_equal(status_of(f).breaker, "closed");
    }
}

static void wrong_passwords_open_nothing_and_stay_guarded(void **state)
{
    struct fixture *f = *state;
    f->login = (struct canned_answer){
        HTTP_ANSWERED, 400, "{\"error\":{\"code\":400,\"message\":\"Bad Request\"}}", NULL, US_PER_MS};
    for (int second = 0; second < 3600; second++) {
        (void)submit(f, second % 2 ? LANE_IDLE_POLL : LANE_USER_WAITING, US_PER_S);
        run(f, US_PER_S);
        if (second == 59)
            assert_in_range(f->logins, 3, 4);
        assert_string_equal(status_of(f).breaker, "closed");
    }
    assert_in_range(f->logins, 9, 12);
    assert_int_equal(f->last, UPSTREAM_LOGIN_FAILED);
}

/* ---- Retry-After ---- */

static void retry_after_table(void **state)
{
    struct fixture *f = *state;
    char soon[TIME_TEXT_BYTES], past[TIME_TEXT_BYTES], far[TIME_TEXT_BYTES];
    const struct {
        const char *value;
        int from_s, to_s; /* limits of the pause; jitter below 30 s is added */
    } rows[] = {
        {"30", 30, 31},  {soon, 29, 31},     {past, 0, 2},     {"99999999", 300, 304},
        {far, 300, 308}, {"0", 0, 8},        {"-5", 0, 16},    {"soon", 0, 30},
        {"5.5", 6, 36},  {"60, 60", 60, 90}, {"60;x", 60, 90},
    };
    warm_up(f);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        wall_us wall = env_wall(&f->world.env);
        (void)time_http(wall + 30 * US_PER_S, soon);
        (void)time_http(wall - 3600 * US_PER_S, past);
        (void)time_http(wall + 86400 * US_PER_S, far);
        f->answer = (struct canned_answer){HTTP_ANSWERED, 429, "{}", rows[i].value, US_PER_MS};
        (void)submit_for(f, "a", UPSTREAM_LIST, LANE_IDLE_POLL, 60 * US_PER_S, false);
        run(f, 10 * US_PER_MS);
        assert_int_equal(f->last, UPSTREAM_THROTTLED);
        unsigned sent = f->transport->count;
        mono_us since = f->transport->seen[sent - 1].at;
        f->answer = good;
        /* This call is for another project and has the highest priority, but the pause applies to the whole
         * account. */
        (void)submit_for(f, "b", UPSTREAM_LIST, LANE_USER_WRITE, 600 * US_PER_S, false);
        run(f, 400 * US_PER_S);
        assert_int_equal(f->transport->count, sent + 1);
        int64_t pause = f->transport->seen[sent].at - since;
        if (pause < rows[i].from_s * US_PER_S || pause > rows[i].to_s * US_PER_S)
            fail_msg("%s: paused for %d ms", rows[i].value, (int)(pause / US_PER_MS));
    }
}

/* Cleura's clock is an hour ahead of the test's clock. The date still means half a minute. */
static void a_date_of_retry_after_is_by_cleuras_clock(void **state)
{
    struct fixture *f = *state;
    char date[TIME_TEXT_BYTES], until[TIME_TEXT_BYTES];
    warm_up(f);
    wall_us theirs = env_wall(&f->world.env) + 3600 * US_PER_S;
    f->transport->date = time_http(theirs, date);
    f->answer =
        (struct canned_answer){HTTP_ANSWERED, 429, "{}", time_http(theirs + 30 * US_PER_S, until), US_PER_MS};
    (void)submit_for(f, "a", UPSTREAM_LIST, LANE_IDLE_POLL, 60 * US_PER_S, false);
    run(f, 10 * US_PER_MS);
    assert_int_equal(f->last, UPSTREAM_THROTTLED);
    assert_in_range(f->retry_after_s, 29, 31);
    f->transport->date = NULL;
}

static void retry_after_of_a_failing_cleura_holds_the_breaker(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    f->answer = (struct canned_answer){HTTP_ANSWERED, 503, "{}", "120", US_PER_MS};
    for (int i = 0; i < 5; i++) {
        (void)submit(f, LANE_IDLE_POLL, 300 * US_PER_S);
        run(f, i < 4 ? 200 * US_PER_S : 130 * US_PER_S);
    }
    f->answer.retry_after = NULL;
    while (strcmp(status_of(f).breaker, "closed") == 0) {
        (void)submit(f, LANE_IDLE_POLL, 300 * US_PER_S);
        run(f, US_PER_S);
    }
    run(f, 130 * US_PER_S);
    f->answer.retry_after = "120";
    (void)submit(f, LANE_IDLE_POLL, 300 * US_PER_S); /* a probe, which fails */
    run(f, US_PER_S);
    (void)submit(f, LANE_USER_WAITING, 60 * US_PER_S);
    run(f, US_PER_S);
    assert_int_equal(f->last, UPSTREAM_UNREACHABLE);
    assert_in_range(f->retry_after_s, 117, 120);
}

/* ---- the retry budget ---- */

static void budget_table(void **state)
{
    struct budget b;
    budget_init(&b);
    mono_us now = 1000 * US_PER_S;
    for (int i = 0; i < 10; i++) {
        assert_true(budget_covers(&b, 1, now));
        budget_spend(&b, now);
    }
    assert_false(budget_covers(&b, 1, now));
    assert_int_equal(budget_ready_at(&b), now + 10 * US_PER_S);
    for (int i = 0; i < 10; i++)
        budget_earn(&b);
    assert_true(budget_covers(&b, 1, now));
    assert_false(budget_covers(&b, 2, now));
    budget_spend(&b, now);
    now += 10 * US_PER_S;
    assert_true(budget_ready_at(&b) <= now);
    budget_spend(&b, now); /* the minimum rate allows this retry */
    assert_false(budget_covers(&b, 1, now));
    for (int i = 0; i < 1000; i++)
        budget_earn(&b);
    assert_true(budget_covers(&b, 10, now));
    assert_false(budget_covers(&b, 11, now));
}

static void retries_are_a_tenth_and_block_nobody(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    uint64_t delayed = upstream_retries_delayed_total();
    unsigned sent = f->transport->count;
    for (int i = 0; i < 14; i++)
        (void)submit_for(f, "again", UPSTREAM_LIST, LANE_USER_WRITE, 600 * US_PER_S, true);
    assert_int_equal(upstream_retries_delayed_total() - delayed, 4);
    run(f, 1100 * US_PER_MS);
    /* There are ten tokens for retries, and the ten successful answers add one more. */
    assert_in_range(f->transport->count - sent, 10, 11);
    run(f, 2 * US_PER_S);
    assert_int_equal(f->transport->count - sent, 11);
    /* A first attempt needs no token, even at a lower priority. */
    (void)submit_for(f, "first", UPSTREAM_LIST, LANE_DISCOVERY, 600 * US_PER_S, false);
    run(f, US_PER_S);
    assert_int_equal(place_of(f, sent, "first"), 12);
    /* The minimum rate is one retry in 10 s. */
    run(f, 9 * US_PER_S);
    assert_int_equal(f->transport->count - sent, 13);
    run(f, 10 * US_PER_S);
    assert_int_equal(f->transport->count - sent, 14);
    run(f, 10 * US_PER_S);
    assert_int_equal(f->transport->count - sent, 15);
    assert_int_equal(status_of(f).queue_depth, 0);
}

static void good_calls_pay_for_retries(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    for (int i = 0; i < 40; i++)
        (void)submit_for(f, "again", UPSTREAM_LIST, LANE_USER_WRITE, 600 * US_PER_S, true);
    for (int i = 0; i < 100; i++)
        (void)submit_for(f, "first", UPSTREAM_LIST, LANE_IDLE_POLL, 600 * US_PER_S, false);
    run(f, 13 * US_PER_S);
    unsigned retries = 0, firsts = 0;
    for (unsigned i = 0; i < f->transport->count; i++) {
        retries += strstr(f->transport->seen[i].url, "again") != NULL;
        firsts += strstr(f->transport->seen[i].url, "first") != NULL;
    }
    assert_int_equal(firsts, 100);
    /* 10 tokens from the start, one token for every ten of the 100 calls and of the retries, and one retry by
     * the minimum rate. */
    assert_in_range(retries, 20, 24);
}

static void a_delayed_retry_can_be_cancelled_and_expires(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    for (int i = 0; i < 11; i++)
        (void)submit_for(f, "again", UPSTREAM_LIST, LANE_USER_WRITE, 600 * US_PER_S, true);
    run(f, 3 * US_PER_S);
    assert_int_equal(status_of(f).queue_depth, 0);
    struct upstream_call *call = submit_for(f, "again", UPSTREAM_LIST, LANE_IDLE_POLL, 600 * US_PER_S, true);
    (void)submit_for(f, "again", UPSTREAM_LIST, LANE_IDLE_POLL, 2 * US_PER_S, true);
    assert_int_equal(status_of(f).queue_depth, 2);
    upstream_cancel(call);
    run(f, 3 * US_PER_S);
    assert_int_equal(status_of(f).queue_depth, 0);
    assert_int_equal(f->last, UPSTREAM_EXPIRED);
}

static void a_call_that_is_cancelled_at_its_deadline_is_counted(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    f->answer.latency_us = 60 * US_PER_S;
    for (int late = 0; late < 2; late++) {
        const uint64_t counted = upstream_calls_total(UPSTREAM_NAME_TAKEN, UPSTREAM_EXPIRED);
        struct upstream_call *call =
            submit_for(f, "team", UPSTREAM_NAME_TAKEN, LANE_USER_WAITING, 2 * US_PER_S, false);
        run(f, US_PER_S);
        if (late)
            f->world.now = call->deadline; /* the timers of the lane have not fired yet */
        upstream_cancel(call);
        assert_int_equal(upstream_calls_total(UPSTREAM_NAME_TAKEN, UPSTREAM_EXPIRED),
                         counted + (unsigned)late);
    }
}

/* ---- fairness ---- */

static void a_busy_project_does_not_starve_another(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    unsigned sent = f->transport->count;
    for (int i = 0; i < 500; i++)
        (void)submit_for(f, "project-a", UPSTREAM_GET, LANE_USER_WAITING, 600 * US_PER_S, false);
    (void)submit_for(f, "project-b", UPSTREAM_GET, LANE_USER_WAITING, 600 * US_PER_S, false);
    run(f, US_PER_S);
    assert_in_range(place_of(f, sent, "project-b"), 1, 3);
    /* The result is the same later, when the waiting calls are old. */
    run(f, 20 * US_PER_S);
    sent = f->transport->count;
    (void)submit_for(f, "project-c", UPSTREAM_GET, LANE_USER_WAITING, 600 * US_PER_S, false);
    run(f, 2 * US_PER_S);
    assert_in_range(place_of(f, sent, "project-c"), 1, 3);
    run(f, 60 * US_PER_S);
    assert_int_equal(f->done, 1 + 502);
}

static void two_busy_projects_share(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    unsigned sent = f->transport->count;
    for (int i = 0; i < 100; i++)
        (void)submit_for(f, "project-a", UPSTREAM_GET, LANE_IDLE_POLL, 600 * US_PER_S, false);
    for (int i = 0; i < 100; i++)
        (void)submit_for(f, "project-b", UPSTREAM_GET, LANE_IDLE_POLL, 600 * US_PER_S, false);
    run(f, 5 * US_PER_S);
    unsigned a = 0, b = 0;
    for (unsigned i = sent; i < f->transport->count; i++) {
        a += strstr(f->transport->seen[i].url, "project-a") != NULL;
        b += strstr(f->transport->seen[i].url, "project-b") != NULL;
    }
    assert_in_range(a, 20, 30);
    assert_in_range(b, a - 2, a + 2);
}

static void a_user_write_passes_a_thousand_polls(void **state)
{
    struct fixture *f = *state;
    char projects[20][16];
    warm_up(f);
    for (unsigned i = 0; i < 1000; i++) {
        char *project = projects[i % 20];
        (void)snprintf(project, sizeof(projects[0]), "polled-%u", i % 20);
        (void)submit_for(f, project, UPSTREAM_LIST, LANE_IDLE_POLL, 600 * US_PER_S, false);
    }
    unsigned sent = f->transport->count;
    (void)submit_for(f, "polled-7", UPSTREAM_DELETE, LANE_USER_WRITE, 600 * US_PER_S, false);
    run(f, US_PER_S);
    unsigned place = 0;
    for (unsigned i = sent; !place && i < f->transport->count; i++)
        if (!strcmp(f->transport->seen[i].method, "DELETE"))
            place = i - sent + 1;
    assert_in_range(place, 1, 2);
}

static void nothing_starves(void **state)
{
    struct fixture *f = *state;
    f->answer.latency_us = US_PER_S;
    warm_up(f);
    run(f, 10 * US_PER_S);
    unsigned sent = f->transport->count;
    (void)submit_for(f, "patient", UPSTREAM_CATALOG, LANE_DISCOVERY, 600 * US_PER_S, false);
    mono_us since = f->world.now;
    /* Users write in ten projects, more than the lane can send. */
    char projects[10][16];
    for (unsigned i = 0; i < 120; i++) {
        char *project = projects[i % 10];
        (void)snprintf(project, sizeof(projects[0]), "busy-%u", i % 10);
        (void)submit_for(f, project, UPSTREAM_LIST, LANE_USER_WRITE, 600 * US_PER_S, false);
        (void)submit_for(f, project, UPSTREAM_LIST, LANE_USER_WRITE, 600 * US_PER_S, false);
        run(f, US_PER_S);
    }
    unsigned place = 0;
    for (unsigned i = sent; !place && i < f->transport->count; i++)
        if (strstr(f->transport->seen[i].url, "cloud-profiles"))
            place = i;
    assert_true(place > 0);
    /* After the limit of fairness.h (32 s), the call still waits for earlier calls: at most 2 for each of the
     * 32 s, and each of them takes a second. */
    assert_true(f->transport->seen[place].at - since <= (32 + 64 + 1) * US_PER_S);
}

static void expired_calls_cost_their_project_nothing(void **state)
{
    struct fairness fair = {0};
    struct fair_ticket tickets[3] = {{0}};
    mono_us now = 1000 * US_PER_S;
    for (size_t i = 0; i < 3; i++) {
        mono_us turn = fairness_join(&fair, &tickets[i], "r", "p", LANE_IDLE_POLL, US_PER_S, now);
        assert_int_equal(turn, now + (24 + (int64_t)i) * US_PER_S);
    }
    fairness_leave(&fair, &tickets[0], true);
    fairness_leave(&fair, &tickets[1], false);
    assert_int_equal(fairness_join(&fair, &tickets[1], "r", "p", LANE_IDLE_POLL, US_PER_S, now),
                     now + 26 * US_PER_S);
    assert_int_equal(fairness_join(&fair, &tickets[0], "other", "p", LANE_IDLE_POLL, US_PER_S, now),
                     now + 24 * US_PER_S);
    for (size_t i = 0; i < 3; i++)
        fairness_leave(&fair, &tickets[i], false);
    fairness_leave(&fair, &tickets[0], false);
    assert_null(fair.flows);
    assert_int_equal(fairness_cost(&fair, 100, 1), 100);
    for (int i = 0; i < 100; i++)
        fairness_measure(&fair, 4 * US_PER_S);
    assert_in_range(fairness_cost(&fair, 100, 1), 39 * US_PER_S / 10, 4 * US_PER_S);
    assert_in_range(fairness_cost(&fair, 100, 4), 9 * US_PER_S / 10, US_PER_S);
    for (int i = 0; i < 100; i++)
        fairness_measure(&fair, 60 * US_PER_S);
    assert_int_equal(fairness_cost(&fair, 100, 1), LANE_HANDICAP_S * US_PER_S);
}

/* ---- spacing, cancel, timeouts ---- */

static void starts_are_spaced_whatever_happens(void **state)
{
    struct fixture *f = *state;
    f->config.max_in_flight = 3;
    for (int i = 0; i < 200; i++) {
        f->answer = i % 7 == 3 ? refused : good;
        f->answer.latency_us = (i % 5) * 90 * US_PER_MS;
        struct upstream_call *call =
            submit_for(f, i % 2 ? "a" : "b", UPSTREAM_GET, LANE_OPERATION, 60 * US_PER_S, i % 4 == 0);
        run(f, (i % 3) * 60 * US_PER_MS);
        if (i % 10 == 9 && upstream_call_is_active(call)) {
            struct test_call *t = CONTAINER_OF(call, struct test_call, call);
            upstream_cancel(call);
            list_remove(&t->link);
            free(t);
        }
    }
    run(f, 60 * US_PER_S);
    assert_true(f->transport->count > 100);
    assert_true(f->transport->max_in_flight <= 3);
    for (unsigned i = 1; i < f->transport->count; i++)
        assert_true(f->transport->seen[i].at - f->transport->seen[i - 1].at >= 100 * US_PER_MS);
}

static void a_user_whose_time_is_over_hears_of_no_outage(void **state)
{
    static const struct {
        enum lane_priority priority;
        enum upstream_class class;
    } rows[] = {{LANE_USER_WAITING, UPSTREAM_EXPIRED}, {LANE_IDLE_POLL, UPSTREAM_UNREACHABLE}};
    struct fixture *f = *state;
    warm_up(f);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        f->answer.latency_us = 3600 * US_PER_S;
        unsigned done = f->done;
        (void)submit(f, rows[i].priority, 25 * US_PER_S);
        run(f, 24 * US_PER_S);
        assert_int_equal(f->done, done);
        run(f, 300 * US_PER_S);
        assert_int_equal(f->done, done + 1);
        assert_int_equal(f->last, rows[i].class);
    }
}

static void cancel_in_flight_starts_the_next(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    f->answer.latency_us = 50 * US_PER_S;
    struct upstream_call *call = submit(f, LANE_USER_WAITING, 60 * US_PER_S);
    (void)submit(f, LANE_IDLE_POLL, 60 * US_PER_S);
    run(f, US_PER_S);
    unsigned sent = f->transport->count, done = f->done;
    upstream_cancel(call);
    assert_int_equal(f->transport->in_flight, 0);
    f->answer = good;
    run(f, 50 * US_PER_MS);
    assert_int_equal(f->transport->count, sent + 1);
    assert_int_equal(f->done, done + 1);
    assert_string_equal(status_of(f).breaker, "closed");
}

static void a_waiting_user_limits_the_transfer_UP_19(void **state)
{
    struct fixture *f = *state;
    static const struct {
        enum upstream_op op;
        enum lane_priority priority;
        int64_t deadline_us, least_us, most_us;
    } rows[] = {
        {UPSTREAM_GET, LANE_USER_WAITING, 7 * US_PER_S, 68 * US_PER_S / 10, 7 * US_PER_S},
        {UPSTREAM_GET, LANE_USER_WAITING, 600 * US_PER_S, 60 * US_PER_S, 60 * US_PER_S},
        {UPSTREAM_GET, LANE_OPERATION, 7 * US_PER_S, 60 * US_PER_S, 60 * US_PER_S},
        {UPSTREAM_DELETE, LANE_USER_WAITING, 7 * US_PER_S, 60 * US_PER_S, 60 * US_PER_S},
        {UPSTREAM_DELETE, LANE_USER_WRITE, 7 * US_PER_S, 60 * US_PER_S, 60 * US_PER_S},
        {UPSTREAM_GET, LANE_USER_WAITING, 60 * US_PER_MS, 1, 60 * US_PER_MS},
    };
    warm_up(f);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        (void)submit_for(f, "p", rows[i].op, rows[i].priority, rows[i].deadline_us, false);
        run(f, US_PER_S);
        assert_in_range(f->transport->seen[f->transport->count - 1].timeout_us, rows[i].least_us,
                        rows[i].most_us);
    }
}

static void impatient_users_do_not_open_the_breaker(void **state)
{
    struct fixture *f = *state;
    warm_up(f);
    f->answer.latency_us = 3 * US_PER_S;
    for (int i = 0; i < 30; i++) {
        f->late = i % 2 ? HTTP_TIMEOUT : HTTP_NOT_SENT;
        (void)submit_for(f, "p", UPSTREAM_GET, LANE_USER_WAITING, US_PER_S, false);
        run(f, 2 * US_PER_S);
        assert_int_equal(f->last, i % 2 ? UPSTREAM_EXPIRED : UPSTREAM_UNREACHABLE);
        assert_string_equal(status_of(f).breaker, "closed");
    }
    /* A timeout after at least 5 s counts as a failure of Cleura. */
    f->answer.latency_us = 60 * US_PER_S;
    for (int i = 0; i < 5; i++) {
        (void)submit_for(f, "p", UPSTREAM_GET, LANE_USER_WAITING, 10 * US_PER_S, false);
        run(f, 15 * US_PER_S);
    }
    assert_int_not_equal(strcmp(status_of(f).breaker, "closed"), 0);
}

/* ---- a read, and the write that is based on it ---- */

static void hold_lane(struct upstream_call *call, struct upstream_result *result)
{
    assert_int_equal(result->class, UPSTREAM_OK);
    upstream_hold(call);
}

static void ignore(struct upstream_call *call, struct upstream_result *result)
{
}

/* Makes the read; when it has ended, another call waits. Returns the number of requests before both. */
static unsigned look_in_a_busy_lane(struct fixture *f, struct upstream_call *look)
{
    unsigned before = f->transport->count;
    *look = (struct upstream_call){.op = UPSTREAM_LIST,
                                   .region = "Sto2",
                                   .project_id = "look",
                                   .priority = LANE_USER_WRITE,
                                   .deadline = f->world.now + 60 * US_PER_S,
                                   .on_done = hold_lane};
    upstream_submit(f->account, look);
    (void)submit_for(f, "other", UPSTREAM_LIST, LANE_USER_WRITE, 60 * US_PER_S, false);
    run(f, US_PER_S);
    assert_int_equal(place_of(f, before, "look"), 1);
    assert_int_equal(place_of(f, before, "other"), 0);
    return before;
}

static void a_write_comes_next_after_its_read(void **state)
{
    struct fixture *f = *state;
    struct upstream_call call;
    warm_up(f);
    unsigned before = look_in_a_busy_lane(f, &call);
    call.project_id = "write";
    call.next = true;
    call.on_done = ignore;
    upstream_submit(f->account, &call);
    run(f, US_PER_S);
    assert_int_equal(place_of(f, before, "write"), 2);
    assert_int_equal(place_of(f, before, "other"), 3);
}

static void a_read_without_a_write_holds_nobody_up(void **state)
{
    struct fixture *f = *state;
    struct upstream_call call, none = {0};
    warm_up(f);
    unsigned before = look_in_a_busy_lane(f, &call);
    run(f, 1500 * US_PER_MS);
    assert_int_equal(place_of(f, before, "other"), 2);
    before = look_in_a_busy_lane(f, &call);
    upstream_release(f->account, &none);
    run(f, 200 * US_PER_MS);
    assert_int_equal(place_of(f, before, "other"), 0);
    upstream_release(f->account, &call);
    run(f, 200 * US_PER_MS);
    assert_int_equal(place_of(f, before, "other"), 2);
}

int main(void)
{
#define WITH_ACCOUNT(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaker_table),
        cmocka_unit_test(breaker_pauses_grow_to_a_minute_with_jitter),
        WITH_ACCOUNT(an_hour_without_cleura_costs_few_attempts),
        WITH_ACCOUNT(an_hour_without_logins_costs_few_attempts),
        WITH_ACCOUNT(a_hanging_cleura_is_asked_less_often),
        WITH_ACCOUNT(waiting_users_hear_at_once_others_wait),
        WITH_ACCOUNT(opening_answers_users_already_queued),
        WITH_ACCOUNT(a_user_who_asks_again_at_once_does_not_stop_the_clock),
        WITH_ACCOUNT(the_most_urgent_call_is_the_probe),
        WITH_ACCOUNT(with_nothing_queued_nothing_is_sent),
        WITH_ACCOUNT(a_cancelled_probe_is_no_stream_of_probes),
        WITH_ACCOUNT(a_late_success_does_not_close),
        WITH_ACCOUNT(refusals_and_throttling_open_nothing),
        WITH_ACCOUNT(wrong_passwords_open_nothing_and_stay_guarded),
        WITH_ACCOUNT(retry_after_table),
        WITH_ACCOUNT(a_date_of_retry_after_is_by_cleuras_clock),
        WITH_ACCOUNT(retry_after_of_a_failing_cleura_holds_the_breaker),
        cmocka_unit_test(budget_table),
        WITH_ACCOUNT(a_write_comes_next_after_its_read),
        WITH_ACCOUNT(a_read_without_a_write_holds_nobody_up),
        WITH_ACCOUNT(retries_are_a_tenth_and_block_nobody),
        WITH_ACCOUNT(good_calls_pay_for_retries),
        WITH_ACCOUNT(a_delayed_retry_can_be_cancelled_and_expires),
        WITH_ACCOUNT(a_call_that_is_cancelled_at_its_deadline_is_counted),
        WITH_ACCOUNT(a_busy_project_does_not_starve_another),
        WITH_ACCOUNT(two_busy_projects_share),
        WITH_ACCOUNT(a_user_write_passes_a_thousand_polls),
        WITH_ACCOUNT(nothing_starves),
        cmocka_unit_test(expired_calls_cost_their_project_nothing),
        WITH_ACCOUNT(a_user_whose_time_is_over_hears_of_no_outage),
        WITH_ACCOUNT(starts_are_spaced_whatever_happens),
        WITH_ACCOUNT(cancel_in_flight_starts_the_next),
        WITH_ACCOUNT(a_waiting_user_limits_the_transfer_UP_19),
        WITH_ACCOUNT(impatient_users_do_not_open_the_breaker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
