/* The queue of JWTs that wait to be verified: its order, its limits, its end. */
#include "tests/support/check.h"

#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

#include "api/verifier.h"
#include "base/attrs.h"
#include "base/mem.h"

enum { ALL = VERIFIER_PLACES, OWN = VERIFIER_PLACES_OF_CLIENT };

static struct verifier verifier;
static sem_t begun, go_on;
static int order[8], worked, dropped;

struct job {
    struct verifier_job job; /* first member */
    int number;
};

/* The test reads the numbers when the semaphore, or the end of the thread, says that they are written. */
static void work(struct verifier_job *job)
{
    struct job *j = CONTAINER_OF(job, struct job, job);
    if (worked < (int)ARRAY_LEN(order))
        order[worked] = j->number;
    worked++;
    free(j);
    (void)sem_post(&begun);
    (void)sem_wait(&go_on);
}

static void drop(struct verifier_job *job)
{
    dropped++;
    free(CONTAINER_OF(job, struct job, job));
}

static bool submit(uint64_t client, int number)
{
    if (!verifier_take_place(&verifier, client))
        return false;
    struct job *j = MEM_NEW(struct job);
    *j = (struct job){{.work = work, .drop = drop, .client = client}, number};
    verifier_submit(&verifier, &j->job);
    return true;
}

static int setup(void **state)
{
    (void)state;
    verifier = (struct verifier){.taken = 0};
    worked = dropped = 0;
    (void)sem_init(&begun, 0, 0);
    (void)sem_init(&go_on, 0, 0);
    return verifier_start(&verifier);
}

static int teardown(void **state)
{
    (void)state;
    (void)sem_destroy(&begun);
    (void)sem_destroy(&go_on);
    return 0;
}

static void end(void)
{
    for (int i = 0; i < ALL; i++)
        (void)sem_post(&go_on);
    verifier_stop(&verifier);
}

static void jobs_are_done_in_their_order(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        assert_true(submit((uint64_t)i, i));
    for (int i = 0; i < 5; i++) {
        (void)sem_wait(&begun);
        assert_int_equal(order[i], i);
        (void)sem_post(&go_on);
    }
    end();
    assert_int_equal(worked, 5);
    assert_int_equal(dropped, 0);
}

static void a_client_has_a_part_of_the_places(void **state)
{
    (void)state;
    assert_true(submit(7, 0));
    (void)sem_wait(&begun); /* the job in progress has a place, too */
    for (int i = 1; i < OWN; i++)
        assert_true(submit(7, i));
    assert_false(submit(7, OWN));
    assert_false(submit(7 + VERIFIER_CLIENT_COUNTERS, OWN)); /* another client with the same counter */
    assert_int_equal(atomic_load(&verifier.refused), 2);
    assert_true(submit(8, OWN));
    (void)sem_post(&go_on);
    (void)sem_wait(&begun); /* the first job has ended */
    assert_int_equal(verifier_taken(&verifier), OWN);
    assert_true(submit(7, OWN + 1));
    end();
    assert_int_equal(worked + dropped, OWN + 2);
}

static void there_is_a_limit_for_all(void **state)
{
    (void)state;
    for (int i = 0; i < ALL; i++)
        assert_true(submit((uint64_t)i, i));
    assert_int_equal(verifier_taken(&verifier), ALL);
    assert_false(submit(ALL + 1, ALL));
    assert_false(verifier_take_place(&verifier, ALL + 1));
    (void)sem_wait(&begun);
    (void)sem_post(&go_on);
    (void)sem_wait(&begun);
    assert_true(submit(ALL + 1, ALL));
    assert_false(submit(ALL + 1, ALL));
    end();
    assert_int_equal(worked + dropped, ALL + 1);
}

static void a_place_may_be_given_back(void **state)
{
    (void)state;
    for (int i = 0; i < OWN; i++)
        assert_true(verifier_take_place(&verifier, 7));
    assert_false(verifier_take_place(&verifier, 7));
    for (int i = 0; i < OWN; i++)
        verifier_leave_place(&verifier, 7);
    assert_int_equal(verifier_taken(&verifier), 0);
    assert_true(submit(7, 1));
    end();
    assert_int_equal(worked + dropped, 1);
}

/* Lets the job in progress end only after the stop has begun. */
static void *let_go_after_stop(void *arg)
{
    for (bool stops = false; !stops;) {
        (void)pthread_mutex_lock(&verifier.lock);
        stops = verifier.is_stopping;
        (void)pthread_mutex_unlock(&verifier.lock);
        (void)sched_yield();
    }
    (void)sem_post(&go_on);
    return arg;
}

static void a_stop_ends_the_job_and_drops_the_rest(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        assert_true(submit((uint64_t)i, i));
    (void)sem_wait(&begun);
    pthread_t helper;
    assert_int_equal(pthread_create(&helper, NULL, let_go_after_stop, NULL), 0);
    verifier_stop(&verifier);
    (void)pthread_join(helper, NULL);
    assert_int_equal(worked, 1);
    assert_int_equal(dropped, 99);
    assert_int_equal(verifier.taken, 0);
}

#define VERIFIER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        VERIFIER_TEST(jobs_are_done_in_their_order),
        VERIFIER_TEST(a_client_has_a_part_of_the_places),
        VERIFIER_TEST(there_is_a_limit_for_all),
        VERIFIER_TEST(a_place_may_be_given_back),
        VERIFIER_TEST(a_stop_ends_the_job_and_drops_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
