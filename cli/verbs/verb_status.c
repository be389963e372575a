/* The command `status`: the server, the identity of the token, and counts of clusters. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "cli/api.h"
#include "cli/glyphs.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/verbs/verbs.h"
#include "cli/when.h"

static const struct column project_columns[] = {
    {"PROJECT", false}, {"REGION", false}, {"LOGIN", false}, {"CONTACT", false},
    {"FROZEN", false},  {"TROUBLE", true}, {NULL, false},
};

static void print_projects(const struct cli *cli, const json_t *projects)
{
    struct table *table CLEANUP_TABLE = table_new(project_columns);
    size_t i;
    json_t *project;
    json_array_foreach (projects, i, project) {
        const json_t *upstream = json_obj(project, "upstream"), *freeze = json_obj(project, "freeze");
        const char *login = json_str(upstream, "login"), *trouble = json_str(upstream, "last_error");
        table_add(table, json_str(project, "name"), STYLE_PLAIN);
        table_add(table, json_str(project, "region"), STYLE_PLAIN);
        table_add(table, login, mem_same_str(login, "ok") ? STYLE_GOOD : STYLE_BAD);
        table_add_take(table, when_column(cli, json_str(upstream, "last_contact_at")), STYLE_PLAIN);
        table_add(table, freeze ? json_str_or(freeze, "reason", "yes") : NULL, STYLE_BUSY);
        table_add(table, trouble ? trouble : json_str(upstream, "login_message"), STYLE_BAD);
    }
    (void)fputc('\n', cli->out.file);
    table_print(table, &cli->out);
}

static void print_counts(const struct cli *cli, json_t *counts)
{
    const char *phase;
    json_t *number;
    bool any = false;
    (void)fprintf(cli->out.file, "Clusters:  %" PRId64, json_int(counts, "total", 0));
    json_object_foreach (json_obj(counts, "by_phase"), phase, number) {
        if (json_integer_value(number) == 0)
            continue;
        char *shown CLEANUP_FREE = glyphs_shown(phase);
        (void)fprintf(cli->out.file, "%s%" PRId64 " %s", any ? ", " : " (",
                      (int64_t)json_integer_value(number), shown);
        any = true;
    }
    (void)fprintf(cli->out.file, "%s; %" PRId64 " open operations\n", any ? ")" : "",
                  json_int(counts, "open_operations", 0));
}

static void print_status(const struct cli *cli, const json_t *all)
{
    const json_t *server = json_obj(all, "server"), *whoami = json_obj(all, "whoami");
    char *version CLEANUP_FREE = glyphs_shown(json_str(server, "version"));
    char *name CLEANUP_FREE = glyphs_shown(json_str(whoami, "name")),
               *role CLEANUP_FREE = glyphs_shown(json_str(whoami, "role"));
    char *until CLEANUP_FREE = when_line(cli, json_str(whoami, "expires_at"));
    (void)fprintf(cli->out.file, "Server:    %s, shootd %s\n", cli->settings.url.value, version);
    (void)fprintf(cli->out.file, "Token:     %s, role %s, %s%s\n", name, role,
                  until ? "good until " : "without an end", until ? until : "");
    print_counts(cli, json_obj(all, "clusters"));
    print_projects(cli, json_arr(all, "projects"));
}

int verb_status(struct cli *cli)
{
    static const struct {
        enum api_call call;
        const char *name;
    } parts[] = {{API_VERSION, "server"}, {API_WHOAMI, "whoami"}, {API_SUMMARY, "clusters"}};
    json_t *all CLEANUP_JSON = json_object();
    int code = cli_connect(cli);
    for (size_t i = 0; i < ARRAY_LEN(parts) && code == END_OK; i++) {
        struct api_target target CLEANUP_TARGET;
        json_t *part = NULL;
        api_target_init(&target, parts[i].call, NULL, NULL, NULL);
        code = api_get(cli, &target, &part);
        json_set_take(all, parts[i].name, part);
    }
    if (code != END_OK)
        return code;
    struct api_target target CLEANUP_TARGET;
    json_t *projects = json_array();
    json_set_take(all, "projects", projects);
    api_target_init(&target, API_PROJECTS, NULL, NULL, NULL);
    struct api_list list = {.cli = cli, .target = &target};
    for (json_t *one; (one = api_list_next(&list));)
        (void)json_array_append(projects, one);
    code = api_list_end(&list);
    if (code != END_OK)
        return code;
    if (output_is_document(cli))
        return output_one(cli, all, cli->settings.url.value);
    print_status(cli, all);
    return END_OK;
}
