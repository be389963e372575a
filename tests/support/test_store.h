/*
 * The store of a unit test: SQLite in a temporary folder, and a backend that fails when the test says so.
 * tools/test.py puts the folders of units in memory. A test has one such store at a time.
 */
#ifndef TESTS_SUPPORT_TEST_STORE_H
#define TESTS_SUPPORT_TEST_STORE_H

#include <stdatomic.h>

#include "storage/storage.h"

struct test_store {
    struct store_backend backend; /* SQLite's functions; some of them first look at the members below */
    char folder[256];
    char location[300];

    /* The test may set these members at any time. The writer reads them. */
    atomic_bool is_held;    /* the next transaction waits, while virtual time passes, until this is false */
    atomic_bool is_cut_off; /* each transaction fails when it begins */
    atomic_int fail_in;     /* the n-th call of apply or commit fails, once (1: the next call); 0: none */
    enum store_status fail_with; /* the status of that call; set before fail_in. A commit that ends with
                                  * STORE_UNCERTAIN has had its effect; only its answer is lost */
    atomic_bool failed_commits_have_effect; /* also with every other status */
    atomic_int last_marked_fails;           /* the next calls of last_marked that fail */
};

/* Makes the folder. The store itself is made when it is opened. */
void test_store_init(struct test_store *s);
/* Removes the folder. The store is closed. */
void test_store_done(struct test_store *s);

/* Runs SQL on a connection of its own, also beside an open store. */
void store_run_sql(const char *location, const char *sql);
/* Returns the number in the first row of the result. */
int64_t store_number(const char *location, const char *sql);

#endif
