/* Answers that show an earlier state, on a virtual clock: how long such answers are ignored. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "tests/support/running.h"
#include "tests/support/shown.h"

#define MINUTE (60 * US_PER_S)
#define UID_1  "11111111-8888-4777-8666-555555555555"
#define UID_2  "22222222-8888-4777-8666-555555555555"

/* The shoot that Cleura shows. Without a uid there is no shoot. */
struct shown {
    const char *uid;
    const char *version;
    const char *time; /* the time of the last operation; NULL: no operation */
    const char *type; /* the type of the operation; NULL: Reconcile */
};

struct cleura {
    struct shown now;
    const struct shown *cached; /* the shoot in every second list, or NULL */
    unsigned lists;
};

static void write_shoot(const struct shown *shown, char *out, size_t size)
{
    char operation[200] = "";
    if (shown->time)
        (void)snprintf(operation, sizeof(operation),
                       "\"last_operation\":{\"type\":\"%s\",\"state\":\"Succeeded\",\"progress\":100,"
                       "\"description\":\"\",\"last_update_time\":\"%s\"},",
                       shown->type ? shown->type : "Reconcile", shown->time);
    (void)snprintf(out, size,
                   "{\"name\":\"dev\",\"uid\":\"%s\",\"kubernetes\":{\"version\":\"%s\"},"
                   "\"shoot_provider\":{\"workers\":[]},%s\"status\":{"
                   "\"is_hibernated\":false,\"conditions\":[],\"constraints\":[],\"last_errors\":[]}}",
                   shown->uid, shown->version, operation);
}

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    static char shoot[1024], list[1100];
    struct cleura *cleura = ctx;
    const bool one = strstr(request->url, "/shoots/") && strstr(request->url, "/dev");
    const bool is_list = !one && strstr(request->url, "/shoots/");
    const struct shown *shown =
        is_list && cleura->cached && cleura->lists++ % 2 ? cleura->cached : &cleura->now;
    struct canned_answer answer = {HTTP_ANSWERED, 200, shoot, NULL, 10 * US_PER_MS};
    write_shoot(shown, shoot, sizeof(shoot));
    (void)snprintf(list, sizeof(list), "[%s]", shown->uid ? shoot : "");
    if (one && !shown->uid) {
        answer.status = 404;
        answer.body = "{\"error\":{\"code\":404,\"message\":\"Not Found\"}}";
    } else if (is_list) {
        answer.body = list;
    } else if (!one) {
        bool catalog = strstr(request->url, "/cloud-profiles");
        answer.status = catalog ? 200 : 201;
        answer.body = catalog ? "[]" : "{\"result\":\"login_ok\",\"token\":\"t1\"}";
    }
    return answer;
}

/* Returns the version that a reader sees; "" when there is no such cluster. The caller frees it. */
static char *seen(struct running *d)
{
    const struct view_snapshot *s = view_enter(d->view);
    const struct view_blob *blob = view_find(s, VIEW_CLUSTERS, "p00/dev");
    struct cluster *c CLEANUP_CLUSTER = blob ? shown_cluster(blob) : NULL;
    char *version = mem_strdup(c ? json_str_or(shoot_observed(c->shoot), "kubernetes_version", "?") : "");
    view_leave(d->view);
    return version;
}

static void expect(struct running *d, const char *version)
{
    char *there CLEANUP_FREE = seen(d);
    assert_string_equal(there, version);
}

static struct running *start(struct cleura *cleura)
{
    static const struct polling polling = {10 * US_PER_S, 10 * US_PER_S, 10 * US_PER_S};
    struct running *d = MEM_NEW(struct running);
    running_init(d, 7, 1, &polling);
    d->respond = respond;
    d->ctx = cleura;
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

static const struct shown older = {UID_1, "1.33.7", "2026-03-01T12:00:00Z", NULL};
static const struct shown newer = {UID_1, "1.34.3", "2026-03-01T12:10:00Z", NULL};
static const struct shown deleting = {UID_1, "1.34.3", "2026-03-01T12:20:00Z", "Delete"};
static const struct shown unborn = {UID_1, "1.33.7", NULL, NULL};
static const struct shown nothing = {0};

static void an_older_answer_is_not_believed_for_five_minutes(void **state)
{
    struct cleura cleura = {.now = older};
    struct running *d = start(&cleura);
    expect(d, "1.33.7");
    cleura.now = newer;
    running_run(d, MINUTE);
    expect(d, "1.34.3");
    cleura.now = older;
    running_run(d, 4 * MINUTE);
    expect(d, "1.34.3");
    running_run(d, 2 * MINUTE); /* no cache is that old, so Cleura's clock was set back */
    expect(d, "1.33.7");
    end(d);
}

/* While one node confirms the newer state, an older state of another node is ignored. */
static void two_nodes_may_differ_for_an_hour(void **state)
{
    const struct shown *const caches[] = {&older, &unborn};
    for (size_t i = 0; i < ARRAY_LEN(caches); i++) {
        struct cleura cleura = {.now = newer};
        struct running *d = start(&cleura);
        cleura.cached = caches[i];
        for (int minute = 0; minute < 60; minute++) {
            running_run(d, MINUTE);
            expect(d, "1.34.3");
        }
        assert_true(cleura.lists > 20);
        end(d);
    }
}

static void also_not_after_a_restart(void **state)
{
    struct cleura cleura = {.now = newer};
    struct running *d = start(&cleura);
    (void)running_kill(d, false);
    cleura.now = older;
    running_start(d);
    running_run(d, 3 * MINUTE);
    expect(d, "1.34.3");
    end(d);
}

static void deleted_cluster_is_not_found_again_for_five_minutes(void **state)
{
    struct cleura cleura = {.now = newer};
    struct running *d = start(&cleura);
    cleura.now = deleting;
    running_run(d, MINUTE);
    cleura.now = nothing;
    running_run(d, MINUTE);
    expect(d, "");
    cleura.now = newer;
    running_run(d, 2 * MINUTE);
    expect(d, "");
    cleura.now = (struct shown){UID_2, "1.35.0", "2026-03-01T12:30:00Z", NULL}; /* another uid */
    running_run(d, MINUTE);
    expect(d, "1.35.0");
    cleura.now = nothing;
    running_run(d, 7 * MINUTE);
    expect(d, "");
    cleura.now = newer;
    running_run(d, 6 * MINUTE);
    expect(d, "1.34.3"); /* a state that is shown for more than 5 minutes is accepted */
    end(d);
}

/* A cluster can vanish, for example, because access was lost for a while. */
static void vanished_cluster_is_found_again_at_once(void **state)
{
    struct cleura cleura = {.now = newer};
    struct running *d = start(&cleura);
    cleura.now = nothing;
    running_run(d, 7 * MINUTE);
    expect(d, "");
    cleura.now = newer;
    running_run(d, MINUTE);
    expect(d, "1.34.3");
    end(d);
}

/* A poll without changes renders no cluster again, only the members of the project itself. Readers still get
 * the time of each read. */
static void polls_without_news_show_no_cluster_anew(void **state)
{
    struct cleura cleura = {.now = newer};
    struct running *d = start(&cleura);
    /* The old blobs are kept, so that no new blob gets the address of an old one. */
    const struct view_snapshot *before = view_enter(d->view);
    struct view_blob *blob = view_find(before, VIEW_CLUSTERS, "p00/dev");
    const struct view_section_entries *then = &before->sections[VIEW_CLUSTERS];
    const wall_us seen_before = view_blob_seen_at(blob);
    running_run(d, 5 * MINUTE);
    assert_ptr_equal(view_shown(d->view)->sections[VIEW_CLUSTERS].chunks, then->chunks);
    assert_true(view_blob_seen_at(blob) > seen_before + 4 * MINUTE);

    struct view_blob *now = view_blob_as_seen(blob);
    assert_true(now->observed_at == view_blob_seen_at(blob));
    assert_non_null(strstr(now->body, now->observed_text));
    assert_string_equal(now->etag, blob->etag);
    view_blob_unref(now);

    cleura.now = deleting;
    running_run(d, MINUTE);
    assert_ptr_not_equal(view_shown(d->view)->sections[VIEW_CLUSTERS].chunks, then->chunks);
    view_leave(d->view);
    end(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_answer_is_not_believed_for_five_minutes),
        cmocka_unit_test(two_nodes_may_differ_for_an_hour),
        cmocka_unit_test(also_not_after_a_restart),
        cmocka_unit_test(deleted_cluster_is_not_found_again_for_five_minutes),
        cmocka_unit_test(vanished_cluster_is_found_again_at_once),
        cmocka_unit_test(polls_without_news_show_no_cluster_anew),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
