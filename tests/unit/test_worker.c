/* The worker beside the loop, and the watchdog of the loop itself. */
#include "tests/support/check.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "loop/worker.h"

struct job {
    struct worker_job job;
    struct test *t;
    int number;
};

struct test {
    struct loop *loop;
    struct worker *worker;
    pthread_t loop_thread, worked_on;
    sem_t begun, go_on;
    int order[8];
    int done, dropped;
};

static void work(struct worker_job *job)
{
    struct test *t = CONTAINER_OF(job, struct job, job)->t;
    t->worked_on = pthread_self();
    (void)sem_post(&t->begun);
    (void)sem_wait(&t->go_on);
}

static void done(struct worker_job *job)
{
    struct job *j = CONTAINER_OF(job, struct job, job);
    assert_true(pthread_equal(pthread_self(), j->t->loop_thread));
    j->t->order[j->t->done++] = j->number;
    free(j);
}

static void drop(struct worker_job *job)
{
    struct job *j = CONTAINER_OF(job, struct job, job);
    j->t->dropped++;
    free(j);
}

static bool submit(struct test *t, int number, size_t bytes, bool goes_on)
{
    struct job *j = MEM_NEW(struct job);
    *j = (struct job){
        {.work = work, .done = done, .drop = drop, .bytes = bytes, .goes_on = goes_on}, t, number};
    bool taken = t->worker->submit(t->worker, &j->job);
    if (!taken)
        free(j);
    return taken;
}

static int setup(void **state)
{
    struct test *t = MEM_NEW(struct test);
    t->loop = loop_new(env_real());
    t->worker = worker_new(t->loop, "test", &(struct worker_limits){2, 100});
    t->loop_thread = pthread_self();
    (void)sem_init(&t->begun, 0, 0);
    (void)sem_init(&t->go_on, 0, 0);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

static void jobs_are_done_in_order_on_another_thread(void **state)
{
    struct test *t = *state;
    for (int i = 0; i < 4; i++) {
        assert_true(submit(t, i, 10, true));
        (void)sem_post(&t->go_on);
    }
    while (t->done < 4)
        loop_turn(t->loop, env_mono(env_real()) + US_PER_S);
    for (int i = 0; i < 4; i++)
        assert_int_equal(t->order[i], i);
    assert_false(pthread_equal(t->worked_on, t->loop_thread));
    t->worker->free(t->worker);
    loop_free(t->loop);
    assert_int_equal(t->dropped, 0);
}

static void queue_is_bounded_and_the_rest_is_dropped(void **state)
{
    struct test *t = *state;
    assert_true(submit(t, 0, 100, false));
    (void)sem_wait(&t->begun); /* the job has left the queue */
    assert_false(submit(t, 1, 101, false));
    assert_true(submit(t, 1, 60, false));
    assert_false(submit(t, 2, 41, false));
    assert_true(submit(t, 2, 40, false));
    assert_false(submit(t, 3, 0, false));
    assert_true(submit(t, 3, 0, true)); /* a part of an accepted job */
    for (int i = 0; i < 4; i++)
        (void)sem_post(&t->go_on);
    t->worker->free(t->worker);
    loop_free(t->loop); /* the loop has run no turn */
    assert_int_equal(t->done, 0);
    assert_int_equal(t->dropped, 4);
}

/* ---- the watchdog ---- */

/* The last logged line: the message, then its fields. */
static char logged[512];

static void keep_line(enum log_level level, const char *message, const char *const *keys,
                      const char *const *values, unsigned count)
{
    size_t n = (size_t)snprintf(logged, sizeof(logged), "%d %s", (int)level, message);
    for (unsigned i = 0; i < count && n < sizeof(logged); i++)
        n += (size_t)snprintf(logged + n, sizeof(logged) - n, " %s=%s", keys[i], values[i]);
}

/* Computes for so long, however busy the machine is. */
static void burn(struct loop_timer *timer)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    const int64_t end = (int64_t)t.tv_sec * US_PER_S + t.tv_nsec / 1000 + 30 * US_PER_MS;
    while ((int64_t)t.tv_sec * US_PER_S + t.tv_nsec / 1000 < end)
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
}

static void rest(struct loop_timer *timer)
{
    static const struct timespec moment = {.tv_nsec = 30000000};
    (void)nanosleep(&moment, NULL);
}

static void a_stall_is_counted(void **state)
{
    struct test *t = *state;
    struct loop_timer timer = {.fire = burn, .name = "burning"};
    *logged = '\0';
    log_set_sink(keep_line);
    loop_timer_set(t->loop, &timer, 0);
    loop_turn(t->loop, 0);
    log_set_sink(NULL);
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, 1 << 16);
    loop_metrics(t->loop, &out);
    assert_non_null(strstr(out.data, "shootd_loop_stall_seconds_bucket{le=\"0.02\"} 0\n"));
    assert_non_null(strstr(out.data, "shootd_loop_stall_seconds_count 1\n"));
    const char *wall = strstr(out.data, "longest_stall_seconds{clock=\"wall\"} ");
    assert_non_null(wall);
    assert_true(strtod(strchr(wall, ' '), NULL) >= 0.030);
    /* The log shows the task that blocked the loop, and whether the task computed or waited. */
    const char *held = strstr(logged, "loop blocked for ");
    assert_non_null(held);
    assert_int_equal(*logged, '0' + LOG_LEVEL_WARNING);
    assert_true(strtol(held + strlen("loop blocked for "), NULL, 10) >= 30);
    assert_non_null(strstr(held, " ms by timer burning"));
    assert_non_null(strstr(held, " what=burning"));
    const char *cpu = strstr(held, " cpu_ms=");
    assert_non_null(cpu);
    assert_true(cpu[strlen(" cpu_ms=")] >= '0' && cpu[strlen(" cpu_ms=")] <= '9');
    t->worker->free(t->worker);
    loop_free(t->loop);
}

/* The machine was busy, or a call blocked: the operator can do nothing about it at night. */
static void a_stall_without_computing_is_no_warning(void **state)
{
    struct test *t = *state;
    struct loop_timer timer = {.fire = rest, .name = "resting"};
    *logged = '\0';
    log_set_level(LOG_LEVEL_DEBUG);
    log_set_sink(keep_line);
    loop_timer_set(t->loop, &timer, 0);
    loop_turn(t->loop, 0);
    log_set_sink(NULL);
    assert_non_null(strstr(logged, "loop waited for "));
    assert_non_null(strstr(logged, " what=resting"));
    assert_int_equal(*logged, '0' + LOG_LEVEL_DEBUG);
    t->worker->free(t->worker);
    loop_free(t->loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(jobs_are_done_in_order_on_another_thread, setup, teardown),
        cmocka_unit_test_setup_teardown(queue_is_bounded_and_the_rest_is_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stall_is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stall_without_computing_is_no_warning, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
