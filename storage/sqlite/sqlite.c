/*
 * The SQLite backend's table of functions, and its connections. One thread at a time uses a connection. The
 * only writer holds the file lock as long as its connection exists, even while it opens the file again.
 */
#include "storage/storage.h"

#include "base/mem.h"
#include "storage/sqlite/sqlite_private.h"

static void conn_free(struct sqlite_conn *conn)
{
    lock_release(conn->lock_fd);
    free(conn->path);
    free(conn);
}

static enum store_status sqlite_open(const char *location, bool writer, void **ret_conn, char **ret_error)
{
    struct sqlite_conn *conn = MEM_NEW(struct sqlite_conn);
    conn->path = mem_strdup(location);
    conn->writer = writer;
    conn->lock_fd = -1;
    enum store_status status = writer ? lock_take(location, &conn->lock_fd, ret_error) : STORE_OK;
    if (status == STORE_OK)
        status = handle_open(conn, ret_error);
    if (status != STORE_OK) {
        conn_free(conn);
        return status;
    }
    *ret_conn = conn;
    return STORE_OK;
}

static void sqlite_close(void *arg)
{
    struct sqlite_conn *conn = arg;
    if (conn->writer && conn->db && !conn->suspect)
        (void)handle_exec(conn, "PRAGMA analysis_limit = 400; PRAGMA optimize", "optimize", NULL);
    handle_close(conn);
    conn_free(conn);
}

static bool sqlite_is_unchecked(void *arg)
{
    const struct sqlite_conn *conn = arg;
    return conn->unchecked;
}

static bool sqlite_is_new(void *arg)
{
    const struct sqlite_conn *conn = arg;
    return conn->is_new;
}

const struct store_backend store_sqlite = {
    .name = "sqlite",
    .shared_by_replicas = false,
    .open = sqlite_open,
    .close = sqlite_close,
    .is_new = sqlite_is_new,
    .is_unchecked = sqlite_is_unchecked,
    .check = sqlite_check,
    .interrupt = sqlite_stop_check,
    .begin = sqlite_begin,
    .apply = sqlite_apply,
    .mark = sqlite_mark,
    .last_marked = sqlite_last_marked,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .identity = sqlite_identity,
    .backup = sqlite_backup,
    .id_of_copy = sqlite_id_of_copy,
    .load = sqlite_load,
    .events = sqlite_events,
    .event_by_id = sqlite_event_by_id,
    .deliveries = sqlite_deliveries,
    .replay_by_key = sqlite_replay_by_key,
    .replay_behind = sqlite_replay_behind,
    .seal_key = sqlite_seal_key,
    .audit = sqlite_audit,
    .operations = sqlite_operations,
    .lease_take = sqlite_lease_take,
    .lease_release = sqlite_lease_release,
};
