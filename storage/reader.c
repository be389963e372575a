/*
 * The reader thread: answers queued page queries one after the other on a read-only connection. This file
 * also contains the condition on which both threads of the store wait. Callbacks run on the reader thread,
 * which does not hold the lock then. This thread must not write to the store.
 */
#include "base/lock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "model/string_list.h"
#include "storage/storage_private.h"

#include <assert.h>

/* ---- the condition ---- */

void signal_init(struct signal *s)
{
    mutex_init(&s->mutex);
    cond_init(&s->cond);
}

void signal_done(struct signal *s)
{
    cond_done(&s->cond);
    mutex_done(&s->mutex);
}

void signal_wait(struct signal *s, int64_t timeout_us)
{
    assert(timeout_us > 0);
    if (timeout_us == INT64_MAX) {
        cond_wait(&s->cond, &s->mutex);
        return;
    }
    const struct timespec until = cond_until(timeout_us);
    (void)pthread_cond_timedwait(&s->cond, &s->mutex, &until);
}

/* ---- answers ---- */

enum request_kind {
    REQUEST_EVENTS,
    REQUEST_EVENT,
    REQUEST_DELIVERIES,
    REQUEST_REPLAY,
    REQUEST_AUDIT,
    REQUEST_OPERATIONS,
};

struct reader_request {
    struct reader_request *next;
    enum request_kind kind;
    struct event_query query;
    struct audit_query audit;
    struct delivery_query deliveries;
    struct operation_query operations;
    char *id;
    union {
        void (*events)(void *ctx, enum store_status status, struct event_page *page);
        void (*event)(void *ctx, enum store_status status, struct event *event);
        void (*deliveries)(void *ctx, enum store_status status, struct delivery *array, size_t count);
        void (*replay)(void *ctx, enum store_status status, struct replay *replay);
        void (*audit)(void *ctx, enum store_status status, struct audit_page *page);
        void (*operations)(void *ctx, enum store_status status, struct operation_page *page);
    } on_done;
    void *ctx;
};

static void answer_events(struct reader *r, struct reader_request *q)
{
    struct event_page *page = MEM_NEW(struct event_page);
    enum store_status status = r->backend->events(r->conn, &q->query, page);
    if (status != STORE_OK) {
        event_page_free(page);
        page = NULL;
    }
    q->on_done.events(q->ctx, status, page);
}

static void answer_event(struct reader *r, struct reader_request *q)
{
    struct event *event = NULL;
    enum store_status status = r->backend->event_by_id(r->conn, q->id, &event);
    q->on_done.event(q->ctx, status, event);
}

static void answer_deliveries(struct reader *r, struct reader_request *q)
{
    struct delivery *array = NULL;
    size_t count = 0;
    enum store_status status = r->backend->deliveries(r->conn, &q->deliveries, &array, &count);
    q->on_done.deliveries(q->ctx, status, array, count);
}

static void answer_replay(struct reader *r, struct reader_request *q)
{
    struct replay *replay = NULL;
    enum store_status status = r->backend->replay_by_key(r->conn, q->id, &replay);
    q->on_done.replay(q->ctx, status, replay);
}

static void answer_audit(struct reader *r, struct reader_request *q)
{
    struct audit_page *page = MEM_NEW(struct audit_page);
    enum store_status status = r->backend->audit(r->conn, &q->audit, page);
    if (status != STORE_OK) {
        audit_page_free(page);
        page = NULL;
    }
    q->on_done.audit(q->ctx, status, page);
}

static void answer_operations(struct reader *r, struct reader_request *q)
{
    struct operation_page *page = MEM_NEW(struct operation_page);
    enum store_status status = r->backend->operations(r->conn, &q->operations, page);
    if (status != STORE_OK) {
        operation_page_free(page);
        page = NULL;
    }
    q->on_done.operations(q->ctx, status, page);
}

static void (*const answers[])(struct reader *r, struct reader_request *q) = {
    [REQUEST_EVENTS] = answer_events,         [REQUEST_EVENT] = answer_event,
    [REQUEST_DELIVERIES] = answer_deliveries, [REQUEST_REPLAY] = answer_replay,
    [REQUEST_AUDIT] = answer_audit,           [REQUEST_OPERATIONS] = answer_operations,
};

/* Returns the next request; NULL when the reader must stop and the queue is empty. */
static struct reader_request *reader_next(struct reader *r)
{
    mutex_lock(&r->lock.mutex);
    while (!r->head && !r->stopping)
        signal_wait(&r->lock, INT64_MAX);
    struct reader_request *q = r->head;
    if (q) {
        r->head = q->next;
        if (!r->head)
            r->tail = NULL;
    }
    mutex_unlock(&r->lock.mutex);
    return q;
}

static void *reader_main(void *arg)
{
    struct reader *r = arg;
    struct reader_request *q;
    thread_in_background("store-reader");
    while ((q = reader_next(r))) {
        assert((size_t)q->kind < ARRAY_LEN(answers));
        answers[q->kind](r, q);
        event_query_done(&q->query);
        audit_query_done(&q->audit);
        operation_query_done(&q->operations);
        free(q->id);
        free(q);
        mutex_lock(&r->lock.mutex);
        assert(r->depth);
        r->depth--;
        mutex_unlock(&r->lock.mutex);
    }
    return NULL;
}

/* Queues `q`, whose kind and answer function are set, and takes it over. */
static void reader_post(struct reader *r, struct reader_request *q, void *ctx)
{
    q->ctx = ctx;
    mutex_lock(&r->lock.mutex);
    if (r->tail)
        r->tail->next = q;
    else
        r->head = q;
    r->tail = q;
    r->depth++;
    cond_signal(&r->lock.cond);
    mutex_unlock(&r->lock.mutex);
}

void reader_init(struct reader *r, const struct store_backend *backend, void *conn)
{
    r->backend = backend;
    r->conn = conn;
    signal_init(&r->lock);
}

void reader_start(struct reader *r)
{
    assert(!r->started);
    int error = pthread_create(&r->thread, NULL, reader_main, r);
    assert(error == 0);
    (void)error;
    r->started = true;
}

void reader_done(struct reader *r)
{
    mutex_lock(&r->lock.mutex);
    r->stopping = true;
    cond_signal(&r->lock.cond);
    mutex_unlock(&r->lock.mutex);
    if (r->started)
        (void)pthread_join(r->thread, NULL);
    else
        (void)reader_main(r);
    assert(!r->head && !r->depth);
    r->backend->close(r->conn);
    signal_done(&r->lock);
}

uint64_t reader_depth(struct reader *r)
{
    mutex_lock(&r->lock.mutex);
    uint64_t depth = r->depth;
    mutex_unlock(&r->lock.mutex);
    return depth;
}

void storage_query_events(struct storage *s, const struct event_query *query,
                          void (*on_done)(void *ctx, enum store_status status, struct event_page *page),
                          void *ctx)
{
    struct reader_request *q = MEM_NEW(struct reader_request);
    q->kind = REQUEST_EVENTS;
    q->query = (struct event_query){
        .before = query->before,
        .newest_first = query->newest_first,
        .until = query->until,
        .after = query->after,
        .limit = query->limit,
        .types = string_list_copy(query->types),
        .projects = string_list_copy(query->projects),
        .cluster = mem_strdup(query->cluster),
        .actors = string_list_copy(query->actors),
        .targets = string_list_copy(query->targets),
        .undelivered_to = mem_strdup(query->undelivered_to),
        .since = query->since,
    };
    q->on_done.events = on_done;
    reader_post(&s->reader, q, ctx);
}

void storage_query_event(struct storage *s, const char *event_id,
                         void (*on_done)(void *ctx, enum store_status status, struct event *event), void *ctx)
{
    struct reader_request *q = MEM_NEW(struct reader_request);
    q->kind = REQUEST_EVENT;
    q->id = mem_strdup(event_id);
    q->on_done.event = on_done;
    reader_post(&s->reader, q, ctx);
}

void storage_query_deliveries(struct storage *s, const struct delivery_query *query,
                              void (*on_done)(void *ctx, enum store_status status, struct delivery *array,
                                              size_t count),
                              void *ctx)
{
    struct reader_request *q = MEM_NEW(struct reader_request);
    q->kind = REQUEST_DELIVERIES;
    q->deliveries = *query;
    q->on_done.deliveries = on_done;
    reader_post(&s->reader, q, ctx);
}

void storage_query_replay(struct storage *s, const char *key,
                          void (*on_done)(void *ctx, enum store_status status, struct replay *replay),
                          void *ctx)
{
    struct reader_request *q = MEM_NEW(struct reader_request);
    q->kind = REQUEST_REPLAY;
    q->id = mem_strdup(key);
    q->on_done.replay = on_done;
    reader_post(&s->reader, q, ctx);
}

void storage_query_audit(struct storage *s, const struct audit_query *query,
                         void (*on_done)(void *ctx, enum store_status status, struct audit_page *page),
                         void *ctx)
{
    struct reader_request *q = MEM_NEW(struct reader_request);
    q->kind = REQUEST_AUDIT;
    q->audit = audit_query_copy(query);
    q->on_done.audit = on_done;
    reader_post(&s->reader, q, ctx);
}

void storage_query_operations(struct storage *s, const struct operation_query *query,
                              void (*on_done)(void *ctx, enum store_status status,
                                              struct operation_page *page),
                              void *ctx)
{
    struct reader_request *q = MEM_NEW(struct reader_request);
    q->kind = REQUEST_OPERATIONS;
    q->operations = operation_query_copy(query);
    q->on_done.operations = on_done;
    reader_post(&s->reader, q, ctx);
}
