#include "cli/verbs/verb_watch.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/mem.h"
#include "cli/output.h"
#include "cli/problem.h"
#include "cli/cli_stream.h"
#include "cli/table.h"
#include "cli/verbs/verb_clusters.h"

/* Several events often come together. Such events cause one request, and there is at most one request a
 * second. Changes of labels and messages cause no events; a request every ANYWAY_MS finds these changes. */
enum { BURST_MS = 150, EVERY_MS = 1000, ANYWAY_MS = 10000, AFTER_FAILURE_MS = 2000 };

enum change { CHANGE_ADDED, CHANGE_CHANGED, CHANGE_LEFT, CHANGE_DELETED };

static const char *const change_words[] = {
    [CHANGE_ADDED] = "added",
    [CHANGE_CHANGED] = "changed",
    [CHANGE_LEFT] = "left",
    [CHANGE_DELETED] = "deleted",
};

struct watch {
    struct cli *cli;
    struct cli_http
        *beside; /* the connection that cli->http does not name at present; see swap_connections */
    unsigned beside_retries;       /* the number of retries for that connection */
    bool has_begun;                /* the stream is open, or was open before */
    const struct api_target *list; /* the list to watch; NULL: the clusters that the command line names */
    const char *project;
    json_t *known; /* the clusters in the state that was shown last, by id */
    struct output output;
    struct table *table; /* the printed table; NULL: documents are printed */
    bool is_wide;
    bool has_titles;
    bool is_due;       /* an event came since the last request */
    mono_us next_look; /* the earliest time of the next request */
    mono_us anyway;    /* the time of the next request when no event comes */
    int code;          /* the exit code when the watch cannot continue */
};

bool watch_is_possible(const struct cli *cli)
{
    if (!parsed_on(cli->parsed, "watch"))
        return true;
    if (cli_form(cli) != OUTPUT_NAME)
        return output_may_be_endless(cli, "--watch");
    (void)cli_fail(END_USAGE, "-o name cannot show the changes: use -o jsonl");
    return false;
}

/* ---- the members whose change is shown ---- */

static const char *const shown_of_status[] = {"phase", "health", "stale", NULL};
static const char *const shown_narrow[] = {"kubernetes_version", NULL};
static const char *const shown_wide[] = {"node_pool_count", "labels", "drifted", NULL};
static const char *const shown_documents[] = {"spec", "description", "deletion_protection", "managed", NULL};

static void copy_members(json_t *to, const json_t *from, const char *const *names)
{
    for (; *names; names++)
        (void)json_object_set(to, *names, json_object_get(from, *names));
}

/* Returns the members whose change prints a row. These members do not include the time of observation and the
 * progress of an operation. The caller owns the result. */
static json_t *essence_of(const struct watch *w, const json_t *cluster)
{
    json_t *essence = json_object();
    const json_t *operation = json_obj(cluster, "operation"), *status = json_obj(cluster, "status");
    bool busy = cluster_is_busy(cluster);
    copy_members(essence, status, shown_of_status);
    copy_members(essence, cluster, shown_narrow);
    json_set_bool(essence, "busy", busy);
    json_set_str(essence, "message", busy ? NULL : json_str(status, "message"));
    if (w->is_wide || !w->table) {
        copy_members(essence, cluster, shown_wide);
        json_set_str(essence, "type", json_str(operation, "type"));
        json_set_str(essence, "status", json_str(operation, "status"));
    }
    if (!w->table) {
        copy_members(essence, cluster, shown_documents);
        json_set_str(essence, "operation", json_str(operation, "id"));
    }
    return essence;
}

static bool is_same(const struct watch *w, const json_t *a, const json_t *b)
{
    json_t *x CLEANUP_JSON = essence_of(w, a), *y CLEANUP_JSON = essence_of(w, b);
    return json_equal(x, y);
}

/* ---- rows ---- */

/* Returns the row of a deleted cluster: its last state with the phase "deleted". */
static json_t *as_deleted(const json_t *cluster)
{
    static const char *const kept[] = {"observed_at", NULL};
    json_t *row = json_copy((json_t *)(uintptr_t)cluster), *status = json_object();
    json_set_str(status, "phase", "deleted");
    copy_members(status, json_obj(cluster, "status"), kept);
    json_set_take(row, "status", status);
    (void)json_object_del(row, "operation");
    return row;
}

static void show(struct watch *w, enum change change, const json_t *cluster)
{
    if (!w->table) {
        json_t *line CLEANUP_JSON =
            json_pack("{s:s,s:O}", "change", change_words[change], "cluster", cluster);
        w->code = output_add(&w->output, line, NULL);
        return;
    }
    json_t *row CLEANUP_JSON =
        change == CHANGE_DELETED ? as_deleted(cluster) : json_incref((json_t *)(uintptr_t)cluster);
    clusters_add(w->cli, w->table, w->is_wide, row);
}

/* Prints the rows of one request together, so that their columns align. */
static void print_rows(struct watch *w)
{
    const struct terminal *out = &w->cli->out;
    bool has_rows = w->table && table_rows(w->table);
    if (w->table && !w->has_titles && (has_rows || !out->is_terminal)) {
        table_print(w->table, out);
        w->has_titles = true;
    } else if (has_rows) {
        table_print_rows(w->table, out);
    }
    if (w->table)
        table_forget_rows(w->table);
    if (w->code == END_OK)
        w->code = cli_flush();
}

/* ---- one read of the clusters ---- */

static int take(json_t *now, json_t *cluster)
{
    const char *id = json_str(cluster, "id");
    if (!id)
        return cli_fail(END_UNREACHABLE,
                        "the server is not shootd: it answered with a cluster that has no id");
    return json_object_set(now, id, cluster) < 0 ? END_REFUSED : END_OK;
}

/* Reads the current state of one cluster. */
static int read_one(struct watch *w, const char *project, const char *name, struct cli_answer *answer)
{
    struct api_target target CLEANUP_TARGET;
    api_target_init(&target, API_CLUSTER, project, name, NULL);
    api_call_raw(w->cli, &target, NULL, answer);
    int code = (int)problem_code(answer);
    return code == END_OK ? api_check_object(w->cli, answer->json) : code;
}

/* Reads the clusters that the command line names. At the first read all clusters must exist; later a cluster
 * may be missing. */
static int read_names(struct watch *w, json_t *now, struct cli_answer *failure)
{
    for (const char **name = w->cli->parsed->arguments; *name; name++) {
        int code = read_one(w, w->project, *name, failure);
        bool gone = w->has_begun && problem_is_absent_cluster(failure);
        if (code != END_OK && !gone)
            return code;
        code = gone ? END_OK : take(now, failure->json);
        http_answer_done(failure);
        if (code != END_OK)
            return code;
    }
    return END_OK;
}

/* Looks for a cluster that is no longer in the list: it was deleted, or the filters no longer match. Without
 * an answer the cluster stays known, and the next read asks again. */
static void look_for(struct watch *w, json_t *now, const char *id, json_t *cluster)
{
    struct cli_answer answer CLEANUP_ANSWER = {0};
    int code = read_one(w, json_str_or(cluster, "project", ""), json_str_or(cluster, "name", ""), &answer);
    bool is_there = code == END_OK && mem_same_str(json_str(answer.json, "id"), id);
    if (is_there) {
        show(w, CHANGE_LEFT, answer.json);
    } else if (code == END_OK || problem_is_absent_cluster(&answer)) {
        show(w, CHANGE_DELETED, cluster);
    } else {
        (void)json_object_set(now, id, cluster);
        w->is_due = true;
    }
}

static void show_changes(struct watch *w, json_t *now)
{
    const char *id;
    json_t *cluster;
    void *next;
    json_object_foreach_safe(w->known, next, id, cluster)
    {
        if (!json_object_get(now, id))
            look_for(w, now, id, cluster);
    }
    json_object_foreach (now, id, cluster) {
        const json_t *before = json_object_get(w->known, id);
        if (!before)
            show(w, CHANGE_ADDED, cluster);
        else if (!is_same(w, before, cluster))
            show(w, CHANGE_CHANGED, cluster);
    }
}

static int read_list(struct watch *w, json_t *now, struct cli_answer *failure)
{
    struct api_list list = {.cli = w->cli, .target = w->list};
    int code = END_OK;
    for (json_t *one; code == END_OK && (one = api_list_next(&list));)
        code = take(now, one);
    int end = api_list_end_quiet(&list, failure);
    return code == END_OK ? end : code;
}

static int read_all(struct watch *w, json_t *now, struct cli_answer *failure)
{
    return w->list ? read_list(w, now, failure) : read_names(w, now, failure);
}

/* The stream uses one connection all the time, so other requests need a second one. The first call puts the
 * second connection into cli->http, and the next call puts the stream's connection back. A failed request is
 * not retried here, because the next read of the clusters sends it again. */
static void swap_connections(struct watch *w)
{
    assert(w->beside && w->beside != w->cli->http);
    struct cli_http *http = w->cli->http;
    unsigned retries = w->cli->retries;
    w->cli->http = w->beside;
    w->cli->retries = w->beside_retries;
    w->beside = http;
    w->beside_retries = retries;
}

/* Reads the clusters and shows the changes. If the server cannot be reached, a later call tries again. */
static void look(struct watch *w)
{
    struct cli_answer failure CLEANUP_ANSWER = {0};
    json_t *now CLEANUP_JSON = json_object();
    w->is_due = false;
    swap_connections(w);
    int code = read_all(w, now, &failure);
    int64_t pause = EVERY_MS;
    if (code == END_OK)
        show_changes(w, now);
    swap_connections(w);
    if (code == END_OK) {
        json_decref(w->known);
        w->known = json_incref(now);
        print_rows(w);
    } else if (problem_may_pass(&failure)) {
        w->is_due = true;
        pause = problem_pause_ms(&failure) > AFTER_FAILURE_MS ? problem_pause_ms(&failure) : AFTER_FAILURE_MS;
    } else {
        w->code = code;
        if (failure.end != HTTP_ANSWERED || failure.status)
            problem_say(w->cli, &failure);
    }
    w->next_look = env_mono(env_real()) + pause * US_PER_MS;
    w->anyway = w->next_look + ANYWAY_MS * US_PER_MS;
}

/* ---- the stream ---- */

static void make_due(struct watch *w)
{
    mono_us soon = env_mono(env_real()) + BURST_MS * US_PER_MS;
    if (!w->is_due && w->next_look < soon)
        w->next_look = soon;
    w->is_due = true;
}

/* A new stream sends the missed events, except when the server restored its store. The request that follows
 * here finds the changes in both cases. */
static void on_open(void *ctx)
{
    make_due(ctx);
}

static bool on_event(void *ctx, json_t *event)
{
    if (!event || json_str(json_obj(event, "data"), "cluster"))
        make_due(ctx);
    return true;
}

static bool on_tick(void *ctx)
{
    struct watch *w = ctx;
    mono_us now = env_mono(env_real());
    if (now >= (w->is_due ? w->next_look : w->anyway))
        look(w);
    return w->code != END_OK;
}

/* Reads the initial state and the number after which the stream continues. */
static int begin(struct watch *w, int64_t *ret_sequence)
{
    struct cli_answer failure CLEANUP_ANSWER = {0};
    int code = stream_newest(w->cli, ret_sequence);
    if (code != END_OK)
        return code;
    code = read_all(w, w->known, &failure);
    if (failure.end != HTTP_ANSWERED || failure.status)
        problem_say(w->cli, &failure);
    return code;
}

static int run(struct watch *w)
{
    const char *const *names = w->cli->parsed->arguments;
    const struct stream_reader reader = {.project = w->project,
                                         .cluster = !w->list && !names[1] ? names[0] : NULL,
                                         .on_event = on_event,
                                         .on_open = on_open,
                                         .on_tick = on_tick,
                                         .ctx = w};
    const char *id;
    json_t *cluster;
    int64_t sequence = 0;
    int code = begin(w, &sequence);
    if (code != END_OK)
        return code;
    w->has_begun = true;
    w->anyway = env_mono(env_real()) + ANYWAY_MS * US_PER_MS;
    json_object_foreach (w->known, id, cluster)
        show(w, CHANGE_ADDED, cluster);
    if (!json_object_size(w->known) && w->table && w->cli->out.is_terminal)
        cli_note("no clusters yet");
    print_rows(w);
    code = w->code == END_OK ? stream_follow(w->cli, &reader, sequence) : w->code;
    return code == END_OK ? w->code : code;
}

static int watch(struct cli *cli, const struct api_target *list, const char *project)
{
    bool documents = output_is_document(cli), is_wide = cli_form(cli) == OUTPUT_WIDE;
    struct table *table CLEANUP_TABLE = documents ? NULL : clusters_table(is_wide);
    struct watch w = {.cli = cli, .list = list, .project = project, .table = table, .is_wide = is_wide};
    w.beside = cli_open(cli);
    if (!w.beside)
        return END_REFUSED;
    w.known = json_object();
    output_begin(&w.output, cli);
    int code = run(&w);
    output_drop(&w.output);
    json_decref(w.known);
    http_free(w.beside);
    return code;
}

int watch_list(struct cli *cli, const struct api_target *target, const char *project)
{
    return watch(cli, target, project);
}

int watch_names(struct cli *cli, const char *project)
{
    return watch(cli, NULL, project);
}
