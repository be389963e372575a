/* An old secret that has expired stays invalid, whatever the clock of a later start shows. */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "tests/support/one_shoot.h"

#define UID "11111111-8888-4777-8666-555555555555"

enum { GRACE_S = 60 };

static void expect_no_problem(struct command *cmd)
{
    assert_true(running_answered(cmd));
    assert_null(cmd->reply.problem);
    command_free(cmd);
}

static struct command *made(struct running *d, enum command_type type, json_t *body)
{
    struct command *cmd = running_command(d, type, NULL, NULL, body);
    running_post(d, cmd);
    running_run(d, US_PER_S);
    assert_true(running_answered(cmd));
    assert_null(cmd->reply.problem);
    return cmd;
}

static void rotate(struct running *d, const struct command *of, enum command_type type)
{
    struct command *cmd = running_command(d, type, NULL, NULL, json_pack("{si}", "grace_seconds", GRACE_S));
    memcpy(cmd->id, of->id, sizeof(cmd->id));
    running_post(d, cmd);
    running_run(d, US_PER_S);
    expect_no_problem(cmd);
}

static size_t keys_shown(struct running *d)
{
    const struct view_snapshot *s = view_enter(d->view);
    struct view_cursor place = view_seek(s, VIEW_WEBHOOKS, "");
    const struct view_blob *blob = view_next(&place)->blob;
    json_t *doc CLEANUP_JSON = json_loadb(blob->body, blob->body_len, 0, NULL);
    view_leave(d->view);
    return json_array_size(json_arr(doc, "keys"));
}

/* Returns the number of secrets in the view: that of the first admin, that of the other token, and the old
 * secret of the other token. */
static size_t secrets_shown(struct running *d)
{
    const struct view_snapshot *s = view_enter(d->view);
    size_t count = s->sections[VIEW_TOKENS].count;
    view_leave(d->view);
    return count;
}

static void ended_operation_is_stored_as_ended(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    struct command *token = made(d, COMMAND_TOKEN_CREATE,
                                 json_pack("{sssss[s]}", "name", "ci", "role", "viewer", "projects", "*"));
    struct command *webhook =
        made(d, COMMAND_WEBHOOK_CREATE, json_pack("{ss}", "url", "https://example.com/"));
    rotate(d, token, COMMAND_TOKEN_ROTATE);
    rotate(d, webhook, COMMAND_WEBHOOK_ROTATE);
    command_free(token);
    command_free(webhook);
    assert_int_equal(keys_shown(d), 2);
    assert_int_equal(secrets_shown(d), 3);
    running_run(d, GRACE_S * US_PER_S);
    assert_int_equal(keys_shown(d), 1);
    assert_int_equal(secrets_shown(d), 2);
    (void)running_kill(d, false);
    d->world.wall_offset -= 60 * MINUTE;
    running_start(d);
    running_run(d, US_PER_S);
    assert_int_equal(keys_shown(d), 1);
    assert_int_equal(secrets_shown(d), 2);
    one_shoot_end(d);
}

/* A wall clock that is set ahead for a moment, or back permanently, does not change the end. */
static void the_wall_clock_moves_no_end(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    struct command *webhook =
        made(d, COMMAND_WEBHOOK_CREATE, json_pack("{ss}", "url", "https://example.com/"));
    rotate(d, webhook, COMMAND_WEBHOOK_ROTATE);
    command_free(webhook);
    d->world.wall_offset += 120 * MINUTE;
    running_run(d, 30 * US_PER_S);
    assert_int_equal(keys_shown(d), 2);
    d->world.wall_offset -= 240 * MINUTE;
    running_run(d, 30 * US_PER_S);
    assert_int_equal(keys_shown(d), 1);
    one_shoot_end(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ended_operation_is_stored_as_ended),
        cmocka_unit_test(the_wall_clock_moves_no_end),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
