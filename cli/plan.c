#include "cli/plan.h"

#include "base/mem.h"
#include "cli/glyphs.h"
#include "cli/output.h"
#include "cli/problem.h"

static void print_value(const struct terminal *to, const json_t *value)
{
    char *text CLEANUP_FREE = output_text(value);
    char *shown CLEANUP_FREE = glyphs_shown(text);
    (void)fputs(shown, to->file);
}

/* Prints a change. Besides its colour it has a sign: + for added, - for removed, ~ for changed. */
static void print_change(const struct terminal *to, const json_t *change)
{
    const json_t *old = json_object_get(change, "old"), *new = json_object_get(change, "new");
    bool comes = !old || json_is_null(old), goes = !new || json_is_null(new);
    enum style style = comes ? STYLE_GOOD : goes ? STYLE_BAD : STYLE_BUSY;
    char *path CLEANUP_FREE = glyphs_shown(json_str(change, "path"));
    (void)fprintf(to->file, "  %s%s %s: ", terminal_begin(to, style), comes ? "+" : goes ? "-" : "~", path);
    if (!comes)
        print_value(to, old);
    if (!comes && !goes)
        (void)fputs(" -> ", to->file);
    if (!goes)
        print_value(to, new);
    (void)fprintf(to->file, "%s\n", terminal_end(to, style));
}

static bool print_step(const struct terminal *to, const json_t *step)
{
    bool rolls = json_bool(step, "rolls_nodes", false);
    const char *target = json_str(step, "target"), *reason = json_str(step, "reason");
    char *type CLEANUP_FREE = glyphs_shown(json_str(step, "type")), *pool CLEANUP_FREE = glyphs_shown(target);
    char *why CLEANUP_FREE = glyphs_shown(reason);
    enum style style = rolls ? STYLE_BAD : STYLE_PLAIN;
    (void)fprintf(to->file, "  %sstep %s%s%s%s%s%s%s%s\n", terminal_begin(to, style), type, target ? " " : "",
                  target ? pool : "", rolls ? ": replaces nodes" : "", reason ? " (" : "", reason ? why : "",
                  reason ? ")" : "", terminal_end(to, style));
    return rolls;
}

void plan_print(const struct terminal *to, const char *name, const json_t *plan, struct plan_counts *counts)
{
    char *shown CLEANUP_FREE = glyphs_shown(name);
    size_t i;
    json_t *one;
    (void)fprintf(to->file, "%s%s%s\n", terminal_begin(to, STYLE_BOLD), shown, terminal_end(to, STYLE_BOLD));
    json_array_foreach (json_arr(plan, "changes"), i, one)
        print_change(to, one);
    json_array_foreach (json_arr(plan, "steps"), i, one)
        counts->rolls += print_step(to, one);
    json_array_foreach (json_arr(plan, "warnings"), i, one) {
        char *detail CLEANUP_FREE = glyphs_shown(json_str(one, "detail"));
        (void)fprintf(to->file, "  %swarning: %s%s\n", terminal_begin(to, STYLE_BUSY), detail,
                      terminal_end(to, STYLE_BUSY));
    }
    counts->changes += json_array_size(json_arr(plan, "changes"));
    counts->destructive = counts->destructive || json_bool(plan, "destructive", false);
}

void plan_print_counts(const struct terminal *to, const struct plan_counts *counts, const char *end)
{
    (void)fprintf(to->file, "changed fields: %zu, steps that replace nodes: %zu%s%s\n", counts->changes,
                  counts->rolls, counts->destructive ? ", node pools are removed" : "", end);
}

static bool replaces_nodes(const json_t *plan)
{
    size_t i;
    json_t *step;
    json_array_foreach (json_arr(plan, "steps"), i, step)
        if (json_bool(step, "rolls_nodes", false))
            return true;
    return false;
}

static bool unprotects(const json_t *plan)
{
    size_t i;
    json_t *change;
    json_array_foreach (json_arr(plan, "changes"), i, change)
        if (mem_same_str(json_str(change, "path"), "deletion_protection") &&
            json_bool(change, "old", false) && !json_bool(change, "new", false))
            return true;
    return false;
}

char *plan_question(const json_t *plan)
{
    const char *nodes = json_bool(plan, "destructive", false) ? "A node pool is removed, with its nodes.  "
                        : replaces_nodes(plan)                ? "Nodes are replaced one by one. "
                                                              : "";
    const char *protection = unprotects(plan) ? "Deletion protection is switched off.  " : "";
    return *nodes || *protection ? mem_printf("%s%sGo on?", nodes, protection) : NULL;
}

int plan_get(struct cli *cli, const struct api_target *target, const struct cli_request *request,
             json_t **ret_plan)
{
    struct api_target dry CLEANUP_TARGET = {.call = target->call};
    struct cli_answer answer CLEANUP_ANSWER = {0};
    struct cli_request rq = *request;
    buffer_init(&dry.path, target->path.max);
    buffer_add_str(&dry.path, target->path.data);
    api_query(&dry, "dry_run", "true");
    rq.idempotency_key = NULL;
    int code = api_call(cli, &dry, &rq, &answer);
    if (code == END_OK)
        code = api_check_object(cli, answer.json);
    *ret_plan = code == END_OK ? TAKE_PTR(answer.json) : NULL;
    if (code == END_OK && !json_bool(*ret_plan, "valid", false)) {
        json_set_str(*ret_plan, "title", "It would be refused");
        problem_print(&cli->err, *ret_plan, NULL);
        code = END_REFUSED;
    }
    return code;
}

int plan_show(struct cli *cli, const struct api_target *target, const struct cli_request *request,
              const char *name)
{
    struct plan_counts counts = {0};
    json_t *plan CLEANUP_JSON = NULL;
    int code = plan_get(cli, target, request, &plan);
    if (code != END_OK)
        return code;
    if (output_is_document(cli))
        return output_one(cli, plan, name);
    plan_print(&cli->out, name, plan, &counts);
    plan_print_counts(&cli->out, &counts, "; nothing was done");
    return END_OK;
}
