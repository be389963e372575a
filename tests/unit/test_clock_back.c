/* The wall clock is set back by a day while something waits, on a virtual clock: no wait becomes longer. */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/log.h"
#include "base/mem.h"
#include "tests/support/one_shoot.h"

#define UID "11111111-8888-4777-8666-555555555555"

static const wall_us DAY = 86400 * US_PER_S;

/* Cleura accepts a change, and nothing happens: it is sent again after a minute. */
static void an_accepted_change_without_effect_is_sent_again(void **state)
{
    struct one_shoot cleura = {.uid = UID, .ineffective = true};
    struct running *d = one_shoot_start(&cleura);
    struct command *cmd = one_shoot_post_version(d);
    running_run(d, 30 * US_PER_S);
    assert_int_equal(cleura.writes, 1);
    d->world.wall_offset -= DAY;
    running_run(d, 5 * MINUTE);
    assert_in_range(cleura.writes, 2, 6);
    command_free(cmd);
    one_shoot_end(d);
}

static void an_accepted_deletion_without_effect_is_sent_again_and_ends(void **state)
{
    struct one_shoot cleura = {.uid = UID, .ineffective = true};
    struct running *d = one_shoot_start(&cleura);
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, 30 * US_PER_S);
    const unsigned before = cleura.writes;
    assert_in_range(before, 1, 2);
    d->world.wall_offset -= DAY;
    running_run(d, 5 * MINUTE);
    assert_true(cleura.writes > before);
    running_run(d, 55 * MINUTE);
    const unsigned at_end = cleura.writes;
    running_run(d, 30 * MINUTE);
    assert_int_equal(cleura.writes, at_end);
    assert_in_range(at_end, 6, 11);
    command_free(cmd);
    one_shoot_end(d);
}

static unsigned backups;

static void count_backups(enum log_level level, const char *message, const char *const *keys,
                          const char *const *values, unsigned count)
{
    backups += !strncmp(message, "no backup could be made", 23);
}

/* A file has the name of the folder of backups, so each attempt fails, and is repeated after an hour. */
static void automatic_backups_go_on(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    log_set_sink(count_backups);
    d->config.backups.directory = d->store.location;
    d->config.backups.every_us = DAY;
    d->config.backups.keep = 3;
    running_run(d, MINUTE);
    assert_int_equal(backups, 1);
    d->world.wall_offset -= DAY;
    running_run(d, 59 * MINUTE);
    running_run(d, 2 * MINUTE);
    assert_int_equal(backups, 2);
    log_set_sink(NULL);
    d->config.backups.directory = NULL;
    one_shoot_end(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_accepted_change_without_effect_is_sent_again),
        cmocka_unit_test(an_accepted_deletion_without_effect_is_sent_again_and_ends),
        cmocka_unit_test(automatic_backups_go_on),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
