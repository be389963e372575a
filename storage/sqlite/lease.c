/* Owns the lease rows: who may write until when, and the fence that grows with each change of holder (DB-23).
 */
#include "storage/sqlite/sqlite_private.h"

#include "storage/storage_private.h"

#include <stdio.h>

/* STORE_NONE when nobody ever held it. */
static enum store_status lease_get(struct sqlite_conn *conn, const char *name, struct store_lease *ret_lease)
{
    struct binder b = statement_start(conn, STATEMENT_LEASE_GET);
    bind_text(&b, name);
    enum store_status status = statement_step(&b, NULL);
    if (status != STORE_OK)
        return status;
    (void)snprintf(ret_lease->name, sizeof(ret_lease->name), "%s", name);
    column_copy(b.stmt, 0, ret_lease->holder, sizeof(ret_lease->holder));
    ret_lease->until = sqlite3_column_int64(b.stmt, 1);
    ret_lease->fence = sqlite3_column_int64(b.stmt, 2);
    statement_end(&b);
    return STORE_OK;
}

static enum store_status lease_put(struct sqlite_conn *conn, const struct store_lease *lease)
{
    struct binder b = statement_start(conn, STATEMENT_LEASE_PUT);
    bind_text(&b, lease->name);
    bind_text(&b, lease->holder);
    bind_int(&b, lease->until);
    bind_int(&b, lease->fence);
    return statement_run(&b, NULL);
}

static enum store_status finish_lease(struct sqlite_conn *conn, enum store_status status)
{
    if (status == STORE_OK)
        status = sqlite_commit(conn, NULL);
    if (status != STORE_OK)
        sqlite_rollback(conn);
    return status;
}

enum store_status sqlite_lease_take(void *arg, const char *name, const char *holder, wall_us now,
                                    int64_t ttl_us, struct store_lease *ret_lease)
{
    struct sqlite_conn *conn = arg;
    enum store_status status = sqlite_begin(conn);
    if (status != STORE_OK)
        return status;
    struct store_lease lease = {0};
    status = lease_get(conn, name, &lease);
    if (status == STORE_OK || status == STORE_NONE) {
        bool ours = store_lease_claim(&lease, name, holder, now, ttl_us);
        status = ours ? lease_put(conn, &lease) : STORE_CONFLICT;
    }
    status = finish_lease(conn, status);
    if (status == STORE_OK || status == STORE_CONFLICT)
        *ret_lease = lease;
    return status;
}

enum store_status sqlite_lease_release(void *arg, const char *name, const char *holder)
{
    struct sqlite_conn *conn = arg;
    enum store_status status = sqlite_begin(conn);
    if (status != STORE_OK)
        return status;
    struct binder b = statement_start(conn, STATEMENT_LEASE_RELEASE);
    bind_text(&b, name);
    bind_text(&b, holder);
    status = statement_run(&b, NULL);
    bool released = status == STORE_OK && sqlite3_changes(conn->db) > 0;
    status = finish_lease(conn, status);
    return status == STORE_OK && !released ? STORE_NONE : status;
}
