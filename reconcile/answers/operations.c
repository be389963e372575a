/* Pages of operations, and operations that callers wait for. Loop thread. */
#include "reconcile/answers/operations.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "reconcile/answers/reply.h"
#include "reconcile/world/remembered.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/world.h"

void reply_no_operation(struct command *cmd)
{
    reply_problem(cmd, problem_new(PROBLEM_OPERATION_NOT_FOUND, "no operation %s", cmd->id));
}

static void reply_unreadable(struct command *cmd)
{
    reply_problem(cmd, problem_new(PROBLEM_STORE_UNAVAILABLE, "the stored operations cannot be read"));
}

/* ---- pages ---- */

/* They are rendered on the HTTP side: a page may be large. */
static void on_page_read(struct stored *s)
{
    struct command *cmd = s->cmd;
    if (s->status != STORE_OK || !s->operations) {
        reply_unreadable(cmd);
        return;
    }
    cmd->operations.found = TAKE_PTR(s->operations);
    cmd->reply.status = 200;
    reply_give_back(cmd);
}

void command_operations(struct reconcile *r, struct command *cmd)
{
    storage_query_operations(r->o.storage, &cmd->operations.query, stored_operations,
                             stored_question(cmd, on_page_read));
}

/* ---- one that has left the memory ---- */

void operation_recall(struct reconcile *r, struct command *cmd, void (*on_found)(struct stored *s))
{
    struct operation_query query = {.limit = 1};
    assert(!operation_entry(r, cmd->id));
    if (!operation_may_be_stored(r, cmd->id)) {
        reply_no_operation(cmd);
        return;
    }
    memcpy(query.id, cmd->id, sizeof(query.id));
    storage_query_operations(r->o.storage, &query, stored_operations, stored_question(cmd, on_found));
}

const struct operation *operation_recalled(const struct stored *s)
{
    if (s->status != STORE_OK || !s->operations)
        reply_unreadable(s->cmd);
    else if (!s->operations->count)
        reply_no_operation(s->cmd);
    else
        return s->operations->operations[0];
    return NULL;
}

/* ---- the end of one ---- */

static void answer_operation(struct waiting *w)
{
    struct operation_entry *entry = operation_entry(w->r, w->cmd->id);
    struct command *cmd = wait_take(w);
    assert(entry); /* it stays while somebody waits */
    reply_operation(cmd, entry->op);
}

static void on_ended_read(struct stored *s)
{
    const struct operation *op = operation_recalled(s);
    if (op)
        reply_operation(s->cmd, op);
}

void command_operation_wait(struct reconcile *r, struct command *cmd)
{
    struct operation_entry *entry = operation_entry(r, cmd->id);
    if (!entry)
        operation_recall(r, cmd, on_ended_read);
    else if (operation_status_is_final(entry->op->status) || r->stopping)
        reply_operation(cmd, entry->op);
    else
        (void)wait_new(r, cmd, &entry->waiters, answer_operation);
}
