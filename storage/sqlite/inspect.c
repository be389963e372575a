/*
 * Prints the report of `shootd check-store`: the integrity of the file, the numbers of rows, unreadable rows
 * in the quarantine, and advice. The report uses a separate connection that cannot write, and may be made
 * while a daemon runs (DB-4). The store may have any schema up to the program's own, and is not changed:
 * only the daemon upgrades an older schema.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"

#include <string.h>

enum { TEXT_SHOWN = 400, FAULTS_SHOWN = 10 };

enum finding { DAMAGED, UNREAD, PUT_ASIDE, FINDING_MAX_ };

static const char *const advice[FINDING_MAX_] = {
    [DAMAGED] =
        "do not use this file: restore a backup that is sound (shootd restore --config FILE --from BACKUP)",
    [UNREAD] = "see to the disk and to the rights on the file, then look again",
    [PUT_ASIDE] =
        "nothing has to be done for shootd to run; what these rows were about can be asked for again",
};

struct inspection {
    struct sqlite_conn *conn;
    FILE *out;
    int schema;
    bool found[FINDING_MAX_];
};

/* Prints the error of a statement that ended early; prints nothing when there was none. */
static void print_failure(struct inspection *look, const char *label, int rc)
{
    if (rc == SQLITE_DONE)
        return;
    bool damaged = (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB;
    look->found[damaged ? DAMAGED : UNREAD] = true;
    (void)fprintf(look->out, "%-10s cannot be read: %s\n", label, sqlite3_errmsg(look->conn->db));
}

/* Prints a JSON string in ASCII, so that the string cannot control a terminal. */
static void print_escaped(FILE *out, const unsigned char *text, int len)
{
    json_t *value CLEANUP_JSON =
        json_stringn_nocheck((const char *)text, (size_t)(len < TEXT_SHOWN ? len : TEXT_SHOWN));
    char *escaped CLEANUP_FREE = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    (void)fprintf(out, "    %s%s\n", escaped ? escaped : "(not text)", len > TEXT_SHOWN ? " ..." : "");
}

/* ---- checks of SQLite ---- */

/* Runs a PRAGMA that returns one row for each fault, or one row "ok". */
static void print_faults(struct inspection *look, const char *label, const char *sql, const char *what)
{
    sqlite3_stmt *stmt = NULL;
    int64_t count = 0;
    int rc = sqlite3_prepare_v2(look->conn->db, sql, -1, &stmt, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        const unsigned char *text = sqlite3_column_text(stmt, 0);
        if (text && !strcmp((const char *)text, "ok"))
            continue;
        if (!count++)
            (void)fprintf(look->out, "%-10s %s\n", label, what);
        if (text && count <= FAULTS_SHOWN)
            print_escaped(look->out, text, sqlite3_column_bytes(stmt, 0));
    }
    if (count > FAULTS_SHOWN)
        (void)fprintf(look->out, "    and %lld more\n", (long long)count - FAULTS_SHOWN);
    if (rc == SQLITE_DONE && !count)
        (void)fprintf(look->out, "%-10s ok\n", label);
    print_failure(look, label, rc);
    look->found[DAMAGED] |= count > 0;
    (void)sqlite3_finalize(stmt);
}

static void print_soundness(struct inspection *look)
{
    print_faults(look, "integrity", "PRAGMA integrity_check", "the file is damaged:");
    print_faults(look, "references",
                 "SELECT \"table\" || ' row ' || ifnull(rowid, '?') || ' belongs to a row of ' || parent ||"
                 " ' that is not there' FROM pragma_foreign_key_check",
                 "rows without the one that they belong to (foreign_key_check):");
}

/* ---- content ---- */

/* Older schemas lack the tables of later ones. */
static bool has_table(const struct inspection *look, const char *name)
{
    char *CLEANUP_FREE sql =
        mem_printf("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '%s'", name);
    char *CLEANUP_FREE found = handle_text(look->conn, sql);
    return found;
}

#define SUBSCRIPTIONS "subscriptions"

static void print_counts(struct inspection *look)
{
    static const char *const tables[] = {"clusters", "operations", "events",   SUBSCRIPTIONS, "deliveries",
                                         "tokens",   "accounts",   "projects", "replays",     "audit"};
    const char *between = "";
    (void)fprintf(look->out, "rows       ");
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        if (!has_table(look, tables[i]))
            continue;
        char *CLEANUP_FREE sql = mem_printf("SELECT count(*) FROM %s", tables[i]);
        char *CLEANUP_FREE count = handle_text(look->conn, sql);
        /* Users know only the word webhook. */
        const char *name = strcmp(tables[i], SUBSCRIPTIONS) != 0 ? tables[i] : "webhooks";
        (void)fprintf(look->out, "%s%s %s", between, name, count ? count : "cannot be counted");
        look->found[DAMAGED] |= !count;
        between = ", ";
    }
    (void)fprintf(look->out, "\n");
}

static void print_put_aside(struct inspection *look)
{
    sqlite3_stmt *stmt = NULL;
    if (!has_table(look, "quarantine"))
        return;
    int rc = sqlite3_prepare_v2(
        look->conn->db, "SELECT at, kind, id, reason, doc FROM quarantine ORDER BY number", -1, &stmt, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        char at[TIME_TEXT_BYTES];
        if (!look->found[PUT_ASIDE])
            (void)fprintf(look->out, "put aside  rows that cannot be read:\n");
        look->found[PUT_ASIDE] = true;
        (void)fprintf(look->out, "  %s %s %s: %s, %d bytes\n",
                      time_rfc3339(sqlite3_column_int64(stmt, 0), false, at),
                      (const char *)sqlite3_column_text(stmt, 1), (const char *)sqlite3_column_text(stmt, 2),
                      (const char *)sqlite3_column_text(stmt, 3), sqlite3_column_bytes(stmt, 4));
        if (sqlite3_column_text(stmt, 4))
            print_escaped(look->out, sqlite3_column_text(stmt, 4), sqlite3_column_bytes(stmt, 4));
        rc = SQLITE_OK;
    }
    if (rc == SQLITE_DONE && !look->found[PUT_ASIDE])
        (void)fprintf(look->out, "put aside  none\n");
    print_failure(look, "put aside", rc);
    (void)sqlite3_finalize(stmt);
}

/* Checks that a store of this program's own schema has all tables and columns that the program's statements
 * need. */
static void print_schema(struct inspection *look)
{
    char *CLEANUP_FREE lack = NULL;
    (void)fprintf(look->out, "schema     %d", look->schema);
    if (look->schema < migrate_newest()) {
        (void)fprintf(look->out, ", which the next start of shootd upgrades to %d", migrate_newest());
    } else if (statement_prepare_all(look->conn, &lack) != STORE_OK) {
        (void)fprintf(look->out, ", but not all of it is there: %s", lack ? lack : "unknown reason");
        look->found[DAMAGED] = true;
    }
    (void)fprintf(look->out, "\n");
}

enum store_status sqlite_inspect(const char *location, FILE *out, bool *ret_sound, char **ret_error)
{
    struct sqlite_conn conn = {.path = mem_strdup(location), .lock_fd = -1};
    struct inspection look = {.conn = &conn, .out = out};
    char id[STORE_ID_BYTES];
    enum store_status status = handle_open_to_read(&conn, &look.schema, ret_error);
    if (status == STORE_OK) {
        (void)sqlite_identity(&conn, id);
        (void)fprintf(out, "store      %s\nid         %s\n", location, *id ? id : "none yet");
        print_schema(&look);
        print_soundness(&look);
        print_counts(&look);
        print_put_aside(&look);
        *ret_sound = true;
        for (int i = 0; i < FINDING_MAX_; i++) {
            *ret_sound &= !look.found[i];
            if (look.found[i])
                (void)fprintf(out, "to do      %s\n", advice[i]);
        }
        handle_close(&conn);
    }
    free(conn.path);
    return status;
}
