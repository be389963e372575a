/*
 * Shared only by the files of the fake backend: its tables, the effect of changes on them, and reads. The
 * tables are sorted arrays of shared rows that never change, so a snapshot is a copy of pointers. The
 * functions are not thread-safe; fake.c calls them while it holds its mutex.
 */
#ifndef STORAGE_FAKE_FAKE_PRIVATE_H
#define STORAGE_FAKE_FAKE_PRIVATE_H

#include "storage/storage.h"

enum fake_table {
    FAKE_CLUSTERS,
    FAKE_OPERATIONS,
    FAKE_EVENTS, /* key: the sequence in 20 digits */
    FAKE_SUBSCRIPTIONS,
    FAKE_DELIVERIES,
    FAKE_TOKENS,
    FAKE_ACCOUNTS,
    FAKE_PROJECTS,
    FAKE_REPLAYS,
    FAKE_AUDIT, /* key: the sequence in 20 digits */
    FAKE_TABLE_MAX_,
};

struct fake_row {
    unsigned refs;
    unsigned unique_hash; /* the hash of `unique`, 0 without one; fake_put sets it */
    char *key;
    char *unique;   /* a second key that must be unique in the table, or NULL */
    int64_t number; /* a number of the row: the version of a cluster, finished_at of an operation, created_at
                     * of a replay, `at` of an audit entry, last_success_at of a subscription */
    char *doc;      /* the stored form, if the table has one */
    struct event *event;
    struct delivery *delivery;
    struct audit_entry *audit;
};

struct fake_rows {
    struct fake_row **rows;
    size_t count;
    size_t capacity;
};

struct fake_tables {
    struct fake_rows table[FAKE_TABLE_MAX_];
    int64_t sequence; /* the last sequence that was assigned */
    int64_t audit_sequence;
    int64_t marked;
    char seal_key[SEAL_KEY_ID_BYTES];
};

void fake_tables_copy(struct fake_tables *to, const struct fake_tables *from);
void fake_tables_done(struct fake_tables *t);
/* Returns the row with this key; NULL when there is none. */
struct fake_row *fake_find(const struct fake_rows *rows, const char *key);
/* Inserts the row, or replaces the row with the same key. Takes over the row. False when another row has the
 * same `unique`; the row is then freed. */
bool fake_put(struct fake_rows *rows, struct fake_row *row);
void fake_remove(struct fake_rows *rows, const char *key);
/* Removes the rows for which `drop` returns true, in order and at most `most`. Returns their number. */
size_t fake_filter(struct fake_rows *rows, bool (*drop)(const struct fake_row *row, const void *arg),
                   const void *arg, size_t most);

/* ---- apply.c, read.c ---- */

enum store_status fake_apply_change(struct fake_tables *t, struct change *change);
/* Marks the open operations as restored. */
void fake_mark_restored(struct fake_tables *t);
enum store_status fake_read_all(const struct fake_tables *t, const struct store_visitor *visitor);
void fake_read_events(const struct fake_tables *t, const struct event_query *query,
                      struct event_page *ret_page);
/* Returns the event with this id; NULL when there is none. The caller owns the event. */
struct event *fake_read_event(const struct fake_tables *t, const char *id);
void fake_read_deliveries(const struct fake_tables *t, const struct delivery_query *query,
                          struct delivery **ret_array, size_t *ret_count);

/* Returns the stored answer with this key; NULL when there is none. The caller owns the answer. */
struct replay *fake_read_replay(const struct fake_tables *t, const char *key);
/* Returns the first stored answer whose key is greater than `key`, and sets `key` to its key. NULL when
 * there is none. */
struct replay *fake_read_replay_behind(const struct fake_tables *t, char key[static REPLAY_DIGEST_BYTES]);
void fake_read_operations(const struct fake_tables *t, const struct operation_query *query,
                          struct operation_page *ret_page);
void fake_read_audit(const struct fake_tables *t, const struct audit_query *query,
                     struct audit_page *ret_page);

#endif
