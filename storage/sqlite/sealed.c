/*
 * Reads the sealed content of a store, or of a backup, of any schema. The store needs no upgrade, because
 * these rows are documents in every schema. The functions use a separate connection that cannot write.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/json.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

struct sealed_look {
    void (*webhook)(void *ctx, struct subscription *s);
    void *ctx;
    struct store_sealed *sealed;
};

static void look_at_webhook(struct sealed_look *look, const json_t *doc)
{
    struct subscription *s = subscription_from_json(doc);
    if (s)
        look->webhook(look->ctx, s);
}

static void look_at_account(struct sealed_look *look, const json_t *doc)
{
    struct account_state *a = account_state_from_json(doc);
    look->sealed->tokens += a && a->sealed_token;
    account_state_free(a);
}

/* Calls `visit` for each document. Rows without a valid document are skipped; the next start moves them to
 * the quarantine. */
static enum store_status each_doc(struct sqlite_conn *conn, struct sealed_look *look, const char *sql,
                                  void (*visit)(struct sealed_look *look, const json_t *doc),
                                  char **ret_error)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(conn->db, sql, -1, &stmt, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct json_fault fault;
        json_t *doc CLEANUP_JSON = row_doc(stmt, &fault);
        if (doc)
            visit(look, doc);
        rc = SQLITE_OK;
    }
    enum store_status status = rc == SQLITE_DONE ? STORE_OK : sqlite_fail(conn, rc, conn->path, ret_error);
    (void)sqlite3_finalize(stmt);
    return status;
}

static enum store_status read_all(struct sqlite_conn *conn, struct sealed_look *look, char **ret_error)
{
    /* Schemas 1 and 2 have no table of stored answers; the number is then 0. */
    char *CLEANUP_FREE key_id = handle_text(conn, "SELECT value FROM meta WHERE key = 'seal_key'");
    char *CLEANUP_FREE answers = handle_text(conn, "SELECT count(*) FROM replays");
    (void)snprintf(look->sealed->key_id, sizeof(look->sealed->key_id), "%s", key_id ? key_id : "");
    look->sealed->answers = answers ? strtoull(answers, NULL, 10) : 0;
    enum store_status status =
        each_doc(conn, look, "SELECT id, doc FROM subscriptions ORDER BY id", look_at_webhook, ret_error);
    if (status == STORE_OK)
        status = each_doc(conn, look, "SELECT name, doc FROM accounts", look_at_account, ret_error);
    return status;
}

enum store_status sqlite_sealed(const char *path, void (*webhook)(void *ctx, struct subscription *s),
                                void *ctx, struct store_sealed *ret, char **ret_error)
{
    struct sqlite_conn conn = {.path = mem_strdup(path), .lock_fd = -1};
    struct sealed_look look = {.webhook = webhook, .ctx = ctx, .sealed = ret};
    int version = 0;
    *ret = (struct store_sealed){0};
    enum store_status status = handle_open_to_read(&conn, &version, ret_error);
    if (status == STORE_OK) {
        status = read_all(&conn, &look, ret_error);
        handle_close(&conn);
    }
    free(conn.path);
    return status;
}
