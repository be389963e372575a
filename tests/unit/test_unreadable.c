/* Rows of the store that cannot be read. No client waits for work that cannot continue. On a virtual
 * clock. */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "tests/support/one_shoot.h"
#include "tests/support/shown.h"

#define UID "11111111-8888-4777-8666-555555555555"

/* `text`: status and code of the only operation in the view, such as "failed internal_error". */
static void expect_operation(struct running *d, enum operation_type type, const char *text)
{
    const struct view_snapshot *s = view_enter(d->view);
    struct view_cursor place = view_seek(s, VIEW_OPERATIONS, "");
    const struct view_entry *entry = view_next(&place);
    assert_non_null(entry);
    const struct operation *op = entry->blob->subject;
    char *shown CLEANUP_FREE =
        mem_printf("%s %s", operation_status_name(op->status), json_str_or(op->error, "code", ""));
    assert_int_equal(op->type, type);
    assert_null(view_next(&place));
    view_leave(d->view);
    assert_string_equal(shown, text);
}

static void an_operation_without_its_cluster_ends_as_failed(void **state)
{
    struct one_shoot cleura = {.uid = UID};
    struct running *d = one_shoot_start(&cleura);
    cleura.away = true;
    struct command *cmd = one_shoot_post(d, COMMAND_CLUSTER_DELETE);
    running_run(d, MINUTE);
    assert_int_equal(cmd->reply.status, 202);
    expect_operation(d, OPERATION_DELETE, "pending ");
    (void)running_kill(d, false);
    command_free(cmd);
    store_run_sql(d->store.location, "UPDATE clusters SET doc = '{}'");
    running_start(d);
    running_run(d, MINUTE);
    expect_operation(d, OPERATION_DELETE, "failed internal_error");
    expect_cluster(d->view, "p00/dev", "none");
    (void)running_kill(d, false);
    /* The result is permanent. The shoot at Cleura is found again, and is not managed. */
    cleura.away = false;
    running_start(d);
    running_run(d, 10 * MINUTE);
    expect_operation(d, OPERATION_DELETE, "failed internal_error");
    expect_cluster(d->view, "p00/dev", "ready");
    assert_int_equal(cleura.writes, 0);
    one_shoot_end(d);
}

/* Cleura has no shoots, and refuses to create one now. */
static struct canned_answer cannot_make(void *ctx, const struct seen_request *request)
{
    struct canned_answer answer = {HTTP_ANSWERED, 200, "[]", NULL, 10 * US_PER_MS};
    if (strstr(request->url, "/auth/")) {
        answer.status = 201;
        answer.body = "{\"result\":\"login_ok\",\"token\":\"t1\"}";
    } else if (strstr(request->url, "/cloud-profiles")) {
        answer.body = small_catalog;
    } else if (!strcmp(request->method, "POST")) {
        answer = (struct canned_answer){HTTP_NOT_SENT, 0, NULL, NULL, US_PER_MS};
    }
    return answer;
}

static void create(struct running *d)
{
    struct command *cmd =
        running_command(d, COMMAND_CLUSTER_CREATE, "p00", NULL, json_pack("{ss}", "name", "dev"));
    running_post(d, cmd);
    running_run(d, MINUTE);
    assert_true(running_answered(cmd));
    assert_int_equal(cmd->reply.status, 202);
    command_free(cmd);
    expect_cluster(d->view, "p00/dev", "pending managed");
    expect_operation(d, OPERATION_CREATE, "running ");
}

static void a_cluster_without_its_create_may_be_made_anew(void **state)
{
    const struct polling polling = {10 * US_PER_S, 3600 * US_PER_S, 3600 * US_PER_S};
    struct running *d = MEM_NEW(struct running);
    running_init(d, 7, 1, &polling);
    d->respond = cannot_make;
    running_start(d);
    create(d);
    (void)running_kill(d, false);
    store_run_sql(d->store.location, "UPDATE operations SET doc = '{}'");
    running_start(d);
    running_run(d, MINUTE);
    expect_cluster(d->view, "p00/dev", "failed managed");
    create(d);
    (void)running_kill(d, false);
    running_done(d);
    free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_without_its_cluster_ends_as_failed),
        cmocka_unit_test(a_cluster_without_its_create_may_be_made_anew),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
