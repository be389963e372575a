/* The command `describe`: one screen about one cluster. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "cli/api.h"
#include "cli/glyphs.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/verbs/verb_clusters.h"
#include "cli/verbs/verbs.h"
#include "cli/when.h"

enum { TITLE_WIDTH = 14, EVENTS_SHOWN = 8 };

/* Prints one line with its title; prints nothing when the text is NULL or empty. */
static void line(const struct cli *cli, const char *title, enum style style, const char *text)
{
    if (!text || !*text)
        return;
    char *shown CLEANUP_FREE = glyphs_shown(text);
    (void)fprintf(cli->out.file, "%-*s%s%s%s\n", TITLE_WIDTH, title, terminal_begin(&cli->out, style), shown,
                  terminal_end(&cli->out, style));
}

static void line_take(const struct cli *cli, const char *title, enum style style, char *text)
{
    line(cli, title, style, text);
    free(text);
}

static void heading(const struct cli *cli, const char *text)
{
    (void)fprintf(cli->out.file, "\n%s%s%s\n", terminal_begin(&cli->out, STYLE_BOLD), text,
                  terminal_end(&cli->out, STYLE_BOLD));
}

static char *version_text(const json_t *cluster)
{
    const char *found = json_str(json_obj(cluster, "observed"), "kubernetes_version");
    const char *wanted = json_str(json_obj(cluster, "spec"), "kubernetes_version");
    if (found && wanted && strncmp(found, wanted, strlen(wanted)) != 0)
        return mem_printf("%s, asked for %s", found, wanted);
    return mem_strdup(found ? found : wanted);
}

static void print_head(const struct cli *cli, const json_t *cluster)
{
    const json_t *status = json_obj(cluster, "status");
    const char *phase = json_str_or(status, "phase", "unknown"),
               *health = json_str_or(status, "health", "unknown");
    line_take(cli, "Cluster:", STYLE_BOLD,
              mem_printf("%s/%s", json_str_or(cluster, "project", "?"), json_str_or(cluster, "name", "?")));
    line_take(
        cli, "Phase:", phase_style(phase),
        mem_printf("%s, %s%s%s", phase, health, json_bool(status, "settling", false) ? ", settling" : "",
                   json_bool(status, "stale", false) ? ", stale: Cleura could not be read recently" : ""));
    line(cli, "", STYLE_PLAIN, json_str(status, "summary"));
    line_take(cli, "In trouble:", STYLE_PLAIN, when_line(cli, json_str(status, "trouble_since")));
    line(cli, "Message:", STYLE_PLAIN, json_str(status, "message"));
    line_take(cli, "Kubernetes:", STYLE_PLAIN, version_text(cluster));
    line(cli, "API server:", STYLE_PLAIN, json_str(status, "api_server_url"));
    line(cli, "Description:", STYLE_PLAIN, json_str(cluster, "description"));
    line_take(cli, "Labels:", STYLE_PLAIN, labels_text(json_obj(cluster, "labels")));
    line(cli, "Protection:", STYLE_PLAIN,
         json_bool(cluster, "deletion_protection", false) ? "a delete is refused" : NULL);
    line(cli, "Managed:", STYLE_PLAIN,
         json_bool(cluster, "managed", true) ? NULL : "no: made elsewhere; 'shootctl apply' adopts it");
    line_take(cli, "Created:", STYLE_PLAIN, when_line(cli, json_str(cluster, "created_at")));
    line_take(cli, "Observed:", STYLE_PLAIN, when_line(cli, json_str(status, "observed_at")));
    line(cli, "Id:", STYLE_PLAIN, json_str(cluster, "id"));
}

static char *range_text(const json_t *pool)
{
    int64_t minimum = json_int(pool, "minimum", -1), maximum = json_int(pool, "maximum", -1);
    return minimum < 0 || maximum < 0 ? NULL : mem_printf("%" PRId64 "-%" PRId64, minimum, maximum);
}

static char *joined(const json_t *words)
{
    struct buffer text CLEANUP_BUFFER;
    buffer_init(&text, 1024 * 1024);
    for (size_t i = 0; i < json_array_size(words); i++)
        if (json_is_string(json_array_get(words, i)))
            buffer_printf(&text, "%s%s", text.len ? "," : "", json_string_value(json_array_get(words, i)));
    return buffer_take(&text, NULL);
}

static void print_pools(const struct cli *cli, const json_t *cluster)
{
    static const struct column columns[] = {{"  POOL", false}, {"TYPE", false}, {"NODES", false},
                                            {"VOLUME", false}, {"IMAGE", true}, {"ZONES", true},
                                            {NULL, false}};
    json_t *pools = json_arr(json_obj(cluster, "observed"), "node_pools"), *pool;
    struct table *table CLEANUP_TABLE = table_new(columns);
    size_t i;
    pools = pools ? pools : json_arr(json_obj(cluster, "spec"), "node_pools");
    json_array_foreach (pools, i, pool) {
        const json_t *image = json_obj(pool, "image");
        int64_t volume = json_int(pool, "volume_size_gib", -1);
        table_add_take(table, mem_printf("  %s", json_str_or(pool, "name", "?")), STYLE_PLAIN);
        table_add(table, json_str(pool, "machine_type"), STYLE_PLAIN);
        table_add_take(table, range_text(pool), STYLE_PLAIN);
        table_add_take(table, volume < 0 ? NULL : mem_printf("%" PRId64 " GiB", volume), STYLE_PLAIN);
        table_add_take(
            table,
            image ? mem_printf("%s %s", json_str_or(image, "name", "?"), json_str_or(image, "version", ""))
                  : NULL,
            STYLE_PLAIN);
        table_add_take(table, joined(json_arr(pool, "zones")), STYLE_PLAIN);
    }
    if (!table_rows(table))
        return;
    heading(cli, "Node pools");
    table_print(table, &cli->out);
}

static void print_times(const struct cli *cli, const json_t *cluster)
{
    const json_t *source =
        json_obj(cluster, "observed") ? json_obj(cluster, "observed") : json_obj(cluster, "spec");
    const json_t *window = json_obj(source, "maintenance");
    json_t *schedule;
    size_t i;
    if (json_array_size(json_arr(source, "hibernation_schedules")))
        heading(cli, "Schedule");
    json_array_foreach (json_arr(source, "hibernation_schedules"), i, schedule)
        line_take(cli, "  Sleeps:", STYLE_PLAIN,
                  mem_printf("from '%s' to '%s' %s", json_str_or(schedule, "start", "-"),
                             json_str_or(schedule, "end", "-"), json_str_or(schedule, "location", "UTC")));
    if (json_str(window, "begin"))
        line_take(
            cli, "Maintenance:", STYLE_PLAIN,
            mem_printf("%s to %s; patches of Kubernetes %s, of images %s", json_str(window, "begin"),
                       json_str_or(window, "end", "?"),
                       json_bool(window, "auto_update_kubernetes", false) ? "by itself" : "by hand",
                       json_bool(window, "auto_update_machine_image", false) ? "by themselves" : "by hand"));
}

static void print_drift(const struct cli *cli, const json_t *cluster)
{
    size_t i;
    json_t *one;
    if (json_array_size(json_arr(cluster, "drift")))
        heading(cli, "Differs from its spec");
    json_array_foreach (json_arr(cluster, "drift"), i, one) {
        char *wanted CLEANUP_FREE = output_text(json_object_get(one, "wanted")),
                     *found CLEANUP_FREE = output_text(json_object_get(one, "found"));
        line_take(cli, "", STYLE_BUSY,
                  mem_printf("%s: %s, asked for %s", json_str_or(one, "path", "?"), found, wanted));
    }
}

/* A word that a later server adds is shown as it is. */
static const char *who_acts(const char *responsible)
{
    static const struct {
        const char *word, *shown;
    } rows[] = {{"user", "you"}, {"operator", "shootd's operator"}, {"cleura", "Cleura"}};
    for (size_t i = 0; responsible && i < ARRAY_LEN(rows); i++)
        if (!strcmp(rows[i].word, responsible))
            return rows[i].shown;
    return responsible;
}

static void print_issues(const struct cli *cli, const json_t *issues)
{
    size_t i;
    json_t *issue;
    if (json_array_size(issues))
        heading(cli, "Issues");
    json_array_foreach (issues, i, issue) {
        const char *severity = json_str_or(issue, "severity", "info"), *subject = json_str(issue, "subject");
        enum style style = strcmp(severity, "critical") == 0  ? STYLE_BAD
                           : strcmp(severity, "warning") == 0 ? STYLE_BUSY
                                                              : STYLE_PLAIN;
        char *title CLEANUP_FREE = mem_printf("  %s", severity);
        line_take(cli, title, style,
                  mem_printf("%s%s%s%s", json_str_or(issue, "title", "?"), subject ? " (" : "",
                             subject ? subject : "", subject ? ")" : ""));
        line(cli, "", STYLE_PLAIN, json_str(issue, "description"));
        line(cli, "  to do", STYLE_PLAIN, json_str(issue, "action"));
        line(cli, "", STYLE_BOLD, json_str(json_obj(issue, "remedy"), "command"));
        line(cli, "  who", STYLE_PLAIN, who_acts(json_str(issue, "responsible")));
    }
}

static void print_operation(const struct cli *cli, const json_t *operation)
{
    size_t i;
    json_t *step;
    const json_t *error = json_obj(operation, "error");
    if (!operation)
        return;
    heading(cli, json_str(operation, "finished_at") ? "Last operation" : "Operation under way");
    line_take(cli, "  Operation:", STYLE_PLAIN,
              mem_printf("%s %s, %" PRId64 "%% (%s)", json_str_or(operation, "type", "?"),
                         json_str_or(operation, "status", "?"), json_int(operation, "progress", 0),
                         json_str_or(operation, "id", "?")));
    line_take(cli, "  Begun:", STYLE_PLAIN, when_line(cli, json_str(operation, "created_at")));
    line_take(cli, "  Ended:", STYLE_PLAIN, when_line(cli, json_str(operation, "finished_at")));
    line(cli, "  Message:", STYLE_PLAIN, json_str(operation, "message"));
    json_array_foreach (json_arr(operation, "steps"), i, step) {
        const char *target = json_str(step, "target"), *status = json_str_or(step, "status", "?");
        line_take(cli, i ? "" : "  Steps:", strcmp(status, "failed") == 0 ? STYLE_BAD : STYLE_PLAIN,
                  mem_printf("%-8s %s%s%s", status, json_str_or(step, "type", "?"), target ? " " : "",
                             target ? target : ""));
    }
    if (error)
        line_take(cli, "  Error:", STYLE_BAD,
                  mem_printf("%s: %s", json_str_or(error, "title", "?"), json_str_or(error, "detail", "?")));
    line(cli, "  to do", STYLE_PLAIN, json_str(error, "advice"));
}

static void print_events(const struct cli *cli, const json_t *events)
{
    static const struct column columns[] = {
        {"  WHEN", false}, {"EVENT", false}, {"MESSAGE", true}, {NULL, false}};
    struct table *table CLEANUP_TABLE = table_new(columns);
    for (size_t i = json_array_size(events); i-- > 0;) { /* the newest event is printed last */
        const json_t *event = json_array_get(events, i);
        char *when CLEANUP_FREE = when_column(cli, json_str(event, "timestamp"));
        table_add_take(table, mem_printf("  %s", when ? when : "-"), STYLE_PLAIN);
        table_add(table, json_str(event, "type"), STYLE_PLAIN);
        table_add(table, json_str(json_obj(event, "data"), "message"), STYLE_PLAIN);
    }
    if (!table_rows(table))
        return;
    heading(cli, "Last events");
    table_print(table, &cli->out);
}

/* Returns the items of a list about the cluster. When the list cannot be read, reports why and returns an
 * empty list, so that the other parts are still shown. */
static json_t *items_of(struct cli *cli, enum api_call call, const char *project, const char *name)
{
    struct api_target target CLEANUP_TARGET;
    json_t *page CLEANUP_JSON = NULL;
    char limit[16];
    (void)snprintf(limit, sizeof(limit), "%d", EVENTS_SHOWN);
    api_target_init(&target, call, project, name, NULL);
    if (call == API_CLUSTER_EVENTS) {
        api_query(&target, "order", "desc");
        api_query(&target, "limit", limit);
    }
    (void)api_get(cli, &target, &page);
    return json_incref(json_arr(page, "items"));
}

int verb_describe(struct cli *cli)
{
    int code = cli_connect(cli);
    const char *project = code == END_OK ? cli_project(cli, &code) : NULL, *name = cli->parsed->arguments[0];
    json_t *cluster CLEANUP_JSON = NULL;
    if (!project)
        return code;
    code = cluster_read(cli, project, name, &cluster);
    if (code != END_OK)
        return code;
    json_t *issues CLEANUP_JSON = items_of(cli, API_ISSUES, project, name);
    json_t *events CLEANUP_JSON = items_of(cli, API_CLUSTER_EVENTS, project, name);
    if (output_is_document(cli)) {
        json_t *all CLEANUP_JSON =
            json_pack("{s:O,s:O?,s:O?}", "cluster", cluster, "issues", issues, "events", events);
        return output_one(cli, all, name);
    }
    print_head(cli, cluster);
    print_times(cli, cluster);
    print_pools(cli, cluster);
    print_drift(cli, cluster);
    print_issues(cli, issues);
    print_operation(cli, json_obj(cluster, "operation"));
    print_events(cli, events);
    return END_OK;
}
