/* The queue of JWTs that wait to be verified: its order, its limits, its end. */
#include "tests/support/check.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "api/verifier.h"
#include "base/attrs.h"
#include "base/lock.h"
#include "base/mem.h"
#include "tests/support/virtual.h"

enum { ALL = VERIFIER_PLACES, OWN = VERIFIER_PLACES_OF_CLIENT, FEW = VERIFIER_PLACES_OVER_LIMIT };

static struct virtual_world world;
static struct verifier verifier;
static sem_t begun, go_on;
static int order[8], worked, dropped;

struct job {
    struct verifier_job job; /* first member */
    int number;
    int times; /* how often the work is done before it ends */
};

/* The test reads the numbers when the semaphore, or the end of the thread, says that they are written. */
static bool work(struct verifier_job *job)
{
    struct job *j = CONTAINER_OF(job, struct job, job);
    if (worked < (int)ARRAY_LEN(order))
        order[worked] = j->number;
    worked++;
    const bool is_done = j->times-- <= 1;
    if (is_done)
        free(j);
    (void)sem_post(&begun);
    (void)sem_wait(&go_on);
    return is_done;
}

static void drop(struct verifier_job *job)
{
    dropped++;
    free(CONTAINER_OF(job, struct job, job));
}

/* `left`: as many wrong JWTs may the client still send. */
static bool submit_times(uint64_t client, int number, int64_t left, int times)
{
    const enum verifier_place place = verifier_take_place(&verifier, client, left);
    if (place == VERIFIER_NO_PLACE)
        return false;
    struct job *j = MEM_NEW(struct job);
    *j = (struct job){{.work = work, .drop = drop, .client = client, .place = place}, number, times};
    verifier_submit(&verifier, &j->job);
    return true;
}

static bool submit_with(uint64_t client, int number, int64_t left)
{
    return submit_times(client, number, left, 1);
}

static bool submit(uint64_t client, int number)
{
    return submit_with(client, number, INT64_MAX);
}

static int setup(void **state)
{
    verifier = (struct verifier){.is_stopping = false};
    virtual_init(&world, 7);
    worked = dropped = 0;
    (void)sem_init(&begun, 0, 0);
    (void)sem_init(&go_on, 0, 0);
    return verifier_start(&verifier, &world.env);
}

static int teardown(void **state)
{
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

/* Lets the next job begin, and returns its number. */
static int next(void)
{
    (void)sem_post(&go_on);
    (void)sem_wait(&begun);
    return order[worked - 1];
}

static void clients_take_turns(void **state)
{
    for (int i = 0; i < 3; i++)
        assert_true(submit(7, i));
    (void)sem_wait(&begun);
    assert_true(submit(8, 20));
    assert_true(submit(8, 21));
    assert_true(submit(9, 30));
    static const int expected[] = {1, 20, 30, 2, 21};
    for (size_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_int_equal(next(), expected[i]);
    end();
    assert_int_equal(worked, 6);
}

/* Each JWT that waits may be wrong, so a client has no more places than it may send wrong JWTs; above this,
 * it has few. */
static void a_client_has_as_many_places_as_it_may_be_wrong(void **state)
{
    assert_true(submit_with(7, 0, 3));
    (void)sem_wait(&begun);
    for (int i = 1; i < 3 + FEW; i++)
        assert_true(submit_with(7, i, 3));
    assert_false(submit_with(7, 99, 3));
    for (int i = 0; i < FEW; i++)
        assert_true(submit_with(8, i, 0));
    assert_false(submit_with(8, 99, 0));
    assert_int_equal(atomic_load(&verifier.refused), 2);
    assert_int_equal(verifier_taken(&verifier), 3 + 2 * FEW);
    for (uint64_t client = 10; verifier.taken[VERIFIER_OVER_LIMIT] < VERIFIER_ALL_OVER_LIMIT; client++)
        for (int i = 0; i < FEW; i++)
            assert_true(submit_with(client, 0, 0));
    assert_false(submit_with(9, 99, 0));
    assert_true(submit_with(9, 0, 1));
    (void)sem_post(&go_on);
    end();
    assert_int_equal(worked + dropped, 3 + VERIFIER_ALL_OVER_LIMIT + 1);
}

/* Whether a job begins within three gaps of real time. The clock of the verifier stands still meanwhile. */
static bool begins_soon(void)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 3L * VERIFIER_GAP_US * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int r;
    do
        r = sem_timedwait(&begun, &until);
    while (r < 0 && errno == EINTR);
    return r == 0;
}

/* Jobs of clients over their limit wait for those of all others, and for some time after each of them. */
static void clients_over_their_limit_are_slow(void **state)
{
    assert_true(submit(7, 0));
    (void)sem_wait(&begun);
    assert_true(submit_with(8, 80, 0));
    assert_true(submit_with(8, 81, 0));
    assert_true(submit_with(9, 90, 0));
    assert_true(submit(7, 1));
    assert_int_equal(next(), 1);
    assert_int_equal(next(), 80);
    assert_true(submit(7, 2));
    assert_int_equal(next(), 2);
    (void)sem_post(&go_on);
    assert_false(begins_soon()); /* no time has passed since the last job of such a client */
    atomic_fetch_add(&world.now, VERIFIER_GAP_US);
    (void)sem_wait(&begun);
    assert_int_equal(order[worked - 1], 90);
    (void)sem_post(&go_on);
    (void)sem_post(&go_on);
    assert_true(submit(7, 3));
    (void)sem_wait(&begun);
    assert_int_equal(order[worked - 1], 3);
    end();
    assert_int_equal(worked, 6);
    assert_int_equal(dropped, 1);
}

/* Unfinished work keeps its place, and is continued after a time in which other jobs are done. */
static void unfinished_work_is_continued(void **state)
{
    assert_true(submit_times(7, 70, INT64_MAX, 3));
    (void)sem_wait(&begun);
    assert_true(submit(8, 80));
    assert_true(submit(8, 81));
    assert_int_equal(next(), 80);
    atomic_fetch_add(&world.now, VERIFIER_AGAIN_US);
    assert_int_equal(next(), 81);
    assert_int_equal(verifier_taken(&verifier), 2);
    assert_int_equal(next(), 70);
    assert_true(submit(8, 82));
    assert_int_equal(next(), 82);
    end();
    assert_int_equal(worked, 6 - 1); /* the third time was still to come */
    assert_int_equal(dropped, 1);
}

static void a_client_has_a_part_of_the_places(void **state)
{
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
    for (int i = 0; i < ALL; i++)
        assert_true(submit((uint64_t)i, i));
    assert_int_equal(verifier_taken(&verifier), ALL);
    assert_false(submit(ALL + 1, ALL));
    assert_int_equal(verifier_take_place(&verifier, ALL + 1, INT64_MAX), VERIFIER_NO_PLACE);
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
    for (int i = 0; i < OWN; i++)
        assert_int_equal(verifier_take_place(&verifier, 7, INT64_MAX), VERIFIER_USUAL);
    assert_int_equal(verifier_take_place(&verifier, 7, INT64_MAX), VERIFIER_NO_PLACE);
    for (int i = 0; i < OWN; i++)
        verifier_leave_place(&verifier, 7, VERIFIER_USUAL);
    assert_int_equal(verifier_taken(&verifier), 0);
    assert_true(submit(7, 1));
    end();
    assert_int_equal(worked + dropped, 1);
}

/* Lets the job in progress end only after the stop has begun. */
static void *let_go_after_stop(void *arg)
{
    for (bool stops = false; !stops;) {
        mutex_lock(&verifier.lock);
        stops = verifier.is_stopping;
        mutex_unlock(&verifier.lock);
        (void)sched_yield();
    }
    (void)sem_post(&go_on);
    return arg;
}

static void a_stop_ends_the_job_and_drops_the_rest(void **state)
{
    for (int i = 0; i < 100; i++)
        assert_true(submit((uint64_t)i, i));
    (void)sem_wait(&begun);
    pthread_t helper;
    assert_int_equal(pthread_create(&helper, NULL, let_go_after_stop, NULL), 0);
    verifier_stop(&verifier);
    (void)pthread_join(helper, NULL);
    assert_int_equal(worked, 1);
    assert_int_equal(dropped, 99);
    assert_int_equal(verifier.taken[VERIFIER_USUAL], 0);
}

#define VERIFIER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        VERIFIER_TEST(jobs_are_done_in_their_order),
        VERIFIER_TEST(clients_take_turns),
        VERIFIER_TEST(a_client_has_as_many_places_as_it_may_be_wrong),
        VERIFIER_TEST(clients_over_their_limit_are_slow),
        VERIFIER_TEST(unfinished_work_is_continued),
        VERIFIER_TEST(a_client_has_a_part_of_the_places),
        VERIFIER_TEST(there_is_a_limit_for_all),
        VERIFIER_TEST(a_place_may_be_given_back),
        VERIFIER_TEST(a_stop_ends_the_job_and_drops_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
