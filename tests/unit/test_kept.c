/* How long what has ended is kept, on a virtual clock. */
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "tests/support/running.h"

#define HOUR (3600 * US_PER_S)

static const char catalog[] =
    "[{\"name\":\"cleuracloud\",\"kubernetes\":{\"versions\":[{\"version\":\"1.33.7\"}]},"
    "\"machine_types\":[{\"name\":\"b.2c4gb\",\"cpu\":\"2\",\"memory\":\"4Gi\"}],"
    "\"machine_images\":[{\"name\":\"gardenlinux\",\"versions\":[{\"version\":\"1877.9.0\"}]}],"
    "\"regions\":[{\"name\":\"Sto2\",\"zones\":[{\"name\":\"nova\"}]}]}]";

static struct canned_answer answer_with(int status, const char *body)
{
    return (struct canned_answer){HTTP_ANSWERED, status, body, NULL, 10 * US_PER_MS};
}

/* Cleura has no shoots and refuses each one. */
static struct canned_answer refuse(void *ctx, const struct seen_request *request)
{
    (void)ctx;
    bool post = !strcmp(request->method, "POST");
    if (strstr(request->url, "/cloud-profiles"))
        return answer_with(200, catalog);
    if (strstr(request->url, "/shoots/"))
        return post ? answer_with(400, "{}") : answer_with(200, "[]");
    return answer_with(201, "{\"result\":\"login_ok\",\"token\":\"t1\"}");
}

static size_t operations_shown(struct running *d)
{
    const struct view_snapshot *s = view_enter(d->view);
    size_t count = s->sections[VIEW_OPERATIONS].count;
    view_leave(d->view);
    return count;
}

static void create(struct running *d, const char *name)
{
    struct command *cmd =
        running_command(d, COMMAND_CLUSTER_CREATE, "p00", NULL, json_pack("{ss}", "name", name));
    running_post(d, cmd);
    running_run(d, 60 * US_PER_S);
    assert_true(running_answered(cmd));
    assert_int_equal(cmd->status, 202);
    command_free(cmd);
}

static void ao6_operations_are_kept_for_seven_days(void **state)
{
    (void)state;
    struct running *d = MEM_NEW(struct running);
    const struct polling polling = {12 * HOUR, 12 * HOUR, 12 * HOUR};
    running_init(d, 3, 1, &polling);
    d->respond = refuse;
    running_start(d);
    create(d, "early");
    running_run(d, 24 * HOUR);
    create(d, "late");
    running_run(d, 5 * 24 * HOUR + 20 * HOUR);
    assert_int_equal(operations_shown(d), 2);
    running_run(d, 8 * HOUR);
    assert_int_equal(operations_shown(d), 1);
    running_run(d, 24 * HOUR);
    assert_int_equal(operations_shown(d), 0);
    (void)running_kill(d, false);
    running_start(d);
    assert_int_equal(operations_shown(d), 0);
    (void)running_kill(d, false);
    running_done(d);
    free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ao6_operations_are_kept_for_seven_days)};
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
