/*
 * The engine reports that a webhook has failed for good while its owner changes the webhook. The change is
 * decided and on its way to the store when the receiver answers 410, so the engine does not know the change
 * yet. On a virtual clock.
 */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/webhook.h"
#include "tests/support/one_shoot.h"

#define UID       "11111111-8888-4777-8666-555555555555"
#define GONE_URL  "https://gone.example/"
#define OTHER_URL "https://other.example/"
#define ANSWER_US (10 * US_PER_S)

/* ---- the fixture ---- */

struct fixture {
    struct one_shoot cleura;
    struct running *d;
    char webhook[40];
    char token[40]; /* the token that made the webhook */
};

/* Only the receiver at GONE_URL refuses all that comes. */
static struct canned_answer answer(void *ctx, const struct seen_request *request)
{
    return (struct canned_answer){HTTP_ANSWERED, strcmp(request->url, GONE_URL) ? 204 : 410, NULL, NULL,
                                  ANSWER_US};
}

static void settle(struct fixture *f)
{
    running_run(f->d, US_PER_S);
}

static void expect_accepted(struct command *cmd)
{
    assert_true(running_answered(cmd));
    if (cmd->reply.problem)
        fail_msg("%s", cmd->reply.problem->detail);
    command_free(cmd);
}

static struct command *post(struct fixture *f, enum command_type type, const char *id, json_t *body)
{
    struct command *cmd = running_command(f->d, type, NULL, NULL, body);
    (void)snprintf(cmd->id, sizeof(cmd->id), "%s", id);
    running_post(f->d, cmd);
    return cmd;
}

static void make_token(struct fixture *f, uint8_t digest[static TOKEN_DIGEST_BYTES])
{
    struct command *cmd = post(f, COMMAND_TOKEN_CREATE, "",
                               json_pack("{sssss[s]}", "name", "other", "role", "operator", "projects", "*"));
    settle(f);
    json_t *token CLEANUP_JSON = json_loads(cmd->reply.text, 0, NULL);
    (void)snprintf(f->token, sizeof(f->token), "%s", json_str(token, "id"));
    token_digest(json_str(token, "token"), digest);
    expect_accepted(cmd);
}

static void make_webhook(struct fixture *f)
{
    struct command *cmd =
        running_command(f->d, COMMAND_WEBHOOK_CREATE, NULL, NULL,
                        json_pack("{sss[s]}", "url", GONE_URL, "event_types", "freeze.started"));
    make_token(f, cmd->caller.digest);
    (void)snprintf(cmd->caller.token_id, sizeof(cmd->caller.token_id), "%s", f->token);
    running_post(f->d, cmd);
    settle(f);
    json_t *webhook CLEANUP_JSON = json_loads(cmd->reply.text, 0, NULL);
    (void)snprintf(f->webhook, sizeof(f->webhook), "%s", json_str(webhook, "id"));
    expect_accepted(cmd);
}

/* Makes an event that the webhook subscribes to. */
static void emit(struct fixture *f)
{
    struct command *cmd = running_command(f->d, COMMAND_FREEZE, NULL, NULL,
                                          json_pack("{ssss}", "scope", "p00", "reason", "test"));
    running_post(f->d, cmd);
    running_run(f->d, US_PER_MS);
    expect_accepted(cmd);
}

static int setup(void **state)
{
    struct fixture *f = MEM_NEW(struct fixture);
    f->cleura.uid = UID;
    f->d = one_shoot_start(&f->cleura);
    f->d->receivers->respond = answer;
    make_webhook(f);
    emit(f);
    assert_int_equal(f->d->receivers->in_flight, 1);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    f->d->store.is_held = false; /* a failed test may hold it */
    one_shoot_end(f->d);
    free(f);
    return 0;
}

/* From now on changes are decided, but not stored. */
static void hold(struct fixture *f)
{
    f->d->store.is_held = true;
}

/* The receiver answers; after that the changes are stored. */
static void receiver_answers(struct fixture *f)
{
    running_run(f->d, ANSWER_US + US_PER_S);
    f->d->store.is_held = false;
    settle(f);
}

/* ---- what clients see ---- */

/* Copies the member of the only webhook, or of its status; "none" when there is no webhook. */
static void shown(struct fixture *f, const char *member, char *to, size_t size)
{
    const struct view_snapshot *s = view_enter(f->d->view);
    struct view_cursor cursor = view_seek(s, VIEW_WEBHOOKS, "");
    const struct view_entry *item = s->sections[VIEW_WEBHOOKS].count ? view_next(&cursor) : NULL;
    json_t *doc CLEANUP_JSON = item ? json_loadb(item->blob->body, item->blob->body_len, 0, NULL) : NULL;
    const json_t *status = json_obj(doc, "status");
    const json_t *place = json_object_get(status, member) ? status : doc;
    (void)snprintf(to, size, "%s", item ? json_str_or(place, member, "null") : "none");
    view_leave(f->d->view);
}

static void expect_shown(struct fixture *f, const char *member, const char *text)
{
    char value[200];
    shown(f, member, value, sizeof(value));
    assert_string_equal(value, text);
}

static json_t *items_of(struct command *cmd)
{
    json_t *items = json_loads(cmd->reply.text, 0, NULL);
    assert_true(json_is_array(items));
    expect_accepted(cmd);
    return items;
}

/* Expects the number of events webhook.disabled. */
static void expect_events(struct fixture *f, size_t count)
{
    struct command *cmd = running_command(f->d, COMMAND_EVENTS, NULL, NULL, NULL);
    cmd->events.types = mem_calloc(2, sizeof(char *));
    cmd->events.types[0] = mem_strdup("webhook.disabled");
    cmd->events.limit = 100;
    running_post(f->d, cmd);
    settle(f);
    json_t *events CLEANUP_JSON = items_of(cmd);
    assert_int_equal(json_array_size(events), count);
}

/* `text`: status and error of each delivery of the webhook, the newest first. */
static void expect_log(struct fixture *f, const char *text)
{
    size_t i;
    json_t *row;
    struct buffer log CLEANUP_BUFFER;
    buffer_init(&log, SIZE_MAX);
    struct command *cmd = running_command(f->d, COMMAND_DELIVERIES, NULL, NULL, NULL);
    memcpy(cmd->id, f->webhook, sizeof(cmd->id));
    cmd->webhook.page.status = -1;
    cmd->webhook.page.limit = 100;
    running_post(f->d, cmd);
    settle(f);
    json_t *rows CLEANUP_JSON = items_of(cmd);
    json_array_foreach (rows, i, row) {
        buffer_add_str(&log, i ? ", " : "");
        buffer_add_str(&log, json_str(row, "status"));
        buffer_add_str(&log, json_str(row, "error") ? " " : "");
        buffer_add_str(&log, json_str_or(row, "error", ""));
    }
    char *have CLEANUP_FREE = buffer_take(&log, NULL);
    assert_string_equal(have, text);
}

static const char reason[] = "the receiver answered 410 Gone";

/* ---- no race ---- */

static void a_report_disables(void **state)
{
    struct fixture *f = *state;
    emit(f);
    receiver_answers(f);
    expect_shown(f, "state", "disabled");
    expect_shown(f, "disabled_reason", reason);
    expect_events(f, 1);
    expect_log(f, "failed disabled, failed gone");
    emit(f);
    running_run(f->d, MINUTE);
    expect_log(f, "failed disabled, failed gone");
    assert_int_equal(f->d->receivers->count, 1);
}

/* ---- the owner changes the webhook before the report ---- */

static void another_url_outruns_the_report(void **state)
{
    struct fixture *f = *state;
    hold(f);
    struct command *patch = post(f, COMMAND_WEBHOOK_PATCH, f->webhook, json_pack("{ss}", "url", OTHER_URL));
    receiver_answers(f);
    expect_accepted(patch);
    expect_shown(f, "state", "enabled");
    expect_shown(f, "url", OTHER_URL);
    expect_log(f, "failed gone");
    emit(f);
    running_run(f->d, MINUTE);
    expect_log(f, "delivered, failed gone");
    expect_events(f, 0);
}

/* The receiver may have been put in order in this moment; it is asked again. */
static void a_new_secret_outruns_the_report(void **state)
{
    struct fixture *f = *state;
    hold(f);
    struct command *rotate = post(f, COMMAND_WEBHOOK_ROTATE, f->webhook, json_object());
    receiver_answers(f);
    expect_accepted(rotate);
    expect_shown(f, "state", "enabled");
    expect_events(f, 0);
    emit(f);
    running_run(f->d, MINUTE);
    expect_shown(f, "disabled_reason", reason);
    expect_log(f, "failed gone, failed gone");
    expect_events(f, 1);
}

/* This change says nothing about the receiver. */
static void another_description_changes_nothing(void **state)
{
    struct fixture *f = *state;
    emit(f);
    hold(f);
    struct command *patch =
        post(f, COMMAND_WEBHOOK_PATCH, f->webhook, json_pack("{ss}", "description", "mine"));
    receiver_answers(f);
    expect_accepted(patch);
    expect_shown(f, "description", "mine");
    expect_shown(f, "disabled_reason", reason);
    expect_events(f, 1);
    running_run(f->d, MINUTE);
    expect_log(f, "failed disabled, failed gone");
    assert_int_equal(f->d->receivers->count, 1);
}

static struct command *post_status(struct fixture *f, const char *status)
{
    return post(f, COMMAND_WEBHOOK_PATCH, f->webhook,
                json_pack("{sb}", "enabled", !strcmp(status, "enabled")));
}

static void the_owner_disables_first(void **state)
{
    struct fixture *f = *state;
    emit(f);
    hold(f);
    struct command *off = post_status(f, "disabled");
    receiver_answers(f);
    expect_accepted(off);
    expect_shown(f, "disabled_reason", "switched off with the token tester");
    expect_events(f, 1);
    expect_log(f, "failed disabled, failed gone");
}

static void the_owner_enables_again(void **state)
{
    struct fixture *f = *state;
    hold(f);
    struct command *off = post_status(f, "disabled");
    struct command *on = post(f, COMMAND_WEBHOOK_ENABLE, f->webhook, NULL);
    receiver_answers(f);
    expect_accepted(off);
    expect_accepted(on);
    expect_shown(f, "state", "enabled");
    expect_events(f, 1);
    emit(f);
    running_run(f->d, MINUTE);
    expect_shown(f, "disabled_reason", reason);
    expect_events(f, 2);
}

static void the_owner_removes_the_webhook(void **state)
{
    struct fixture *f = *state;
    emit(f);
    hold(f);
    struct command *removed = post(f, COMMAND_WEBHOOK_DELETE, f->webhook, NULL);
    receiver_answers(f);
    expect_accepted(removed);
    expect_shown(f, "state", "none");
    expect_events(f, 0);
    assert_int_equal(f->d->receivers->count, 1);
}

static void the_token_of_the_owner_is_revoked(void **state)
{
    struct fixture *f = *state;
    hold(f);
    struct command *revoked = running_command(f->d, COMMAND_TOKEN_DELETE, NULL, NULL, NULL);
    memcpy(revoked->id, f->token, sizeof(revoked->id));
    revoked->token.disables_webhooks = true;
    running_post(f->d, revoked);
    receiver_answers(f);
    expect_accepted(revoked);
    expect_shown(f, "disabled_reason", "the token that made the webhook was revoked");
    expect_events(f, 1);
    expect_log(f, "failed gone");
}

/* ---- the owner changes the webhook after the report ---- */

/* The webhook was disabled because of the report, and that is not stored yet. */
static void the_owner_enables_after_the_report(void **state)
{
    struct fixture *f = *state;
    emit(f);
    hold(f);
    running_run(f->d, ANSWER_US + US_PER_S);
    struct command *on = post(f, COMMAND_WEBHOOK_ENABLE, f->webhook, NULL);
    struct command *patch = post(f, COMMAND_WEBHOOK_PATCH, f->webhook, json_pack("{ss}", "url", OTHER_URL));
    f->d->store.is_held = false;
    settle(f);
    expect_accepted(on);
    expect_accepted(patch);
    expect_shown(f, "state", "enabled");
    expect_events(f, 1);
    expect_log(f, "failed disabled, failed gone");
    emit(f);
    running_run(f->d, MINUTE);
    expect_log(f, "delivered, failed disabled, failed gone");
}

static void the_owner_removes_the_webhook_after_the_report(void **state)
{
    struct fixture *f = *state;
    hold(f);
    running_run(f->d, ANSWER_US + US_PER_S);
    struct command *removed = post(f, COMMAND_WEBHOOK_DELETE, f->webhook, NULL);
    f->d->store.is_held = false;
    settle(f);
    expect_accepted(removed);
    expect_shown(f, "state", "none");
    expect_events(f, 1);
}

/* ---- kills ---- */

/* Runs what is due now. */
static void turn(struct fixture *f)
{
    loop_turn(f->d->loop, f->d->world.now);
}

static void restart(struct fixture *f)
{
    running_start(f->d);
    f->d->receivers->respond = answer;
}

/* The process is killed `turns` turns after the receiver's answer, and the last turn is lost or not. Whatever
 * was stored, the next process comes to the same end. */
static void comes_to_the_same_end(struct fixture *f, int turns, bool lose_last_turn)
{
    emit(f);
    f->d->world.now += ANSWER_US;
    for (int i = 0; i < turns; i++)
        turn(f);
    (void)running_kill(f->d, lose_last_turn);
    restart(f);
    running_run(f->d, MINUTE);
    expect_shown(f, "disabled_reason", reason);
    expect_events(f, 1);
    expect_log(f, "failed disabled, failed gone");
}

static void kills_after_the_report_change_no_end(void **state)
{
    enum { TURNS = 6 };
    struct fixture *f = *state;
    comes_to_the_same_end(f, 0, true);
    for (int turns = 0; turns < TURNS; turns++)
        for (int lose = 0; lose < 2; lose++) {
            (void)teardown(state);
            (void)setup(state);
            comes_to_the_same_end(*state, turns, lose);
        }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_report_disables),
        TEST(another_url_outruns_the_report),
        TEST(a_new_secret_outruns_the_report),
        TEST(another_description_changes_nothing),
        TEST(the_owner_disables_first),
        TEST(the_owner_enables_again),
        TEST(the_owner_removes_the_webhook),
        TEST(the_token_of_the_owner_is_revoked),
        TEST(the_owner_enables_after_the_report),
        TEST(the_owner_removes_the_webhook_after_the_report),
        TEST(kills_after_the_report_change_no_end),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
