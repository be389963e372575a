/*
 * The quarantine is a table for unreadable rows, which are moved there unchanged. Therefore an unreadable row
 * does not prevent a start, and a person can still examine it. Runs on the writing connection, in the
 * transaction that loads the store.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"

#include <assert.h>

static const struct {
    const char *move, *remove;
} statements[ROW_KIND_MAX_] = {
#define MOVE(table, key, doc)                                                         \
    {                                                                                 \
        "INSERT INTO quarantine (kind, id, doc, reason, at) SELECT ?1, " key ", " doc \
        ", ?2, unixepoch() * 1000000 FROM " table " WHERE " key " = ?3",              \
            "DELETE FROM " table " WHERE " key " = ?1"                                \
    }
    [ROW_CLUSTER] = MOVE("clusters", "id", "doc"),
    [ROW_OPERATION] = MOVE("operations", "id", "doc"),
    [ROW_SUBSCRIPTION] = MOVE("subscriptions", "id", "doc"),
    [ROW_TOKEN] = MOVE("tokens", "id", "doc"),
    [ROW_ACCOUNT] = MOVE("accounts", "name", "doc"),
    [ROW_PROJECT] = MOVE("projects", "name", "doc"),
    [ROW_DELIVERY] =
        MOVE("deliveries", "id_unpacked('" ID_DELIVERY "', id)",
             "json_object('event_id', id_unpacked('" ID_EVENT "', event_id), 'subscription', subscription,"
             " 'status', status, 'attempt', attempt)"),
#undef MOVE
};

const char *row_kind_name(enum row_kind kind)
{
    static const char *const names[ROW_KIND_MAX_] = {
        [ROW_CLUSTER] = "cluster",   [ROW_OPERATION] = "operation", [ROW_SUBSCRIPTION] = "webhook",
        [ROW_TOKEN] = "token",       [ROW_ACCOUNT] = "account",     [ROW_PROJECT] = "project",
        [ROW_DELIVERY] = "delivery",
    };
    assert((unsigned)kind < ROW_KIND_MAX_);
    return names[kind];
}

void quarantine_note(struct quarantine *q, enum row_kind kind, sqlite3_value *key, const char *reason)
{
    assert((unsigned)kind < ROW_KIND_MAX_ && statements[kind].move);
    q->rows = mem_realloc_array(q->rows, q->count + 1, sizeof(*q->rows));
    q->rows[q->count++] = (struct bad_row){kind, sqlite3_value_dup(key), mem_strdup(reason)};
}

/* The values are bound in this order; NULL texts are not bound. */
static int quarantine_run(sqlite3 *db, const char *sql, const char *first, const char *second,
                          const sqlite3_value *key)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    int next = 1;
    if (rc == SQLITE_OK && first)
        rc = sqlite3_bind_text(stmt, next++, first, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK && second)
        rc = sqlite3_bind_text(stmt, next++, second, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_value(stmt, next, key);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    (void)sqlite3_finalize(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

enum store_status quarantine_move(struct sqlite_conn *conn, const struct quarantine *q)
{
    for (size_t i = 0; i < q->count; i++) {
        const struct bad_row *row = &q->rows[i];
        int rc = quarantine_run(conn->db, statements[row->kind].move, row_kind_name(row->kind), row->reason,
                                row->key);
        if (rc == SQLITE_OK)
            rc = quarantine_run(conn->db, statements[row->kind].remove, NULL, NULL, row->key);
        if (rc != SQLITE_OK)
            return sqlite_fail(conn, rc, "quarantine", NULL);
        log_error("stored {kind} {id} cannot be read and was moved to quarantine (see shootd check-store)",
                  "kind", row_kind_name(row->kind), "id", (const char *)sqlite3_value_text(row->key),
                  "reason", row->reason);
    }
    return STORE_OK;
}

void quarantine_done(struct quarantine *q)
{
    for (size_t i = 0; i < q->count; i++) {
        sqlite3_value_free(q->rows[i].key);
        free(q->rows[i].reason);
    }
    free(q->rows);
}
