/*
 * Commands that wait, each with its own deadline. Loop thread.
 *
 * Why a command that is ready is decided again from the start: while it waited, the cluster may have been
 * deleted, the token revoked, or the configuration replaced. Why a deadline only puts it into a list: timers
 * fire in the middle of a turn, and answers are given at the end of one (turn.c).
 */
#include "reconcile/world/waiting.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "reconcile/world/world.h"

static void wait_is_over(struct waiting *w)
{
    if (list_is_detached(&w->late))
        list_append(&w->r->turn.late, &w->late);
}

static void on_wait_deadline(struct loop_timer *timer)
{
    wait_is_over(CONTAINER_OF(timer, struct waiting, deadline));
}

struct waiting *wait_new(struct reconcile *r, struct command *cmd, struct list *where, wait_end *on_deadline)
{
    return wait_until(r, cmd, cmd->deadline, where, on_deadline);
}

struct waiting *wait_until(struct reconcile *r, struct command *cmd, mono_us until, struct list *where,
                           wait_end *on_deadline)
{
    loop_assert_owner(r->o.loop);
    assert(cmd && on_deadline && until);
    struct waiting *w = MEM_NEW(struct waiting);
    w->cmd = cmd;
    w->r = r;
    w->on_deadline = on_deadline;
    w->deadline.fire = on_wait_deadline;
    w->deadline.name = "deadline of a request";
    list_append(where, &w->link);
    loop_timer_set(r->o.loop, &w->deadline, until);
    return w;
}

void call_for_waiters(struct upstream_call *call, const struct list *waiters)
{
    const struct command *cmd =
        list_is_empty(waiters) ? NULL : CONTAINER_OF(waiters->next, struct waiting, link)->cmd;
    upstream_call_for(call, cmd ? &cmd->trace : NULL, cmd ? cmd->request_id : NULL);
}

void command_is_ready(struct command *cmd)
{
    struct reconcile *r = cmd->decided_by;
    loop_assert_owner(r->o.loop);
    list_append(&r->turn.ready, &cmd->answered);
}

void need_is_met(struct command *cmd, enum command_need need)
{
    cmd->facts.known |= (unsigned)need;
    command_is_ready(cmd);
}

struct command *wait_take(struct waiting *w)
{
    struct command *cmd = w->cmd;
    assert(!list_is_detached(&w->link));
    list_remove(&w->link);
    list_remove(&w->late);
    loop_timer_clear(w->r->o.loop, &w->deadline);
    free(w);
    return cmd;
}

void waiters_answer(struct list *waiters)
{
    LIST_FOR_EACH (it, waiters)
        wait_is_over(CONTAINER_OF(it, struct waiting, link));
}
