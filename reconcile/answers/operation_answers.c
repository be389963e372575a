/* Pages of operations, and operations for which callers wait. Loop thread. */
#include "reconcile/answers/operation_answers.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "reconcile/answers/reply.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/operation_table.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/world.h"
#include "view/render.h"

struct problem *problem_no_operation(const struct command *cmd)
{
    return problem_new(PROBLEM_OPERATION_NOT_FOUND, "no operation %s", cmd->id);
}

struct problem *problem_unreadable_operations(void)
{
    return problem_passing(PROBLEM_STORE_UNAVAILABLE, 5, "the stored operations cannot be read");
}

/* ---- pages ---- */

/* Renders operations in the form of lists, and the cursor of the next page. */
static void render_page(struct command_operations *c, const struct operation_page *page)
{
    struct buffer items, tags;
    buffer_init(&items, SIZE_MAX);
    buffer_init(&tags, SIZE_MAX);
    for (size_t i = 0; i < page->count; i++) {
        char tag[ETAG_BYTES];
        render_operation(&items, page->operations[i]);
        render_operation_etag(page->operations[i], tag);
        buffer_add_str(&tags, tag);
    }
    c->items = buffer_take(&items, NULL);
    c->tags = buffer_take(&tags, NULL);
    memcpy(c->next, page->next, sizeof(c->next));
}

/* Reader thread, because a page may be large. */
static void on_page_read(void *ctx, enum store_status status, struct operation_page *page)
{
    struct store_query *s = ctx;
    if (page)
        render_page(&s->cmd->operations, page);
    operation_page_free(page);
    store_query_operations(s, status, NULL);
}

static struct problem *on_page_rendered(struct store_query *s)
{
    struct command *cmd = s->cmd;
    if (s->status != STORE_OK || !cmd->operations.items)
        return problem_unreadable_operations();
    cmd->reply.status = 200;
    reply_give_back(cmd);
    return NULL;
}

struct problem *command_operations(struct reconcile *r, struct command *cmd)
{
    storage_query_operations(r->o.storage, &cmd->operations.query, on_page_read,
                             store_query_question(cmd, on_page_rendered));
    return NULL;
}

/* ---- an operation that is no longer in memory ---- */

void operation_recall(struct reconcile *r, struct command *cmd, const char *id, query_end *on_found)
{
    struct operation_query query = {.limit = 1};
    assert(!operation_entry(r, id) && operation_has_left(r, id));
    (void)snprintf(query.id, sizeof(query.id), "%s", id);
    storage_query_operations(r->o.storage, &query, store_query_operations,
                             store_query_question(cmd, on_found));
}

struct problem *operation_recalled(const struct store_query *s, const struct operation **ret_op)
{
    *ret_op = NULL;
    if (s->status != STORE_OK || !s->operations)
        return problem_unreadable_operations();
    if (!s->operations->count)
        return problem_no_operation(s->cmd);
    *ret_op = s->operations->operations[0];
    return NULL;
}

/* ---- the end of an operation ---- */

static struct problem *answer_operation(struct waiting *w)
{
    struct operation_entry *entry = operation_entry(w->r, w->cmd->id);
    struct command *cmd = wait_take(w);
    assert(entry); /* an operation with waiters stays in memory */
    reply_operation(cmd, entry->op);
    return NULL;
}

/* The path names only the operation. A caller that may see the project may see its operations. */
static bool is_seen(struct command *cmd, const struct operation *op)
{
    if (!cmd->project)
        cmd->project = mem_strdup(op->project);
    return projects_include(cmd->caller.projects, op->project);
}

static struct problem *on_ended_read(struct store_query *s)
{
    const struct operation *op;
    struct problem *refusal = operation_recalled(s, &op);
    if (refusal)
        return refusal;
    if (!is_seen(s->cmd, op))
        return problem_no_operation(s->cmd);
    reply_operation(s->cmd, op);
    return NULL;
}

struct problem *command_operation_wait(struct reconcile *r, struct command *cmd)
{
    struct operation_entry *entry = operation_entry(r, cmd->id);
    if (!entry && operation_has_left(r, cmd->id))
        operation_recall(r, cmd, cmd->id, on_ended_read);
    else if (!entry || !is_seen(cmd, entry->op))
        return problem_no_operation(cmd);
    else if (operation_status_is_final(entry->op->status) || r->stopping)
        reply_operation(cmd, entry->op);
    else
        (void)wait_new(r, cmd, &entry->waiters, answer_operation);
    return NULL;
}
