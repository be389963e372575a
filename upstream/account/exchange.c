/*
 * One request and its answer: transport, then the worker, then the loop again. The whole struct moves to the
 * worker. While the worker has the struct, the loop uses only the member `dropped`.
 *
 *   exchange_send -> transport -> on_transferred -> [worker: read_answer] -> on_answer_read -> on_done
 *                                                      ^      a list: on_rows   |
 *                                                      +------ its next rows ---+
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/thread.h"
#include "config/proxy.h"
#include "upstream/account/account_private.h"

enum { CONNECT_TIMEOUT_S = 5, WIPE_BYTES = 128 * 1024 };

struct exchange {
    struct worker_job job;
    struct upstream_account *account; /* must not be used after `dropped` is set */
    struct http_call *transfer;       /* the running transfer; NULL: it has ended */
    bool dropped;                     /* the answer is no longer wanted; used only by the loop */
    bool is_call, is_write;
    const struct upstream_driver *driver;
    struct answer_about about; /* the data that the decoder needs; only for calls */
    struct exchange_handlers on;
    void *ctx;
    /* ---- the received answer ---- */
    char *body, *content_type, *retry_after, *date, *coding;
    size_t body_len;
    /* ---- the content of the answer ---- */
    struct exchange_end end;
    struct json_items rows;
    struct known_rows *known;
    struct list_part part;
    bool in_list;
};

/* Overwrites the body, which may contain secrets. For tens of megabytes this takes long, so the thread that
 * has read the body does it. */
static void exchange_drop_body(struct exchange *x)
{
    for (size_t at = 0; x->body && at < x->body_len; at += WIPE_BYTES) {
        const size_t left = x->body_len - at;
        explicit_bzero(x->body + at, left < WIPE_BYTES ? left : WIPE_BYTES);
        thread_step_aside();
    }
    free(x->body);
    x->body = NULL;
    x->end.http.body = NULL;
}

static void exchange_free(struct exchange *x)
{
    free(x->about.region);
    free(x->about.item);
    exchange_drop_body(x);
    free(x->content_type);
    free(x->retry_after);
    free(x->date);
    free(x->coding);
    free(x->known);
    list_part_done(&x->part);
    upstream_result_done(&x->end.result);
    login_answer_done(&x->end.login);
    free(x);
}

/* ---- on the worker ---- */

/* Removes a byte order mark: the rows of a list are read without the parser that skips it. */
static void drop_mark(struct exchange *x)
{
    const size_t len = text_mark_length(x->body, x->body_len);
    if (!len)
        return;
    x->body_len -= len;
    memmove(x->body, x->body + len, x->body_len + 1); /* with the NUL */
    x->end.http.body_len = x->body_len;
}

/* `x-gzip` is another name of gzip (RFC 9110, 8.4.1.3). */
static bool is_packed(const struct exchange *x)
{
    return x->coding && (!strcasecmp(x->coding, "gzip") || !strcasecmp(x->coding, "x-gzip"));
}

/* Decompresses the body. False when the content exceeds its limit, or is not in gzip form. */
static bool exchange_unpack(struct exchange *x)
{
    if (!is_packed(x))
        return true;
    struct buffer plain CLEANUP_BUFFER;
    buffer_init(&plain, x->is_call ? call_limits(x->about.op)->bytes : ANSWER_SMALL_BYTES);
    enum gunzip_end end = buffer_gunzip(&plain, x->body, x->body_len);
    if (end != GUNZIP_OK) {
        x->end.read = end == GUNZIP_TOO_LARGE ? READ_TOO_MUCH : READ_GARBLED;
        x->end.why =
            end == GUNZIP_TOO_LARGE ? json_scan_text(JSON_SCAN_TOO_MANY_BYTES) : "is not in gzip form";
        return false;
    }
    exchange_drop_body(x);
    x->body = buffer_take(&plain, &x->body_len);
    x->end.http.body = x->body;
    x->end.http.body_len = x->body_len;
    return true;
}

static void read_good_answer(struct exchange *x)
{
    struct exchange_end *end = &x->end;
    if (!x->is_call) {
        x->driver->decode_auth(x->body, x->body_len, &end->login);
    } else if (x->about.op == UPSTREAM_LIST) {
        end->read = list_begin(&x->rows, x->body, x->body_len, &end->why);
        x->in_list = end->read == READ_OK;
    } else {
        end->read = answer_read(x->driver, &x->about, x->body, x->body_len, &end->result, &end->why);
    }
}

static void read_answer(struct worker_job *job)
{
    struct exchange *x = CONTAINER_OF(job, struct exchange, job);
    struct exchange_end *end = &x->end;
    if (!x->in_list) {
        bool plain = exchange_unpack(x);
        drop_mark(x);
        end->result.class =
            x->driver->classify(x->is_write, &end->http, &end->result.message, &end->token_rejected);
        if (end->result.class == UPSTREAM_OK && plain)
            read_good_answer(x);
    }
    if (x->in_list)
        x->in_list = list_next(x->driver, x->about.now, &x->rows, x->known, &x->part);
    if (!x->in_list)
        exchange_drop_body(x);
}

/* ---- on the loop ---- */

static void exchange_deliver(struct exchange *x)
{
    assert(!x->dropped && !x->transfer && !x->in_list);
    x->on.done(x->ctx, &x->end);
    exchange_free(x);
}

static void on_answer_read(struct worker_job *job)
{
    struct exchange *x = CONTAINER_OF(job, struct exchange, job);
    if (!x->dropped)
        loop_doing(x->account->loop, x->is_call ? upstream_op_name(x->about.op) : "login");
    if (!x->dropped && x->in_list) {
        x->end.result.shoot_count += x->part.shoot_count + x->part.known_count;
        x->end.result.shoots_refused += x->part.refused_count;
        x->on.rows(x->ctx, &x->part);
    }
    list_part_done(&x->part);
    if (x->dropped) {
        exchange_free(x);
        return;
    }
    if (!x->in_list) {
        exchange_deliver(x);
        return;
    }
    job->goes_on = true;
    (void)x->account->worker->submit(x->account->worker, job);
}

static void exchange_drop(struct worker_job *job)
{
    exchange_free(CONTAINER_OF(job, struct exchange, job));
}

static void on_transferred(void *ctx, const struct http_answer *answer)
{
    struct exchange *x = ctx;
    struct upstream_account *a = x->account;
    loop_assert_owner(a->loop);
    assert(!x->dropped);
    x->transfer = NULL;
    x->content_type = mem_strdup(answer->content_type);
    x->retry_after = mem_strdup(answer->retry_after);
    x->date = mem_strdup(answer->date);
    x->coding = mem_strdup(answer->coding);
    x->body = TAKE_PTR(*answer->owned_body);
    x->body_len = answer->body_len;
    x->about.now = env_wall(a->env);
    x->end.answered_at = env_mono(a->env);
    x->end.http = *answer;
    x->end.http.content_type = x->content_type;
    x->end.http.retry_after = x->retry_after;
    x->end.http.date = x->date;
    x->end.http.coding = x->coding;
    x->end.http.body = x->body;
    x->end.http.owned_body = NULL;
    x->job = (struct worker_job){
        .work = read_answer, .done = on_answer_read, .drop = exchange_drop, .bytes = x->body_len};
    if (x->body_len && a->worker->submit(a->worker, &x->job))
        return;
    if (x->body_len) { /* the worker has too many answers in its queue */
        x->body[0] = '\0';
        x->body_len = x->end.http.body_len = 0;
        x->end.read = READ_NOT;
        x->end.why = "cannot be read now, because too many other answers wait";
        x->end.result.class =
            x->driver->classify(x->is_write, &x->end.http, &x->end.result.message, &x->end.token_rejected);
    } else {
        read_answer(&x->job);
    }
    exchange_deliver(x);
}

static struct exchange *exchange_new(struct upstream_account *a, const struct sending *how,
                                     const struct exchange_handlers *on, void *ctx)
{
    const struct upstream_call *call = how->made_for;
    struct exchange *x = MEM_NEW(struct exchange);
    x->account = a;
    x->driver = a->driver;
    x->is_call = call != NULL;
    x->is_write = call && upstream_op_is_write(call->op);
    if (call)
        x->about = (struct answer_about){.op = call->op,
                                         .variant = call->variant,
                                         .region = mem_strdup(call->region),
                                         .item = mem_strdup(call->item)};
    x->known = how->known;
    x->end.login.result = LOGIN_RESULT_GARBLED;
    x->on = *on;
    x->ctx = ctx;
    return x;
}

struct exchange *exchange_send(struct upstream_account *a, const struct request_draft *draft,
                               const struct sending *how, const struct exchange_handlers *on, void *ctx)
{
    char *url CLEANUP_FREE = mem_printf("%s%s", a->config->url, draft->path);
    char *proxy CLEANUP_SECRET = proxy_for(a->config->http_proxy, url);
    struct http_header headers[8];
    char traceparent[TRACEPARENT_BYTES];
    const struct upstream_call *call = how->made_for;
    size_t n = 0;
    headers[n++] = (struct http_header){"Accept", "*/*"};
    headers[n++] = (struct http_header){"Accept-Encoding", "gzip"};
    if (draft->body)
        headers[n++] = (struct http_header){"Content-Type", "application/json"};
    if (how->with_token) {
        assert(a->session.token);
        headers[n++] = (struct http_header){"X-AUTH-LOGIN", a->config->login};
        headers[n++] = (struct http_header){"X-AUTH-TOKEN", a->session.token};
    }
    if (call && call->trace.id[0]) {
        trace_parent(&call->trace, call->span, traceparent);
        headers[n++] = (struct http_header){"traceparent", traceparent};
    }
    if (call && call->request_id[0])
        headers[n++] = (struct http_header){"X-Request-Id", call->request_id};
    assert(n < ARRAY_LEN(headers));
    headers[n] = (struct http_header){NULL, NULL};
    struct http_request request = {
        .method = draft->method,
        .url = url,
        .headers = headers,
        .body = draft->body,
        .body_len = draft->body ? strlen(draft->body) : 0,
        .connect_timeout_us = CONNECT_TIMEOUT_S * US_PER_S,
        .timeout_us = how->timeout_us,
        .max_body = call ? call_limits(call->op)->bytes : ANSWER_SMALL_BYTES,
        .fresh_connection = how->fresh_connection,
        .proxy = proxy,
    };
    health_started(a);
    struct exchange *x = exchange_new(a, how, on, ctx);
    x->transfer = a->transport->start(a->transport, &request, on_transferred, x);
    return x;
}

void exchange_cancel(struct exchange *x)
{
    loop_assert_owner(x->account->loop);
    assert(!x->dropped);
    x->dropped = true;
    if (!x->transfer)
        return; /* the exchange is freed when the worker returns it */
    x->account->transport->cancel(x->account->transport, x->transfer);
    exchange_free(x);
}
