/*
 * How long operations of a project usually take. The store's reader reads the operations page by page, so
 * that other queries can run between two pages; the loop only requests the next page. Loop thread, except
 * where noted.
 */

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "model/command.h"
#include "model/expectation.h"
#include "model/string_list.h"
#include "reconcile/answers/operation_answers.h"
#include "reconcile/answers/reply.h"
#include "reconcile/answers/store_query.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/world.h"

enum { AT_A_TIME = 250, DAY_S = 86400 };

static bool is_enough(const struct command_durations *d)
{
    return !*d->query.before || expectation_count(d->so_far) >= EXPECTATION_LOOKED_AT;
}

/* Runs on the reader thread, which owns the command until its result is posted. */
static void on_page_read(void *ctx, enum store_status status, struct operation_page *page)
{
    struct store_query *s = ctx;
    struct command *cmd = s->cmd;
    struct command_durations *d = &cmd->durations;
    for (size_t i = 0; page && i < page->count; i++)
        expectation_add(d->so_far, page->operations[i]);
    if (page) {
        memcpy(d->query.before, page->next, sizeof(d->query.before));
        if (is_enough(d)) {
            json_t *doc CLEANUP_JSON = expectation_to_json(d->so_far);
            cmd->reply.text = json_text(doc);
        }
    }
    operation_page_free(page);
    store_query_operations(s, status, NULL);
}

static struct problem *on_page(struct store_query *s);

static void ask(struct reconcile *r, struct command *cmd)
{
    storage_query_operations(r->o.storage, &cmd->durations.query, on_page_read,
                             store_query_question(cmd, on_page));
}

static struct problem *on_page(struct store_query *s)
{
    struct command *cmd = s->cmd;
    struct reconcile *r = cmd->decided_by;
    if (s->status != STORE_OK)
        return problem_unreadable_operations();
    if (cmd->reply.text) {
        cmd->reply.status = 200;
        reply_give_back(cmd);
    } else if (r->stopping) {
        return problem_stopping();
    } else {
        ask(r, cmd);
    }
    return NULL;
}

struct problem *command_durations(struct reconcile *r, struct command *cmd)
{
    struct command_durations *d = &cmd->durations;
    char *only_one[] = {cmd->project, NULL};
    assert(cmd->project && !d->so_far);
    d->so_far = expectation_new();
    d->query = (struct operation_query){
        .limit = AT_A_TIME,
        .projects = string_list_copy(only_one),
        .statuses = 1U << OPERATION_SUCCEEDED,
        .since = env_wall(r->env) - (int64_t)EXPECTATION_DAYS * DAY_S * US_PER_S,
    };
    ask(r, cmd);
    return NULL;
}
