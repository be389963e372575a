/*
 * The writer thread, the writing connection and the lease. The thread writes its whole queue in one
 * transaction (group commit), so many waiting clients share one fsync. The thread must not hold the
 * lock while it writes or calls a callback.
 *
 *   working --commit fails--> broken --a set or the lease is stored--> working
 *      |                        |
 *      +--another holds the lease--> lost (until close)
 *
 * In the state `broken` droppable sets fail at once; the other sets keep their order at the head of the
 * backlog. In the state `lost` all sets fail at once, because they can never be stored. A commit that failed
 * may still have had an effect (after an I/O error at the last fsync, or when the connection was lost). Its
 * sets stay in the backlog until the number of the store's last transaction shows the outcome. Only then are
 * the sets dropped, repeated or reported.
 *
 * Why a single writer: the order of the queue is then the order of the store, and event numbers have no gaps.
 * Why a failed commit is not reported at once: an error of the last fsync does not say what the disk holds.
 * An answer "not stored" would be a lie when a restart finds the change; a repeat would number its events
 * twice.
 */
#include "storage/storage_private.h"

#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { BATCH_MAX_SETS = 256, TRIES_PER_CALL = 3, TRIES_AT_CLOSE = 3 };

#define BACKOFF_MIN_US (100 * US_PER_MS)
#define BACKOFF_MAX_US (5 * US_PER_S)

/* ---- queues ---- */

static void queue_append(struct set_queue *q, struct change_set *set)
{
    assert(!q->head == !q->tail);
    set->next = NULL;
    if (q->tail)
        q->tail->next = set;
    else
        q->head = set;
    q->tail = set;
}

static struct change_set *queue_pop(struct set_queue *q)
{
    struct change_set *set = q->head;
    if (!set)
        return NULL;
    q->head = set->next;
    if (!q->head)
        q->tail = NULL;
    set->next = NULL;
    return set;
}

static void queue_move(struct set_queue *to, struct set_queue *from)
{
    struct change_set *set;
    while ((set = queue_pop(from)))
        queue_append(to, set);
}

/* ---- reports ---- */

static void writer_report(struct store_writer *w, struct change_set *set, enum store_status status)
{
    /* The transaction of the set was rolled back, and meanwhile another event may have got this number. */
    for (size_t i = 0; status != STORE_OK && i < set->count; i++)
        if (set->changes[i].kind == CHANGE_EVENT_APPEND)
            set->changes[i].event->sequence = 0;
    mutex_lock(&w->lock.mutex);
    if (status == STORE_OK)
        w->metrics.change_sets++;
    mutex_unlock(&w->lock.mutex);
    set->on_done(set, status);
    /* The depth is reduced only after the report. Therefore every caller has its result when the depth is
     * 0. */
    mutex_lock(&w->lock.mutex);
    assert(w->metrics.queue_depth);
    w->metrics.queue_depth--;
    mutex_unlock(&w->lock.mutex);
}

static void writer_report_head(struct store_writer *w, enum store_status status)
{
    assert(w->backlog.head);
    writer_report(w, queue_pop(&w->backlog), status);
}

static void drop_droppable(struct store_writer *w)
{
    struct set_queue all = w->backlog;
    struct set_queue dropped = {0};
    w->backlog = (struct set_queue){0};
    struct change_set *set;
    for (size_t n = 0; (set = queue_pop(&all)); n++)
        queue_append(set->droppable && n >= w->unsure ? &dropped : &w->backlog, set);
    while ((set = queue_pop(&dropped)))
        writer_report(w, set, STORE_BROKEN);
}

/* Refuses the sets that cannot be stored, and the sets whose callers cannot wait. */
static void refuse_waiting(struct store_writer *w)
{
    if (!w->lost) {
        drop_droppable(w);
        return;
    }
    w->unsure = 0;
    while (w->backlog.head)
        writer_report_head(w, STORE_BROKEN);
}

/* ---- states ---- */

/* Sets or ends the state `broken`. `why` is the reason as text; NULL: the store works. */
static void set_broken(struct store_writer *w, const char *why)
{
    w->broken = why != NULL;
    mutex_lock(&w->lock.mutex);
    w->metrics.broken = w->broken;
    (void)snprintf(w->trouble, sizeof(w->trouble), "%s", why ? why : "");
    mutex_unlock(&w->lock.mutex);
}

static void enter_broken(struct store_writer *w, const char *why)
{
    if (!w->broken) {
        log_error("store is broken, writes are refused until it recovers", "error", why ? why : "unknown");
        w->backoff_us = BACKOFF_MIN_US;
        set_broken(w, why ? why : "unknown");
    } else if (w->backoff_us < BACKOFF_MAX_US) {
        w->backoff_us = w->backoff_us * 2 < BACKOFF_MAX_US ? w->backoff_us * 2 : BACKOFF_MAX_US;
    }
    w->retry_at = env_mono(w->env) + w->backoff_us;
    refuse_waiting(w);
}

static void leave_broken(struct store_writer *w)
{
    if (!w->broken || w->lost)
        return;
    log_info("store has recovered");
    set_broken(w, NULL);
}

static void enter_lost(struct store_writer *w, const char *holder)
{
    log_error("another process has taken the lease of the store, writing has stopped", "holder", holder);
    w->lost = true;
    enter_broken(w, "lease lost");
}

static bool is_condemned(struct store_writer *w)
{
    mutex_lock(&w->lock.mutex);
    bool condemned = w->condemned;
    mutex_unlock(&w->lock.mutex);
    return condemned;
}

/* ---- the lease ---- */

/* Renews the lease in time. While the store is broken and the backlog is empty, this also shows whether the
 * store works again. */
static void writer_keep_lease(struct store_writer *w)
{
    mono_us now = env_mono(w->env);
    bool probe = w->broken && !w->backlog.head && now >= w->retry_at;
    if (w->lost || (w->broken && !probe) || (!w->broken && now < w->renew_at))
        return;
    struct store_lease lease = {0};
    char *CLEANUP_FREE error = NULL;
    enum store_status status = w->backend->lease_take(w->conn, LEASE_NAME, w->holder, env_wall(w->env),
                                                      LEASE_TTL_US, &lease, &error);
    if (status == STORE_CONFLICT) {
        enter_lost(w, lease.holder);
    } else if (status != STORE_OK) {
        enter_broken(w, error ? error : "renewing the lease failed");
    } else if (lease.fence != w->fence) {
        enter_lost(w, "unknown, it was given back since");
    } else {
        w->renew_at = now + LEASE_RENEW_US;
        leave_broken(w);
    }
}

/* ---- transactions ---- */

static void count_commit(struct store_writer *w, enum store_status status, mono_us began)
{
    mutex_lock(&w->lock.mutex);
    if (status == STORE_OK) {
        w->metrics.commits++;
        w->metrics.commit_us_total += (uint64_t)(env_mono(w->env) - began);
    } else if (status != STORE_CONFLICT) {
        w->metrics.errors++;
    }
    mutex_unlock(&w->lock.mutex);
}

static enum store_status apply_sets(struct store_writer *w, size_t count, char **ret_error)
{
    struct change_set *set = w->backlog.head;
    for (size_t n = 0; n < count && set; n++, set = set->next) {
        for (size_t i = 0; i < set->count; i++) {
            enum store_status status = w->backend->apply(w->conn, &set->changes[i], ret_error);
            thread_step_aside();
            if (status != STORE_OK)
                return status;
        }
    }
    return STORE_OK;
}

static enum store_status writer_transact(struct store_writer *w, size_t count, char **ret_error)
{
    assert(count && !w->unsure && !w->lost); /* the outcome of the previous transaction is known */
    mono_us began = env_mono(w->env);
    enum store_status status = w->backend->begin(w->conn, ret_error);
    if (status == STORE_OK) {
        status = w->backend->mark(w->conn, ++w->transaction, ret_error);
        if (status == STORE_OK)
            status = apply_sets(w, count, ret_error);
        if (status == STORE_OK) {
            status = w->backend->commit(w->conn, ret_error);
            if (status == STORE_UNCERTAIN || status == STORE_BROKEN)
                w->unsure = count;
        }
        if (status != STORE_OK)
            w->backend->rollback(w->conn);
    }
    count_commit(w, status, began);
    return status;
}

/* Finds out whether a commit that failed with `failed` had an effect. When `unsure` is still not 0
 * afterwards, the outcome is not known yet. */
static enum store_status writer_outcome(struct store_writer *w, enum store_status failed)
{
    int64_t last = 0;
    assert(w->unsure);
    if (w->backend->last_marked(w->conn, &last) != STORE_OK)
        return STORE_BROKEN;
    w->unsure = 0;
    if (last == w->transaction)
        return STORE_OK;
    return failed == STORE_UNCERTAIN ? STORE_RETRY : failed;
}

/* Stores the first `count` sets of the backlog in one transaction. Never returns STORE_RETRY or
 * STORE_UNCERTAIN. */
static enum store_status store_sets(struct store_writer *w, size_t count, char **ret_error)
{
    for (int i = 0; i < TRIES_PER_CALL; i++) {
        free(*ret_error);
        *ret_error = NULL;
        enum store_status status = writer_transact(w, count, ret_error);
        if (w->unsure)
            status = writer_outcome(w, status);
        if (status != STORE_RETRY)
            return status;
    }
    return STORE_BROKEN;
}

/* Reports the sets of an earlier commit with their outcome. False: the outcome is still not known. */
static bool writer_settle(struct store_writer *w)
{
    size_t count = w->unsure;
    if (!count)
        return true;
    enum store_status status = writer_outcome(w, STORE_BROKEN);
    if (w->unsure)
        return false;
    if (status != STORE_OK) {
        drop_droppable(w); /* droppable sets are refused while the store is broken */
        return true;
    }
    leave_broken(w);
    for (; count; count--)
        writer_report_head(w, STORE_OK);
    return true;
}

static size_t batch_size(const struct store_writer *w)
{
    if (w->broken)
        return w->backlog.head ? 1 : 0;
    size_t n = 0;
    for (const struct change_set *set = w->backlog.head; set && n < BATCH_MAX_SETS; set = set->next)
        n++;
    return n;
}

/* Whether the first `count` sets of the backlog contain no change. Such sets are not written, and are
 * reported in their turn. */
static bool is_without_change(const struct store_writer *w, size_t count)
{
    const struct change_set *set = w->backlog.head;
    while (count && !set->count) {
        set = set->next;
        count--;
    }
    return !count;
}

/* Stores one set in a transaction of its own. False when the store broke; the set then stays in the
 * backlog. */
static bool write_one(struct store_writer *w)
{
    char *CLEANUP_FREE error = NULL;
    enum store_status status = store_sets(w, 1, &error);
    if (status == STORE_BROKEN) {
        enter_broken(w, error);
        return false;
    }
    leave_broken(w);
    if (status != STORE_OK)
        log_debug("store refused a change", "status", store_status_name(status), "error", error);
    writer_report_head(w, status);
    return true;
}

/* Stores the next batch. False when the store is broken. */
static bool write_batch(struct store_writer *w)
{
    if (!writer_settle(w)) {
        enter_broken(w, "what became of a commit cannot be read");
        return false;
    }
    size_t count = batch_size(w);
    if (!count)
        return true;
    if (!w->broken && is_without_change(w, count)) {
        for (; count; count--)
            writer_report_head(w, STORE_OK);
        return true;
    }
    if (count == 1)
        return write_one(w);
    char *CLEANUP_FREE error = NULL;
    enum store_status status = store_sets(w, count, &error);
    if (status == STORE_BROKEN) {
        enter_broken(w, error);
        return false;
    }
    for (; count; count--) {
        if (status == STORE_OK)
            writer_report_head(w, STORE_OK);
        else if (!write_one(w)) /* the sets are written one by one, so that one bad set does not make the
                                 * others fail */
            return false;
    }
    return true;
}

/* ---- the thread ---- */

/* Returns how long the writer may wait when no set arrives. */
static int64_t idle_us(const struct store_writer *w)
{
    if (w->lost)
        return INT64_MAX;
    if (w->backlog.head && !w->broken)
        return 0;
    int64_t left = (w->broken ? w->retry_at : w->renew_at) - env_mono(w->env);
    return left > 0 ? left : 0;
}

/* Moves new sets to the backlog; false when the writer must stop. */
static bool writer_collect(struct store_writer *w)
{
    mutex_lock(&w->lock.mutex);
    int64_t idle;
    while (!w->incoming.head && !w->stopping && (w->lost || !w->condemned) && (idle = idle_us(w)) > 0)
        signal_wait(&w->lock, idle);
    queue_move(&w->backlog, &w->incoming);
    bool stopping = w->stopping;
    mutex_unlock(&w->lock.mutex);
    return !stopping;
}

static bool writer_has_work(struct store_writer *w)
{
    mutex_lock(&w->lock.mutex);
    queue_move(&w->backlog, &w->incoming);
    mutex_unlock(&w->lock.mutex);
    return w->backlog.head;
}

static void writer_drain(struct store_writer *w)
{
    for (int failures = 0; !w->lost && failures < TRIES_AT_CLOSE && writer_has_work(w);)
        failures += write_batch(w) ? 0 : 1;
    uint64_t given_up = 0;
    while (writer_has_work(w)) {
        writer_report_head(w, STORE_BROKEN);
        given_up++;
    }
    if (given_up)
        log_error("store closed with unwritten changes", "change_sets", LOG_INT(given_up));
}

static void *writer_main(void *arg)
{
    struct store_writer *w = arg;
    thread_in_background("store-writer");
    while (writer_collect(w)) {
        if (!w->lost && is_condemned(w)) {
            w->lost = true;
            enter_broken(w, "the store is damaged");
        }
        if (w->broken)
            refuse_waiting(w);
        writer_keep_lease(w);
        if (w->backlog.head && !w->lost && (!w->broken || env_mono(w->env) >= w->retry_at))
            (void)write_batch(w);
    }
    writer_drain(w);
    return NULL;
}

void writer_init(struct store_writer *w, const struct store_backend *backend, const struct env *env,
                 void *conn, const char *holder, int64_t fence)
{
    w->backend = backend;
    w->env = env;
    w->conn = conn;
    w->fence = fence;
    w->renew_at = env_mono(env) + LEASE_RENEW_US;
    (void)backend->last_marked(conn, &w->transaction);
    (void)snprintf(w->holder, sizeof(w->holder), "%s", holder);
    signal_init(&w->lock);
}

void writer_start(struct store_writer *w)
{
    assert(!w->started);
    int error = pthread_create(&w->thread, NULL, writer_main, w);
    assert(error == 0);
    (void)error;
    w->started = true;
}

void writer_submit(struct store_writer *w, struct change_set *set)
{
    assert(set->on_done && !set->next);
    mutex_lock(&w->lock.mutex);
    queue_append(&w->incoming, set);
    w->metrics.queue_depth++;
    cond_signal(&w->lock.cond);
    mutex_unlock(&w->lock.mutex);
}

void writer_condemn(struct store_writer *w)
{
    mutex_lock(&w->lock.mutex);
    w->condemned = true;
    cond_signal(&w->lock.cond);
    mutex_unlock(&w->lock.mutex);
}

void writer_metrics(struct store_writer *w, struct storage_metrics *ret)
{
    mutex_lock(&w->lock.mutex);
    *ret = w->metrics;
    mutex_unlock(&w->lock.mutex);
}

void writer_trouble(struct store_writer *w, char ret[static STORE_TROUBLE_BYTES])
{
    mutex_lock(&w->lock.mutex);
    (void)memcpy(ret, w->trouble, sizeof(w->trouble));
    mutex_unlock(&w->lock.mutex);
}

void writer_stop(struct store_writer *w)
{
    mutex_lock(&w->lock.mutex);
    w->stopping = true;
    cond_signal(&w->lock.cond);
    mutex_unlock(&w->lock.mutex);
    if (w->started)
        (void)pthread_join(w->thread, NULL);
    else
        writer_drain(w);
    if (!w->lost)
        (void)w->backend->lease_release(w->conn, LEASE_NAME, w->holder);
}

void writer_done(struct store_writer *w)
{
    writer_drain(w); /* callbacks of the reader may have submitted sets */
    assert(!w->backlog.head && !w->incoming.head && !w->metrics.queue_depth);
    w->backend->close(w->conn);
    signal_done(&w->lock);
}
