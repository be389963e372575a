/* Answers that show what was before, on a virtual clock: for how long they are not believed. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "tests/support/running.h"

#define MINUTE (60 * US_PER_S)

/* What Cleura's list shows; no uid: an empty list. */
struct shown {
    const char *uid;
    const char *version;
    const char *time;
};

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    static char shoot[1024], list[1100];
    const struct shown *shown = ctx;
    int status = 200;
    const char *body = list;
    (void)snprintf(
        shoot, sizeof(shoot),
        "{\"name\":\"dev\",\"uid\":\"%s\",\"kubernetes\":{\"version\":\"%s\"},\"last_operation\":{\"type\":"
        "\"Reconcile\",\"state\":\"Succeeded\",\"progress\":100,\"description\":\"\","
        "\"last_update_time\":\"%s\"},\"status\":{\"is_hibernated\":false,\"conditions\":[],"
        "\"constraints\":[],\"last_errors\":[]}}",
        shown->uid, shown->version, shown->time);
    (void)snprintf(list, sizeof(list), "[%s]", shown->uid ? shoot : "");
    if (strstr(request->url, "/shoots/") && strstr(request->url, "/dev")) {
        status = shown->uid ? 200 : 404;
        body = shown->uid ? shoot : "{\"error\":{\"code\":404,\"message\":\"Not Found\"}}";
    } else if (!strstr(request->url, "/shoots/")) {
        status = strstr(request->url, "/cloud-profiles") ? 200 : 201;
        body = status == 200 ? "[]" : "{\"result\":\"login_ok\",\"token\":\"t1\"}";
    }
    return (struct canned_answer){HTTP_ANSWERED, status, body, NULL, 10 * US_PER_MS};
}

/* The version that a reader sees, as "" when there is no such cluster. The caller frees it. */
static char *seen(struct running *d)
{
    const struct view_snapshot *s = view_enter(d->view);
    const struct view_blob *blob = view_find(s, VIEW_CLUSTERS, "p00/dev");
    const struct cluster *c = blob ? blob->subject : NULL;
    char *version = mem_strdup(c ? json_str_or(c->shoot->observed, "kubernetes_version", "?") : "");
    view_leave(d->view);
    return version;
}

static void expect(struct running *d, const char *version)
{
    char *there CLEANUP_FREE = seen(d);
    assert_string_equal(there, version);
}

static struct running *start(struct shown *shown)
{
    static const struct polling polling = {10 * US_PER_S, 10 * US_PER_S, 10 * US_PER_S};
    struct running *d = MEM_NEW(struct running);
    running_init(d, 7, 1, &polling);
    d->respond = respond;
    d->ctx = shown;
    running_start(d);
    running_run(d, 2 * MINUTE);
    return d;
}

static void end(struct running *d)
{
    (void)running_kill(d, false);
    running_done(d);
    free(d);
}

static const struct shown older = {"u1", "1.33.7", "2026-03-01T12:00:00Z"};
static const struct shown newer = {"u1", "1.34.3", "2026-03-01T12:10:00Z"};
static const struct shown nothing = {0};

static void an_older_answer_is_not_believed_for_five_minutes(void **state)
{
    (void)state;
    struct shown shown = older;
    struct running *d = start(&shown);
    expect(d, "1.33.7");
    shown = newer;
    running_run(d, MINUTE);
    expect(d, "1.34.3");
    shown = older;
    running_run(d, 3 * MINUTE);
    expect(d, "1.34.3");
    running_run(d, 3 * MINUTE); /* it is not a cache, its clock was set */
    expect(d, "1.33.7");
    end(d);
}

static void also_not_after_a_restart(void **state)
{
    (void)state;
    struct shown shown = newer;
    struct running *d = start(&shown);
    (void)running_kill(d, false);
    shown = older;
    running_start(d);
    running_run(d, 3 * MINUTE);
    expect(d, "1.34.3");
    end(d);
}

static void what_is_gone_is_not_found_again_for_five_minutes(void **state)
{
    (void)state;
    struct shown shown = newer;
    struct running *d = start(&shown);
    shown = nothing;
    running_run(d, 2 * MINUTE);
    expect(d, "");
    shown = newer;
    running_run(d, 2 * MINUTE);
    expect(d, "");
    shown = (struct shown){"u2", "1.35.0", "2026-03-01T12:30:00Z"}; /* another one of the same name */
    running_run(d, MINUTE);
    expect(d, "1.35.0");
    shown = nothing;
    running_run(d, 2 * MINUTE);
    expect(d, "");
    shown = newer;
    running_run(d, 6 * MINUTE);
    expect(d, "1.34.3"); /* whoever shows it for that long has it */
    end(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_answer_is_not_believed_for_five_minutes),
        cmocka_unit_test(also_not_after_a_restart),
        cmocka_unit_test(what_is_gone_is_not_found_again_for_five_minutes),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
