/* The running store: opens both connections, takes the lease, starts and stops the two threads. Runs on the
 * caller's thread. Between storage_start and storage_close, only the two threads may use the connections. */
#include "storage/storage.h"

#include "base/log.h"
#include "base/mem.h"
#include "storage/storage_private.h"

#include <assert.h>

/*
 * A killed process leaves its lease in the store. In a store with a file lock, a successful opening proves
 * that the old holder has ended. Therefore the start does not wait until the lease has expired.
 */
static enum store_status take_lease(const struct store_backend *backend, void *conn, const char *holder,
                                    const struct env *env, struct store_lease *ret_lease, char **ret_error)
{
    char *CLEANUP_FREE error = NULL;
    enum store_status status =
        backend->lease_take(conn, LEASE_NAME, holder, env_wall(env), LEASE_TTL_US, ret_lease, &error);
    if (status == STORE_CONFLICT && !backend->shared_by_replicas) {
        (void)backend->lease_release(conn, LEASE_NAME, ret_lease->holder);
        status =
            backend->lease_take(conn, LEASE_NAME, holder, env_wall(env), LEASE_TTL_US, ret_lease, &error);
    }
    if (status == STORE_OK)
        return STORE_OK;
    if (status == STORE_CONFLICT) {
        if (ret_error)
            *ret_error = mem_printf("the store is owned by %s", ret_lease->holder);
        return STORE_LOCKED;
    }
    if (ret_error)
        *ret_error =
            mem_printf("taking the lease of the store failed: %s", error ? error : store_status_name(status));
    return STORE_BROKEN;
}

enum store_status storage_open(const struct store_backend *backend, const char *location, const char *holder,
                               const struct env *env, struct storage **ret_storage, char **ret_error)
{
    void *writer = NULL;
    enum store_status status = backend->open(location, true, &writer, ret_error);
    if (status != STORE_OK)
        return status;
    struct store_lease lease = {0};
    status = take_lease(backend, writer, holder, env, &lease, ret_error);
    if (status != STORE_OK) {
        backend->close(writer);
        return status;
    }
    void *reader = NULL;
    status = backend->open(location, false, &reader, ret_error);
    if (status != STORE_OK) {
        (void)backend->lease_release(writer, LEASE_NAME, holder);
        backend->close(writer);
        return status;
    }
    struct storage *s = MEM_NEW(struct storage);
    writer_init(&s->writer, backend, env, writer, holder, lease.fence);
    reader_init(&s->reader, backend, reader);
    (void)backend->identity(writer, s->id);
    (void)backend->seal_key(writer, s->seal_key);
    s->is_new = backend->is_new(writer);
    s->location = mem_strdup(location);
    *ret_storage = s;
    return STORE_OK;
}

enum store_status storage_load(struct storage *s, const struct store_visitor *visitor, char **ret_error)
{
    assert(!s->writer.started && !s->reader.started); /* before the threads start, the caller may use the
                                                       * connection */
    return s->writer.backend->load(s->writer.conn, visitor, ret_error);
}

void storage_start(struct storage *s)
{
    const struct store_backend *backend = s->writer.backend;
    bool unchecked = backend->is_unchecked(s->writer.conn);
    writer_start(&s->writer);
    reader_start(&s->reader);
    if (unchecked)
        checker_start(&s->checker, backend, s->location, &s->writer);
}

void storage_close(struct storage *s)
{
    if (!s)
        return;
    checker_stop(&s->checker);
    writer_stop(&s->writer);
    reader_done(&s->reader);
    writer_done(&s->writer);
    free(s->location);
    free(s);
}

void storage_submit(struct storage *s, struct change_set *set)
{
    writer_submit(&s->writer, set);
}

enum store_status storage_backup(struct storage *s, const char *target, struct store_copy *ret,
                                 char **ret_error)
{
    return s->writer.backend->backup(s->location, target, &s->backups_end, ret, ret_error);
}

enum store_status storage_id_of_copy(struct storage *s, const char *path, char ret_id[static STORE_ID_BYTES])
{
    return s->writer.backend->id_of_copy(path, ret_id);
}

void storage_end_backups(struct storage *s)
{
    atomic_store(&s->backups_end, true);
}

const char *storage_id(const struct storage *s)
{
    return s->id;
}

bool storage_is_new(const struct storage *s)
{
    return s->is_new;
}

const char *storage_seal_key(const struct storage *s)
{
    return s->seal_key;
}

bool storage_is_broken(struct storage *s)
{
    struct storage_metrics metrics;
    writer_metrics(&s->writer, &metrics);
    return metrics.broken;
}

void storage_trouble(struct storage *s, char ret[static STORE_TROUBLE_BYTES])
{
    writer_trouble(&s->writer, ret);
}

void storage_metrics(struct storage *s, struct storage_metrics *ret)
{
    writer_metrics(&s->writer, ret);
    ret->queries = reader_depth(&s->reader);
}
