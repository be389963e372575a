/*
 * Thousands of clusters in twenty projects for one day, ten thousand with FULL=1, on a virtual clock.
 * Measures how often and when Cleura is called, the cost for the store, and how long a user's write waits.
 */
#include "tests/support/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "tests/support/running.h"
#include "view/cluster_facts.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CLUSTERS = 20, CLUSTERS_MAX = 20 }; /* the clusters of each project: by default, and with FULL=1 */
#else
enum { CLUSTERS = 100, CLUSTERS_MAX = 500 };
#endif

enum {
    PROJECTS = 20,
    HOUR_S = 3600,
    HOURS = 24,
    DAY_S = HOURS * HOUR_S,
    ACTIVE_S = 15,
    IDLE_S = 5400,
    LIST_LATENCY_MS = 200,
    CALL_LATENCY_MS = 50,
    PICK_UP_S = 5,
    RUN_S = 60,
    WRITES = 40,            /* more than the number of writes by users in a run */
    CALLS_BEFORE_WRITE = 3, /* the limit of calls that start between a command and its first write */
    WINDOW_S = 10,
    /* Polls of all projects are 270 s apart, so at most one is in the window; an active project adds one. */
    LISTS_IN_WINDOW = 2,
    LISTS_MAX = 4096,
    QUIET_FROM_H = 3, /* in these hours users do not write */
    QUIET_UNTIL_H = 12,
    LATE_S = 15, /* a list may wait this long in the queue */
};

static unsigned clusters = CLUSTERS;

/* ---- Cleura ---- */

struct shoot_model {
    int maximum;
    mono_us changed_at; /* 0: never */
};

struct project_model {
    struct shoot_model shoots[CLUSTERS_MAX];
    char *list;
    mono_us list_at;     /* when `list` was written */
    mono_us moves_until; /* when the last change of the project ends */
    mono_us lists[LISTS_MAX];
    unsigned list_count;
};

/* A user's write that is in progress. */
struct expected_write {
    struct command *cmd;
    unsigned project, shoot;
    unsigned calls_before; /* number of calls when the command was posted */
    int calls; /* calls that started before the call of this write; -1: that call has not started */
};

struct day {
    struct running d;
    struct project_model projects[PROJECTS];
    unsigned calls, lists, gets, writes, catalogs, others;
    struct expected_write expected[WRITES * 2];
    unsigned expected_count;
    char answer[4096];
};

static const char catalog[] =
    "[{\"name\":\"cleuracloud\",\"kubernetes\":{\"versions\":[{\"version\":\"1.33.7\"}]},"
    "\"machine_types\":[{\"name\":\"b.2c4gb\",\"cpu\":\"2\",\"memory\":\"4Gi\"}],"
    "\"machine_images\":[{\"name\":\"gardenlinux\",\"versions\":[{\"version\":\"1877.9.0\"}]}],"
    "\"regions\":[{\"name\":\"Sto2\",\"zones\":[{\"name\":\"nova\"}]}]}]";

static const char shoot_form[] =
    "{\"name\":\"c%03u\",\"uid\":\"00000000-0000-4000-8000-%06u%06u\",\"technical_id\":\"shoot--p--c%u\","
    "\"purpose\":\"evaluation\","
    "\"kubernetes\":{\"version\":\"1.33.7\"},\"networking\":{\"type\":\"calico\",\"nodes\":\"10.250.0.0/"
    "16\"},"
    "\"maintenance\":{\"auto_update\":{\"kubernetes_version\":true,\"machine_image_version\":true},"
    "\"time_window\":{\"begin\":\"020000+0000\",\"end\":\"030000+0000\"}},"
    "\"shoot_provider\":{\"workers\":[{\"name\":\"default\",\"machine\":{\"type\":\"b.2c4gb\",\"image\":"
    "{\"name\":\"gardenlinux\",\"version\":\"1877.9.0\"}},\"minimum\":1,\"maximum\":%d,\"max_surge\":1,"
    "\"volume\":{\"size\":\"50Gi\"},\"zones\":[\"nova\"]}]},\"last_operation\":{\"type\":\"%s\",\"state\":"
    "\"%s\",\"progress\":%d,\"description\":\"%s\",\"last_update_time\":\"%s\"},\"status\":{"
    "\"is_hibernated\":false,\"conditions\":[{\"type\":\"APIServerAvailable\",\"status\":\"True\"},"
    "{\"type\":\"EveryNodeReady\",\"status\":\"True\"}],\"constraints\":[],\"last_errors\":[]}}";

static int shoot_text(const struct day *day, unsigned p, unsigned i, char *out, size_t size)
{
    const struct shoot_model *s = &day->projects[p].shoots[i];
    mono_us now = day->d.world.now, begun = s->changed_at + PICK_UP_S * US_PER_S;
    mono_us ended = begun + RUN_S * US_PER_S;
    bool changed = s->changed_at && now >= begun, runs = changed && now < ended;
    mono_us at = !changed ? 0 : runs ? begun : ended;
    char time[TIME_TEXT_BYTES];
    return snprintf(out, size, shoot_form, i, p, i, i, s->maximum, changed ? "Reconcile" : "Create",
                    runs ? "Processing" : "Succeeded", runs ? 50 : 100, runs ? "Reconciling" : "Done",
                    time_rfc3339(day->d.world.wall_offset + at, false, time));
}

static const char *list_text(struct day *day, unsigned p)
{
    struct project_model *m = &day->projects[p];
    if (m->list && m->moves_until < m->list_at)
        return m->list;
    char *text = mem_calloc(clusters, 2048);
    size_t used = 0;
    for (unsigned i = 0; i < clusters; i++) {
        text[used++] = i ? ',' : '[';
        used += (size_t)shoot_text(day, p, i, text + used, 2040);
    }
    text[used] = ']';
    free(m->list);
    m->list = text;
    m->list_at = day->d.world.now;
    return text;
}

static struct canned_answer answer_after(const char *body, int status, int64_t latency_ms)
{
    return (struct canned_answer){HTTP_ANSWERED, status, body, NULL, latency_ms * US_PER_MS};
}

static void note_write(struct day *day, unsigned p, unsigned i)
{
    for (unsigned n = 0; n < day->expected_count; n++) {
        struct expected_write *w = &day->expected[n];
        if (w->project == p && w->shoot == i && w->calls < 0)
            w->calls = (int)(day->calls - 1 - w->calls_before);
    }
}

static struct canned_answer shoot_answer(struct day *day, const struct seen_request *request, unsigned p,
                                         unsigned i)
{
    if (!strcmp(request->method, "PUT")) {
        const char *maximum = strstr(request->body, "\"maximum\":");
        assert_non_null(maximum);
        note_write(day, p, i);
        day->writes++;
        day->projects[p].shoots[i] = (struct shoot_model){.maximum = (int)strtol(maximum + 10, NULL, 10),
                                                          .changed_at = day->d.world.now};
        day->projects[p].moves_until = day->d.world.now + (PICK_UP_S + RUN_S + 1) * US_PER_S;
        (void)shoot_text(day, p, i, day->answer, sizeof(day->answer));
        return answer_after(day->answer, 202, CALL_LATENCY_MS);
    }
    day->gets++;
    (void)shoot_text(day, p, i, day->answer, sizeof(day->answer));
    return answer_after(day->answer, 200, CALL_LATENCY_MS);
}

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    struct day *day = ctx;
    const char *shoots = strstr(request->url, "/shoots/Sto2/id");
    day->calls++;
    if (strstr(request->url, "/cloud-profiles")) {
        day->catalogs++;
        return answer_after(catalog, 200, CALL_LATENCY_MS);
    }
    if (!shoots) {
        day->others++;
        return answer_after("{\"result\":\"login_ok\",\"token\":\"t1\"}", 201, CALL_LATENCY_MS);
    }
    char *end;
    unsigned p = (unsigned)strtoul(shoots + 15, &end, 10);
    if (!strncmp(end, "/c", 2))
        return shoot_answer(day, request, p, (unsigned)strtoul(end + 2, NULL, 10));
    struct project_model *m = &day->projects[p];
    assert_in_range(m->list_count, 0, LISTS_MAX - 1);
    m->lists[m->list_count++] = day->d.world.now;
    day->lists++;
    return answer_after(list_text(day, p), 200, LIST_LATENCY_MS);
}

/* ---- users ---- */

static uint64_t draw(struct day *day, uint64_t below)
{
    return env_random_below(&day->d.world.env, below);
}

static void post_write(struct day *day, unsigned p, unsigned i)
{
    char project[8], name[8];
    (void)snprintf(project, sizeof(project), "p%02u", p % PROJECTS);
    (void)snprintf(name, sizeof(name), "c%03u", i % CLUSTERS_MAX);
    int maximum = day->projects[p].shoots[i].maximum + 1;
    struct command *cmd = running_command(
        &day->d, COMMAND_CLUSTER_PUT, project, name,
        json_pack("{s{s[{sssi}]}}", "spec", "node_pools", "name", "default", "maximum", maximum));
    day->expected[day->expected_count++] = (struct expected_write){cmd, p, i, day->calls, -1};
    running_post(&day->d, cmd);
}

/* A user requests fresh data of all projects: the lists of all projects are queued at once. */
static struct command *post_reader(struct day *day)
{
    struct command *cmd = running_command(&day->d, COMMAND_FRESH, NULL, NULL, NULL);
    running_post(&day->d, cmd);
    return cmd;
}

static void check_writes(const struct day *day)
{
    int most = 0;
    for (unsigned n = 0; n < day->expected_count; n++) {
        const struct expected_write *w = &day->expected[n];
        assert_true(running_answered(w->cmd));
        assert_int_equal(w->cmd->reply.status, 202);
        assert_in_range(w->calls, 0, CALLS_BEFORE_WRITE);
        most = w->calls > most ? w->calls : most;
    }
    print_message("%u writes by users, at most %d calls before each\n", day->expected_count, most);
}

/* ---- expectations ---- */

/*
 * Returns the smallest possible number of lists of a project. The interval doubles with every unchanged
 * answer, from the active to the idle interval.
 */
static unsigned fewest_lists(void)
{
    unsigned count = 1;
    int64_t at = 0;
    for (int64_t interval = ACTIVE_S; interval < IDLE_S; interval *= 2) {
        at += interval;
        count++;
    }
    return count + (unsigned)((DAY_S - at) / IDLE_S);
}

static void check_lists(const struct day *day)
{
    unsigned fewest = PROJECTS * fewest_lists();
    print_message("lists: %u; the fewest possible: %u: %+.2f %%\n", day->lists, fewest,
                  (day->lists * 100.0 / fewest) - 100);
    /* The read for a user's request is counted, because it replaces the project's next list. */
    assert_true(day->lists * 100 <= fewest * 105);
    /* One wait may be longer by a quarter, because each project has its own slot in the interval
     * (reconcile/observation/poll.c). */
    assert_true(day->lists + PROJECTS >= fewest);
}

static void check_freshness(const struct day *day)
{
    mono_us longest = 0;
    for (unsigned p = 0; p < PROJECTS; p++) {
        const struct project_model *m = &day->projects[p];
        for (unsigned i = 0; i < m->list_count; i++) {
            mono_us next = i + 1 < m->list_count ? m->lists[i + 1] : day->d.world.now;
            longest = next - m->lists[i] > longest ? next - m->lists[i] : longest;
        }
    }
    print_message("the longest time between two lists of a project: %.1f s\n", (double)longest / 1e6);
    /* The slot makes one wait longer by up to a quarter. */
    assert_true(longest <= (IDLE_S + IDLE_S / 4 + LATE_S) * US_PER_S);
}

static int by_time(const void *left, const void *right)
{
    mono_us a = *(const mono_us *)left, b = *(const mono_us *)right;
    return (a > b) - (a < b);
}

static void check_phases(const struct day *day, mono_us from)
{
    mono_us *all CLEANUP_FREE = mem_calloc(day->lists, sizeof(*all));
    unsigned count = 0, most = 0;
    for (unsigned p = 0; p < PROJECTS; p++)
        for (unsigned i = 0; i < day->projects[p].list_count; i++)
            if (day->projects[p].lists[i] >= from)
                all[count++] = day->projects[p].lists[i];
    qsort(all, count, sizeof(*all), by_time);
    for (unsigned first = 0, last = 0; last < count; last++) {
        while (all[last] - all[first] >= WINDOW_S * US_PER_S)
            first++;
        most = last - first + 1 > most ? last - first + 1 : most;
    }
    print_message("second half of the day: %u lists, at most %u in %d s\n", count, most, WINDOW_S);
    assert_in_range(most, 1, LISTS_IN_WINDOW);
}

static uint64_t change_sets(struct day *day)
{
    struct storage_metrics metrics;
    storage_metrics(day->d.storage, &metrics);
    return metrics.change_sets;
}

static void check_view(struct day *day)
{
    const struct view_snapshot *s = view_enter(day->d.view);
    assert_int_equal(s->sections[VIEW_CLUSTERS].count, PROJECTS * clusters);
    struct view_cursor place = view_seek(s, VIEW_CLUSTERS, "");
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        const struct cluster_facts *c = cluster_facts_of(e->blob);
        assert_int_equal(c->phase, PHASE_READY);
        assert_false(c->stale);
    }
    view_leave(day->d.view);
}

/* ---- the day ---- */

/* Runs one hour with `writes` writes at random moments; returns the number of change sets. */
static uint64_t live_an_hour(struct day *day, unsigned writes)
{
    uint64_t before = change_sets(day);
    mono_us end = day->d.world.now + HOUR_S * US_PER_S;
    for (unsigned i = 0; i < writes; i++) {
        mono_us left = (end - 120 * US_PER_S - day->d.world.now) / (writes - i);
        running_run(&day->d, (mono_us)draw(day, (uint64_t)left));
        post_write(day, (unsigned)draw(day, PROJECTS), (unsigned)draw(day, clusters));
    }
    running_run(&day->d, end - day->d.world.now);
    check_view(day);
    return change_sets(day) - before;
}

static void a_day_of_ten_thousand_clusters(void **state)
{
    struct day *day = *state;
    struct command *readers[2];
    const struct polling polling = {ACTIVE_S * US_PER_S, IDLE_S * US_PER_S, IDLE_S * US_PER_S};
    running_init(&day->d, 7, PROJECTS, &polling);
    day->d.respond = respond;
    day->d.ctx = day;
    running_start(&day->d);
    mono_us began = day->d.world.now;
    for (int hour = 0; hour < HOURS; hour++) {
        if (hour == 1 || hour == 2) { /* everything is queued, and then a user writes */
            readers[hour - 1] = post_reader(day);
            running_run(&day->d, (hour - 1) * 3 * US_PER_S);
            post_write(day, (unsigned)hour * 7, 1);
        }
        bool quiet = hour >= QUIET_FROM_H && hour < QUIET_UNTIL_H;
        uint64_t cost = live_an_hour(day, quiet || !hour ? 0 : 2);
        /* Only the purge is stored, because catalogs and clusters did not change. */
        if (quiet)
            assert_int_equal(cost, 1);
    }
    running_run(&day->d, began + DAY_S * US_PER_S - day->d.world.now);
    print_message("calls: %u lists, %u reads and %u writes of one cluster, %u catalogs, %u logins\n",
                  day->lists, day->gets, day->writes, day->catalogs, day->others);
    check_lists(day);
    check_freshness(day);
    check_phases(day, began + DAY_S / 2 * US_PER_S);
    for (int i = 0; i < 2; i++) {
        assert_true(running_answered(readers[i]) && readers[i]->fresh.outcome != FRESH_FAILED);
        command_free(readers[i]);
    }

    /* The worst case: after a start all polls and catalogs are due at once. */
    (void)running_kill(&day->d, false);
    running_start(&day->d);
    post_write(day, 11, 11);
    running_run(&day->d, 300 * US_PER_S);
    check_view(day);
    check_writes(day);
    (void)running_kill(&day->d, false);
}

static int setup(void **state)
{
    struct day *day = MEM_NEW(struct day);
    for (unsigned p = 0; p < PROJECTS; p++)
        for (unsigned i = 0; i < clusters; i++)
            day->projects[p].shoots[i].maximum = 3;
    *state = day;
    return 0;
}

static int teardown(void **state)
{
    struct day *day = *state;
    running_done(&day->d);
    for (unsigned n = 0; n < day->expected_count; n++)
        command_free(day->expected[n].cmd);
    for (unsigned p = 0; p < PROJECTS; p++)
        free(day->projects[p].list);
    free(day);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_day_of_ten_thousand_clusters, setup, teardown),
    };
    running_silence_log();
    if (getenv("FULL"))
        clusters = CLUSTERS_MAX;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
