/* The command `upgrade`: lists the offered versions, or upgrades a cluster to one of them. */
#include <string.h>

#include "base/mem.h"
#include "cli/glyphs.h"
#include "cli/output.h"
#include "cli/plan.h"
#include "cli/table.h"
#include "cli/verbs/verb_change.h"
#include "cli/verbs/verb_clusters.h"
#include "cli/verbs/verbs.h"
#include "cli/when.h"

static const struct column columns[] = {
    {"VERSION", false}, {"KIND", false},  {"STATE", false},       {"EXPIRES", false},
    {"NODES", false},   {"CHECK", false}, {"RECOMMENDED", false}, {NULL, false},
};

static void add_offer(const struct cli *cli, struct table *table, const json_t *offer)
{
    const char *outcome = json_str(json_obj(offer, "check"), "outcome");
    table_add(table, json_str(offer, "version"), STYLE_PLAIN);
    table_add(table, json_str(offer, "kind"), STYLE_PLAIN);
    table_add(table, json_str(offer, "state"), STYLE_PLAIN);
    table_add_take(table, when_column(cli, json_str(offer, "expires_at")), STYLE_PLAIN);
    table_add(table, json_bool(offer, "rolls_nodes", false) ? "replaced" : "stay", STYLE_PLAIN);
    table_add(table, outcome, mem_same_str(outcome, "not_ready") ? STYLE_BAD : STYLE_PLAIN);
    table_add(table, json_bool(offer, "recommended", false) ? "yes" : "no", STYLE_PLAIN);
}

static int show_offers(struct cli *cli, const char *project, const char *name)
{
    struct api_target target CLEANUP_TARGET;
    json_t *upgrades CLEANUP_JSON = NULL, *offer;
    struct table *table CLEANUP_TABLE = table_new(columns);
    size_t i;
    api_target_init(&target, API_UPGRADES, project, name, NULL);
    int code = api_get(cli, &target, &upgrades);
    if (code != END_OK)
        return code;
    if (output_is_document(cli))
        return output_one(cli, upgrades, name);
    const json_t *kubernetes = json_obj(upgrades, "kubernetes");
    json_array_foreach (json_arr(kubernetes, "offers"), i, offer)
        add_offer(cli, table, offer);
    cli_note("%s runs %s%s", name, json_str_or(kubernetes, "current", "an unknown version"),
             table_rows(table) ? "" : "; no newer version is offered");
    if (table_rows(table)) {
        table_print(table, &cli->out);
        cli_note("'shootctl upgrade %s --to VERSION' upgrades to one of them", name);
    }
    return END_OK;
}

int verb_upgrade(struct cli *cli)
{
    int code = cli_connect(cli);
    const char *project = code == END_OK ? cli_project(cli, &code) : NULL;
    const char *to = parsed_text(cli->parsed, "to"), *name = cli->parsed->arguments[0];
    if (!project)
        return code;
    if (!to)
        return show_offers(cli, project, name);
    json_t *body CLEANUP_JSON = json_pack("{s:{s:s}}", "spec", "kubernetes_version", to);
    char *text CLEANUP_FREE = json_text(body);
    struct api_target target CLEANUP_TARGET;
    struct cli_request request = {.body = text, .content_type = "application/merge-patch+json"};
    struct seen_cluster seen CLEANUP_SEEN = {0};
    json_t *plan CLEANUP_JSON = NULL;
    struct plan_counts counts = {0};
    api_target_init(&target, API_PATCH, project, name, NULL);
    if (parsed_on(cli->parsed, "dry-run"))
        return plan_show(cli, &target, &request, name);
    code = seen_cluster_read(cli, project, name, false, &seen);
    if (code != END_OK)
        return code;
    request.etag = seen.etag; /* with this ETag the write is refused if the cluster was changed after the
                               * plan */
    code = plan_get(cli, &target, &request, &plan);
    if (code != END_OK)
        return code;
    plan_print(&cli->err, name, plan, &counts);
    if (counts.rolls && !change_confirmed(cli, "Nodes are replaced one by one. Go on?"))
        return change_refusal(cli);
    struct changes changes = {.project = project};
    code = change_send(cli, &changes, name, &target, &request, "unchanged");
    return changes_finish(cli, &changes, code);
}
