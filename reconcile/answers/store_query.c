/* Queries to the store's reader: the result returns as a task of the loop. When the loop has ended, the
 * command is dropped. */
#include "reconcile/answers/store_query.h"

#include <assert.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/world/world.h"

void store_query_free(struct store_query *s)
{
    event_page_free(s->events);
    audit_page_free(s->audit);
    replay_free(s->replay);
    operation_page_free(s->operations);
    free(s->deliveries);
    free(s);
}

static void store_query_run(struct loop_task *task)
{
    struct store_query *s = CONTAINER_OF(task, struct store_query, task);
    struct reconcile *r = s->cmd->decided_by;
    loop_assert_owner(r->o.loop);
    list_append(&r->turn.found, &s->found);
}

/* The loop has ended, so the command cannot be decided. */
static void store_query_drop(struct loop_task *task)
{
    struct store_query *s = CONTAINER_OF(task, struct store_query, task);
    command_drop(s->cmd);
    store_query_free(s);
}

struct store_query *store_query_question(struct command *cmd, query_end *on_found)
{
    assert(cmd->decided_by && on_found);
    struct store_query *s = MEM_NEW(struct store_query);
    s->task = (struct loop_task){.run = store_query_run, .drop = store_query_drop};
    s->on_found = on_found;
    s->cmd = cmd;
    return s;
}

static void store_query_pass_on(struct store_query *s, enum store_status status)
{
    struct reconcile *r = s->cmd->decided_by;
    s->status = status;
    loop_post(r->o.loop, &s->task);
}

void store_query_events(void *ctx, enum store_status status, struct event_page *page)
{
    struct store_query *s = ctx;
    s->events = page;
    store_query_pass_on(s, status);
}

void store_query_audit(void *ctx, enum store_status status, struct audit_page *page)
{
    struct store_query *s = ctx;
    s->audit = page;
    store_query_pass_on(s, status);
}

void store_query_replay(void *ctx, enum store_status status, struct replay *replay)
{
    struct store_query *s = ctx;
    s->replay = replay;
    store_query_pass_on(s, status);
}

void store_query_operations(void *ctx, enum store_status status, struct operation_page *page)
{
    struct store_query *s = ctx;
    s->operations = page;
    store_query_pass_on(s, status);
}

void store_query_deliveries(void *ctx, enum store_status status, struct delivery *array, size_t count)
{
    struct store_query *s = ctx;
    s->deliveries = array;
    s->count = count;
    store_query_pass_on(s, status);
}
