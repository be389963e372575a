#include "cli/verbs/verb_change.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/mem.h"
#include "cli/follow.h"
#include "cli/glyphs.h"
#include "cli/output.h"
#include "cli/problem.h"
#include "cli/verbs/verb_clusters.h"

enum { DEFAULT_TIMEOUT_MS = 3600 * 1000 };

const char *change_key(char key[static KEY_BYTES])
{
    unsigned char bytes[16];
    env_real()->random(env_real(), bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        (void)snprintf(key + i * 2, 3, "%02x", bytes[i]);
    return key;
}

int change_refusal(const struct cli *cli)
{
    return cli_can_ask(cli) ? END_REFUSED : END_USAGE;
}

bool change_confirmed(const struct cli *cli, const char *question)
{
    if (parsed_on(cli->parsed, "yes"))
        return true;
    if (!cli_can_ask(cli)) {
        (void)cli_fail(END_USAGE, "cannot ask for confirmation: add --yes");
        return false;
    }
    char *shown CLEANUP_FREE = glyphs_shown(question);
    char *whole CLEANUP_FREE = mem_printf("%s [y/N] ", shown);
    char *said CLEANUP_FREE = terminal_ask(whole);
    bool yes = said && (strcmp(said, "y") == 0 || strcmp(said, "Y") == 0 || strcmp(said, "yes") == 0);
    if (!yes)
        (void)cli_fail(END_REFUSED, "nothing was done");
    return yes;
}

/* Stores the operation that the answer names. */
static void note_operation(struct cli_change *change, const json_t *cluster)
{
    const json_t *operation = json_obj(cluster, "operation");
    assert(!change->operation && !change->type);
    change->operation = mem_strdup(json_str(operation, "id"));
    change->type = mem_strdup(json_str_or(operation, "type", "operation"));
}

/* Whether the value already equals the result of the merge patch. */
static bool has_already(const json_t *value, const json_t *patch)
{
    const char *name;
    json_t *one;
    if (!json_is_object(patch))
        return json_equal(value, patch);
    json_object_foreach ((json_t *)(uintptr_t)patch, name, one) {
        const json_t *there = json_object_get(value, name);
        bool absent = !there || json_is_null(there);
        if (json_is_null(one) ? !absent : !has_already(there, one))
            return false;
    }
    return true;
}

/* A repeated PATCH fails with 412 if the first attempt was carried out and only its answer was lost. If the
 * cluster already has the values of the patch, the current cluster replaces the answer. */
static void forgive_second_try(struct cli *cli, const char *project, const char *cluster, const char *patch,
                               struct cli_answer *answer)
{
    struct api_target target CLEANUP_TARGET;
    struct cli_answer now CLEANUP_ANSWER = {0};
    json_t *wanted CLEANUP_JSON = json_parse_strict(patch, strlen(patch), NULL);
    api_target_init(&target, API_CLUSTER, project, cluster, NULL);
    api_call_raw(cli, &target, NULL, &now);
    if (problem_code(&now) != END_OK || !wanted || !has_already(now.json, wanted))
        return;
    const json_t *operation = json_obj(now.json, "operation");
    now.status = operation && !json_str(operation, "finished_at") ? 202 : 200;
    http_answer_done(answer);
    *answer = now;
    now = (struct cli_answer){0};
}

int change_send(struct cli *cli, struct changes *changes, const char *cluster,
                const struct api_target *target, const struct cli_request *request, const char *done)
{
    struct cli_answer answer CLEANUP_ANSWER = {0};
    assert(target->call != API_PATCH || request->body);
    api_call_raw(cli, target, request, &answer);
    if (target->call == API_PATCH && answer.repeated && answer.status == 412)
        forgive_second_try(cli, changes->project, cluster, request->body, &answer);
    int code = (int)problem_code(&answer);
    bool gone = target->call == API_DELETE && answer.repeated && answer.status == 404;
    if (code != END_OK && !gone) {
        problem_say(cli, &answer);
        return code;
    }
    bool needs_none = gone || (target->call == API_DELETE && answer.status == 204);
    code = needs_none ? END_OK : api_check_object(cli, answer.json);
    if (code != END_OK)
        return code;
    changes->items = mem_realloc_array(changes->items, changes->count + 1, sizeof(*changes->items));
    struct cli_change *change = &changes->items[changes->count++];
    *change = (struct cli_change){.cluster = mem_strdup(cluster), .done = gone ? "deleted" : done};
    if (answer.status == 202) {
        note_operation(change, answer.json);
        if (!change->operation)
            return cli_fail(END_UNREACHABLE,
                            "the server is not shootd: it accepted the change without an operation");
    }
    change->document = gone ? NULL : json_incref(answer.json);
    return END_OK;
}

static void print_line(const struct cli *cli, const struct cli_change *change, bool ended)
{
    char *name CLEANUP_FREE = glyphs_shown(change->cluster),
               *id CLEANUP_FREE = glyphs_shown(change->operation);
    char *type CLEANUP_FREE = glyphs_shown(change->type);
    if (!change->operation)
        (void)fprintf(cli->out.file, "%s: %s\n", name, change->done);
    else if (ended)
        (void)fprintf(cli->out.file, "%s: %s succeeded\n", name, type);
    else
        (void)fprintf(cli->out.file, "%s: %s accepted as %s\n", name, type, id);
}

/* Returns the current cluster. When it cannot be read, for example because it was deleted, returns the
 * cluster from the answer to the change. When that answer contained none, returns an object with only
 * `project` and `name`. */
static json_t *document_of(struct cli *cli, const struct changes *changes, const struct cli_change *change)
{
    struct api_target target CLEANUP_TARGET;
    struct cli_answer answer CLEANUP_ANSWER = {0};
    api_target_init(&target, API_CLUSTER, changes->project, change->cluster, NULL);
    api_call_raw(cli, &target, NULL, &answer);
    if (problem_code(&answer) == END_OK && answer.json)
        return TAKE_PTR(answer.json);
    return change->document ? json_incref(change->document)
                            : json_pack("{s:s,s:s}", "project", changes->project, "name", change->cluster);
}

static void print_results(struct cli *cli, const struct changes *changes, const struct followed *followed)
{
    /* With one name on the command line one document is printed, with several names a list, whatever the
     * number of successes. */
    bool documents = output_is_document(cli), one = cli->parsed->argument_count <= 1;
    struct output output;
    output_begin(&output, cli);
    for (size_t i = 0; i < changes->count; i++) {
        const struct cli_change *change = &changes->items[i];
        if (followed && followed[i].code != END_OK)
            continue;
        if (!documents) {
            print_line(cli, change, followed != NULL);
            continue;
        }
        json_t *document CLEANUP_JSON =
            followed || !change->document ? document_of(cli, changes, change) : json_incref(change->document);
        (void)(one ? output_one(cli, document, change->cluster)
                   : output_add(&output, document, change->cluster));
    }
    if (output.count)
        (void)output_end(&output);
    else
        output_drop(&output);
}

static int follow_changes(struct cli *cli, const struct changes *changes, struct followed *followed)
{
    size_t count = 0;
    struct followed *open CLEANUP_FREE = mem_calloc(changes->count + 1, sizeof(*open));
    size_t *index CLEANUP_FREE = mem_calloc(changes->count + 1, sizeof(*index));
    for (size_t i = 0; i < changes->count; i++) {
        const struct cli_change *change = &changes->items[i];
        if (!change->operation)
            continue;
        index[count] = i;
        open[count++] = (struct followed){.goal = GOAL_OPERATION,
                                          .project = changes->project,
                                          .cluster = mem_strdup(change->cluster),
                                          .operation = mem_strdup(change->operation)};
    }
    int code =
        count ? follow_all(cli, open, count, parsed_duration_ms(cli->parsed, "timeout", DEFAULT_TIMEOUT_MS))
              : END_OK;
    for (size_t i = 0; i < count; i++) {
        bool unknown = !open[i].ended && open[i].code == END_OK;
        followed[index[i]].code = unknown ? code : open[i].code;
        followed_done(&open[i]);
    }
    return code;
}

static void changes_done(struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        free(changes->items[i].cluster);
        free(changes->items[i].operation);
        free(changes->items[i].type);
        json_decref(changes->items[i].document);
    }
    free(changes->items);
    *changes = (struct changes){0};
}

int changes_finish(struct cli *cli, struct changes *changes, int code)
{
    struct followed *followed CLEANUP_FREE = mem_calloc(changes->count + 1, sizeof(*followed));
    bool waits = !parsed_on(cli->parsed, "no-wait");
    int waited = waits ? follow_changes(cli, changes, followed) : END_OK;
    if (changes->count)
        print_results(cli, changes, waits ? followed : NULL);
    changes_done(changes);
    return code != END_OK ? code : waited;
}
