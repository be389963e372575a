/* The commands `apply` and `diff`: compare documents with the clusters at the server. */
#include <string.h>

#include "base/mem.h"
#include "cli/glyphs.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/plan.h"
#include "cli/problem.h"
#include "cli/verbs/verb_change.h"
#include "cli/verbs/verb_clusters.h"
#include "cli/verbs/verbs.h"

/* One document, ready to send. */
struct wanted {
    char *project, *name, *body;
    json_t *document; /* the parsed body */
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
        json_decref(all->items[i].document);
    }
    free(all->items);
    *all = (struct all_wanted){0};
}

/* Refuses two documents for the same cluster, because their order would decide the result. */
static int check_once(const struct all_wanted *all, const char *source)
{
    const struct wanted *last = &all->items[all->count - 1];
    for (size_t i = 0; i + 1 < all->count; i++)
        if (strcmp(all->items[i].name, last->name) == 0 && strcmp(all->items[i].project, last->project) == 0)
            return cli_fail(END_USAGE, "%s: %s/%s is also in another document", source, last->project,
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
    const char *project = document_project(cli, document->source, named, &code);
    if (!project)
        return code;
    all->items = mem_realloc_array(all->items, all->count + 1, sizeof(*all->items));
    all->items[all->count++] = (struct wanted){mem_strdup(project), mem_strdup(json_str(body, "name")),
                                               json_text(body), json_incref(body)};
    return check_once(all, document->source);
}

/* Reads and checks all documents before the first document is sent. */
static int read_wanted(struct cli *cli, struct all_wanted *all)
{
    struct input_documents documents;
    const char *path = parsed_text(cli->parsed, "file");
    if (!path)
        return cli_fail(END_USAGE, "-f FILE, DIRECTORY or - is needed: it has the desired clusters");
    int code = documents_read(path, &documents);
    for (size_t i = 0; i < documents.count && code == END_OK; i++)
        code = add_wanted(cli, &documents.items[i], all);
    documents_done(&documents);
    return code;
}

/* ---- apply ---- */

/* The members that a PUT replaces. */
static const char *const replaced[] = {"spec", "labels", "description", "deletion_protection"};

/* Whether the value has the same meaning as a missing member. */
static bool is_empty(const json_t *value)
{
    return !value || json_is_null(value) || json_is_false(value) ||
           (json_is_object(value) && !json_object_size(value));
}

/* Whether the members that a PUT replaces are equal in both documents. */
static bool is_alike(const json_t *a, const json_t *b)
{
    for (size_t i = 0; i < ARRAY_LEN(replaced); i++) {
        const json_t *x = json_object_get(a, replaced[i]), *y = json_object_get(b, replaced[i]);
        if (!(is_empty(x) && is_empty(y)) && !json_equal(x, y))
            return false;
    }
    return true;
}

static bool has_same_operation(const json_t *a, const json_t *b)
{
    return mem_same_str(json_str(json_obj(a, "operation"), "id"), json_str(json_obj(b, "operation"), "id"));
}

/*
 * Returns the word for the result of a PUT. "unchanged" requires that the operation is the same as before,
 * because a new operation corrects drift. There is one exception: an operation that waits for another
 * operation is shown only in the answer to the PUT. Then an equal revision means "unchanged".
 */
static const char *result_of(const json_t *before, const json_t *after)
{
    if (!before || !mem_same_str(json_str(before, "id"), json_str(after, "id")))
        return "created"; /* a new id: the old record was of a cluster that was never created */
    bool adopted = !json_bool(before, "managed", true) && json_bool(after, "managed", true);
    bool same_revision = json_int(before, "revision", -1) == json_int(after, "revision", -2);
    bool same = is_alike(before, after) && !adopted && (has_same_operation(before, after) || same_revision);
    return same ? "unchanged" : "configured";
}

/* Asks before a write whose plan removes a pool, replaces nodes or ends the protection. */
static int confirm(struct cli *cli, const struct wanted *one, const struct api_target *target,
                   const struct cli_request *request)
{
    json_t *plan CLEANUP_JSON = NULL;
    struct plan_counts counts = {0};
    if (parsed_on(cli->parsed, "yes"))
        return END_OK;
    int code = plan_get(cli, target, request, &plan);
    char *question CLEANUP_FREE = code == END_OK ? plan_question(plan) : NULL;
    if (!question)
        return code;
    plan_print(&cli->err, one->name, plan, &counts);
    if (change_confirmed(cli, question))
        return END_OK;
    return change_refusal(cli);
}

/* Called after a 412. The cluster may already have the values of the document, because of an earlier attempt
 * whose answer was lost, or because of another user. Then the current cluster replaces the answer. */
static bool is_there_by_now(struct cli *cli, const struct wanted *one, struct cli_answer *answer)
{
    struct api_target target CLEANUP_TARGET;
    struct cli_answer now CLEANUP_ANSWER = {0};
    api_target_init(&target, API_CLUSTER, one->project, one->name, NULL);
    api_call_raw(cli, &target, NULL, &now);
    if (problem_code(&now) != END_OK || !json_bool(now.json, "managed", true) ||
        !is_alike(one->document, now.json))
        return false;
    http_answer_done(answer);
    *answer = now;
    now = (struct cli_answer){0};
    return true;
}

/* Sends the PUT. The server accepts it only while the cluster is in the state `seen`. */
static int put(struct cli *cli, const struct wanted *one, const struct seen_cluster *seen,
               struct cli_answer *answer)
{
    struct api_target target CLEANUP_TARGET;
    const struct cli_request request = {.body = one->body, .etag = seen->etag, .only_new = !seen->cluster};
    api_target_init(&target, API_PUT, one->project, one->name, NULL);
    int code = seen->cluster ? confirm(cli, one, &target, &request) : END_OK;
    if (code != END_OK)
        return code;
    api_call_raw(cli, &target, &request, answer);
    if (answer->status == 412 && is_there_by_now(cli, one, answer))
        return END_OK;
    code = (int)problem_code(answer);
    if (code != END_OK)
        problem_say(cli, answer);
    return code == END_OK ? api_check_object(cli, answer->json) : code;
}

static int apply_one(struct cli *cli, const struct wanted *one, struct output *output)
{
    struct seen_cluster seen CLEANUP_SEEN;
    struct cli_answer answer CLEANUP_ANSWER = {0};
    int code = seen_cluster_read(cli, one->project, one->name, true, &seen);
    if (code == END_OK)
        code = put(cli, one, &seen, &answer);
    if (code != END_OK)
        return code;
    if (output_is_document(cli))
        return output_add(output, answer.json, one->name);
    char *project CLEANUP_FREE = glyphs_shown(one->project), *name CLEANUP_FREE = glyphs_shown(one->name);
    (void)fprintf(cli->out.file, "%s/%s %s\n", project, name, result_of(seen.cluster, answer.json));
    return END_OK;
}

int verb_apply(struct cli *cli)
{
    struct all_wanted all = {0};
    struct output output;
    int code = cli_connect(cli);
    if (code == END_OK)
        code = read_wanted(cli, &all);
    int first = code;
    output_begin(&output, cli);
    for (size_t i = 0; i < all.count && code == END_OK; i++) {
        int one = apply_one(cli, &all.items[i], &output);
        first = first == END_OK ? one : first;
        if (one == END_UNREACHABLE || one == END_NOT_ALLOWED)
            code = one; /* this ends the loop, because the other documents would fail in the same way */
        else
            code = cli_flush(); /* so does lost output, because nobody would see the further results */
    }
    first = first == END_OK ? code : first;
    output_finish(&output, first);
    wanted_done(&all);
    return first;
}

/* ---- diff ---- */

/* Prints or collects the plan of one cluster. *ret_differs: apply would change it. */
static int diff_one(struct cli *cli, const struct wanted *one, struct plan_counts *counts,
                    struct output *output, bool *ret_differs)
{
    struct api_target target CLEANUP_TARGET;
    json_t *plan CLEANUP_JSON = NULL;
    const struct cli_request request = {.body = one->body};
    api_target_init(&target, API_PUT, one->project, one->name, NULL);
    int code = plan_get(cli, &target, &request, &plan);
    if (code != END_OK)
        return code;
    *ret_differs = json_array_size(json_arr(plan, "changes")) || json_array_size(json_arr(plan, "steps"));
    if (output_is_document(cli))
        return output_add(output, plan, one->name);
    if (*ret_differs)
        plan_print(&cli->out, one->name, plan, counts);
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
        bool differs = false;
        code = diff_one(cli, &all.items[i], &counts, &output, &differs);
        different += differs;
    }
    size_t equal = all.count - different;
    wanted_done(&all);
    output_finish(&output, code);
    if (code != END_OK)
        return code;
    if (!output_is_document(cli)) {
        (void)fprintf(cli->out.file, "%zu different, %zu unchanged; ", different, equal);
        plan_print_counts(&cli->out, &counts, "");
    }
    return different ? END_DIFFERENT : END_OK;
}
