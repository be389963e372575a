/* `apply` and `diff`: documents of clusters against what there is. */
#include <string.h>

#include "base/mem.h"
#include "cli/glyphs.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/plan.h"
#include "cli/problem.h"
#include "cli/verbs/change.h"
#include "cli/verbs/verbs.h"

/* One document, ready to be sent. */
struct wanted {
    char *project, *name, *body;
};

struct all_wanted {
    struct wanted *items;
    size_t count;
};

static void wanted_done(struct all_wanted *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->items[i].project);
        free(all->items[i].name);
        free(all->items[i].body);
    }
    free(all->items);
    *all = (struct all_wanted){0};
}

/* A cluster stands in one document only: the order of two would decide. */
static int check_once(const struct all_wanted *all, const char *source)
{
    const struct wanted *last = &all->items[all->count - 1];
    for (size_t i = 0; i + 1 < all->count; i++)
        if (strcmp(all->items[i].name, last->name) == 0 && strcmp(all->items[i].project, last->project) == 0)
            return cli_fail(END_USAGE, "%s: %s/%s stands in another document, too", source, last->project,
                            last->name);
    return END_OK;
}

static int add_wanted(struct cli *cli, const struct document *document, struct all_wanted *all)
{
    const char *named = NULL;
    int code = END_OK;
    json_t *body CLEANUP_JSON = document_body(document, &named);
    if (!body)
        return END_USAGE;
    bool by_flag = parsed_text(cli->parsed, "project") != NULL;
    if (by_flag && named && strcmp(named, cli->settings.project.value) != 0)
        return cli_fail(END_USAGE, "%s: names project '%s', --project says '%s'", document->source, named,
                        cli->settings.project.value);
    const char *project = named ? named : cli_project(cli, &code);
    if (!project)
        return code;
    all->items = mem_realloc_array(all->items, all->count + 1, sizeof(*all->items));
    all->items[all->count++] =
        (struct wanted){mem_strdup(project), mem_strdup(json_str(body, "name")), json_text(body)};
    return check_once(all, document->source);
}

/* All documents are read and checked before the first one is sent. */
static int read_wanted(struct cli *cli, struct all_wanted *all)
{
    struct documents documents;
    const char *path = parsed_text(cli->parsed, "file");
    if (!path)
        return cli_fail(END_USAGE, "-f FILE, DIRECTORY or - says what is wanted");
    int code = documents_read(path, &documents);
    for (size_t i = 0; i < documents.count && code == END_OK; i++)
        code = add_wanted(cli, &documents.items[i], all);
    documents_done(&documents);
    return code;
}

/* ---- apply ---- */

static bool exists(struct cli *cli, const struct wanted *one, int *ret_code)
{
    struct api_target target CLEANUP_TARGET;
    struct http_answer answer CLEANUP_ANSWER = {0};
    api_target_init(&target, API_CLUSTER, one->project, one->name, NULL);
    api_call_raw(cli, &target, NULL, &answer);
    *ret_code = (int)problem_code(&answer);
    if (*ret_code == END_NOT_FOUND && mem_same_str(json_str(answer.json, "code"), "cluster_not_found"))
        *ret_code = END_OK;
    else if (*ret_code == END_OK)
        return true;
    if (*ret_code != END_OK)
        problem_say(cli, &answer);
    return false;
}

/* A plan that removes a pool or replaces nodes is asked about (CL-7). */
static int confirm(struct cli *cli, const struct wanted *one, const struct api_target *target,
                   const struct http_request *request)
{
    json_t *plan CLEANUP_JSON = NULL;
    struct plan_counts counts = {0};
    size_t i, rolls = 0;
    json_t *step;
    if (parsed_on(cli->parsed, "yes"))
        return END_OK;
    int code = plan_get(cli, target, request, &plan);
    json_array_foreach (json_arr(plan, "steps"), i, step)
        rolls += json_bool(step, "rolls_nodes", false);
    if (code != END_OK || (!rolls && !json_bool(plan, "destructive", false)))
        return code;
    plan_print(&cli->err, one->name, plan, &counts);
    if (change_confirmed(cli, counts.destructive ? "A node pool goes, with its nodes. Go on?"
                                                 : "Nodes are replaced one by one. Go on?"))
        return END_OK;
    return parsed_on(cli->parsed, "no-input") || !terminal_can_ask() ? END_USAGE : END_REFUSED;
}

static int apply_one(struct cli *cli, const struct wanted *one, struct output *output)
{
    struct api_target target CLEANUP_TARGET;
    struct http_answer answer CLEANUP_ANSWER = {0};
    const struct http_request request = {.body = one->body};
    int code = END_OK;
    bool was_there = exists(cli, one, &code);
    api_target_init(&target, API_PUT, one->project, one->name, NULL);
    if (code == END_OK && was_there)
        code = confirm(cli, one, &target, &request);
    if (code == END_OK)
        code = api_call(cli, &target, &request, &answer);
    if (code != END_OK)
        return code;
    if (output_is_document(cli))
        return output_add(output, answer.json, one->name);
    const char *result = answer.status == 200 ? "unchanged" : was_there ? "configured" : "created";
    char *project CLEANUP_FREE = glyphs_shown(one->project), *name CLEANUP_FREE = glyphs_shown(one->name);
    (void)fprintf(cli->out.file, "%s/%s %s\n", project, name, result);
    (void)fflush(cli->out.file);
    return END_OK;
}

int verb_apply(struct cli *cli)
{
    struct all_wanted all = {0};
    struct output output;
    int code = cli_connect(cli), first = END_OK;
    if (code == END_OK)
        code = read_wanted(cli, &all);
    output_begin(&output, cli);
    for (size_t i = 0; i < all.count && code == END_OK; i++) {
        int one = apply_one(cli, &all.items[i], &output);
        first = first == END_OK ? one : first;
        if (one == END_UNREACHABLE || one == END_NOT_ALLOWED)
            code = one; /* the others would end in the same way */
    }
    if (code == END_OK && output_is_document(cli))
        (void)output_end(&output);
    else
        output_drop(&output);
    wanted_done(&all);
    return first != END_OK ? first : code;
}

/* ---- diff ---- */

static int diff_one(struct cli *cli, const struct wanted *one, struct plan_counts *counts,
                    struct output *output)
{
    struct api_target target CLEANUP_TARGET;
    json_t *plan CLEANUP_JSON = NULL;
    const struct http_request request = {.body = one->body};
    api_target_init(&target, API_PUT, one->project, one->name, NULL);
    int code = plan_get(cli, &target, &request, &plan);
    if (code != END_OK)
        return code;
    bool differs = json_array_size(json_arr(plan, "changes")) || json_array_size(json_arr(plan, "steps"));
    if (output_is_document(cli)) {
        counts->changes += differs;
        return output_add(output, plan, one->name);
    }
    size_t before = counts->changes;
    if (differs)
        plan_print(&cli->out, one->name, plan, counts);
    counts->changes += differs && counts->changes == before;
    return END_OK;
}

int verb_diff(struct cli *cli)
{
    struct all_wanted all = {0};
    struct plan_counts counts = {0};
    struct output output;
    size_t different = 0;
    int code = cli_connect(cli);
    if (code == END_OK)
        code = read_wanted(cli, &all);
    output_begin(&output, cli);
    for (size_t i = 0; i < all.count && code == END_OK; i++) {
        size_t before = counts.changes;
        code = diff_one(cli, &all.items[i], &counts, &output);
        different += counts.changes > before;
    }
    size_t equal = all.count - different;
    wanted_done(&all);
    if (code == END_OK && output_is_document(cli))
        (void)output_end(&output);
    else
        output_drop(&output);
    if (code != END_OK)
        return code;
    if (!output_is_document(cli))
        (void)fprintf(cli->out.file, "%zu different, %zu unchanged; %zu changes, %zu steps replace nodes%s\n",
                      different, equal, counts.changes, counts.rolls,
                      counts.destructive ? ", and node pools go" : "");
    return different ? END_DIFFERENT : END_OK;
}
