/*
 * Every statement that runs in a transaction of shootd, as X(name, sql). All are prepared when a connection
 * opens, so that a wrong schema is detected then. There is no include guard, because each file that includes
 * this file defines its own STATEMENT.
 */
STATEMENT(CLUSTER_PUT,
          "INSERT INTO clusters (id, project, name, version, deleted, operation_id, doc, digest)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
          " ON CONFLICT (id) DO UPDATE SET project = excluded.project, name = excluded.name,"
          " version = excluded.version, deleted = excluded.deleted, operation_id = excluded.operation_id,"
          " doc = excluded.doc, digest = excluded.digest"
          " WHERE excluded.version >= clusters.version")
STATEMENT(CLUSTER_DELETE, "DELETE FROM clusters WHERE id = ?")
STATEMENT(CLUSTER_LOAD, "SELECT id, doc, digest FROM clusters ORDER BY id")

STATEMENT(MARK, "UPDATE meta SET value = ? WHERE key = 'transaction'")
STATEMENT(LAST_MARKED, "SELECT value FROM meta WHERE key = 'transaction'")

STATEMENT(SEAL_KEY_PUT, "INSERT INTO meta (key, value) VALUES ('seal_key', ?)"
                        " ON CONFLICT (key) DO UPDATE SET value = excluded.value")
STATEMENT(SEAL_KEY, "SELECT value FROM meta WHERE key = 'seal_key'")

/* The statements that move rows to the quarantine are in quarantine.c, because the name of the table
 * differs. */
STATEMENT(QUARANTINE_COUNT, "SELECT count(*) FROM quarantine")

STATEMENT(OPERATION_PUT,
          "INSERT INTO operations (id, cluster_id, project, cluster, status, finished_at, doc)"
          " VALUES (?, ?, ?, ?, ?, ?, ?)"
          " ON CONFLICT (id) DO UPDATE SET cluster_id = excluded.cluster_id, project = excluded.project,"
          " cluster = excluded.cluster, status = excluded.status, finished_at = excluded.finished_at,"
          " doc = excluded.doc")
STATEMENT(OPERATION_PURGE, "DELETE FROM operations WHERE id IN (SELECT id FROM operations WHERE finished_at "
                           "> 0 AND finished_at < ? LIMIT ?)")
/* A newer operation has a greater id. The unary plus makes SQLite read in the order of ids, not by the index
 * of finished_at. ? is the number of ended operations to load. */
STATEMENT(OPERATION_LEFT_OUT,
          "SELECT id FROM operations WHERE +finished_at > 0 ORDER BY id DESC LIMIT 1 OFFSET ?")
/* ?1: the id from OPERATION_LEFT_OUT, or ''. */
STATEMENT(OPERATION_LOAD, "SELECT id, doc FROM operations WHERE id > ?1"
                          " UNION ALL SELECT id, doc FROM operations WHERE finished_at = 0 AND id <= ?1"
                          " UNION ALL SELECT operations.id, operations.doc FROM clusters"
                          " JOIN operations ON operations.id = clusters.operation_id"
                          " WHERE operations.id <= ?1 AND finished_at > 0")
/*
 * ?1 before, ?2 projects, ?3 clusters, ?4 statuses, each a JSON array or NULL, ?5 limit, ?6 the smallest id,
 * ?7 a JSON array of parts of the cluster's name or NULL, ?8 a JSON array of types. For one cluster, ?2 and
 * ?3 are its two names. Only the documents of selected rows are read.
 */
#define OPERATIONS_NEWEST \
    "SELECT id, doc FROM operations WHERE id IN (SELECT id FROM operations WHERE id < ?1 AND id >= ?6"
#define OPERATIONS_OF_LISTS                                                              \
    " AND (?2 IS NULL OR +project IN (SELECT value FROM json_each(?2)))"                 \
    " AND (?3 IS NULL OR +cluster IN (SELECT value FROM json_each(?3)))"                 \
    " AND (?7 IS NULL OR +cluster IN (SELECT name FROM json_each(?7) AS part CROSS JOIN" \
    " (SELECT DISTINCT cluster AS name FROM operations) WHERE instr(lower(name), part.value)))"
#define OPERATIONS_OF_STATUS                                            \
    " AND (?4 IS NULL OR +status IN (SELECT value FROM json_each(?4)))" \
    " ORDER BY id DESC LIMIT ?5) ORDER BY id DESC"
STATEMENT(OPERATIONS_PAGE, OPERATIONS_NEWEST OPERATIONS_OF_LISTS OPERATIONS_OF_STATUS)
STATEMENT(OPERATIONS_PAGE_OF_CLUSTER,
          OPERATIONS_NEWEST " AND project = ?2 AND cluster = ?3" OPERATIONS_OF_STATUS)
/* A row that is not JSON has no type. */
STATEMENT(OPERATIONS_PAGE_OF_TYPE, OPERATIONS_NEWEST OPERATIONS_OF_LISTS
          " AND CASE WHEN json_valid(doc) THEN json_extract(doc, '$.type') END"
          " IN (SELECT value FROM json_each(?8))" OPERATIONS_OF_STATUS)
#undef OPERATIONS_NEWEST
#undef OPERATIONS_OF_LISTS
#undef OPERATIONS_OF_STATUS
STATEMENT(OPERATION_BY_ID, "SELECT id, doc FROM operations WHERE id = ?1"
                           " AND (?2 IS NULL OR project IN (SELECT value FROM json_each(?2)))")

/* event_base: the event number at which numbering continued after the last restore; 0: there was no restore.
 * event_gap: the number of event numbers that all restores together have skipped. */
#define META_NUMBER(key) " ifnull((SELECT known.value FROM meta AS known WHERE known.key = '" key "'), 0)"
STATEMENT(EVENT_NUMBER, "UPDATE meta SET value = value + 1 WHERE key = 'event_sequence' RETURNING value")
STATEMENT(EVENT_APPEND,
          "INSERT INTO events (sequence, id, type, project, cluster, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)")
/*
 * ?1 before, ?2 the number of events to keep, ?3 limit. Removes the oldest events first, so the numbers of
 * the remaining events have no gaps. To find the last event to remove, only the first ?3 rows are read. The
 * unary plus prevents the use of the index events_at, with which all rows would be read.
 */
STATEMENT(EVENT_PURGE,
          "DELETE FROM events WHERE sequence <= max("
          " ifnull((SELECT max(sequence) FROM events"
          " WHERE sequence < (SELECT min(sequence) FROM events) + ?3 AND +at < ?1), 0),"
          " (SELECT value - ?2 - CASE WHEN value - ?2 <" META_NUMBER("event_base") " THEN" META_NUMBER(
              "event_gap") " ELSE 0 END FROM meta WHERE key = 'event_sequence'))"
                           " AND sequence < ifnull((SELECT min(needed.sequence) FROM deliveries"
                           " JOIN events AS needed"
                           " ON needed.id = id_unpacked('" ID_EVENT "', deliveries.event_id)"
                           " WHERE deliveries.status = 'pending'), 9223372036854775807)"
                           " AND sequence < (SELECT min(sequence) FROM events) + ?3")
STATEMENT(EVENT_BY_ID, "SELECT sequence, id, type, project, cluster, at, body FROM events WHERE id = ?")
STATEMENT(EVENT_NEWEST, "SELECT value FROM meta WHERE key = 'event_sequence'")
STATEMENT(EVENT_OLDEST, "SELECT ifnull(min(sequence), 0) FROM events")
STATEMENT(EVENT_BASE, "SELECT" META_NUMBER("event_base"))
/*
 * ?1 after, ?2 JSON array of types or NULL, ?3 JSON array of projects or NULL, ?4 value for the index, ?5
 * limit, ?6 since, ?7 until or the greatest number, ?8 before or the greatest number, ?9 and ?10 JSON arrays
 * of actors and of targets or NULL. The unary plus prevents the use of an index that would need a sort.
 * The index events_at finds the smallest and the largest sequence of a period. When the clock was set back,
 * events between these two may be outside the period. Therefore the time of each row is checked, too.
 */
#define EVENTS_BEHIND "SELECT sequence, id, type, project, cluster, at, body FROM events WHERE sequence > "
#define EVENTS_WANTED                                                 \
    " AND (?2 IS NULL OR +type IN (SELECT value FROM json_each(?2)))" \
    " AND (?3 IS NULL OR +project IN (SELECT value FROM json_each(?3)))"
#define EVENT_MEMBER(name) "json_extract(body, '$.data." name "')"
#define EVENTS_OF_WHOM                                                                                   \
    " AND (?9 IS NULL OR (json_valid(body) AND ifnull(" EVENT_MEMBER("requested_by") ", " EVENT_MEMBER(  \
        "by") ")"                                                                                        \
              " IN (SELECT value FROM json_each(?9))))"                                                  \
              " AND (?10 IS NULL OR +cluster IN (SELECT value FROM json_each(?10))"                      \
              " OR (json_valid(body) AND coalesce(" EVENT_MEMBER("webhook") ", " EVENT_MEMBER(           \
                  "account") ", " EVENT_MEMBER("token") ", " EVENT_MEMBER("scope") ") IN (SELECT value " \
                                                                                   "FROM json_each(?10))))"
#define EVENTS_PAGE_HEAD                                                               \
    EVENTS_BEHIND "max(?1, CASE WHEN ?6 = 0 THEN 0"                                    \
                  " ELSE (SELECT min(+sequence) FROM events WHERE at >= ?6) - 1 END)"  \
                  " AND sequence < min(?8, CASE WHEN ?7 = 9223372036854775807 THEN ?7" \
                  " ELSE (SELECT max(+sequence) FROM events WHERE at < ?7) + 1 END)"   \
                  " AND +at >= ?6 AND +at < ?7" EVENTS_WANTED EVENTS_OF_WHOM
#define EVENTS_PAGE_TAIL        " ORDER BY sequence LIMIT ?5"
#define EVENTS_PAGE_TAIL_NEWEST " ORDER BY sequence DESC LIMIT ?5"
STATEMENT(EVENTS_PAGE, EVENTS_PAGE_HEAD " AND ?4 IS NULL" EVENTS_PAGE_TAIL)
STATEMENT(EVENTS_PAGE_OF_CLUSTER, EVENTS_PAGE_HEAD " AND cluster = ?4" EVENTS_PAGE_TAIL)
STATEMENT(EVENTS_PAGE_OF_PROJECT, EVENTS_PAGE_HEAD " AND project = ?4" EVENTS_PAGE_TAIL)
STATEMENT(EVENTS_NEWEST, EVENTS_PAGE_HEAD " AND ?4 IS NULL" EVENTS_PAGE_TAIL_NEWEST)
STATEMENT(EVENTS_NEWEST_OF_CLUSTER, EVENTS_PAGE_HEAD " AND cluster = ?4" EVENTS_PAGE_TAIL_NEWEST)
STATEMENT(EVENTS_NEWEST_OF_PROJECT, EVENTS_PAGE_HEAD " AND project = ?4" EVENTS_PAGE_TAIL_NEWEST)
/* The number of the subscription with this id; deliveries store the number in place of the id. */
#define NUMBER_OF(id) "(SELECT number FROM subscriptions WHERE id = " id ")"
/*
 * ?4 is the subscription, ?6 the time. The page begins at the smallest sequence of an event at this time or
 * later; the index events_at finds it. When the clock was set back, an event with a larger sequence may have
 * an earlier time. Therefore the time of each row is checked, too.
 */
STATEMENT(EVENTS_UNDELIVERED, EVENTS_BEHIND
          "max(?1, (SELECT min(+sequence) FROM events WHERE at >= ?6) - 1)" EVENTS_WANTED
          " AND +at >= ?6 AND type <> 'webhook.test' AND NOT EXISTS (SELECT 1 FROM deliveries"
          " WHERE event_id = id_packed('" ID_EVENT
          "', events.id) AND subscription = " NUMBER_OF("?4") " AND status <> 'failed')" EVENTS_PAGE_TAIL)
#undef EVENTS_BEHIND
#undef EVENTS_WANTED
#undef EVENTS_OF_WHOM
#undef EVENT_MEMBER
#undef EVENTS_PAGE_HEAD
#undef EVENTS_PAGE_TAIL
#undef EVENTS_PAGE_TAIL_NEWEST

/* This is not a REPLACE, because a REPLACE would first delete the row and its deliveries. */
STATEMENT(SUBSCRIPTION_PUT, "INSERT INTO subscriptions (id, doc) VALUES (?, ?)"
                            " ON CONFLICT (id) DO UPDATE SET doc = excluded.doc")
STATEMENT(SUBSCRIPTION_DELETE, "DELETE FROM subscriptions WHERE id = ?")
STATEMENT(SUBSCRIPTION_LOAD,
          "SELECT id, json_set(doc, '$.last_success_at', last_success_at, '$.standing', json_object("
          "'failing_since', failing_since, 'last_at', last_at, 'last_status', last_status, 'last_result',"
          " last_result)) FROM subscriptions ORDER BY id")
STATEMENT(SUBSCRIPTION_SUCCEEDED,
          "UPDATE subscriptions SET last_success_at = ?2 WHERE id = ?1 AND last_success_at < ?2")
STATEMENT(SUBSCRIPTION_STANDING, "UPDATE subscriptions SET failing_since = ?2, last_at = ?3,"
                                 " last_status = ?4, last_result = ?5 WHERE id = ?1")

STATEMENT(DELIVERY_PUT,
          "INSERT INTO deliveries (id, event_id, subscription, status, attempt, response_status, latency_ms,"
          " error, next_attempt_at, created_at, updated_at, event_type, snippet, attempts)"
          " VALUES (id_packed('" ID_DELIVERY "', ?), id_packed('" ID_EVENT "', ?), " NUMBER_OF(
              "?") ", ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                   " ON CONFLICT (subscription, id) DO UPDATE SET event_id = excluded.event_id,"
                   " status = excluded.status, attempt = excluded.attempt,"
                   " response_status = excluded.response_status, latency_ms = excluded.latency_ms,"
                   " error = excluded.error, next_attempt_at = excluded.next_attempt_at,"
                   " created_at = excluded.created_at, updated_at = excluded.updated_at,"
                   " event_type = excluded.event_type, snippet = excluded.snippet,"
                   " attempts = excluded.attempts")
STATEMENT(DELIVERY_PURGE, "DELETE FROM deliveries WHERE number IN (SELECT number FROM deliveries WHERE status"
                          " <> 'pending' AND updated_at < ? LIMIT ?)")
/* The project and the cluster are those of the event, if it is still stored. The start does not read them. */
#define DELIVERY_OF_EVENT  ", events.project, events.cluster"
#define DELIVERY_AND_EVENT " LEFT JOIN events ON events.id = id_unpacked('" ID_EVENT "', event_id)"
#define DELIVERY_COLUMNS(of_event)                                                                 \
    "SELECT id_unpacked('" ID_DELIVERY "', deliveries.id), id_unpacked('" ID_EVENT "', event_id)," \
    " subscriptions.id, status, attempt, response_status, latency_ms, error, next_attempt_at,"     \
    " created_at, updated_at, event_type, snippet, attempts" of_event " FROM deliveries"           \
    " JOIN subscriptions ON subscriptions.number = subscription"
/* Few deliveries are pending, so an index finds them. The unary plus prevents SQLite from reading all rows
 * in the order of their ids. */
STATEMENT(DELIVERY_LOAD, DELIVERY_COLUMNS(", NULL, NULL") " WHERE status = 'pending' ORDER BY +deliveries.id")
/* ?2: the parameter `before`. NULL is replaced by bytes that sort after every id. */
#define DELIVERIES_NEWEST                                                      \
    " WHERE subscription = " NUMBER_OF("?1") " AND deliveries.id <"            \
                                             " ifnull(id_packed('" ID_DELIVERY \
                                             "', ?2), x'ffffffffffffffffffffffffffffffffff')"
STATEMENT(DELIVERIES_PAGE, DELIVERY_COLUMNS(DELIVERY_OF_EVENT) DELIVERY_AND_EVENT DELIVERIES_NEWEST
          " AND (?3 IS NULL OR status = ?3) ORDER BY deliveries.id DESC LIMIT ?4")
/* There is no ?3: with a parameter for the status, SQLite would not use the index of failed deliveries. */
STATEMENT(DELIVERIES_FAILED, DELIVERY_COLUMNS(DELIVERY_OF_EVENT) DELIVERY_AND_EVENT DELIVERIES_NEWEST
          " AND status = 'failed' ORDER BY deliveries.id DESC LIMIT ?4")
STATEMENT(DELIVERY_BY_ID, DELIVERY_COLUMNS(DELIVERY_OF_EVENT) DELIVERY_AND_EVENT
          " WHERE subscription = " NUMBER_OF("?1") " AND deliveries.id = id_packed('" ID_DELIVERY "', ?2)")
#undef DELIVERIES_NEWEST
#undef DELIVERY_COLUMNS
#undef DELIVERY_AND_EVENT
#undef DELIVERY_OF_EVENT
#undef NUMBER_OF

STATEMENT(TOKEN_PUT, "INSERT INTO tokens (id, digest, doc) VALUES (?, ?, ?)"
                     " ON CONFLICT (id) DO UPDATE SET digest = excluded.digest, doc = excluded.doc")
STATEMENT(TOKEN_DELETE, "DELETE FROM tokens WHERE id = ?")
STATEMENT(TOKEN_LOAD, "SELECT id, doc FROM tokens ORDER BY id")
STATEMENT(ACCOUNT_PUT, "INSERT INTO accounts (name, doc) VALUES (?, ?)"
                       " ON CONFLICT (name) DO UPDATE SET doc = excluded.doc")
STATEMENT(ACCOUNT_LOAD, "SELECT name, doc FROM accounts ORDER BY name")
STATEMENT(PROJECT_PUT, "INSERT INTO projects (name, doc) VALUES (?, ?)"
                       " ON CONFLICT (name) DO UPDATE SET doc = excluded.doc")
STATEMENT(PROJECT_LOAD, "SELECT name, doc FROM projects ORDER BY name")

STATEMENT(REPLAY_PUT, "INSERT INTO replays (key, created_at, doc) VALUES (?, ?, ?)"
                      " ON CONFLICT (key) DO UPDATE SET created_at = excluded.created_at, doc = excluded.doc")
STATEMENT(REPLAY_PURGE,
          "DELETE FROM replays WHERE key IN (SELECT key FROM replays WHERE created_at < ? LIMIT ?)")
STATEMENT(REPLAY_BY_KEY, "SELECT key, doc FROM replays WHERE key = ?")
STATEMENT(REPLAY_BEHIND, "SELECT key, doc FROM replays WHERE key > ? ORDER BY key LIMIT 1")

/* `latest` is the greatest `at` of all entries up to this one. */
STATEMENT(AUDIT_APPEND, "INSERT INTO audit (at, token_id, action, project, cluster, outcome, body, latest)"
                        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,"
                        " max(?1, ifnull((SELECT latest FROM audit ORDER BY sequence DESC LIMIT 1), 0)))")
STATEMENT(AUDIT_PURGE, "DELETE FROM audit WHERE sequence IN (SELECT sequence FROM audit WHERE at < ?1"
                       " OR sequence <= (SELECT max(sequence) FROM audit) - 1000000 LIMIT ?2)")
/* ?1 since, ?2 until or the greatest number. Returns the first and the last number of that period. When the
 * clock was set back, entries between them may be outside the period. */
STATEMENT(EVENTS_RANGE, "SELECT CASE WHEN ?1 = 0 THEN (SELECT min(sequence) FROM events)"
                        " ELSE (SELECT min(+sequence) FROM events WHERE at >= ?1) END,"
                        " CASE WHEN ?2 = 9223372036854775807 THEN (SELECT max(sequence) FROM events)"
                        " ELSE (SELECT max(+sequence) FROM events WHERE at < ?2) END")
/*
 * Returns the first and the last number of a period in the audit log. The number of steps does not depend on
 * the length of the log. `latest` never decreases with the number, so the period begins at the first entry
 * whose `latest` is in the period. The period ends at the last entry whose `latest` is before the end of the
 * period, or at a later entry that was written after the clock was set back. Such entries are few and have
 * their own index.
 */
STATEMENT(AUDIT_RANGE,
          "SELECT CASE WHEN ?1 = 0 THEN (SELECT min(sequence) FROM audit)"
          " ELSE (SELECT sequence FROM audit WHERE latest >= ?1 ORDER BY latest, sequence LIMIT 1) END,"
          " CASE WHEN ?2 = 9223372036854775807 THEN (SELECT max(sequence) FROM audit)"
          " ELSE max(ifnull((SELECT sequence FROM audit WHERE latest < ?2"
          " ORDER BY latest DESC, sequence DESC LIMIT 1), 0),"
          " ifnull((SELECT sequence FROM audit WHERE at < latest AND at < ?2"
          " ORDER BY sequence DESC LIMIT 1), 0)) END")
/* ?1 and ?11: the numbers, inclusive; ?2 to ?6, ?12 and ?13: JSON arrays or NULL; ?7: a token that matches
 * independently of ?2, or NULL; ?8: limit; ?9: since, ?10: until. An entry that is not JSON has neither name
 * nor target. */
#define AUDIT_MEMBER(name) "CASE WHEN json_valid(body) THEN json_extract(body, '$." name "') END"
#define AUDIT_PAGE_HEAD                                                                                    \
    "SELECT sequence, body FROM audit WHERE sequence >= ?1 AND sequence <= ?11"                            \
    " AND (?2 IS NULL OR (token_id = ?7 AND project IS NULL)"                                              \
    " OR project IN (SELECT value FROM json_each(?2)))"                                                    \
    " AND (?3 IS NULL OR cluster IN (SELECT value FROM json_each(?3)))"                                    \
    " AND (?4 IS NULL OR action IN (SELECT value FROM json_each(?4)))"                                     \
    " AND (?5 IS NULL OR token_id IN (SELECT value FROM json_each(?5)))"                                   \
    " AND (?6 IS NULL OR outcome IN (SELECT value FROM json_each(?6)))"                                    \
    " AND +at >= ?9 AND +at < ?10"                                                                         \
    " AND (?12 IS NULL OR token_id IN (SELECT value FROM json_each(?12))"                                  \
    " OR " AUDIT_MEMBER("token_name") " IN (SELECT value FROM json_each(?12)))"                            \
                                      " AND (?13 IS NULL OR cluster IN (SELECT value FROM json_each(?13))" \
                                      " OR " AUDIT_MEMBER(                                                 \
                                          "target") " IN (SELECT value FROM json_each(?13)))"
STATEMENT(AUDIT_PAGE, AUDIT_PAGE_HEAD " ORDER BY sequence DESC LIMIT ?8")
STATEMENT(AUDIT_PAGE_OLDEST, AUDIT_PAGE_HEAD " ORDER BY sequence LIMIT ?8")
#undef AUDIT_PAGE_HEAD
#undef AUDIT_MEMBER

STATEMENT(LEASE_GET, "SELECT holder, until, fence FROM leases WHERE name = ?")
STATEMENT(LEASE_PUT, "INSERT INTO leases (name, holder, until, fence) VALUES (?, ?, ?, ?)"
                     " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until,"
                     " fence = excluded.fence")
STATEMENT(LEASE_RELEASE, "UPDATE leases SET holder = '', until = 0 WHERE name = ? AND holder = ?")
