/* The commands `list` and `get`: rows of clusters. The columns of the narrow form never change; new columns
 * are added to the wide form only. */
#include "cli/verbs/verb_clusters.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "cli/api.h"
#include "cli/output.h"
#include "cli/problem.h"
#include "cli/table.h"
#include "cli/verbs/verbs.h"
#include "cli/verbs/verb_watch.h"
#include "cli/when.h"
#include "model/names.h"

static const struct column narrow[] = {
    {"PROJECT", false}, {"NAME", false},    {"PHASE", false},  {"HEALTH", false},
    {"VERSION", false}, {"CREATED", false}, {"MESSAGE", true}, {NULL, false},
};
static const struct column wide[] = {
    {"PROJECT", false},  {"NAME", false},   {"PHASE", false}, {"HEALTH", false}, {"VERSION", false},
    {"CREATED", false},  {"POOLS", false},  {"LABELS", true}, {"DRIFT", false},  {"OPERATION", false},
    {"OBSERVED", false}, {"MESSAGE", true}, {NULL, false},
};

enum style phase_style(const char *phase)
{
    switch (phase_from_name(phase)) {
    case PHASE_READY:
        return STYLE_GOOD;
    case PHASE_FAILED:
    case PHASE_DEGRADED:
    case PHASE_RETRYING:
        return STYLE_BAD;
    case PHASE_HIBERNATED:
        return STYLE_DIM;
    default:
        return STYLE_BUSY;
    }
}

char *labels_text(const json_t *labels)
{
    struct buffer text CLEANUP_BUFFER;
    const char *key;
    json_t *value;
    buffer_init(&text, 1024 * 1024);
    json_object_foreach ((json_t *)(uintptr_t)labels, key, value)
        buffer_printf(&text, "%s%s=%s", text.len ? "," : "", key,
                      json_is_string(value) ? json_string_value(value) : "");
    return buffer_take(&text, NULL);
}

bool cluster_is_busy(const json_t *cluster)
{
    const char *status = json_str_or(json_obj(cluster, "operation"), "status", "");
    return strcmp(status, "pending") == 0 || strcmp(status, "running") == 0;
}

/* Returns the message with a prefix: "(stale)" when the data is stale; otherwise, while an operation is open,
 * its progress in percent; otherwise no prefix. */
static char *message_of(const json_t *cluster)
{
    const json_t *operation = json_obj(cluster, "operation"), *status = json_obj(cluster, "status");
    const char *message = json_str(status, "message");
    if (json_bool(status, "stale", false))
        return mem_printf("(stale) %s", message ? message : "");
    return cluster_is_busy(cluster)
               ? mem_printf("%" PRId64 "%% %s", json_int(operation, "progress", 0), message ? message : "")
               : mem_strdup(message);
}

static void add_wide(const struct cli *cli, struct table *table, const json_t *cluster)
{
    const json_t *operation = json_obj(cluster, "operation");
    table_add_take(table, mem_printf("%" PRId64, json_int(cluster, "node_pool_count", 0)), STYLE_PLAIN);
    table_add_take(table, labels_text(json_obj(cluster, "labels")), STYLE_PLAIN);
    table_add(table, json_bool(cluster, "drifted", false) ? "yes" : "no", STYLE_PLAIN);
    table_add_take(table,
                   operation ? mem_printf("%s %s", json_str_or(operation, "type", "?"),
                                          json_str_or(operation, "status", "?"))
                             : NULL,
                   STYLE_PLAIN);
    table_add_take(table, when_column(cli, json_str(json_obj(cluster, "status"), "observed_at")),
                   STYLE_PLAIN);
}

/* The columns whose words change during --watch, which are as wide as their longest word. */
enum { PHASE_COLUMN = 2, HEALTH_COLUMN = 3, LONGEST_PHASE = 11, LONGEST_HEALTH = 11 };

struct table *clusters_table(bool is_wide)
{
    struct table *table = table_new(is_wide ? wide : narrow);
    table_widen(table, PHASE_COLUMN, LONGEST_PHASE);
    table_widen(table, HEALTH_COLUMN, LONGEST_HEALTH);
    return table;
}

void clusters_add(const struct cli *cli, struct table *table, bool is_wide, const json_t *cluster)
{
    const json_t *status = json_obj(cluster, "status");
    const char *phase = json_str_or(status, "phase", "unknown"), *health = json_str(status, "health");
    table_add(table, json_str(cluster, "project"), STYLE_PLAIN);
    table_add(table, json_str(cluster, "name"), STYLE_PLAIN);
    table_add(table, phase, phase_style(phase));
    table_add(table, health, mem_same_str(health, "unhealthy") ? STYLE_BAD : STYLE_PLAIN);
    table_add(table, json_str(cluster, "kubernetes_version"), STYLE_PLAIN);
    table_add_take(table, when_column(cli, json_str(cluster, "created_at")), STYLE_PLAIN);
    if (is_wide)
        add_wide(cli, table, cluster);
    table_add_take(table, message_of(cluster), STYLE_PLAIN);
}

/* ---- list ---- */

/* Flags with the same name as a query parameter, except that - becomes _. */
static const char *const filters[] = {"phase",   "health", "kubernetes-version", "label", "q", "region",
                                      "managed", "sort",   "expiring-before"};

static void add_filters(const struct cli *cli, struct api_target *target)
{
    for (size_t f = 0; f < ARRAY_LEN(filters); f++) {
        char *name CLEANUP_FREE = mem_strdup(filters[f]);
        for (char *dash; (dash = strchr(name, '-'));)
            *dash = '_';
        const char *value;
        for (size_t n = 0; (value = parsed_nth(cli->parsed, filters[f], n)); n++)
            api_query(target, name, value);
    }
}

struct listing {
    struct cli *cli;
    struct table *table; /* the printed table; NULL: documents are printed */
    struct output output;
    bool is_wide;
    bool is_all; /* the name is printed as PROJECT/NAME, because two projects may have clusters with the same
                  * name */
};

static int list_one(struct listing *listing, const json_t *cluster)
{
    const char *name = json_str(cluster, "name");
    char *path CLEANUP_FREE =
        listing->is_all ? mem_printf("%s/%s", json_str_or(cluster, "project", "?"), name ? name : "?") : NULL;
    if (!listing->table)
        return output_add(&listing->output, cluster, path ? path : name);
    clusters_add(listing->cli, listing->table, listing->is_wide, cluster);
    return END_OK;
}

static int finish_listing(struct listing *listing, int code)
{
    struct cli *cli = listing->cli;
    if (code != END_OK)
        output_drop(&listing->output);
    else if (!listing->table)
        return output_end(&listing->output);
    else if (table_rows(listing->table))
        table_print(listing->table, &cli->out);
    else if (!cli->out.is_terminal)
        table_print(listing->table, &cli->out); /* without rows the titles are printed, so that a script
                                                 * always reads a table */
    else
        cli_note("no clusters%s%s", cli->settings.project.value ? " in project " : "",
                 cli->settings.project.value ? cli->settings.project.value : "");
    return code;
}

int verb_list(struct cli *cli)
{
    if (!watch_is_possible(cli))
        return END_USAGE;
    int code = cli_connect(cli);
    if (code != END_OK)
        return code;
    bool documents = output_is_document(cli), is_wide = cli_form(cli) == OUTPUT_WIDE;
    bool summaries = !documents || cli_form(cli) == OUTPUT_NAME;
    const char *project = parsed_on(cli->parsed, "all-projects") ? NULL : cli->settings.project.value;
    struct api_target target CLEANUP_TARGET;
    api_target_init(&target, project ? API_CLUSTERS : API_ALL_CLUSTERS, project, NULL, NULL);
    api_query(&target, "limit", summaries ? "1000" : "100");
    api_query(&target, "fields", summaries ? "summary" : NULL);
    /* People see first what is broken. The other forms keep the order in which no page moves. */
    if (!documents && !parsed_on(cli->parsed, "watch") && !parsed_nth(cli->parsed, "sort", 0))
        api_query(&target, "sort", "trouble");
    add_filters(cli, &target);
    if (parsed_on(cli->parsed, "watch"))
        return watch_list(cli, &target, project);
    struct table *table CLEANUP_TABLE = documents ? NULL : clusters_table(is_wide);
    struct listing listing = {
        .cli = cli, .table = table, .is_wide = is_wide, .is_all = parsed_on(cli->parsed, "all-projects")};
    output_begin(&listing.output, cli);
    struct api_list list = {.cli = cli, .target = &target};
    for (const json_t *one; code == END_OK && (one = api_list_next(&list));)
        code = list_one(&listing, one);
    int end = api_list_end(&list);
    return finish_listing(&listing, code == END_OK ? end : code);
}

/* ---- get ---- */

int cluster_read(struct cli *cli, const char *project, const char *name, json_t **ret_cluster)
{
    struct api_target target CLEANUP_TARGET;
    api_target_init(&target, API_CLUSTER, project, name, NULL);
    return api_get(cli, &target, ret_cluster);
}

int seen_cluster_read(struct cli *cli, const char *project, const char *name, bool may_be_absent,
                      struct seen_cluster *ret)
{
    struct api_target target CLEANUP_TARGET;
    struct cli_answer answer CLEANUP_ANSWER = {0};
    *ret = (struct seen_cluster){0};
    api_target_init(&target, API_CLUSTER, project, name, NULL);
    api_call_raw(cli, &target, NULL, &answer);
    int code = (int)problem_code(&answer);
    if (may_be_absent && problem_is_absent_cluster(&answer))
        return END_OK;
    if (code != END_OK)
        problem_say(cli, &answer);
    else
        code = api_check_object(cli, answer.json);
    if (code == END_OK)
        *ret = (struct seen_cluster){TAKE_PTR(answer.json), TAKE_PTR(answer.etag)};
    return code;
}

void seen_cluster_done(struct seen_cluster *seen)
{
    json_decref(seen->cluster);
    free(seen->etag);
    *seen = (struct seen_cluster){0};
}

int verb_get(struct cli *cli)
{
    if (!watch_is_possible(cli))
        return END_USAGE;
    int code = cli_connect(cli), first = END_OK;
    const char *project = code == END_OK ? cli_project(cli, &code) : NULL;
    if (!project)
        return code;
    if (parsed_on(cli->parsed, "watch"))
        return watch_names(cli, project);
    bool documents = output_is_document(cli), is_wide = cli_form(cli) == OUTPUT_WIDE,
         one = cli->parsed->argument_count == 1;
    struct table *table CLEANUP_TABLE = documents ? NULL : clusters_table(is_wide);
    struct listing listing = {.cli = cli, .table = table, .is_wide = is_wide};
    output_begin(&listing.output, cli);
    for (size_t i = 0; i < cli->parsed->argument_count; i++) {
        json_t *cluster CLEANUP_JSON = NULL;
        code = cluster_read(cli, project, cli->parsed->arguments[i], &cluster);
        first = first == END_OK ? code : first;
        if (code == END_OK && documents && one) {
            output_drop(&listing.output);
            return output_one(cli, cluster, json_str(cluster, "name"));
        }
        if (code == END_OK)
            (void)list_one(&listing, cluster);
    }
    output_finish(&listing.output, first);
    if (table && table_rows(table))
        table_print(table, &cli->out);
    return first;
}
