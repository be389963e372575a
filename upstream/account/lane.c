/*
 * The lane decides which call is sent next. A heap orders waiting calls by their turn (upstream/fairness.h).
 * The turn is a time: the time of submission, plus a delay for the calls of the same project that already
 * wait, plus a delay for the priority. Urgent calls overtake others, but no call waits for ever. Retries
 * wait in a separate heap for a token of the budget. health.c decides whether a request may be sent now.
 *
 * Why one call at a time: all projects of an account share one login and its limits at Cleura, and a burst of
 * ours would slow down people who use Cleura's own page. A lane also gives an order: the read before a change
 * and the change itself are neighbours in it, so that the shoot cannot be replaced unseen between the two.
 * Loop thread.
 */
#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/moves.h"
#include "upstream/account/account_private.h"

enum {
    RELOGIN_PAUSE_S = 60,
    ANSWERED_LATELY_S = 60,
    FAIR_CHANCE_S = 5,   /* a transfer that had less time than this says nothing about Cleura's health */
    CLOCK_SLACK_MS = 10, /* tolerance, because timeouts of transfers are rounded */
    HOLD_S = 2, /* the time in which a write is submitted after its read; usually some milliseconds */
    ANSWER_MARGIN_MS = 50, /* the part of a user's time limit that is left for the report of the outcome */
};

/*
 * The states of a call, and the allowed moves. upstream/README.md draws this table;
 * tests/api/test_layout.py compares both.
 */
static const struct {
    enum call_state from, to;
    const char *on; /* the label in the diagram */
} call_moves[] = {
    {CALL_IDLE, CALL_WAITING, "submitted"},
    {CALL_IDLE, CALL_REFUSED, "submitted, but the queue is full or Cleura is not reachable"},
    {CALL_WAITING, CALL_SENT, "its turn has come"},
    {CALL_WAITING, CALL_REFUSED, "Cleura is not reachable, and a user waits"},
    {CALL_WAITING, CALL_IDLE, "its deadline passed, there is no login, or it is cancelled"},
    {CALL_SENT, CALL_WAITING, "it will be sent again, with another token or to another endpoint"},
    {CALL_SENT, CALL_REFUSED, "it should be sent again, but Cleura is not reachable"},
    {CALL_SENT, CALL_IDLE, "answered or cancelled"},
    {CALL_REFUSED, CALL_IDLE, "reported or cancelled"},
};

static const char *const call_state_names[] = {"idle", "waiting", "sent", "refused"};

static _Atomic uint64_t calls_total[UPSTREAM_OP_MAX_][UPSTREAM_CLASS_MAX_];
static struct histogram durations[UPSTREAM_OP_MAX_][UPSTREAM_CLASS_MAX_];
static _Atomic uint64_t retries_delayed;

const struct histogram_edges upstream_edges = {
    10, {50000, 100000, 250000, 500000, 1000000, 2500000, 5000000, 10000000, 30000000, 60000000}};

uint64_t upstream_calls_total(enum upstream_op op, enum upstream_class class)
{
    return atomic_load(&calls_total[op][class]);
}

const struct histogram *upstream_durations(enum upstream_op op, enum upstream_class class)
{
    return &durations[op][class];
}

uint64_t upstream_retries_delayed_total(void)
{
    return atomic_load(&retries_delayed);
}

/* Only this function changes the state of a call. It also counts the calls in flight. */
static void call_move(struct upstream_call *call, enum call_state to)
{
    struct upstream_account *a = call->account;
    size_t i = 0;
    while (i < ARRAY_LEN(call_moves) && !(call_moves[i].from == call->state && call_moves[i].to == to))
        i++;
    if (i == ARRAY_LEN(call_moves))
        move_impossible("call", upstream_op_name(call->op), call_state_names[call->state],
                        call_state_names[to]);
    if (call->state == CALL_SENT) {
        assert(a->lane.in_flight);
        a->lane.in_flight--;
        call->exchange = NULL;
    }
    a->lane.in_flight += to == CALL_SENT;
    call->state = to;
}

/* Sets the timer to `at`, unless it is set to an earlier time. An additional kick is harmless, but a refused
 * call must be answered in time. */
static void kick_at(struct upstream_account *a, mono_us at)
{
    if (!loop_timer_is_set(&a->lane.kick) || a->lane.kick.item.key > at)
        loop_timer_set(a->loop, &a->lane.kick, at);
}

static size_t waiting_count(const struct upstream_account *a)
{
    return a->lane.queue.count + a->lane.retries.count;
}

static void enqueue(struct upstream_call *call, struct heap *queue, mono_us turn)
{
    call_move(call, CALL_WAITING);
    call->queue = queue;
    call->queued_at = env_mono(call->account->env);
    heap_set(queue, &call->queue_item, turn);
    loop_timer_set(call->account->loop, &call->expiry, call->deadline);
}

static void leave_queue(struct upstream_call *call, bool sent)
{
    struct upstream_account *a = call->account;
    if (heap_contains(&call->queue_item))
        heap_remove(call->queue, &call->queue_item);
    fairness_leave(&a->lane.fairness, &call->ticket, sent);
    loop_timer_clear(a->loop, &call->expiry);
}

/* Refuses a call. Its on_done is called in the next turn, for two reasons: on_done must not run inside
 * upstream_submit, and when it submits the call again, this turn must not become longer. */
static void refuse_call(struct upstream_call *call, struct list *refused)
{
    struct upstream_account *a = call->account;
    leave_queue(call, false);
    call_move(call, CALL_REFUSED);
    list_append(refused, &call->link);
    kick_at(a, env_mono(a->env) + US_PER_MS);
}

/* Removes the call from the lane and reports its result. In on_done the user may free the call or submit it
 * again. */
static void finish_call(struct upstream_call *call, struct upstream_result *result)
{
    if (call->state != CALL_SENT)
        call_waited(call, upstream_class_name(result->class));
    leave_queue(call, false);
    list_remove(&call->link);
    call_move(call, CALL_IDLE);
    atomic_fetch_add(&calls_total[call->op][result->class], 1);
    call->on_done(call, result);
}

/* Returns the calls that wait now, in an array of waiting_count() items that the caller frees. */
static struct upstream_call **list_waiting(const struct upstream_account *a)
{
    struct upstream_call **waiting = mem_calloc(waiting_count(a) + 1, sizeof(struct upstream_call *));
    for (size_t i = 0; i < a->lane.queue.count; i++)
        waiting[i] = CONTAINER_OF(a->lane.queue.items[i], struct upstream_call, queue_item);
    for (size_t i = 0; i < a->lane.retries.count; i++)
        waiting[a->lane.queue.count + i] =
            CONTAINER_OF(a->lane.retries.items[i], struct upstream_call, queue_item);
    return waiting;
}

void lane_fail_waiting(struct upstream_account *a, struct upstream_result *result)
{
    /* In on_done users may submit calls. These new calls are not in `waiting`; they wait for their turn. */
    size_t count = waiting_count(a);
    struct upstream_call **waiting CLEANUP_FREE = list_waiting(a);
    for (size_t i = 0; i < count; i++)
        if (waiting[i]->state == CALL_WAITING)
            finish_call(waiting[i], result);
}

void lane_breaker_opened(struct upstream_account *a)
{
    size_t count = waiting_count(a);
    struct upstream_call **waiting CLEANUP_FREE = list_waiting(a);
    for (size_t i = 0; i < count; i++)
        if (waiting[i]->priority == LANE_USER_WAITING)
            refuse_call(waiting[i], &a->lane.unreachable);
}

static void requeue_in_front(struct upstream_call *call)
{
    struct upstream_account *a = call->account;
    list_remove(&call->link);
    call->queued_at = env_mono(a->env);
    /* The call waits again. When a user waits for it and the breaker is open, it is refused instead, because
     * the login that it needs may fail for hours. */
    if (call->priority == LANE_USER_WAITING && health_breaker_is_open(a))
        refuse_call(call, &a->lane.unreachable);
    else
        enqueue(call, &a->lane.queue, INT64_MIN);
}

static bool try_next_variant(struct upstream_call *call)
{
    struct upstream_account *a = call->account;
    if (!call_endpoint(a->driver, call->op, call->variant + 1))
        return false;
    call->variant++;
    requeue_in_front(call);
    return true;
}

/*
 * Called when a token was rejected right after its login. Then the token is not the reason; for example, a
 * proxy may refuse all requests. The account makes no login for some time. This time is doubled each time,
 * up to a limit.
 */
static void distrust_rejections(struct upstream_account *a)
{
    int64_t wait_s = (int64_t)RELOGIN_PAUSE_S
                     << (a->session.useless_logins < 6 ? a->session.useless_logins : 6);
    a->session.useless_logins++;
    a->session.no_relogin_until = env_mono(a->env) + wait_s * US_PER_S;
}

/* Whether the call ended because its user's time limit had passed. */
static bool was_cut(const struct upstream_call *call, const struct http_answer *answer, int64_t duration)
{
    int64_t allowed = call->timeout_us;
    return answer->outcome != HTTP_ANSWERED && allowed < call->account->config->call_timeout_us &&
           duration + CLOCK_SLACK_MS * US_PER_MS >= allowed;
}

/* Records whether the answer shows that Cleura is healthy. A healthy Cleura can also refuse a call. */
static void note_health(const struct upstream_call *call, const struct exchange_end *end)
{
    struct upstream_account *a = call->account;
    const struct http_answer *answer = &end->http;
    int64_t duration = end->answered_at - call->started_at;
    fairness_measure(&a->lane.fairness, duration);
    /* A transfer that had too little time says nothing about Cleura's health, however it ended. */
    bool was_cut_short = call->timeout_us < FAIR_CHANCE_S * US_PER_S && was_cut(call, answer, duration);
    if (answer->outcome == HTTP_CANCELLED || was_cut_short)
        health_abandoned(a);
    else
        health_note(a, answer, end->result.class);
}

/* Returns why the shoot in the answer to a GET is not accepted; NULL: it is accepted. Such an answer says
 * nothing about Cleura's health. */
static const char *why_not_believed(const struct upstream_call *call, const struct exchange_end *end)
{
    if (call->op != UPSTREAM_GET)
        return NULL;
    if (end->http.outcome == HTTP_TOO_LARGE)
        return json_scan_text(JSON_SCAN_TOO_MANY_BYTES);
    if (end->result.class != UPSTREAM_OK)
        return NULL;
    return end->read == READ_TOO_MUCH ? end->why : end->result.not_believed;
}

static void note_not_believed(const struct upstream_call *call, struct upstream_result *result,
                              const char *why)
{
    free(result->message);
    result->message = mem_printf("the answer about the shoot is not accepted: %s", why);
    result->not_believed = why;
    refused_rows_log(call->account, call->project_id, call->name, why);
}

/* Handles a 2xx without usable content. */
static void note_unread(const struct upstream_call *call, struct exchange_end *end)
{
    end->result.message = mem_printf("the answer %s", end->why);
    log_warning("answer from Cleura is not used", "account", call->account->config->name, "op",
                upstream_op_name(call->op), "class", upstream_class_name(end->result.class), "reason",
                end->why, "content_type", end->http.content_type, "bytes", LOG_INT(end->http.body_len));
}

/* Prepares to send the call once more, with a renewed token, or after a check of the token. False when this
 * would be useless. */
static bool try_other_token(struct upstream_call *call, bool unexplained)
{
    struct upstream_account *a = call->account;
    if (call->auth_retried || env_mono(a->env) < a->session.no_relogin_until)
        return false;
    if (unexplained)
        a->session.token_checked = false; /* Cleura must confirm that the token is valid */
    else
        auth_token_rejected(a, call->token_generation);
    call->auth_retried = true;
    requeue_in_front(call);
    return true;
}

static void log_call(const struct upstream_call *call, const struct exchange_end *end)
{
    log_debug("call to Cleura ended", "account", call->account->config->name, "op",
              upstream_op_name(call->op), "shoot", call->name, "class",
              upstream_class_name(end->result.class), "status", LOG_INT(end->http.status), "ms",
              LOG_INT(end->http.duration_us / US_PER_MS), "reason", end->result.message);
}

static void on_call_answer(void *ctx, struct exchange_end *end)
{
    struct upstream_call *call = ctx;
    struct upstream_account *a = call->account;
    struct upstream_result *result = &end->result;
    result->status = end->http.status;
    result->retry_after_s = answer_retry_after_s(a, &end->http);
    note_health(call, end);
    log_call(call, end);
    if (end->http.outcome == HTTP_TIMEOUT && was_cut(call, &end->http, end->answered_at - call->started_at))
        result->class = UPSTREAM_EXPIRED;
    if (end->http.outcome != HTTP_ANSWERED && a->health.away_since) {
        free(result->message);
        result->message = health_why_away(a);
    }
    const char *refused = why_not_believed(call, end);
    unread_members_note(a, call->project_id, call->op, call->name, &result->unread);
    call_answered(call, end, refused);
    bool unexplained = end->token_rejected && result->class == UPSTREAM_THROTTLED;
    if (end->token_rejected && try_other_token(call, unexplained))
        goto out;
    if (end->token_rejected && !unexplained && call->auth_retried)
        distrust_rejections(a);
    result->unexplained = unexplained && a->session.last_ok_at &&
                          env_mono(a->env) - a->session.last_ok_at < ANSWERED_LATELY_S * US_PER_S;
    if (result->class == UPSTREAM_ABSENT && try_next_variant(call))
        goto out;
    if (refused)
        note_not_believed(call, result, refused);
    if (result->class == UPSTREAM_OK) {
        a->session.last_ok_at = env_mono(a->env);
        a->session.useless_logins = 0;
        a->session.no_relogin_until = 0;
        a->lane.first_variant[call->op] = call->variant;
        result->class = classify_unread(upstream_op_is_write(call->op), end->read);
        if (end->read != READ_OK && !refused)
            note_unread(call, end);
    }
    histogram_add(&durations[call->op][result->class], &upstream_edges, end->answered_at - call->started_at);
    finish_call(call, result);
out:
    lane_kick(a);
}

static void on_rows(void *ctx, struct list_part *part)
{
    struct upstream_call *call = ctx;
    refused_rows_note(call->account, call->project_id, part);
    for (size_t i = 0; call->on_refused && i < part->refused_count; i++)
        if (!part->refused[i].is_cut) /* a name that was cut may be equal to that of another shoot */
            call->on_refused(call, part->refused[i].name);
    if (call->on_known && part->known_count)
        call->on_known(call, part->known, part->known_count);
    /* The callbacks above may have cancelled the call. */
    if (call->on_shoots && upstream_call_is_active(call))
        call->on_shoots(call, part->shoots, part->shoot_count);
}

/* A read for a waiting user ends when the user's time limit ends (UP-19). A write has no such limit. */
static int64_t transfer_timeout(const struct upstream_account *a, const struct upstream_call *call)
{
    int64_t configured = a->config->call_timeout_us;
    if (call->priority != LANE_USER_WAITING || upstream_op_is_write(call->op))
        return configured;
    int64_t left = call->deadline - env_mono(a->env) - ANSWER_MARGIN_MS * US_PER_MS;
    if (left < ANSWER_MARGIN_MS * US_PER_MS)
        left = ANSWER_MARGIN_MS * US_PER_MS;
    return left < configured ? left : configured;
}

static void start_call(struct upstream_account *a, struct upstream_call *call)
{
    struct request_draft draft;
    assert(a->session.token && a->lane.in_flight < health_max_in_flight(a));
    if (call->queue == &a->lane.retries)
        budget_spend(&a->lane.budget, env_mono(a->env));
    call_waited(call, NULL);
    leave_queue(call, true);
    call_move(call, CALL_SENT);
    list_append(&a->lane.running, &call->link);
    call->token_generation = a->session.token_generation;
    call->started_at = env_mono(a->env);
    build_request(a->driver, a->config, call, &draft);
    call->method = draft.method;
    if (call->trace.id[0])
        trace_new_span(a->env, call->span);
    call->timeout_us = transfer_timeout(a, call);
    const struct sending how = {.with_token = true,
                                .fresh_connection = upstream_op_is_write(call->op),
                                .timeout_us = call->timeout_us,
                                .made_for = call,
                                .known = TAKE_PTR(call->known)};
    const struct exchange_handlers on = {.rows = on_rows, .done = on_call_answer};
    call->exchange = exchange_send(a, &draft, &how, &on, call);
    request_draft_done(&draft);
}

static void report_refused(struct list *refused, struct upstream_result *result)
{
    struct list batch;
    list_init(&batch);
    for (struct list *item = list_pop(refused); item; item = list_pop(refused))
        list_append(&batch, item);
    for (struct list *item = list_pop(&batch); item; item = list_pop(&batch))
        finish_call(CONTAINER_OF(item, struct upstream_call, link), result);
}

static void report_all_refused(struct upstream_account *a)
{
    struct upstream_result overloaded = {.class = UPSTREAM_OVERLOADED, .retry_after_s = 5};
    report_refused(&a->lane.overloaded, &overloaded);
    if (list_is_empty(&a->lane.unreachable))
        return;
    struct upstream_result unreachable = {.class = UPSTREAM_UNREACHABLE,
                                          .message = health_why_away(a),
                                          .retry_after_s = health_retry_after_s(a)};
    report_refused(&a->lane.unreachable, &unreachable);
    upstream_result_done(&unreachable);
}

/* Returns the call whose turn comes first. The caller has checked that a call can be started. */
static struct upstream_call *most_urgent(const struct upstream_account *a)
{
    struct heap_item *first = heap_peek(&a->lane.queue), *retry = heap_peek(&a->lane.retries);
    if (retry && (!first || retry->key < first->key) && budget_ready_at(&a->lane.budget) <= env_mono(a->env))
        first = retry;
    assert(first);
    return CONTAINER_OF(first, struct upstream_call, queue_item);
}

/* Returns the time before which no call starts, because the lane waits for a write; 0: there is none. */
static mono_us hold_ends(const struct upstream_account *a)
{
    const struct heap_item *first = heap_peek(&a->lane.queue);
    const bool is_next = first && first->key == INT64_MIN;
    return a->lane.held_for && !is_next ? a->lane.held_until : 0;
}

void lane_kick(struct upstream_account *a)
{
    loop_assert_owner(a->loop);
    while (a->session.phase == AUTH_IDLE && a->lane.in_flight < health_max_in_flight(a) &&
           (waiting_count(a) || a->session.by_hand.step)) {
        mono_us at = health_next_start(a);
        if (!heap_peek(&a->lane.queue) && !a->session.by_hand.step && budget_ready_at(&a->lane.budget) > at)
            at = budget_ready_at(&a->lane.budget);
        if (hold_ends(a) > at)
            at = hold_ends(a);
        if (env_mono(a->env) < at) {
            kick_at(a, at);
            return;
        }
        if (a->session.by_hand.step) {
            by_hand_start(a);
            continue;
        }
        struct upstream_result refusal;
        switch (auth_prepare(a, &refusal)) {
        case AUTH_READY:
            start_call(a, most_urgent(a));
            break;
        case AUTH_STARTED:
            return;
        case AUTH_REFUSED:
            lane_fail_waiting(a, &refusal);
            upstream_result_done(&refusal);
            /* A call that was submitted meanwhile is handled in the next turn. */
            kick_at(a, env_mono(a->env) + US_PER_MS);
            return;
        }
    }
}

static void on_kick(struct loop_timer *timer)
{
    struct upstream_account *a = CONTAINER_OF(timer, struct upstream_account, lane.kick);
    report_all_refused(a);
    lane_kick(a);
}

static void on_expiry(struct loop_timer *timer)
{
    struct upstream_call *call = CONTAINER_OF(timer, struct upstream_call, expiry);
    const struct upstream_account *a = call->account;
    assert(call->state == CALL_WAITING);
    struct upstream_result result = {.class = UPSTREAM_EXPIRED};
    char *away CLEANUP_FREE = a->health.away_since || a->health.unwell ? health_why_away(a) : NULL;
    result.message = mem_printf("not sent in time; %s", away ? away : "other calls were ahead");
    finish_call(call, &result);
    upstream_result_done(&result);
}

static void take_turn(struct upstream_account *a, struct upstream_call *call)
{
    mono_us now = env_mono(a->env);
    int64_t cost = fairness_cost(&a->lane.fairness, a->config->min_spacing_us, a->config->max_in_flight);
    mono_us turn = fairness_join(&a->lane.fairness, &call->ticket, call->region, call->project_id,
                                 (int)call->priority, cost, now);
    enqueue(call, call->retry ? &a->lane.retries : &a->lane.queue, call->next ? INT64_MIN : turn);
    if (call->retry && !budget_covers(&a->lane.budget, a->lane.retries.count, now))
        atomic_fetch_add(&retries_delayed, 1);
    /* The work is done by the timer, because on_done must never run inside upstream_submit. */
    kick_at(a, now);
}

bool upstream_supports(const struct upstream_account *a, enum upstream_op op)
{
    return call_endpoint(a->driver, op, 0) != NULL;
}

void upstream_call_for(struct upstream_call *call, const struct trace *trace, const char *request_id)
{
    call->trace = trace ? *trace : (struct trace){0};
    (void)snprintf(call->request_id, sizeof(call->request_id), "%s", request_id ? request_id : "");
}

void upstream_hold(struct upstream_call *call)
{
    struct upstream_account *a = call->account;
    loop_assert_owner(a->loop);
    a->lane.held_for = call;
    a->lane.held_until = env_mono(a->env) + HOLD_S * US_PER_S;
}

void upstream_release(struct upstream_account *a, const struct upstream_call *call)
{
    loop_assert_owner(a->loop);
    if (a->lane.held_for != call)
        return;
    a->lane.held_for = NULL;
    kick_at(a, env_mono(a->env));
}

void upstream_submit(struct upstream_account *a, struct upstream_call *call)
{
    assert(call->state == CALL_IDLE && call->on_done && call->op < UPSTREAM_OP_MAX_);
    upstream_release(a, call);
    call->account = a;
    call->exchange = NULL;
    call->queued_at = env_mono(a->env);
    call->started_at = 0;
    call->auth_retried = false;
    call->variant = a->lane.first_variant[call->op];
    call->link = (struct list){0};
    call->queue = NULL;
    call->queue_item = (struct heap_item){0};
    call->ticket = (struct fair_ticket){0};
    call->expiry = (struct loop_timer){.fire = on_expiry, .name = "deadline of a call"};
    if (waiting_count(a) >= (size_t)a->lane.length)
        refuse_call(call, &a->lane.overloaded);
    else if (call->priority == LANE_USER_WAITING && health_breaker_is_open(a))
        refuse_call(call, &a->lane.unreachable);
    else
        take_turn(a, call);
}

/* The user of a call may cancel it at its deadline, just before the lane ends it. Such a call is counted,
 * too: Cleura may have answered it at the same moment. */
static void count_expired(const struct upstream_call *call)
{
    const bool ends_at_deadline =
        call->state != CALL_SENT || (call->priority == LANE_USER_WAITING && !upstream_op_is_write(call->op));
    if (ends_at_deadline && env_mono(call->account->env) >= call->deadline)
        atomic_fetch_add(&calls_total[call->op][UPSTREAM_EXPIRED], 1);
}

void upstream_cancel(struct upstream_call *call)
{
    struct upstream_account *a = call->account;
    bool was_sent = call->state == CALL_SENT;
    if (call->state == CALL_IDLE)
        return;
    loop_assert_owner(a->loop);
    assert(was_sent == (call->exchange != NULL));
    count_expired(call);
    call_cancelled(call);
    leave_queue(call, false);
    list_remove(&call->link);
    if (was_sent)
        exchange_cancel(call->exchange);
    call_move(call, CALL_IDLE);
    if (was_sent) {
        health_abandoned(a);
        kick_at(a, env_mono(a->env));
    }
}

struct upstream_account *upstream_account_new(struct loop *loop, struct transport *transport,
                                              struct worker *worker, const struct config_account *config,
                                              const struct seal_key *key,
                                              const struct account_state *remembered, int queue_length,
                                              const struct upstream_account_events *events)
{
    struct upstream_account *a = MEM_NEW(struct upstream_account);
    a->loop = loop;
    a->env = loop_env(loop);
    a->transport = transport;
    a->worker = worker;
    a->config = config;
    a->driver = driver_of(config);
    a->key = key;
    a->events = *events;
    a->lane.length = queue_length;
    a->lane.kick.fire = on_kick;
    a->lane.kick.name = "lane";
    list_init(&a->lane.running);
    list_init(&a->lane.overloaded);
    list_init(&a->lane.unreachable);
    budget_init(&a->lane.budget);
    auth_init(a, remembered);
    return a;
}

bool upstream_account_configure(struct upstream_account *a, const struct config_account *config,
                                int queue_length)
{
    loop_assert_owner(a->loop);
    assert(!strcmp(config->url, a->config->url) && config->api == a->config->api);
    a->lane.length = queue_length;
    const bool changed = auth_configure(a, config);
    lane_kick(a);
    return changed;
}

void upstream_account_free(struct upstream_account *a)
{
    if (!a)
        return;
    loop_timer_clear(a->loop, &a->lane.kick);
    struct list *lists[] = {&a->lane.running, &a->lane.overloaded, &a->lane.unreachable};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        LIST_FOR_EACH_SAFE (it, next, lists[i])
            upstream_cancel(CONTAINER_OF(it, struct upstream_call, link));
    struct heap *heaps[] = {&a->lane.queue, &a->lane.retries};
    for (size_t i = 0; i < ARRAY_LEN(heaps); i++) {
        while (heap_peek(heaps[i]))
            upstream_cancel(CONTAINER_OF(heap_peek(heaps[i]), struct upstream_call, queue_item));
        heap_done(heaps[i]);
    }
    loop_timer_clear(a->loop, &a->lane.kick);
    assert(!a->lane.in_flight && list_is_empty(&a->lane.running));
    auth_done(a);
    health_done(a);
    refused_rows_done(a);
    free(a);
}

char *upstream_why_away(const struct upstream_account *a)
{
    return health_why_away(a);
}

void upstream_account_status(const struct upstream_account *a, struct upstream_account_status *ret)
{
    *ret = (struct upstream_account_status){
        .login = a->session.login,
        .login_message = a->session.login_message,
        .queue_depth = (unsigned)waiting_count(a),
        .in_flight = a->lane.in_flight,
        .sms = a->session.sms,
        .webauthn = a->session.webauthn,
        .verification_pending = by_hand_is_pending(a),
        .token_source = a->session.token ? a->session.remembered->token_source : NULL,
        .token_at = a->session.token ? a->session.remembered->token_at : 0,
        .last_contact_at = a->health.last_contact_at,
        .heard_at = a->health.heard_at,
        .next_login_at = a->session.remembered->next_login_at,
        .away_since = a->health.away_since,
        .breaker = breaker_state_name(breaker_state(&a->health.breaker, env_mono(a->env))),
        .breaker_until = health_breaker_until(a),
    };
}
