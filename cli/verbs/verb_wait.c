/* The command `wait`: waits until a phase is reached, a cluster is deleted, or an operation has ended. */
#include <string.h>

#include "base/mem.h"
#include "cli/api.h"
#include "cli/follow.h"
#include "cli/glyphs.h"
#include "cli/output.h"
#include "cli/problem.h"
#include "cli/verbs/verb_clusters.h"
#include "cli/verbs/verbs.h"
#include "model/names.h"

enum { DEFAULT_TIMEOUT_MS = 3600 * 1000 };

static bool is_operation_id(const char *name)
{
    return strncmp(name, "op_", 3) == 0;
}

/* Reads --for. When the value is not valid, reports the fault and returns false. */
static bool goal_of(const struct cli *cli, enum goal *ret_goal, const char **ret_phase)
{
    const char *text = parsed_text(cli->parsed, "for");
    *ret_goal = GOAL_OPERATION;
    *ret_phase = NULL;
    if (!text || strcmp(text, "operation") == 0)
        return true;
    *ret_goal = GOAL_DELETED;
    if (strcmp(text, "deleted") == 0)
        return true;
    *ret_goal = GOAL_PHASE;
    *ret_phase = strncmp(text, "phase=", 6) == 0 ? text + 6 : NULL;
    if (*ret_phase && phase_from_name(*ret_phase) >= 0)
        return true;
    struct buffer words CLEANUP_BUFFER;
    buffer_init(&words, 4096);
    for (int phase = 0; phase < PHASE_MAX_; phase++)
        buffer_printf(&words, "%s phase=%s", phase ? "," : "", phase_name((enum phase)phase));
    (void)cli_fail(END_USAGE, "--for: '%s' is not one of operation, deleted,%s", text, words.data);
    return false;
}

/*
 * Finds the operation of a cluster, if the cluster exists. When the cluster has no operation, `ended` is set,
 * because the wait is over at once.
 */
static int find_operation(struct cli *cli, struct followed *one)
{
    if (is_operation_id(one->cluster)) {
        one->operation = mem_strdup(one->cluster);
        return END_OK;
    }
    struct seen_cluster seen CLEANUP_SEEN;
    int code = seen_cluster_read(cli, one->project, one->cluster, one->may_be_absent, &seen);
    if (code != END_OK || !seen.cluster)
        return code;
    one->operation = mem_strdup(json_str(json_obj(seen.cluster, "operation"), "id"));
    one->ended = !one->operation;
    return END_OK;
}

static void print_end(const struct cli *cli, const struct followed *one)
{
    char *name CLEANUP_FREE = glyphs_shown(one->cluster);
    char *type CLEANUP_FREE = glyphs_shown(json_str(one->last, "type"));
    if (one->goal == GOAL_DELETED)
        (void)fprintf(cli->out.file, "%s: deleted\n", name);
    else if (one->goal == GOAL_PHASE)
        (void)fprintf(cli->out.file, "%s: %s\n", name, one->phase);
    else if (one->last)
        (void)fprintf(cli->out.file, "%s: %s succeeded\n", name, type);
    else
        (void)fprintf(cli->out.file, "%s: no operation is open\n", name);
}

static void print_ends(struct cli *cli, const struct followed *list, size_t count)
{
    struct output output;
    bool documents = output_is_document(cli);
    output_begin(&output, cli);
    for (size_t i = 0; i < count; i++) {
        if (list[i].code != END_OK || !list[i].ended)
            continue;
        json_t *none CLEANUP_JSON =
            json_pack("{s:s,s:s}", "project", list[i].project, "name", list[i].cluster);
        const json_t *document = list[i].last ? list[i].last : none;
        if (!documents)
            print_end(cli, &list[i]);
        else if (count == 1)
            (void)output_one(cli, document, list[i].cluster);
        else
            (void)output_add(&output, document, list[i].cluster);
    }
    if (output.count)
        (void)output_end(&output);
    else
        output_drop(&output);
}

int verb_wait(struct cli *cli)
{
    enum goal goal;
    const char *phase = NULL;
    size_t count = cli->parsed->argument_count;
    bool may_be_absent = parsed_on(cli->parsed, "allow-absent");
    if (!goal_of(cli, &goal, &phase))
        return END_USAGE;
    if (may_be_absent && goal == GOAL_DELETED)
        return cli_fail(
            END_USAGE,
            "--allow-absent does not fit --for=deleted, which is reached when the cluster does not exist");
    int code = cli_connect(cli);
    /* a wait for the id of an operation needs no project */
    bool needs = false;
    for (size_t i = 0; i < count; i++)
        needs = needs || goal != GOAL_OPERATION || !is_operation_id(cli->parsed->arguments[i]);
    const char *project = code == END_OK && needs ? cli_project(cli, &code) : "";
    if (code != END_OK)
        return code;
    struct followed *list CLEANUP_FREE = mem_calloc(count, sizeof(*list));
    for (size_t i = 0; i < count; i++) {
        list[i] = (struct followed){.goal = goal,
                                    .project = project,
                                    .cluster = mem_strdup(cli->parsed->arguments[i]),
                                    .phase = phase,
                                    .may_be_absent = may_be_absent};
        if (goal == GOAL_OPERATION && code == END_OK)
            code = find_operation(cli, &list[i]);
    }
    if (code == END_OK)
        code = follow_all(cli, list, count, parsed_duration_ms(cli->parsed, "timeout", DEFAULT_TIMEOUT_MS));
    print_ends(cli, list, count);
    for (size_t i = 0; i < count; i++)
        followed_done(&list[i]);
    return code;
}
