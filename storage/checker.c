/*
 * Owns the check of a large store beside its use: a start that read all of it would take seconds. What turns
 * out to be damaged is not written to any more.
 */
#include "storage/storage_private.h"

#include "base/log.h"
#include "base/mem.h"

#include <assert.h>

static void *checker_main(void *arg)
{
    struct checker *c = arg;
    void *conn = NULL;
    char *error CLEANUP_FREE = NULL;
    enum store_status status = c->backend->open(c->location, false, &conn, &error);
    if (status == STORE_OK) {
        status = c->backend->check(conn, &c->stop, &error);
        c->backend->close(conn);
    }
    if (status == STORE_OK)
        log_info("all of the store was checked, and is sound");
    if (status != STORE_BROKEN)
        return NULL;
    log_error("the store is damaged, and nothing is written any more: restore a backup", "error",
              error ? error : "unknown");
    writer_condemn(c->writer);
    return NULL;
}

void checker_start(struct checker *c, const struct store_backend *backend, const char *location,
                   struct writer *writer)
{
    assert(!c->started && backend->check);
    c->backend = backend;
    c->location = mem_strdup(location);
    c->writer = writer;
    int error = pthread_create(&c->thread, NULL, checker_main, c);
    assert(error == 0);
    (void)error;
    (void)pthread_setname_np(c->thread, "store-checker");
    c->started = true;
}

void checker_stop(struct checker *c)
{
    if (!c->started)
        return;
    atomic_store(&c->stop, true);
    (void)pthread_join(c->thread, NULL);
    free(c->location);
}
