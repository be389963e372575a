/* Commands that wait, each with its own deadline. Loop thread. */
#include <stdlib.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/world_private.h"

static void fire(struct loop_timer *timer)
{
    struct waiting *w = CONTAINER_OF(timer, struct waiting, deadline);
    w->on_deadline(w);
}

struct waiting *wait_new(struct reconcile *r, struct command *cmd, struct list *where,
                         void (*on_deadline)(struct waiting *w))
{
    struct waiting *w = MEM_NEW(struct waiting);
    w->cmd = cmd;
    w->r = r;
    w->on_deadline = on_deadline;
    w->deadline.fire = fire;
    list_append(where, &w->link);
    loop_timer_set(r->o.loop, &w->deadline, cmd->deadline);
    return w;
}

void call_for_waiters(struct upstream_call *call, const struct list *waiters)
{
    const struct command *cmd =
        list_is_empty(waiters) ? NULL : CONTAINER_OF(waiters->next, struct waiting, link)->cmd;
    upstream_call_for(call, cmd ? &cmd->trace : NULL, cmd ? cmd->request_id : NULL);
}

struct command *wait_take(struct waiting *w)
{
    struct command *cmd = w->cmd;
    list_remove(&w->link);
    loop_timer_clear(w->r->o.loop, &w->deadline);
    free(w);
    return cmd;
}

static void answer_current(struct waiting *w)
{
    struct operation_entry *entry = operation_entry(w->r, w->cmd->id);
    struct command *cmd = wait_take(w);
    if (entry)
        reply_operation(cmd, entry->op);
    else
        reply_problem(cmd, problem_new(PROBLEM_OPERATION_NOT_FOUND, "no operation %s", cmd->id));
}

void command_operation_wait(struct reconcile *r, struct command *cmd)
{
    struct operation_entry *entry = operation_entry(r, cmd->id);
    if (!entry)
        reply_problem(cmd, problem_new(PROBLEM_OPERATION_NOT_FOUND, "no operation %s", cmd->id));
    else if (operation_status_is_final(entry->op->status) || r->stopping)
        reply_operation(cmd, entry->op);
    else
        (void)wait_new(r, cmd, &entry->waiters, answer_current);
}

void operation_waiters_answer(struct reconcile *r, struct operation_entry *entry)
{
    (void)r;
    LIST_FOR_EACH_SAFE (it, next, &entry->waiters)
        answer_current(CONTAINER_OF(it, struct waiting, link));
}
