/*
 * The schema, as numbered migrations. Migrations go forward only, and are never edited after a release. Each
 * migration runs in one immediate transaction, which also stores the number of the migration (DB-10). Runs on
 * the opening thread, on the writing connection.
 *
 * STRICT tables with CHECKs (DB-9). Times are microseconds since 1970; `doc` is the stored form of the model.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"

#include <assert.h>

#define ID_CHECK "CHECK (length(id) BETWEEN 1 AND 39)"
#define DOC      "doc TEXT NOT NULL CHECK (doc LIKE '{%')"

static const char tables[] =
    "CREATE TABLE clusters ("
    " id TEXT NOT NULL PRIMARY KEY " ID_CHECK ","
    " project TEXT NOT NULL,"
    " name TEXT NOT NULL,"
    " version INTEGER NOT NULL,"
    " deleted INTEGER NOT NULL CHECK (deleted IN (0, 1)),"
    " " DOC ") STRICT;"
    "CREATE UNIQUE INDEX clusters_live ON clusters (project, name) WHERE deleted = 0;"
    "CREATE TABLE operations ("
    " id TEXT NOT NULL PRIMARY KEY " ID_CHECK ","
    " cluster_id TEXT NOT NULL,"
    " project TEXT NOT NULL,"
    " status TEXT NOT NULL,"
    " finished_at INTEGER NOT NULL CHECK (finished_at >= 0),"
    " " DOC ") STRICT;"
    "CREATE INDEX operations_finished ON operations (finished_at) WHERE finished_at > 0;"
    "CREATE TABLE events ("
    " sequence INTEGER PRIMARY KEY CHECK (sequence > 0),"
    " id TEXT NOT NULL UNIQUE " ID_CHECK ","
    " type TEXT NOT NULL,"
    " project TEXT,"
    " cluster TEXT,"
    " at INTEGER NOT NULL,"
    " body TEXT NOT NULL"
    ") STRICT;"
    "CREATE TABLE subscriptions ("
    " id TEXT NOT NULL PRIMARY KEY " ID_CHECK ","
    " " DOC ") STRICT;"
    "CREATE TABLE deliveries ("
    " id TEXT NOT NULL PRIMARY KEY " ID_CHECK ","
    " event_id TEXT NOT NULL,"
    " subscription_id TEXT NOT NULL REFERENCES subscriptions (id) ON DELETE CASCADE,"
    " status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),"
    " attempt INTEGER NOT NULL CHECK (attempt >= 0),"
    " response_status INTEGER NOT NULL,"
    " latency_ms INTEGER NOT NULL,"
    " error TEXT NOT NULL,"
    " next_attempt_at INTEGER NOT NULL,"
    " created_at INTEGER NOT NULL,"
    " updated_at INTEGER NOT NULL"
    ") STRICT;"
    "CREATE INDEX deliveries_of_subscription ON deliveries (subscription_id, id);"
    "CREATE TABLE tokens ("
    " id TEXT NOT NULL PRIMARY KEY " ID_CHECK ","
    " digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),"
    " " DOC ") STRICT;"
    "CREATE TABLE accounts (name TEXT NOT NULL PRIMARY KEY, " DOC ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE projects (name TEXT NOT NULL PRIMARY KEY, " DOC ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE leases ("
    " name TEXT NOT NULL PRIMARY KEY,"
    " holder TEXT NOT NULL,"
    " until INTEGER NOT NULL,"
    " fence INTEGER NOT NULL CHECK (fence > 0)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;"
    /* A purge of events does not change the counter, so a number is never assigned twice. */
    "INSERT INTO meta (key, value) VALUES ('event_sequence', 0);";

/* With these indexes, filtered pages read rows in the order of sequence, and purges and the start find their
 * rows without a scan. */
static const char page_indexes[] =
    "CREATE INDEX events_of_cluster ON events (cluster, sequence) WHERE cluster IS NOT NULL;"
    "CREATE INDEX events_of_project ON events (project, sequence) WHERE project IS NOT NULL;"
    "CREATE INDEX events_at ON events (at);"
    "CREATE INDEX deliveries_pending ON deliveries (event_id) WHERE status = 'pending';"
    "CREATE INDEX deliveries_final ON deliveries (updated_at) WHERE status <> 'pending';";

/* Answers to requests with an Idempotency-Key. These answers are found by key and purged by age. */
static const char replays[] = "CREATE TABLE replays ("
                              " key TEXT NOT NULL PRIMARY KEY CHECK (length(key) = 64),"
                              " created_at INTEGER NOT NULL,"
                              " " DOC ") STRICT;"
                              "CREATE INDEX replays_created ON replays (created_at);";

/* With AUTOINCREMENT a number is never assigned twice, even after a purge. */
static const char audit[] = "CREATE TABLE audit ("
                            " sequence INTEGER PRIMARY KEY AUTOINCREMENT,"
                            " at INTEGER NOT NULL,"
                            " token_id TEXT,"
                            " action TEXT NOT NULL,"
                            " project TEXT,"
                            " cluster TEXT,"
                            " outcome TEXT NOT NULL,"
                            " body TEXT NOT NULL"
                            ") STRICT;"
                            "CREATE INDEX audit_at ON audit (at);";

/* These columns are for the delivery log that clients read, for redelivery, and for the time of the last
 * success. */
static const char delivery_log[] =
    "ALTER TABLE deliveries ADD COLUMN event_type TEXT NOT NULL DEFAULT '';"
    "ALTER TABLE deliveries ADD COLUMN snippet TEXT NOT NULL DEFAULT '';"
    "UPDATE deliveries SET event_type ="
    " ifnull((SELECT type FROM events WHERE events.id = deliveries.event_id), '');"
    "CREATE INDEX deliveries_of_event ON deliveries (subscription_id, event_id);"
    "CREATE INDEX deliveries_made ON deliveries (subscription_id, updated_at) WHERE status = 'delivered';"
    "CREATE INDEX deliveries_failed ON deliveries (subscription_id, id) WHERE status = 'failed';";

/*
 * The number of the last transaction shows whether a failed COMMIT had an effect. Unreadable rows are moved
 * to the quarantine unchanged.
 */
static const char certainty[] = "INSERT INTO meta (key, value) VALUES ('transaction', 0);"
                                "CREATE TABLE quarantine ("
                                " number INTEGER PRIMARY KEY AUTOINCREMENT,"
                                " kind TEXT NOT NULL,"
                                " id ANY NOT NULL,"
                                " doc ANY,"
                                " reason TEXT NOT NULL,"
                                " at INTEGER NOT NULL"
                                ") STRICT;";

/*
 * From this version on, operations are read from this table on request, a page at a time. The load checks
 * documents of clusters by their digest and does not parse them when the digest is right; rows of earlier
 * versions have an empty digest. A row that is not JSON is not changed here; the load moves it to the
 * quarantine.
 */
static const char fast_start[] =
    "ALTER TABLE operations ADD COLUMN cluster TEXT NOT NULL DEFAULT '';"
    "UPDATE operations SET cluster = ifnull(json_extract(doc, '$.cluster'), '') WHERE json_valid(doc);"
    "CREATE INDEX operations_by_id ON operations (id, project, cluster, status, finished_at);"
    "CREATE INDEX operations_of_cluster ON operations (project, cluster, id, status);"
    "CREATE INDEX operations_open ON operations (id) WHERE finished_at = 0;"
    "ALTER TABLE clusters ADD COLUMN operation_id TEXT NOT NULL DEFAULT '';"
    "UPDATE clusters SET operation_id = ifnull(json_extract(doc, '$.operation_id'), '')"
    " WHERE json_valid(doc);"
    "CREATE INDEX clusters_operation ON clusters (operation_id);"
    "ALTER TABLE clusters ADD COLUMN digest BLOB NOT NULL DEFAULT x'';";

/*
 * Most rows of a store are deliveries, so these rows are made small: their ids are packed, their webhook is
 * stored as a number, and columns by which no statement searches have no index. The last success is stored
 * with the webhook.
 */
static const char lean_deliveries[] =
    "CREATE TABLE webhooks ("
    " number INTEGER PRIMARY KEY,"
    " id TEXT NOT NULL UNIQUE " ID_CHECK ","
    " last_success_at INTEGER NOT NULL DEFAULT 0,"
    " " DOC ") STRICT;"
    "INSERT INTO webhooks (id, last_success_at, doc)"
    " SELECT id, (SELECT ifnull(max(updated_at), 0) FROM deliveries"
    " WHERE subscription_id = subscriptions.id AND status = 'delivered'), doc"
    " FROM subscriptions ORDER BY id;"
    "CREATE TABLE lean ("
    " number INTEGER PRIMARY KEY,"
    " subscription INTEGER NOT NULL REFERENCES webhooks (number) ON DELETE CASCADE,"
    " id ANY NOT NULL,"
    " event_id ANY NOT NULL,"
    " status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),"
    " attempt INTEGER NOT NULL CHECK (attempt >= 0),"
    " response_status INTEGER NOT NULL,"
    " latency_ms INTEGER NOT NULL,"
    " next_attempt_at INTEGER NOT NULL,"
    " created_at INTEGER NOT NULL,"
    " updated_at INTEGER NOT NULL,"
    " event_type TEXT NOT NULL,"
    " error TEXT NOT NULL,"
    " snippet TEXT NOT NULL"
    ") STRICT;"
    "INSERT INTO lean (subscription, id, event_id, status, attempt, response_status, latency_ms,"
    " next_attempt_at, created_at, updated_at, event_type, error, snippet)"
    " SELECT webhooks.number, id_packed('" ID_DELIVERY "', deliveries.id),"
    " id_packed('" ID_EVENT "', event_id), status, attempt, response_status, latency_ms, next_attempt_at,"
    " created_at, updated_at, event_type, error, snippet"
    " FROM deliveries JOIN webhooks ON webhooks.id = deliveries.subscription_id ORDER BY deliveries.id;"
    "DROP TABLE deliveries;"
    "DROP TABLE subscriptions;"
    "ALTER TABLE webhooks RENAME TO subscriptions;"
    "ALTER TABLE lean RENAME TO deliveries;"
    "CREATE UNIQUE INDEX deliveries_of_subscription ON deliveries (subscription, id);"
    "CREATE INDEX deliveries_of_event ON deliveries (event_id, subscription);"
    "CREATE INDEX deliveries_pending ON deliveries (event_id) WHERE status = 'pending';"
    "CREATE INDEX deliveries_final ON deliveries (updated_at) WHERE status <> 'pending';"
    "CREATE INDEX deliveries_failed ON deliveries (subscription, id) WHERE status = 'failed';";

/* All attempts of a delivery. Empty when the other columns already contain all of this
 * (delivery_attempts_text). */
static const char attempts[] = "ALTER TABLE deliveries ADD COLUMN attempts TEXT NOT NULL DEFAULT '';";

/* With this column, the beginning and the end of a period in the audit log are found without reading all
 * entries (AUDIT_RANGE). */
static const char audit_by_time[] =
    "ALTER TABLE audit ADD COLUMN latest INTEGER NOT NULL DEFAULT 0;"
    "UPDATE audit SET latest = upto.latest FROM"
    " (SELECT sequence, max(at) OVER (ORDER BY sequence) AS latest FROM audit) AS upto"
    " WHERE upto.sequence = audit.sequence;"
    "CREATE INDEX audit_latest ON audit (latest);"
    "CREATE INDEX audit_behind ON audit (sequence, at, latest) WHERE at < latest;";

/* What the attempts tell about the receiver of a webhook. They are stored when they happen, because the
 * deliveries that failed may be purged before one succeeds. */
static const char standing[] =
    "ALTER TABLE subscriptions ADD COLUMN failing_since INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE subscriptions ADD COLUMN last_at INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE subscriptions ADD COLUMN last_status INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE subscriptions ADD COLUMN last_result TEXT NOT NULL DEFAULT '';";

static const char *const migrations[] = {tables,       page_indexes,  replays,    audit,
                                         delivery_log, certainty,     fast_start, lean_deliveries,
                                         attempts,     audit_by_time, standing};

int migrate_newest(void)
{
    return (int)ARRAY_LEN(migrations);
}

int sqlite_schema(void)
{
    return migrate_newest();
}

enum store_status migrate_run(sqlite3 *db, int from, int to, char **ret_error)
{
    assert(from >= 0 && to <= migrate_newest());
    for (int version = from + 1; version <= to; version++) {
        char *CLEANUP_FREE sql =
            mem_printf("BEGIN IMMEDIATE; %s PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT;",
                       migrations[version - 1], SQLITE_STORE_APPLICATION_ID, version);
        if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
            if (ret_error)
                *ret_error = mem_printf("migration to version %d failed: %s", version, sqlite3_errmsg(db));
            if (!sqlite3_get_autocommit(db))
                (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
            return STORE_BROKEN;
        }
        log_info("database migrated", "version", LOG_INT(version));
    }
    return STORE_OK;
}
