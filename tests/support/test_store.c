#include "tests/support/test_store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/support/check.h"
#include "tests/support/temporary.h"

static struct test_store *the_store; /* the functions of a backend know only connections */

/* ---- the backend ---- */

static enum store_status begin(void *conn, char **ret_error)
{
    while (the_store->is_held)
        (void)usleep(200);
    return the_store->is_cut_off ? STORE_BROKEN : store_sqlite.begin(conn, ret_error);
}

/* Whether this call is the one that fails. */
static bool fails_now(void)
{
    return the_store->fail_in > 0 && atomic_fetch_sub(&the_store->fail_in, 1) == 1;
}

static enum store_status failed(const char *what, char **ret_error)
{
    if (ret_error)
        *ret_error = mem_printf("%s: %s", what, store_status_name(the_store->fail_with));
    return the_store->fail_with;
}

static enum store_status apply(void *conn, struct change *change, char **ret_error)
{
    return fails_now() ? failed("change refused", ret_error) : store_sqlite.apply(conn, change, ret_error);
}

static enum store_status commit(void *conn, char **ret_error)
{
    const bool fails = fails_now();
    const bool has_effect =
        !fails || the_store->fail_with == STORE_UNCERTAIN || the_store->failed_commits_have_effect;
    enum store_status status = has_effect ? store_sqlite.commit(conn, ret_error) : STORE_OK;
    return fails && status == STORE_OK ? failed("commit failed", ret_error) : status;
}

static enum store_status last_marked(void *conn, int64_t *ret_number)
{
    if (the_store->last_marked_fails > 0) {
        the_store->last_marked_fails--;
        return STORE_BROKEN;
    }
    return store_sqlite.last_marked(conn, ret_number);
}

void test_store_init(struct test_store *s)
{
    *s = (struct test_store){.backend = store_sqlite};
    s->backend.begin = begin;
    s->backend.apply = apply;
    s->backend.commit = commit;
    s->backend.last_marked = last_marked;
    make_temporary(s->folder, sizeof(s->folder));
    (void)snprintf(s->location, sizeof(s->location), "%s/store.db", s->folder);
    the_store = s;
}

void test_store_done(struct test_store *s)
{
    assert_ptr_equal(the_store, s);
    the_store = NULL;
    remove_temporary(s->folder);
}

/* ---- the stored rows ---- */

void store_run_sql(const char *location, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(location, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

int64_t store_number(const char *location, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_open_v2(location, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    const int64_t value = sqlite3_column_int64(stmt, 0);
    (void)sqlite3_finalize(stmt);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return value;
}
