/*
 * Owns what `shootd check-store` tells: integrity, rows, and the rows that were put aside because they cannot
 * be read. Reads only, on a connection of its own, also beside a running daemon (DB-4).
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"

#include <string.h>

enum { DOCUMENT_SHOWN = 400 };

static void print_counts(sqlite3 *db, FILE *out)
{
    static const char *const tables[] = {"clusters", "operations", "events",   "subscriptions", "deliveries",
                                         "tokens",   "accounts",   "projects", "replays",       "audit"};
    (void)fprintf(out, "rows       ");
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        char *CLEANUP_FREE sql = mem_printf("SELECT count(*) FROM %s", tables[i]);
        sqlite3_stmt *stmt = NULL;
        bool read =
            sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW;
        (void)fprintf(out, "%s%s %lld", i ? ", " : "", tables[i],
                      read ? sqlite3_column_int64(stmt, 0) : -1LL);
        (void)sqlite3_finalize(stmt);
    }
    (void)fprintf(out, "\n");
}

/* As a JSON string in ASCII: no byte of it can move a terminal. */
static void print_escaped(FILE *out, const unsigned char *text, int len)
{
    json_t *value CLEANUP_JSON =
        json_stringn_nocheck((const char *)text, (size_t)(len < DOCUMENT_SHOWN ? len : DOCUMENT_SHOWN));
    char *escaped CLEANUP_FREE = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    (void)fprintf(out, "    %s%s\n", escaped ? escaped : "(not text)", len > DOCUMENT_SHOWN ? " ..." : "");
}

/* How many there are; -1 when they cannot be read. */
static int64_t print_put_aside(sqlite3 *db, FILE *out)
{
    sqlite3_stmt *stmt = NULL;
    int64_t count = 0;
    int rc = sqlite3_prepare_v2(db, "SELECT at, kind, id, reason, doc FROM quarantine ORDER BY number", -1,
                                &stmt, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        char at[TIME_TEXT_BYTES];
        if (!count++)
            (void)fprintf(out, "put aside  rows that cannot be read:\n");
        (void)fprintf(out, "  %s %s %s: %s, %d bytes\n",
                      time_rfc3339(sqlite3_column_int64(stmt, 0), false, at),
                      (const char *)sqlite3_column_text(stmt, 1), (const char *)sqlite3_column_text(stmt, 2),
                      (const char *)sqlite3_column_text(stmt, 3), sqlite3_column_bytes(stmt, 4));
        if (sqlite3_column_text(stmt, 4))
            print_escaped(out, sqlite3_column_text(stmt, 4), sqlite3_column_bytes(stmt, 4));
        rc = SQLITE_OK;
    }
    (void)sqlite3_finalize(stmt);
    if (rc == SQLITE_DONE && !count)
        (void)fprintf(out, "put aside  none\n");
    return rc == SQLITE_DONE ? count : -1;
}

enum store_status sqlite_inspect(const char *location, FILE *out, bool *ret_sound, char **ret_error)
{
    struct sqlite_conn *conn = MEM_NEW(struct sqlite_conn);
    char id[STORE_ID_BYTES];
    conn->path = mem_strdup(location);
    conn->lock_fd = -1;
    enum store_status status = handle_open(conn, ret_error);
    if (status == STORE_OK)
        status = sqlite_identity(conn, id);
    if (status == STORE_OK) {
        char *CLEANUP_FREE verdict = handle_text(conn, "PRAGMA quick_check(1)");
        bool sound = verdict && !strcmp(verdict, "ok");
        (void)fprintf(out, "store      %s\nid         %s\nschema     %d\nintegrity  %s\n", location, id,
                      migrate_newest(), verdict ? verdict : "cannot be read");
        print_counts(conn->db, out);
        *ret_sound = print_put_aside(conn->db, out) == 0 && sound;
        handle_close(conn);
    }
    free(conn->path);
    free(conn);
    return status;
}
