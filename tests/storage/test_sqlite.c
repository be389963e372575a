/*
 * The properties that only SQLite has: files, modes, migrations, refusals that change nothing, the lock
 * between processes, recovery after a process died. Forked children never return into the test runner.
 */
#include "tests/storage/store_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/buffer.h"
#include "base/log.h"
#include "storage/sqlite/sqlite_private.h"
#include "tests/support/test_store.h"

struct fixture {
    char dir[256];
    char location[300];
};

static const struct store_backend *const backend = &store_sqlite;

/* The error of each sync of a directory, after `directory_syncs_left` further syncs; 0: none. */
static int directory_sync_error, directory_syncs_left;

/* Replaces the function of the library, also for SQLite. */
int fsync(int fd)
{
    struct stat st;
    if (directory_sync_error && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) && directory_syncs_left-- <= 0) {
        errno = directory_sync_error;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

static int set_up(void **state)
{
    struct fixture *f = MEM_NEW(struct fixture);
    make_temporary(f->dir, sizeof(f->dir));
    (void)snprintf(f->location, sizeof(f->location), "%s/store.db", f->dir);
    *state = f;
    directory_sync_error = directory_syncs_left = 0;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    remove_temporary(f->dir);
    free(f);
    return 0;
}

static void *open_writer(struct fixture *f)
{
    void *conn = NULL;
    char *error = NULL;
    if (backend->open(f->location, true, &conn, &error) != STORE_OK)
        fail_msg("open: %s", error);
    return conn;
}

/* Returns the content of the file; the caller frees it. */
static char *read_whole(const char *path, size_t *ret_len)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    char *bytes = mem_calloc((size_t)size + 1, 1);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), size);
    assert_int_equal(fclose(file), 0);
    *ret_len = (size_t)size;
    return bytes;
}

static void write_whole(const char *path, const char *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* The store refuses to open with this status and a message. The bytes of the file do not change. */
static void check_refused(struct fixture *f, enum store_status want, const char *word)
{
    size_t before_len = 0, after_len = 0;
    char *before = read_whole(f->location, &before_len);
    void *conn = NULL;
    char *error = NULL;
    assert_int_equal(backend->open(f->location, true, &conn, &error), want);
    assert_null(conn);
    assert_non_null(error);
    if (!strstr(error, word))
        fail_msg("unexpected message: %s", error);
    free(error);
    char *after = read_whole(f->location, &after_len);
    assert_int_equal(before_len, after_len);
    assert_memory_equal(before, after, before_len);
    free(before);
    free(after);
}

static void backup_path(const struct fixture *f, int version, char *path, size_t size)
{
    const char *name = strrchr(f->location, '/') + 1;
    (void)snprintf(path, size, "%.*sbackup-v%d-%s", (int)(name - f->location), f->location, version, name);
}

static void an_empty_file_is_migrated(void **state)
{
    struct fixture *f = *state;
    backend->close(open_writer(f));
    assert_int_equal(store_number(f->location, "PRAGMA user_version"), migrate_newest());
    assert_int_equal(store_number(f->location, "PRAGMA application_id"), SQLITE_STORE_APPLICATION_ID);
    char path[320];
    backup_path(f, 0, path, sizeof(path));
    assert_int_equal(access(path, F_OK), -1);
    backend->close(open_writer(f)); /* a later open finds the store unchanged */
}

static void an_old_version_is_copied_and_migrated(void **state)
{
    struct fixture *f = *state;
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(f->location, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(migrate_run(db, 0, 1, NULL), STORE_OK);
    assert_int_equal(
        sqlite3_exec(db, "INSERT INTO accounts VALUES ('acme', '{\"name\":\"acme\"}')", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    backend->close(open_writer(f));
    assert_int_equal(store_number(f->location, "PRAGMA user_version"), migrate_newest());
    assert_int_equal(store_number(f->location, "SELECT count(*) FROM accounts"), 1);
    char path[320];
    struct stat st;
    backup_path(f, 1, path, sizeof(path));
    assert_int_equal(stat(path, &st), 0);
    /* rm shootd.db* does not remove it */
    assert_int_not_equal(strncmp(path, f->location, strlen(f->location)), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(store_number(path, "PRAGMA user_version"), 1);
    assert_int_equal(store_number(path, "SELECT count(*) FROM accounts"), 1);
}

/* The rows that version 6 wrote: two webhooks, and deliveries. One of the delivery ids does not have the form
 * of an id. */
static const char rows_of_version_6[] =
    "INSERT INTO clusters (id, project, name, version, deleted, doc) VALUES"
    " ('cl_1', 'p1', 'c1', 3, 0, '{\"operation_id\":\"op_1\"}');"
    "INSERT INTO operations (id, cluster_id, project, status, finished_at, doc) VALUES"
    " ('op_1', 'cl_1', 'p1', 'succeeded', 7, '{\"id\":\"op_1\",\"cluster\":\"c1\"}');"
    "INSERT INTO events (sequence, id, type, project, cluster, at, body) VALUES"
    " (1, 'evt_01m83n03emtqjz9mdgexgx72bd', 'cluster.ready', 'p1', 'c1', 5, '{}'),"
    " (2, 'evt_01m83n03emtqjz9mdgexgx72be', 'cluster.ready', 'p1', 'c1', 6, '{}');"
    "UPDATE meta SET value = 2 WHERE key = 'event_sequence';"
    "INSERT INTO audit (at, action, outcome, body) VALUES (5, 'x', 'success', '{}'),"
    " (9, 'x', 'success', '{}'), (7, 'x', 'success', '{}');"
    "INSERT INTO subscriptions (id, doc) VALUES ('wh_2', '{\"name\":\"two\"}'), ('wh_1', "
    "'{\"name\":\"one\"}');"
    "INSERT INTO deliveries (id, event_id, subscription_id, status, attempt, response_status, latency_ms, "
    "error,"
    " next_attempt_at, created_at, updated_at, event_type, snippet) VALUES"
    " ('dlv_01m83n03zzzzzzzzzzzzzzzzzz', 'evt_01m83n03emtqjz9mdgexgx72bd', 'wh_1', 'delivered', 2, 204, 9, "
    "'', 0,"
    " 50, 80, 'cluster.ready', ''),"
    " ('dlv_01m83n03000000000000000000', 'evt_01m83n03emtqjz9mdgexgx72bd', 'wh_2', 'failed', 8, 500, 3, "
    "'no', 0,"
    " 50, 90, 'cluster.ready', 'busy'),"
    " ('dlv_7', 'evt_01m83n03emtqjz9mdgexgx72be', 'wh_1', 'pending', 1, 0, 0, '', 99, 60, 70, "
    "'cluster.ready', '');";

static void newest_deliveries(struct sqlite_conn *conn, const char *subscription_id, size_t want,
                              struct delivery ret_rows[static 2])
{
    struct delivery *array = NULL;
    size_t count = 0;
    struct delivery_query query = {.status = -1, .limit = 10};
    (void)snprintf(query.subscription_id, sizeof(query.subscription_id), "%s", subscription_id);
    assert_int_equal(backend->deliveries(conn, &query, &array, &count), STORE_OK);
    assert_int_equal(count, want);
    memcpy(ret_rows, array, count * sizeof(*array));
    free(array);
}

static void rows_of_an_old_version_are_what_they_were(void **state)
{
    struct fixture *f = *state;
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(f->location, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(migrate_run(db, 0, 6, NULL), STORE_OK);
    assert_int_equal(sqlite3_exec(db, rows_of_version_6, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);

    struct sqlite_conn *conn = open_writer(f);
    struct delivery rows[2];
    newest_deliveries(conn, "wh_1", 2, rows);
    assert_string_equal(rows[0].id, "dlv_01m83n03zzzzzzzzzzzzzzzzzz");
    assert_string_equal(rows[0].event_id, "evt_01m83n03emtqjz9mdgexgx72bd");
    assert_string_equal(rows[0].subscription_id, "wh_1");
    assert_int_equal(rows[0].status, DELIVERY_DELIVERED);
    assert_int_equal(rows[0].attempt, 2);
    assert_int_equal(rows[0].response_status, 204);
    assert_int_equal(rows[0].latency_ms, 9);
    assert_int_equal(rows[0].updated_at, 80);
    assert_int_equal(rows[0].attempts_known, 1); /* version 6 kept only the last attempt */
    assert_int_equal(rows[0].attempts[0].at, 80);
    assert_int_equal(rows[0].attempts[0].response_status, 204);
    assert_int_equal(rows[0].attempts[0].result, ATTEMPT_DELIVERED);
    assert_string_equal(rows[1].id, "dlv_7");
    assert_int_equal(rows[1].status, DELIVERY_PENDING);
    assert_int_equal(rows[1].next_attempt_at, 99);
    newest_deliveries(conn, "wh_2", 1, rows);
    assert_string_equal(rows[0].error, "no");
    assert_string_equal(rows[0].snippet, "busy");
    assert_string_equal(rows[0].event_type, "cluster.ready");
    assert_int_equal(rows[0].created_at, 50);
    struct event_page *page = MEM_NEW(struct event_page);
    char wh_2[] = "wh_2";
    const struct event_query missed = {.undelivered_to = wh_2, .limit = 10};
    assert_int_equal(backend->events(conn, &missed, page), STORE_OK);
    assert_int_equal(page->count, 2);
    event_page_free(page);
    backend->close(conn);
    assert_int_equal(store_number(f->location, "SELECT last_success_at FROM subscriptions WHERE id = 'wh_1'"),
                     80);
    assert_int_equal(store_number(f->location, "SELECT last_success_at FROM subscriptions WHERE id = 'wh_2'"),
                     0);
    assert_int_equal(store_number(f->location, "SELECT count(*) FROM operations WHERE cluster = 'c1'"), 1);
    assert_int_equal(store_number(f->location, "SELECT count(*) FROM clusters WHERE operation_id = 'op_1'"),
                     1);
    assert_int_equal(store_number(f->location, "SELECT count(*) FROM audit WHERE latest = at"), 2);
    assert_int_equal(store_number(f->location, "SELECT latest FROM audit WHERE at = 7"), 9);
}

struct seen_rows {
    int clusters, projects;
    int64_t quarantined;
};

static void see_cluster(void *ctx, struct cluster *c)
{
    ((struct seen_rows *)ctx)->clusters++;
    cluster_free(c);
}

static void see_project(void *ctx, struct project_state *p)
{
    ((struct seen_rows *)ctx)->projects++;
    project_state_free(p);
}

static void see_quarantined(void *ctx, int64_t rows)
{
    ((struct seen_rows *)ctx)->quarantined = rows;
}

/* Rows that are nested too deeply, are no JSON, or are no document of their kind. None of them prevents the
 * other rows from being read. */
static void rows_that_cannot_be_read_are_put_aside(void **state)
{
    struct fixture *f = *state;
    backend->close(open_writer(f));
    store_run_sql(
        f->location,
        "INSERT INTO clusters (id, project, name, version, deleted, doc) VALUES"
        " ('cl_deep', 'p', 'deep', 1, 0, '{\"a\":' || replace(hex(zeroblob(100)), '00', '[') ||"
        " replace(hex(zeroblob(100)), '00', ']') || '}'),"
        " ('cl_cut', 'p', 'cut', 1, 0, '{\"id\":'), ('cl_other', 'p', 'other', 1, 0, '{}'),"
        " ('cl_good', 'p', 'good', 1, 0, '{\"id\":\"cl_good\",\"project\":\"p\",\"name\":\"good\"}');"
        "INSERT INTO projects (name, doc) VALUES ('p', '{\"catalog\":7}'), ('q', '{\"name\":\"q\"}')");
    for (int start = 0; start < 2; start++) {
        struct seen_rows seen = {0};
        const struct store_visitor visitor = {
            .cluster = see_cluster, .project = see_project, .quarantined = see_quarantined, .ctx = &seen};
        void *conn = open_writer(f);
        assert_int_equal(backend->load(conn, &visitor, NULL), STORE_OK);
        backend->close(conn);
        assert_int_equal(seen.clusters, 1);
        assert_int_equal(seen.projects, 1);
        assert_int_equal(seen.quarantined, 4);
    }
    assert_int_equal(store_number(f->location, "SELECT count(*) FROM clusters"), 1);
    assert_int_equal(store_number(f->location,
                                  "SELECT count(*) FROM quarantine WHERE kind = 'cluster' AND doc LIKE"
                                  " '{%' AND reason <> '' AND at > 0"),
                     3);
}

static void count(void *ctx, enum row_kind kind)
{
    ((int *)ctx)[kind]++;
}

#define COUNT(member, type, row_kind, type_free)   \
    static void count_##member(void *ctx, type *x) \
    {                                              \
        count(ctx, row_kind);                      \
        type_free(x);                              \
    }
COUNT(cluster, struct cluster, ROW_CLUSTER, cluster_free)
COUNT(operation, struct operation, ROW_OPERATION, operation_free)
COUNT(subscription, struct subscription, ROW_SUBSCRIPTION, subscription_free)
COUNT(token, struct api_token, ROW_TOKEN, api_token_free)
COUNT(account, struct account_state, ROW_ACCOUNT, account_state_free)
COUNT(project, struct project_state, ROW_PROJECT, project_state_free)
COUNT(delivery, struct delivery, ROW_DELIVERY, free)
#undef COUNT

static void count_quarantined(void *ctx, int64_t rows)
{
    ((int *)ctx)[ROW_KIND_MAX_] = (int)rows;
}

/* Counts the rows of each kind that are passed to the visitor. The last place is the number of rows ever
 * quarantined. */
static void load_and_count(struct fixture *f, int counts[static ROW_KIND_MAX_ + 1])
{
    const struct store_visitor visitor = {.cluster = count_cluster,
                                          .operation = count_operation,
                                          .subscription = count_subscription,
                                          .token = count_token,
                                          .account = count_account,
                                          .project = count_project,
                                          .delivery = count_delivery,
                                          .quarantined = count_quarantined,
                                          .ctx = counts};
    void *conn = open_writer(f);
    memset(counts, 0, (ROW_KIND_MAX_ + 1) * sizeof(*counts));
    assert_int_equal(backend->load(conn, &visitor, NULL), STORE_OK);
    backend->close(conn);
}

static int64_t put_aside(struct fixture *f, enum row_kind kind)
{
    char *sql CLEANUP_FREE =
        mem_printf("SELECT count(*) FROM quarantine WHERE kind = '%s' AND id = 'bad'", row_kind_name(kind));
    return store_number(f->location, sql);
}

/* Stores one row of each kind that the load reads. */
static void store_one_of_each(struct fixture *f)
{
    void *conn = open_writer(f);
    struct change_set *set = change_set_new();
    change_put_cluster(set, make_cluster("cl_1", "p1", "c1", 1));
    change_put_operation(set, make_operation("op_1", 0));
    change_put_subscription(set, make_subscription("wh_1", "one"));
    change_put_token(set, make_token("tok_1", 1));
    change_put_account(set, make_account("good", 1));
    change_put_project(set, make_project("good", 1));
    (void)change_append_event(set, make_event("evt_1", EVENT_CLUSTER_READY, "p1", "c1", 1));
    change_put_delivery(set, make_delivery("dlv_1", "evt_1", "wh_1", DELIVERY_PENDING, 1));
    assert_int_equal(store_run(backend, conn, set), STORE_OK);
    backend->close(conn);
}

static void an_unreadable_row_of_each_kind_is_no_reason_not_to_start(void **state)
{
    struct fixture *f = *state;
    int counts[ROW_KIND_MAX_ + 1];
    store_one_of_each(f);
    store_run_sql(f->location,
                  "INSERT INTO clusters (id, project, name, version, deleted, doc) VALUES"
                  " ('bad', 'p1', 'bad', 1, 0, '{}');"
                  "INSERT INTO operations (id, cluster_id, project, status, finished_at, doc) VALUES"
                  " ('bad', 'cl_1', 'p1', 'running', 0, '{\"id\":\"bad\",\"type\":\"create\"}');"
                  "INSERT INTO subscriptions (id, doc) VALUES ('bad', '{\"id\":\"bad\"}');"
                  "INSERT INTO tokens (id, digest, doc) VALUES ('bad', zeroblob(32), '{}');"
                  "INSERT INTO accounts (name, doc) VALUES ('bad', '{');"
                  "INSERT INTO projects (name, doc) VALUES ('bad', '{\"catalog\":7}')");
    for (int start = 0; start < 2; start++) {
        load_and_count(f, counts);
        for (int kind = 0; kind < ROW_KIND_MAX_; kind++) {
            assert_int_equal(counts[kind], 1);
            /* The table of deliveries checks every member that shootd reads, so it cannot have an unreadable
             * row. */
            assert_int_equal(put_aside(f, (enum row_kind)kind), kind == ROW_DELIVERY ? 0 : 1);
        }
        assert_int_equal(counts[ROW_KIND_MAX_], ROW_KIND_MAX_ - 1);
    }
}

static void a_delivery_can_be_put_aside_too(void **state)
{
    struct fixture *f = *state;
    int counts[ROW_KIND_MAX_ + 1];
    store_one_of_each(f);
    store_run_sql(f->location, "UPDATE deliveries SET id = 'bad'");
    struct sqlite_conn *conn = open_writer(f);
    struct quarantine bad = {0};
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_prepare_v2(conn->db, "SELECT id FROM deliveries", -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    quarantine_note(&bad, ROW_DELIVERY, sqlite3_column_value(stmt, 0), "unknown status");
    (void)sqlite3_finalize(stmt);
    assert_int_equal(backend->begin(conn, NULL), STORE_OK);
    assert_int_equal(quarantine_move(conn, &bad), STORE_OK);
    assert_int_equal(backend->commit(conn, NULL), STORE_OK);
    quarantine_done(&bad);
    backend->close(conn);
    assert_int_equal(put_aside(f, ROW_DELIVERY), 1);
    load_and_count(f, counts);
    assert_int_equal(counts[ROW_DELIVERY], 0);
    assert_int_equal(counts[ROW_KIND_MAX_], 1);
}

static void a_newer_version_is_refused_unchanged(void **state)
{
    struct fixture *f = *state;
    backend->close(open_writer(f));
    store_run_sql(f->location, "PRAGMA user_version = 999");
    check_refused(f, STORE_NEWER, "newer");
}

static void a_foreign_database_is_refused_unchanged(void **state)
{
    struct fixture *f = *state;
    store_run_sql(f->location, "CREATE TABLE recipes (id INTEGER)");
    check_refused(f, STORE_BROKEN, "not a shootd database");
    store_run_sql(f->location, "PRAGMA journal_mode = WAL; PRAGMA application_id = 7");
    check_refused(f, STORE_BROKEN, "not a shootd database");
}

static void a_file_that_is_no_database_is_refused_unchanged(void **state)
{
    struct fixture *f = *state;
    static const char letter[] = "Dear reader, this is no database.";
    write_whole(f->location, letter, sizeof(letter));
    check_refused(f, STORE_BROKEN, "not a database");
}

static void a_corrupt_database_is_refused_unchanged(void **state)
{
    struct fixture *f = *state;
    void *conn = open_writer(f);
    for (int i = 0; i < 50; i++) {
        char id[40];
        (void)snprintf(id, sizeof(id), "evt_%d", i);
        assert_int_equal(store_event(backend, conn, make_event(id, EVENT_CLUSTER_READY, "p1", "c1", i)),
                         STORE_OK);
    }
    backend->close(conn);
    size_t len = 0;
    char *bytes = read_whole(f->location, &len);
    assert_true(len > 4 * 4096);
    for (size_t at = 2 * 4096; at + 4096 <= len; at += 4096)
        memset(bytes + at, 0x5a, 200);
    write_whole(f->location, bytes, len);
    free(bytes);
    check_refused(f, STORE_BROKEN, f->location);
}

/* Damages the pages that contain events; the file has no log beside it. */
static void damage_events(struct fixture *f)
{
    size_t len = 0;
    char *bytes = read_whole(f->location, &len);
    char *text = memmem(bytes, len, "{\"id\":\"evt_150\"}", 16);
    assert_non_null(text);
    memset(bytes + (text - bytes) / 4096 * 4096, 0x5a, 200);
    write_whole(f->location, bytes, len);
    free(bytes);
}

struct interrupter {
    void *conn;
    atomic_bool done;
};

static void *interrupt_until_stopped(void *arg)
{
    struct interrupter *i = arg;
    while (!atomic_load(&i->done)) {
        backend->interrupt(i->conn);
        (void)usleep(100);
    }
    return NULL;
}

/* An interrupted check returns no result, and does not report damage. Without an interruption it returns a
 * result. */
static void a_check_is_interrupted(struct fixture *f)
{
    struct interrupter i = {.conn = NULL};
    pthread_t thread;
    char *error = NULL;
    store_run_sql(f->location,
                  "CREATE TABLE filler (n INTEGER PRIMARY KEY, text TEXT) STRICT;"
                  "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20000)"
                  " INSERT INTO filler SELECT n, hex(zeroblob(1000)) FROM c");
    assert_int_equal(backend->open(f->location, false, &i.conn, NULL), STORE_OK);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_until_stopped, &i), 0);
    enum store_status status = STORE_OK;
    for (int tries = 0; tries < 100 && status == STORE_OK;
         tries++) /* the other thread may not have run yet */
        status = backend->check(i.conn, &error);
    assert_int_equal(status, STORE_RETRY);
    atomic_store(&i.done, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    free(TAKE_PTR(error));
    assert_int_equal(backend->check(i.conn, &error), STORE_OK);
    backend->close(i.conn);
    store_run_sql(f->location, "DROP TABLE filler");
}

/* A large store opens when the rows to load are sound. The other parts are checked while the store is
 * used. */
static void a_large_database_is_checked_later(void **state)
{
    struct fixture *f = *state;
    char *error = NULL;
    void *conn = open_writer(f);
    assert_false(backend->is_unchecked(conn));
    for (int i = 0; i < 200; i++) {
        char id[40];
        (void)snprintf(id, sizeof(id), "evt_%d", i);
        assert_int_equal(store_event(backend, conn, make_event(id, EVENT_CLUSTER_READY, "p1", "c1", i)),
                         STORE_OK);
    }
    backend->close(conn);
    store_sqlite_check_first_up_to(4096);
    conn = open_writer(f);
    assert_true(backend->is_unchecked(conn));
    void *checked = NULL;
    assert_int_equal(backend->open(f->location, false, &checked, NULL), STORE_OK);
    assert_int_equal(backend->check(checked, &error), STORE_OK);
    assert_null(error);
    backend->close(checked);
    backend->close(conn);
    a_check_is_interrupted(f);
    damage_events(f);
    struct storage *s = NULL;
    assert_int_equal(storage_open(backend, f->location, "h1", env_real(), &s, NULL), STORE_OK);
    storage_start(s);
    for (int i = 0; i < 5000 && !storage_is_broken(s); i++)
        (void)usleep(1000);
    assert_true(storage_is_broken(s));
    storage_close(s);
    store_sqlite_check_first_up_to(64 * 1024 * 1024);
    check_refused(f, STORE_BROKEN, "corrupt");
}

static void a_missing_folder_is_explained(void **state)
{
    void *conn = NULL;
    char *error = NULL;
    assert_int_equal(backend->open("/nonexistent/store.db", true, &conn, &error), STORE_BROKEN);
    assert_non_null(strstr(error, "/nonexistent/store.db"));
    free(error);
}

/* Runs `body` in a child process. The child reports when it is done. It then waits until it is killed, or
 * exits by itself. */
static pid_t fork_child(struct fixture *f, void (*body)(struct fixture *f), bool stays)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        body(f);
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        while (stays)
            (void)pause();
        _exit(0);
    }
    char byte = 0;
    assert_int_equal(close(ready[1]), 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(close(ready[0]), 0);
    return pid;
}

static void child_opens(struct fixture *f)
{
    void *conn = NULL;
    if (backend->open(f->location, true, &conn, NULL) != STORE_OK)
        _exit(2);
}

static void a_second_process_is_locked_out(void **state)
{
    struct fixture *f = *state;
    pid_t pid = fork_child(f, child_opens, true);
    void *conn = NULL;
    char *error = NULL;
    char text[32];
    (void)snprintf(text, sizeof(text), "process %ld", (long)pid);
    assert_int_equal(backend->open(f->location, true, &conn, &error), STORE_LOCKED);
    assert_non_null(strstr(error, text));
    free(error);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    backend->close(open_writer(f)); /* the lock ended with the process */
}

static void child_commits_and_leaves_one_open(struct fixture *f)
{
    void *conn = NULL;
    struct store_lease lease;
    if (backend->open(f->location, true, &conn, NULL) != STORE_OK ||
        backend->lease_take(conn, "daemon", "dead", INT64_MAX / 2, 1, &lease, NULL) != STORE_OK ||
        store_event(backend, conn, make_event("evt_1", EVENT_CLUSTER_READY, "p1", "c1", 1)) != STORE_OK)
        _exit(2);
    struct change_set *set = change_set_new();
    (void)change_append_event(set, make_event("evt_2", EVENT_CLUSTER_READY, "p1", "c1", 2));
    if (backend->begin(conn, NULL) != STORE_OK || backend->apply(conn, &set->changes[0], NULL) != STORE_OK)
        _exit(2);
}

static void commit_survives_a_killed_process(void **state)
{
    struct fixture *f = *state;
    pid_t pid = fork_child(f, child_commits_and_leaves_one_open, false);
    int result = 0;
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    char path[320];
    struct stat st;
    (void)snprintf(path, sizeof(path), "%s-wal", f->location);
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > 0);

    /* The lease row still names the dead process. Its file lock is gone, so the new process does not wait. */
    struct storage *s = NULL;
    char *error = NULL;
    if (storage_open(backend, f->location, "heir", env_real(), &s, &error) != STORE_OK)
        fail_msg("open: %s", error);
    storage_close(s);
    assert_int_equal(store_number(f->location, "SELECT count(*) FROM events"), 1);
    assert_int_equal(store_number(f->location, "SELECT value FROM meta WHERE key = 'event_sequence'"), 1);
    assert_int_equal(store_number(f->location, "SELECT fence FROM leases WHERE name = 'daemon'"), 2);
}

static void files_are_private(void **state)
{
    struct fixture *f = *state;
    mode_t old = umask(0);
    void *conn = open_writer(f);
    assert_int_equal(store_event(backend, conn, make_event("evt_1", EVENT_CLUSTER_READY, "p1", "c1", 1)),
                     STORE_OK);
    (void)umask(old);
    static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        char path[320];
        struct stat st;
        (void)snprintf(path, sizeof(path), "%s%s", f->location, suffixes[i]);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
    backend->close(conn);
}

static bool file_contains(const char *path, const char *text)
{
    size_t len = 0;
    char *bytes = read_whole(path, &len);
    bool found = memmem(bytes, len, text, strlen(text));
    free(bytes);
    return found;
}

static void deleted_documents_leave_no_bytes(void **state)
{
    struct fixture *f = *state;
    static const char canary[] = "canary-3b1f9a";
    void *conn = open_writer(f);
    struct change_set *set = change_set_new();
    change_put_subscription(set, make_subscription("wh_1", canary));
    assert_int_equal(store_run(backend, conn, set), STORE_OK);
    backend->close(conn);
    assert_true(file_contains(f->location, canary));
    conn = open_writer(f);
    set = change_set_new();
    change_delete_subscription(set, "wh_1");
    assert_int_equal(store_run(backend, conn, set), STORE_OK);
    backend->close(conn);
    assert_false(file_contains(f->location, canary));
    char path[320];
    (void)snprintf(path, sizeof(path), "%s-wal", f->location);
    assert_int_equal(access(path, F_OK), -1); /* the last close wrote everything into the database */
}

static void documents_are_the_stored_form(void **state)
{
    struct fixture *f = *state;
    void *conn = open_writer(f);
    struct cluster *c = make_cluster("cl_1", "p1", "c1", 4);
    json_t *value = cluster_to_json(c);
    char *want = json_text(value);
    json_decref(value);
    assert_int_equal(store_cluster(backend, conn, c), STORE_OK);
    backend->close(conn);
    char *sql = mem_printf("SELECT count(*) FROM clusters WHERE doc = '%s'", want);
    assert_int_equal(store_number(f->location, sql), 1);
    free(sql);
    free(want);
}

static void a_suspect_connection_opens_again(void **state)
{
    struct fixture *f = *state;
    void *conn = open_writer(f);
    ((struct sqlite_conn *)conn)->suspect = true;
    assert_int_equal(store_event(backend, conn, make_event("evt_1", EVENT_CLUSTER_READY, "p1", "c1", 1)),
                     STORE_OK);
    assert_false(((struct sqlite_conn *)conn)->suspect);
    struct event *e = NULL;
    ((struct sqlite_conn *)conn)->suspect = true;
    assert_int_equal(backend->event_by_id(conn, "evt_1", &e), STORE_OK);
    event_free(e);
    backend->close(conn);
}

/* A reader prepares a statement when it first uses it. When the table is lost by then, the read says so. */
static void a_reader_without_its_table_says_so(void **state)
{
    struct fixture *f = *state;
    void *writer = open_writer(f), *reader = NULL;
    struct event *event = NULL;
    assert_int_equal(backend->open(f->location, false, &reader, NULL), STORE_OK);
    store_run_sql(f->location, "ALTER TABLE events RENAME TO elsewhere");
    assert_int_equal(backend->event_by_id(reader, "evt_1", &event), STORE_BROKEN);
    store_run_sql(f->location, "ALTER TABLE elsewhere RENAME TO events");
    assert_int_equal(backend->event_by_id(reader, "evt_1", &event), STORE_NONE);
    backend->close(reader);
    backend->close(writer);
}

static void a_full_disk_breaks_the_store_and_reads_go_on(void **state)
{
    struct fixture *f = *state;
    struct sqlite_conn *conn = open_writer(f);
    assert_int_equal(store_event(backend, conn, make_event("evt_1", EVENT_CLUSTER_READY, "p1", "c1", 1)),
                     STORE_OK);
    assert_int_equal(handle_exec(conn, "PRAGMA max_page_count = 1", "limit", NULL), STORE_OK);
    struct event *e = make_event("evt_2", EVENT_CLUSTER_READY, "p1", "c1", 1);
    free(e->body);
    e->body = mem_calloc(100001, 1);
    memset(e->body, 'x', 100000);
    assert_int_equal(store_event(backend, conn, e), STORE_BROKEN);
    assert_false(conn->suspect);
    struct event *found = NULL;
    assert_int_equal(backend->event_by_id(conn, "evt_1", &found), STORE_OK);
    event_free(found);
    assert_int_equal(handle_exec(conn, "PRAGMA max_page_count = 100000", "limit", NULL), STORE_OK);
    assert_int_equal(store_event(backend, conn, make_event("evt_2", EVENT_CLUSTER_READY, "p1", "c1", 1)),
                     STORE_OK);
    backend->close(conn);
    assert_int_equal(store_number(f->location, "SELECT max(sequence) FROM events"), 2);
}

static char *plan_of(const struct sqlite_conn *conn, enum statement which)
{
    char *sql = mem_printf("EXPLAIN QUERY PLAN %s", sqlite3_sql(conn->statements[which]));
    struct buffer plan CLEANUP_BUFFER;
    sqlite3_stmt *stmt = NULL;
    buffer_init(&plan, SIZE_MAX);
    assert_int_equal(sqlite3_prepare_v2(conn->db, sql, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        buffer_printf(&plan, "%s\n", (const char *)sqlite3_column_text(stmt, 3));
    (void)sqlite3_finalize(stmt);
    free(sql);
    return buffer_take(&plan, NULL);
}

static void rare_rows_are_found_by_their_index(void **state)
{
    struct fixture *f = *state;
    static const struct {
        enum statement which;
        const char *step;
    } wanted[] = {
        {STATEMENT_EVENTS_UNDELIVERED, "SEARCH events USING COVERING INDEX events_at (at>?)"},
        {STATEMENT_EVENTS_UNDELIVERED, "SEARCH events USING INTEGER PRIMARY KEY (rowid>?)"},
        {STATEMENT_EVENTS_PAGE, "SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
        {STATEMENT_EVENTS_PAGE, "SEARCH events USING COVERING INDEX events_at (at<?)"},
        {STATEMENT_EVENTS_NEWEST, "SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
        {STATEMENT_EVENTS_NEWEST_OF_CLUSTER,
         "SEARCH events USING INDEX events_of_cluster (cluster=? AND sequence>? AND sequence<?)"},
        {STATEMENT_EVENT_PURGE, "SEARCH events USING INTEGER PRIMARY KEY (rowid<?)"},
        {STATEMENT_OPERATION_PURGE,
         "SEARCH operations USING INDEX operations_finished (finished_at>? AND finished_at<?)"},
        {STATEMENT_DELIVERY_PURGE, "SEARCH deliveries USING INDEX deliveries_final (updated_at<?)"},
        {STATEMENT_REPLAY_PURGE, "SEARCH replays USING INDEX replays_created (created_at<?)"},
        {STATEMENT_AUDIT_PURGE, "MULTI-INDEX OR"},
        {STATEMENT_AUDIT_RANGE, "SEARCH audit USING COVERING INDEX audit_latest (latest>?)"},
        {STATEMENT_AUDIT_RANGE, "SEARCH audit USING COVERING INDEX audit_latest (latest<?)"},
        {STATEMENT_AUDIT_RANGE, "SCAN audit USING COVERING INDEX audit_behind"},
        {STATEMENT_DELIVERY_LOAD, "USING INDEX deliveries_pending"},
        {STATEMENT_DELIVERIES_FAILED, "USING INDEX deliveries_failed (subscription=? AND id<?)"},
    };
    struct sqlite_conn *conn = open_writer(f);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        char *plan = plan_of(conn, wanted[i].which);
        if (!strstr(plan, wanted[i].step))
            fail_msg("no %s in\n%s", wanted[i].step, plan);
        free(plan);
    }
    backend->close(conn);
}

static void filtered_pages_use_an_index(void **state)
{
    struct fixture *f = *state;
    static const enum statement pages[] = {STATEMENT_EVENTS_PAGE,
                                           STATEMENT_EVENTS_PAGE_OF_CLUSTER,
                                           STATEMENT_EVENTS_PAGE_OF_PROJECT,
                                           STATEMENT_EVENTS_NEWEST,
                                           STATEMENT_EVENTS_NEWEST_OF_CLUSTER,
                                           STATEMENT_EVENTS_NEWEST_OF_PROJECT,
                                           STATEMENT_DELIVERIES_PAGE,
                                           STATEMENT_EVENT_PURGE,
                                           STATEMENT_EVENTS_UNDELIVERED,
                                           STATEMENT_DELIVERIES_FAILED};
    struct sqlite_conn *conn = open_writer(f);
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        char *plan = plan_of(conn, pages[i]);
        if (strstr(plan, "TEMP B-TREE") || strstr(plan, "SCAN events\n") || strstr(plan, "SCAN deliveries\n"))
            fail_msg("%s: %s", sqlite3_sql(conn->statements[pages[i]]), plan);
        free(plan);
    }
    backend->close(conn);
}

/* The log has a million entries in production; the number of steps must not grow with it. */
static void a_time_of_the_audit_log_is_found_in_few_steps(void **state)
{
    struct fixture *f = *state;
    struct sqlite_conn *conn = open_writer(f);
    static const char many[] =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)"
        " INSERT INTO audit (at, action, outcome, body, latest) SELECT i * 10, 'x', 'success', '{}', i * 10 "
        "FROM n";
    assert_int_equal(sqlite3_exec(conn->db, many, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_stmt *stmt = conn->statements[STATEMENT_AUDIT_RANGE];
    assert_int_equal(sqlite3_bind_int64(stmt, 1, 100001), SQLITE_OK);
    assert_int_equal(sqlite3_bind_int64(stmt, 2, 200000), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int64(stmt, 0), 10001);
    assert_int_equal(sqlite3_column_int64(stmt, 1), 19999);
    assert_in_range(sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 0), 1, 150);
    (void)sqlite3_reset(stmt);
    backend->close(conn);
}

/* SQLite's code for a full disk is 4874 when the index of the WAL does not fit. */
static void a_full_disk_is_called_so(void **state)
{
    assert_int_equal(SQLITE_IOERR_SHMSIZE, 4874);
    assert_string_equal(sqlite_trouble(SQLITE_IOERR_SHMSIZE, 0), "disk full");
    assert_string_equal(sqlite_trouble(SQLITE_FULL, 0), "disk full");
    assert_string_equal(sqlite_trouble(SQLITE_IOERR_WRITE, ENOSPC), "disk full");
    assert_string_equal(sqlite_trouble(SQLITE_IOERR_WRITE, EDQUOT), "disk quota used up");
    assert_string_equal(sqlite_trouble(SQLITE_IOERR_WRITE, EFBIG), "file size limit reached");
    assert_string_equal(sqlite_trouble(SQLITE_IOERR_WRITE, EROFS), "file or file system is read-only");
    assert_string_equal(sqlite_trouble(SQLITE_READONLY, 0), "file or file system is read-only");
    assert_null(sqlite_trouble(SQLITE_IOERR_READ, EIO));
    struct sqlite_conn conn = {0};
    char *error = NULL;
    (void)sqlite_fail(&conn, SQLITE_IOERR_SHMSIZE, "commit", &error);
    assert_string_equal(error, "commit: disk full");
    free(error);
}

/* ---- copies that were cancelled ---- */

struct backup_end {
    const char *draft;
    atomic_bool end;
};

/* Sets `end` as soon as the draft exists, long before the copy is complete. */
static void *end_a_backup(void *arg)
{
    enum { LOOKS = 20000 };
    struct backup_end *b = arg;
    const struct timespec moment = {.tv_nsec = 500000};
    for (int i = 0; i < LOOKS && access(b->draft, F_OK) != 0; i++)
        (void)nanosleep(&moment, NULL);
    atomic_store(&b->end, true);
    return NULL;
}

static void check_ended(const struct fixture *f, const char *target, const atomic_bool *end)
{
    struct store_copy copy;
    char *error = NULL;
    assert_int_equal(sqlite_backup(f->location, target, end, &copy, &error), STORE_BROKEN);
    assert_non_null(strstr(error, "shootd is stopping"));
    free(error);
    assert_int_equal(access(target, F_OK), -1);
}

static void a_backup_ends_when_nobody_waits_for_it(void **state)
{
    struct fixture *f = *state;
    backend->close(open_writer(f));
    store_run_sql(
        f->location,
        "CREATE TABLE big (body BLOB); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 1500) INSERT INTO big SELECT randomblob(65536) FROM n"); /* 100 MB */
    char target[400], draft[410];
    (void)snprintf(target, sizeof(target), "%s/copy.db", f->dir);
    (void)snprintf(draft, sizeof(draft), "%s.tmp", target);
    struct backup_end b = {.draft = draft};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_a_backup, &b), 0);
    check_ended(f, target, &b.end);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(access(draft, F_OK), -1);
    check_ended(f, target, &b.end); /* no copy begins after that */
    assert_int_equal(access(draft, F_OK), -1);
}

/* ---- directories that cannot be synced ---- */

static enum store_status copy_store(const struct fixture *f, const char *target, char **ret_error)
{
    struct store_copy copy;
    return sqlite_backup(f->location, target, NULL, &copy, ret_error);
}

static void a_backup_whose_name_may_be_lost_is_removed(void **state)
{
    struct fixture *f = *state;
    char target[400];
    char *error = NULL;
    backend->close(open_writer(f));
    (void)snprintf(target, sizeof(target), "%s/copy.db", f->dir);
    directory_sync_error = EIO;
    assert_int_equal(copy_store(f, target, &error), STORE_BROKEN);
    assert_non_null(strstr(error, strerror(EIO)));
    free(error);
    assert_int_equal(access(target, F_OK), -1);
    directory_sync_error = EINVAL; /* the file system cannot sync directories */
    assert_int_equal(copy_store(f, target, NULL), STORE_OK);
    assert_int_equal(access(target, F_OK), 0);
}

/* The first sync is that of the draft, the second one is that of the store's new name. */
static void a_restore_that_replaced_the_store_says_so(void **state)
{
    struct fixture *f = *state;
    char target[400], kept[400];
    (void)snprintf(target, sizeof(target), "%s/copy.db", f->dir);
    (void)snprintf(kept, sizeof(kept), "%s/kept.db", f->dir);
    backend->close(open_writer(f));
    assert_int_equal(copy_store(f, target, NULL), STORE_OK);
    store_run_sql(f->location, "INSERT INTO accounts VALUES ('acme', '{}')");
    for (int synced = 0; synced < 2; synced++) {
        struct store_copy copy;
        char *error = NULL;
        directory_sync_error = EIO;
        directory_syncs_left = synced;
        assert_int_equal(sqlite_restore(target, f->location, kept, &copy, &error),
                         synced ? STORE_OK : STORE_BROKEN);
        directory_sync_error = 0;
        assert_non_null(strstr(error, strerror(EIO)));
        free(error);
        assert_int_equal(store_number(f->location, "SELECT count(*) FROM accounts"), !synced);
        assert_int_equal(access(kept, F_OK), synced ? 0 : -1);
    }
}

static void a_restore_that_cannot_put_all_away_puts_all_back(void **state)
{
    struct fixture *f = *state;
    char target[400], kept[400], wal[420], shm[420], taken[420];
    struct store_copy copy;
    (void)snprintf(target, sizeof(target), "%s/copy.db", f->dir);
    (void)snprintf(kept, sizeof(kept), "%s/kept.db", f->dir);
    (void)snprintf(taken, sizeof(taken), "%s-shm", kept);
    (void)snprintf(wal, sizeof(wal), "%s-wal", f->location);
    (void)snprintf(shm, sizeof(shm), "%s-shm", f->location);
    backend->close(open_writer(f));
    assert_int_equal(copy_store(f, target, NULL), STORE_OK);
    (void)unlink(wal);
    (void)unlink(shm);
    assert_int_equal(mkdir(wal, 0700), 0); /* SQLite does not remove directories */
    assert_int_equal(mkdir(shm, 0700), 0);
    write_whole(taken, "", 0); /* a directory cannot get the name of a file */
    assert_int_equal(sqlite_restore(target, f->location, kept, &copy, NULL), STORE_BROKEN);
    assert_int_equal(access(wal, F_OK), 0);
    assert_int_equal(access(shm, F_OK), 0);
    assert_int_equal(access(kept, F_OK), -1);
    assert_int_equal(unlink(taken), 0);
    assert_int_equal(sqlite_restore(target, f->location, kept, &copy, NULL), STORE_OK);
    assert_int_equal(access(wal, F_OK), -1);
}

static void a_copy_names_its_store(void **state)
{
    struct fixture *f = *state;
    char target[400], id[STORE_ID_BYTES], of_copy[STORE_ID_BYTES];
    void *conn = open_writer(f);
    assert_int_equal(backend->identity(conn, id), STORE_OK);
    backend->close(conn);
    (void)snprintf(target, sizeof(target), "%s/copy.db", f->dir);
    assert_int_equal(copy_store(f, target, NULL), STORE_OK);
    assert_int_equal(backend->id_of_copy(target, of_copy), STORE_OK);
    assert_string_equal(of_copy, id);
    write_whole(target, "something else", 14);
    assert_int_equal(backend->id_of_copy(target, of_copy), STORE_BROKEN);
    assert_int_equal(unlink(target), 0);
    assert_int_equal(mkfifo(target, 0600), 0); /* must not block */
    assert_int_equal(backend->id_of_copy(target, of_copy), STORE_BROKEN);
}

/* ---- new stores and the lock ---- */

static void a_new_store_is_in_its_file(void **state)
{
    struct fixture *f = *state;
    char id[STORE_ID_BYTES], of_copy[STORE_ID_BYTES], copy[400];
    size_t len = 0;
    void *conn = open_writer(f);
    assert_true(backend->is_new(conn));
    assert_int_equal(backend->identity(conn, id), STORE_OK);
    char *bytes = read_whole(f->location, &len); /* while the store is open: without its write-ahead log */
    (void)snprintf(copy, sizeof(copy), "%s/copy.db", f->dir);
    write_whole(copy, bytes, len);
    free(bytes);
    backend->close(conn);
    void *copied = NULL;
    assert_int_equal(backend->open(copy, true, &copied, NULL), STORE_OK);
    assert_false(backend->is_new(copied));
    assert_int_equal(backend->identity(copied, of_copy), STORE_OK);
    assert_string_equal(of_copy, id);
    backend->close(copied);
}

static void a_writer_without_its_lock_file_writes_no_more(void **state)
{
    struct fixture *f = *state;
    char lock[400];
    void *first = open_writer(f);
    (void)snprintf(lock, sizeof(lock), "%s.lock", f->location);
    assert_int_equal(unlink(lock), 0);
    char *error = NULL;
    assert_int_equal(backend->begin(first, &error), STORE_BROKEN);
    assert_non_null(strstr(error, "the lock file was moved or removed"));
    free(error);
    void *second = open_writer(f);
    assert_int_equal(backend->begin(first, NULL), STORE_BROKEN);
    assert_int_equal(backend->begin(second, NULL), STORE_OK);
    backend->rollback(second);
    backend->close(second);
    backend->close(first);
}

#define SQLITE_TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    log_set_level(LOG_LEVEL_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_is_called_so),
        SQLITE_TEST(a_backup_ends_when_nobody_waits_for_it),
        SQLITE_TEST(a_backup_whose_name_may_be_lost_is_removed),
        SQLITE_TEST(a_restore_that_replaced_the_store_says_so),
        SQLITE_TEST(a_restore_that_cannot_put_all_away_puts_all_back),
        SQLITE_TEST(a_copy_names_its_store),
        SQLITE_TEST(a_new_store_is_in_its_file),
        SQLITE_TEST(a_writer_without_its_lock_file_writes_no_more),
        SQLITE_TEST(an_empty_file_is_migrated),
        SQLITE_TEST(an_old_version_is_copied_and_migrated),
        SQLITE_TEST(rows_of_an_old_version_are_what_they_were),
        SQLITE_TEST(rows_that_cannot_be_read_are_put_aside),
        SQLITE_TEST(an_unreadable_row_of_each_kind_is_no_reason_not_to_start),
        SQLITE_TEST(a_delivery_can_be_put_aside_too),
        SQLITE_TEST(a_newer_version_is_refused_unchanged),
        SQLITE_TEST(a_foreign_database_is_refused_unchanged),
        SQLITE_TEST(a_file_that_is_no_database_is_refused_unchanged),
        SQLITE_TEST(a_corrupt_database_is_refused_unchanged),
        SQLITE_TEST(a_large_database_is_checked_later),
        SQLITE_TEST(a_reader_without_its_table_says_so),
        SQLITE_TEST(a_missing_folder_is_explained),
        SQLITE_TEST(a_second_process_is_locked_out),
        SQLITE_TEST(commit_survives_a_killed_process),
        SQLITE_TEST(files_are_private),
        SQLITE_TEST(deleted_documents_leave_no_bytes),
        SQLITE_TEST(documents_are_the_stored_form),
        SQLITE_TEST(a_suspect_connection_opens_again),
        SQLITE_TEST(a_full_disk_breaks_the_store_and_reads_go_on),
        SQLITE_TEST(filtered_pages_use_an_index),
        SQLITE_TEST(a_time_of_the_audit_log_is_found_in_few_steps),
        SQLITE_TEST(rare_rows_are_found_by_their_index),
    };
    return cmocka_run_group_tests_name("sqlite", tests, NULL, NULL);
}
