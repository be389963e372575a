/*
 * The lane: which call goes out when. A heap orders waiting calls by the time they were submitted plus a
 * handicap per priority, so that urgent calls overtake but nothing starves. One call in flight
 * (max_in_flight), a minimum spacing between starts, one back-off for the whole account when Cleura is
 * unwell. Loop thread.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "upstream/account_private.h"

enum {
    ANSWER_MAX = 64 * 1024 * 1024,
    HANDICAP_S = 8, /* a call overtakes those of the next lower priority that waited less than this longer */
    BACK_OFF_BASE_MS = 250,
    BACK_OFF_CAP_MS = 30000,
    RETRY_AFTER_CAP_S = 300,
    CONNECT_TIMEOUT_S = 5,
    RELOGIN_PAUSE_S = 60,
};

static _Atomic uint64_t calls_total[UPSTREAM_OP_MAX_][UPSTREAM_CLASS_MAX_];

uint64_t upstream_calls_total(enum upstream_op op, enum upstream_class class)
{
    return atomic_load(&calls_total[op][class]);
}

void request_draft_done(struct request_draft *draft)
{
    free(draft->path);
    mem_free_secret(draft->body);
    *draft = (struct request_draft){0};
}

struct http_call *account_send(struct upstream_account *a, const struct request_draft *draft, bool with_token,
                               bool is_write, void (*on_done)(void *ctx, const struct http_answer *answer),
                               void *ctx)
{
    char *url CLEANUP_FREE = mem_printf("%s%s", a->config->url, draft->path);
    struct http_header headers[5];
    size_t n = 0;
    headers[n++] = (struct http_header){"Accept", "*/*"};
    if (draft->body)
        headers[n++] = (struct http_header){"Content-Type", "application/json"};
    if (with_token) {
        headers[n++] = (struct http_header){"X-AUTH-LOGIN", a->config->login};
        headers[n++] = (struct http_header){"X-AUTH-TOKEN", a->token};
    }
    headers[n] = (struct http_header){NULL, NULL};
    struct http_request request = {
        .method = draft->method,
        .url = url,
        .headers = headers,
        .body = draft->body,
        .body_len = draft->body ? strlen(draft->body) : 0,
        .connect_timeout_us = CONNECT_TIMEOUT_S * US_PER_S,
        .timeout_us = a->config->call_timeout_us,
        .max_body = ANSWER_MAX,
        .fresh_connection = is_write,
    };
    a->next_start = env_mono(a->env) + a->config->min_spacing_us;
    return a->transport->start(a->transport, &request, on_done, ctx);
}

void lane_back_off(struct upstream_account *a, int retry_after_s)
{
    int64_t ceiling_ms = BACK_OFF_BASE_MS << (a->failures < 7 ? a->failures : 7);
    if (ceiling_ms > BACK_OFF_CAP_MS)
        ceiling_ms = BACK_OFF_CAP_MS;
    a->failures++;
    int64_t wait_us = (int64_t)env_random_below(a->env, (uint64_t)(ceiling_ms * US_PER_MS));
    wait_us += retry_after_s * US_PER_S;
    mono_us until = env_mono(a->env) + wait_us;
    if (until > a->paused_until)
        a->paused_until = until;
}

void lane_contact(struct upstream_account *a)
{
    a->failures = 0;
    a->last_contact_at = env_wall(a->env);
}

/* Takes the call off the lane and reports it. The call may be freed or submitted again by its user in
 * on_done. */
static void finish(struct upstream_call *call, const struct upstream_result *result)
{
    struct upstream_account *a = call->account;
    heap_remove(&a->queue, &call->queue_item);
    list_remove(&call->link);
    loop_timer_clear(a->loop, &call->expiry);
    if (call->http)
        a->in_flight--;
    call->http = NULL;
    call->active = false;
    atomic_fetch_add(&calls_total[call->op][result->class], 1);
    call->on_done(call, result);
}

void lane_fail_waiting(struct upstream_account *a, const struct upstream_result *result)
{
    /* Users submit again from on_done; those calls wait for their own turn. */
    size_t count = a->queue.count;
    struct upstream_call **waiting CLEANUP_FREE = mem_calloc(count, sizeof(*waiting));
    for (size_t i = 0; i < count; i++)
        waiting[i] = CONTAINER_OF(a->queue.items[i], struct upstream_call, queue_item);
    for (size_t i = 0; i < count; i++)
        if (waiting[i]->active && heap_contains(&waiting[i]->queue_item))
            finish(waiting[i], result);
}

static void requeue_in_front(struct upstream_call *call)
{
    struct upstream_account *a = call->account;
    list_remove(&call->link);
    a->in_flight--;
    call->http = NULL;
    heap_set(&a->queue, &call->queue_item, INT64_MIN);
    /* It waits again, and must not wait for ever: the login that it needs may fail for hours. */
    loop_timer_set(a->loop, &call->expiry, call->deadline);
}

static bool try_next_variant(struct upstream_call *call)
{
    struct upstream_account *a = call->account;
    if (call->variant + 1 >= a->generation->variants(call->op))
        return false;
    call->variant++;
    requeue_in_front(call);
    return true;
}

static void note_health(struct upstream_account *a, const struct http_answer *answer,
                        enum upstream_class class, int retry_after_s)
{
    bool unwell = answer->outcome != HTTP_ANSWERED || answer->status >= 500 || class == UPSTREAM_THROTTLED;
    if (answer->outcome == HTTP_ANSWERED)
        a->last_contact_at = env_wall(a->env);
    if (unwell)
        lane_back_off(a, retry_after_s);
    else
        lane_contact(a);
}

/*
 * A token that is rejected right after the login is not the reason (a proxy that refuses everything looks
 * like this): no further logins for a while, and ever longer.
 */
static void distrust_rejections(struct upstream_account *a)
{
    int64_t wait_s = (int64_t)RELOGIN_PAUSE_S << (a->useless_logins < 6 ? a->useless_logins : 6);
    a->useless_logins++;
    a->no_relogin_until = env_mono(a->env) + wait_s * US_PER_S;
}

static void on_answer(void *ctx, const struct http_answer *answer)
{
    struct upstream_call *call = ctx;
    struct upstream_account *a = call->account;
    struct upstream_result result = {.status = answer->status};
    bool token_rejected, is_write = upstream_op_is_write(call->op);
    result.class = classify_answer(is_write, answer, &result.message, &token_rejected);
    if (answer->retry_after) {
        int64_t wait = time_parse_retry_after(answer->retry_after, env_wall(a->env), RETRY_AFTER_CAP_S);
        result.retry_after_s = wait > 0 ? (int)wait : 0;
    }
    note_health(a, answer, result.class, result.retry_after_s);
    log_debug("upstream call", "account", a->config->name, "op", upstream_op_name(call->op), "shoot",
              call->name, "class", upstream_class_name(result.class), "status", LOG_INT(answer->status), "ms",
              LOG_INT(answer->duration_us / US_PER_MS), "message", result.message);
    if (token_rejected && !call->auth_retried && env_mono(a->env) >= a->no_relogin_until) {
        auth_token_rejected(a, call->token_generation);
        call->auth_retried = true;
        requeue_in_front(call);
        goto out;
    }
    if (token_rejected && call->auth_retried)
        distrust_rejections(a);
    if (result.class == UPSTREAM_ABSENT && try_next_variant(call))
        goto out;
    if (result.class == UPSTREAM_OK) {
        a->useless_logins = 0;
        a->no_relogin_until = 0;
        if (!a->generation->decode(call, answer->body, answer->body_len, &result)) {
            result.class = is_write ? UPSTREAM_UNCERTAIN : UPSTREAM_GARBLED;
            result.message = mem_strdup("the answer cannot be understood");
            log_warning("answer from Cleura cannot be understood", "account", a->config->name, "op",
                        upstream_op_name(call->op), "content_type", answer->content_type, "bytes",
                        LOG_INT(answer->body_len));
        }
        a->first_variant[call->op] = call->variant;
    }
    finish(call, &result);
out:
    upstream_result_done(&result);
    lane_kick(a);
}

static void start_call(struct upstream_account *a, struct upstream_call *call)
{
    struct request_draft draft;
    heap_remove(&a->queue, &call->queue_item);
    loop_timer_clear(a->loop, &call->expiry);
    list_append(&a->running, &call->link);
    a->in_flight++;
    call->token_generation = a->token_generation;
    build_request(a->generation, a->config, call, &draft);
    call->http = account_send(a, &draft, true, upstream_op_is_write(call->op), on_answer, call);
    request_draft_done(&draft);
}

static void report_overloaded(struct upstream_account *a)
{
    const struct upstream_result result = {.class = UPSTREAM_OVERLOADED, .retry_after_s = 5};
    for (struct list *item = list_pop(&a->overloaded); item; item = list_pop(&a->overloaded))
        finish(CONTAINER_OF(item, struct upstream_call, link), &result);
}

void lane_kick(struct upstream_account *a)
{
    while (a->auth == AUTH_IDLE && a->in_flight < (unsigned)a->config->max_in_flight &&
           heap_peek(&a->queue)) {
        mono_us at = a->next_start > a->paused_until ? a->next_start : a->paused_until;
        if (env_mono(a->env) < at) {
            loop_timer_set(a->loop, &a->kick, at);
            return;
        }
        struct upstream_result refusal;
        switch (auth_prepare(a, &refusal)) {
        case AUTH_READY:
            start_call(a, CONTAINER_OF(heap_peek(&a->queue), struct upstream_call, queue_item));
            break;
        case AUTH_STARTED:
            return;
        case AUTH_REFUSED:
            lane_fail_waiting(a, &refusal);
            upstream_result_done(&refusal);
            /* What was submitted meanwhile gets its answer on the next turn. */
            loop_timer_set(a->loop, &a->kick, env_mono(a->env) + US_PER_MS);
            return;
        }
    }
}

static void on_kick(struct loop_timer *timer)
{
    struct upstream_account *a = CONTAINER_OF(timer, struct upstream_account, kick);
    report_overloaded(a);
    lane_kick(a);
}

static void on_expiry(struct loop_timer *timer)
{
    struct upstream_call *call = CONTAINER_OF(timer, struct upstream_call, expiry);
    const struct upstream_account *a = call->account;
    struct upstream_result result = {.class = UPSTREAM_EXPIRED};
    result.message = mem_printf("not sent in time; %s", a->login == LOGIN_UNREACHABLE || a->failures
                                                            ? "Cleura is not reachable"
                                                            : "other calls were ahead");
    finish(call, &result);
    upstream_result_done(&result);
}

void upstream_submit(struct upstream_account *a, struct upstream_call *call)
{
    loop_assert_owner(a->loop);
    mono_us now = env_mono(a->env);
    call->account = a;
    call->active = true;
    call->http = NULL;
    call->auth_retried = false;
    call->variant = a->first_variant[call->op];
    call->link = (struct list){0};
    call->queue_item = (struct heap_item){0};
    call->expiry = (struct loop_timer){.fire = on_expiry};
    if (a->queue.count >= (size_t)a->queue_length) {
        list_append(&a->overloaded, &call->link);
    } else {
        heap_set(&a->queue, &call->queue_item, now + (int64_t)call->priority * HANDICAP_S * US_PER_S);
        loop_timer_set(a->loop, &call->expiry, call->deadline);
    }
    /* Not from here: on_done must never run inside submit. */
    if (!loop_timer_is_set(&a->kick) || a->kick.item.key > now)
        loop_timer_set(a->loop, &a->kick, now);
}

void upstream_cancel(struct upstream_call *call)
{
    if (!call->active)
        return;
    struct upstream_account *a = call->account;
    heap_remove(&a->queue, &call->queue_item);
    list_remove(&call->link);
    loop_timer_clear(a->loop, &call->expiry);
    if (call->http) {
        a->transport->cancel(a->transport, call->http);
        a->in_flight--;
        call->http = NULL;
        if (!loop_timer_is_set(&a->kick))
            loop_timer_set(a->loop, &a->kick, env_mono(a->env));
    }
    call->active = false;
}

struct upstream_account *upstream_account_new(struct loop *loop, struct transport *transport,
                                              const struct config_account *config, const struct seal_key *key,
                                              const struct account_state *remembered, int queue_length,
                                              const struct upstream_account_events *events)
{
    struct upstream_account *a = MEM_NEW(struct upstream_account);
    a->loop = loop;
    a->env = loop_env(loop);
    a->transport = transport;
    a->config = config;
    a->generation = config->api == API_V1 ? &generation_v1 : &generation_v2;
    a->key = key;
    a->events = *events;
    a->queue_length = queue_length;
    a->kick.fire = on_kick;
    list_init(&a->running);
    list_init(&a->overloaded);
    auth_init(a, remembered);
    return a;
}

void upstream_account_free(struct upstream_account *a)
{
    if (!a)
        return;
    loop_timer_clear(a->loop, &a->kick);
    LIST_FOR_EACH_SAFE (it, next, &a->running)
        upstream_cancel(CONTAINER_OF(it, struct upstream_call, link));
    LIST_FOR_EACH_SAFE (it, next, &a->overloaded)
        upstream_cancel(CONTAINER_OF(it, struct upstream_call, link));
    while (heap_peek(&a->queue))
        upstream_cancel(CONTAINER_OF(heap_peek(&a->queue), struct upstream_call, queue_item));
    heap_done(&a->queue);
    loop_timer_clear(a->loop, &a->kick);
    auth_done(a);
    free(a);
}

void upstream_account_status(const struct upstream_account *a, struct upstream_account_status *ret)
{
    *ret = (struct upstream_account_status){
        .login = a->login,
        .login_message = a->login_message,
        .queue_depth = (unsigned)a->queue.count,
        .in_flight = a->in_flight,
        .last_contact_at = a->last_contact_at,
        .next_login_at = a->remembered->next_login_at,
    };
}
