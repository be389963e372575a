/*
 * Checks a large store while it is in use, because a check of the whole store before the start would take
 * seconds. When the store is damaged, nothing is written to it any more. A check that ended without a result
 * is repeated later.
 */
#include "storage/storage_private.h"

#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"

#include <assert.h>

#define AGAIN_AFTER_US (60 * US_PER_S)
/* An interrupt affects only the statement that runs at that moment. The interrupt is therefore repeated until
 * the check has ended. */
#define INTERRUPT_US (10 * US_PER_MS)

/* Takes the lock and sets the connection that other threads may interrupt; NULL: there is none. */
static void publish(struct checker *c, void *conn)
{
    mutex_lock(&c->lock.mutex);
    c->conn = conn;
    mutex_unlock(&c->lock.mutex);
}

static enum store_status check_once(struct checker *c, char **ret_error)
{
    void *conn = NULL;
    if (c->backend->open(c->location, false, &conn, ret_error) != STORE_OK)
        return STORE_RETRY; /* a lack of descriptors or memory is no sign of damage */
    publish(c, conn);
    enum store_status status = c->backend->check(conn, ret_error);
    publish(c, NULL);
    c->backend->close(conn);
    return status;
}

/* Waits, then returns whether the checker must stop. */
static bool is_stopping(struct checker *c, int64_t wait_us)
{
    mutex_lock(&c->lock.mutex);
    if (!c->stopping && wait_us)
        signal_wait(&c->lock, wait_us);
    bool stopping = c->stopping;
    mutex_unlock(&c->lock.mutex);
    return stopping;
}

static void conclude(struct checker *c, enum store_status status, const char *error)
{
    if (status == STORE_OK) {
        log_info("store check finished: no damage found");
    } else if (status == STORE_BROKEN) {
        log_error("the store is damaged, writing has stopped: restore a backup", "error",
                  error ? error : "unknown");
        writer_condemn(c->writer);
    }
}

static void *checker_main(void *arg)
{
    struct checker *c = arg;
    enum store_status status;
    thread_in_background("store-checker");
    do {
        char *error CLEANUP_FREE = NULL;
        status = check_once(c, &error);
        if (is_stopping(c, 0))
            break;
        conclude(c, status, error);
        if (status == STORE_RETRY)
            log_warning("store check failed, next try in a minute", "error", error ? error : "unknown");
    } while (status == STORE_RETRY && !is_stopping(c, AGAIN_AFTER_US));
    mutex_lock(&c->lock.mutex);
    c->ended = true;
    cond_broadcast(&c->lock.cond);
    mutex_unlock(&c->lock.mutex);
    return NULL;
}

void checker_start(struct checker *c, const struct store_backend *backend, const char *location,
                   struct store_writer *writer)
{
    assert(!c->started);
    c->backend = backend;
    c->location = mem_strdup(location);
    c->writer = writer;
    signal_init(&c->lock);
    int error = pthread_create(&c->thread, NULL, checker_main, c);
    assert(error == 0);
    (void)error;
    c->started = true;
}

void checker_stop(struct checker *c)
{
    if (!c->started)
        return;
    mutex_lock(&c->lock.mutex);
    c->stopping = true;
    cond_broadcast(&c->lock.cond);
    while (!c->ended) {
        if (c->conn)
            c->backend->interrupt(c->conn);
        signal_wait(&c->lock, INTERRUPT_US);
    }
    mutex_unlock(&c->lock.mutex);
    (void)pthread_join(c->thread, NULL);
    signal_done(&c->lock);
    free(c->location);
}
