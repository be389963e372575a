/* The mailbox of the loop, and the stop of the loop. */
#include "tests/support/check.h"

#include <pthread.h>

#include "base/env.h"
#include "loop/loop.h"

struct counted {
    struct loop_task task;
    struct loop *loop;
    int runs, drops;
    bool stops;
};

static int turns_ended;

static void run(struct loop_task *task)
{
    struct counted *c = CONTAINER_OF(task, struct counted, task);
    c->runs++;
    if (c->stops)
        loop_stop(c->loop);
}

static void drop(struct loop_task *task)
{
    CONTAINER_OF(task, struct counted, task)->drops++;
}

static void after_turn(void *ctx)
{
    turns_ended++;
}

static void *run_loop(void *loop)
{
    loop_run(loop);
    return NULL;
}

static void run_until_stopped(struct loop *loop)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_loop, loop), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_what_was_posted_before_the_stop_is_run(void **state)
{
    struct loop *loop = loop_new(env_real());
    turns_ended = 0;
    loop_set_after_turn(loop, after_turn, NULL);
    struct counted posted = {.task = {.run = run, .drop = drop}, .loop = loop};
    loop_post(loop, &posted.task);
    loop_stop(loop);
    run_until_stopped(loop);
    assert_int_equal(posted.runs, 1);
    assert_int_equal(turns_ended, 1);
    loop_free(loop);
    assert_int_equal(posted.drops, 0);
}

static void test_what_is_posted_after_the_stop_is_dropped(void **state)
{
    struct loop *loop = loop_new(env_real());
    struct counted stops = {.task = {.run = run, .drop = drop}, .loop = loop, .stops = true};
    loop_post(loop, &stops.task);
    run_until_stopped(loop);
    struct counted late = {.task = {.run = run, .drop = drop}, .loop = loop};
    loop_post(loop, &late.task);
    loop_free(loop);
    assert_int_equal(late.runs, 0);
    assert_int_equal(late.drops, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_posted_before_the_stop_is_run),
        cmocka_unit_test(test_what_is_posted_after_the_stop_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
