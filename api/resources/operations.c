/* Operations: they show the progress of accepted writes (AO-1 to AO-17). */
#include "api/resources/handlers.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/reads.h"
#include "base/ids.h"
#include "base/mem.h"
#include "http/message/content.h"
#include "model/string_list.h"

enum { POLL_AGAIN_S = 5 };

/* Operations of a project that was removed from the configuration are stored but not shown. */
static bool is_served(const struct request *r, const char *project)
{
    return api_token_sees_project(r->token, project) && config_project(api_config(r->api), project);
}

static bool operation_is_wanted(struct request *r, const struct view_entry *entry)
{
    const struct operation *op = entry->subject;
    const struct query_values *p = &r->params;
    char since[ID_BYTES];
    bool in_path = (!r->project || !strcmp(op->project, r->project)) &&
                   (!r->name || (op->cluster && !strcmp(op->cluster, r->name)));
    return in_path && param_lists(p, PARAM_PROJECT, op->project) &&
           param_lists_part(p, PARAM_CLUSTER, op->cluster) &&
           param_has_value(p, PARAM_STATUS, (int)op->status) &&
           param_has_value(p, PARAM_OPERATION_TYPE, (int)op->type) &&
           (!p->given[PARAM_SINCE] ||
            strcmp(op->id, id_floor(ID_OPERATION, p->numbers[PARAM_SINCE], since)) >= 0) &&
           is_served(r, op->project);
}

/* ---- pages beyond the view: the store has all operations ---- */

static struct problem *finish_older_page(struct request *r, struct command *cmd)
{
    const struct command_operations *found = &cmd->operations;
    struct list_body page CLEANUP_LIST_BODY;
    struct cursor_place next = {.number_count = 0};
    assert(found->items && found->tags);
    list_open(&page);
    list_add_tagged(&page, found->items, found->tags);
    bool more = *found->next && cursor_place_set(&next, found->next);
    return list_close(r, &page, more ? &next : NULL);
}

static char **only(const char *word)
{
    return string_list_copy((char *[]){(char *)(uintptr_t)word, NULL});
}

/* Returns the requested parts of names in lower case, or NULL. An empty part selects nothing, as in
 * param_lists_part. The caller owns the list. */
static char **cluster_parts(const struct request *r)
{
    char **words = list_words(r, PARAM_CLUSTER);
    size_t count = 0;
    for (size_t i = 0; words && words[i]; i++) {
        for (char *c = words[i]; *c; c++)
            *c = (char)tolower((unsigned char)*c);
        if (*words[i])
            words[count++] = words[i];
        else
            free(words[i]);
    }
    if (words)
        words[count] = NULL;
    return words;
}

/* Returns the requested projects that are configured. The caller owns the list. */
static char **served_projects(const struct request *r)
{
    const struct config *config = api_config(r->api);
    char **asked = list_projects(r);
    char **served = mem_calloc(config->project_count + 1, sizeof(char *));
    size_t count = 0;
    for (size_t i = 0; i < config->project_count; i++)
        if (!asked || projects_include(asked, config->projects[i].name))
            served[count++] = mem_strdup(config->projects[i].name);
    string_list_free(asked);
    return served;
}

static unsigned wanted_statuses(const struct request *r)
{
    return r->params.given[PARAM_STATUS] ? (unsigned)r->params.numbers[PARAM_STATUS] : 0;
}

static struct problem *read_older(struct request *r, const struct cursor_place *after)
{
    struct command *cmd = request_command(r, COMMAND_OPERATIONS);
    struct operation_query *q = &cmd->operations.query;
    memcpy(q->before, after->key, strnlen(after->key, sizeof(q->before) - 1));
    q->limit = (int)param_number(&r->params, PARAM_LIMIT);
    q->projects = r->project ? only(r->project) : served_projects(r);
    q->clusters = r->name ? only(r->name) : NULL;
    q->cluster_parts = cluster_parts(r);
    q->statuses = wanted_statuses(r);
    q->types = (unsigned)r->params.numbers[PARAM_OPERATION_TYPE];
    q->since = r->params.numbers[PARAM_SINCE];
    r->finish = finish_older_page;
    return request_park(r, cmd);
}

/* Whether the request asks for open operations only. The view contains all open operations. */
static bool wants_open_only(const struct request *r)
{
    unsigned wanted = wanted_statuses(r);
    for (int status = 0; status < OPERATION_STATUS_MAX_; status++)
        if (wanted & 1U << status && operation_status_is_final((enum operation_status)status))
            return false;
    return wanted;
}

/* Each part is compared with the name of every cluster that had an operation. */
static struct problem *check_parts(const struct request *r)
{
    enum { PARTS_MAX = 10 };
    const char *text = r->params.given[PARAM_CLUSTER] ? r->params.texts[PARAM_CLUSTER] : "";
    size_t count = 1;
    struct problem *fault = NULL;
    for (; *text; text++)
        count += *text == ',';
    if (count > PARTS_MAX)
        problem_add_fault(&fault, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, param_name(PARAM_CLUSTER),
                          "too_many", NULL, "must have at most %d parts of names", PARTS_MAX);
    return fault;
}

struct problem *handle_operations(struct request *r)
{
    const struct list_query query = {
        .section = VIEW_OPERATIONS, .newest_first = true, .may_go_on = !wants_open_only(r)};
    struct list_view list;
    struct problem *p = check_parts(r);
    if (!p)
        p = list_view_begin(&list, r, &query);
    if (p)
        return p;
    for (const struct view_entry *e = list_view_next(&list); e; e = list_view_next(&list))
        if (operation_is_wanted(r, e))
            list_view_add(&list, e);
    if (!list.goes_on)
        return list_view_end(&list);
    list_view_discard(&list);
    return read_older(r, &list.after);
}

struct problem *handle_cluster_operations(struct request *r)
{
    return handle_operations(r);
}

/* Returns how many seconds the request may wait for the end of the operation. Adds the header fields that
 * concern the wait: Vary, and Preference-Applied. */
static int64_t wait_seconds(struct request *r)
{
    int64_t wait = param_number(&r->params, PARAM_WAIT);
    int64_t preferred = r->params.given[PARAM_WAIT] ? -1 : prefer_read(&r->http.headers).wait_s;
    int64_t most = r->api->limits.wait_max_s;
    answer_header(&r->http.answer, "Vary", "Prefer");
    if (preferred >= 0) {
        wait = preferred;
        answer_header(&r->http.answer, "Preference-Applied", "wait=%lld",
                      (long long)(wait < most ? wait : most));
    }
    return wait < most ? wait : most;
}

/* ---- one operation ---- */

static struct problem *no_operation(void)
{
    return problem_new(PROBLEM_OPERATION_NOT_FOUND,
                       "There is no operation of this id that the token may see.");
}

/* Returns the operation of the path, if the view has it. *ret_is_older: the view does not have it, but the
 * store may have it. */
static struct view_blob *find_operation(const struct request *r, bool *ret_is_older)
{
    assert(r->item);
    const struct view_snapshot *s = view_enter(r->api->options.view);
    struct view_blob *blob = view_find(s, VIEW_OPERATIONS, r->item);
    *ret_is_older = !blob && strlen(r->item) < sizeof(s->left_out) && strcmp(r->item, s->left_out) <= 0;
    const struct operation *op = blob ? blob->subject : NULL;
    blob = op && is_served(r, op->project) ? view_blob_ref(blob) : NULL;
    view_leave(r->api->options.view);
    return blob;
}

struct problem *handle_operation_cancel(struct request *r)
{
    bool is_older;
    struct view_blob *blob = find_operation(r, &is_older);
    if (!blob && !is_older)
        return no_operation();
    view_blob_unref(blob);
    return request_park(r, request_command(r, COMMAND_OPERATION_CANCEL));
}

static struct problem *finish_older(struct request *r, struct command *cmd)
{
    struct command_operations *found = &cmd->operations;
    assert(found->items && found->tags);
    if (!*found->items)
        return no_operation();
    size_t len = strlen(found->items);
    return answer_with_tagged_text(r, TAKE_PTR(found->items), len, found->tags);
}

static struct problem *read_older_one(struct request *r)
{
    struct command *cmd = request_command(r, COMMAND_OPERATIONS);
    struct operation_query *q = &cmd->operations.query;
    q->limit = 1;
    q->projects = served_projects(r);
    memcpy(q->id, cmd->id, sizeof(q->id));
    r->finish = finish_older;
    return request_park(r, cmd);
}

struct problem *handle_operation(struct request *r)
{
    bool is_older;
    struct view_blob *blob = find_operation(r, &is_older);
    if (!blob && !is_older)
        return no_operation();
    int64_t seconds = wait_seconds(r);
    if (is_older)
        return read_older_one(r);
    const struct operation *op = blob->subject;
    bool is_final = operation_status_is_final(op->status);
    if (!is_final && seconds > 0 && request_may_wait(r)) {
        struct command *cmd = request_command(r, COMMAND_OPERATION_WAIT);
        cmd->deadline = env_mono(r->api->options.env) + seconds * US_PER_S;
        view_blob_unref(blob);
        return request_park(r, cmd);
    }
    if (!is_final)
        answer_header(&r->http.answer, "Retry-After", "%d", POLL_AGAIN_S);
    return answer_with_blob(r, blob);
}
