/* Questions to the store's reader: what it found comes back as a task of the loop. When the loop has ended
 * meanwhile, the command is dropped. */
#include "reconcile/answers/stored.h"

#include <assert.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/world/world.h"

static void stored_free(struct stored *s)
{
    event_page_free(s->events);
    audit_page_free(s->audit);
    replay_free(s->replay);
    operation_page_free(s->operations);
    free(s->deliveries);
    free(s);
}

static void stored_run(struct loop_task *task)
{
    struct stored *s = CONTAINER_OF(task, struct stored, task);
    struct reconcile *r = s->cmd->decided_by;
    loop_assert_owner(r->o.loop);
    s->on_found(s);
    stored_free(s);
}

/* The loop has ended, and with it whatever could decide more. */
static void stored_drop(struct loop_task *task)
{
    struct stored *s = CONTAINER_OF(task, struct stored, task);
    command_drop(s->cmd);
    stored_free(s);
}

struct stored *stored_question(struct command *cmd, void (*on_found)(struct stored *s))
{
    assert(cmd->decided_by && on_found);
    struct stored *s = MEM_NEW(struct stored);
    s->task = (struct loop_task){.run = stored_run, .drop = stored_drop};
    s->on_found = on_found;
    s->cmd = cmd;
    return s;
}

static void stored_pass_on(struct stored *s, enum store_status status)
{
    struct reconcile *r = s->cmd->decided_by;
    s->status = status;
    loop_post(r->o.loop, &s->task);
}

void stored_events(void *ctx, enum store_status status, struct event_page *page)
{
    struct stored *s = ctx;
    s->events = page;
    stored_pass_on(s, status);
}

void stored_audit(void *ctx, enum store_status status, struct audit_page *page)
{
    struct stored *s = ctx;
    s->audit = page;
    stored_pass_on(s, status);
}

void stored_replay(void *ctx, enum store_status status, struct replay *replay)
{
    struct stored *s = ctx;
    s->replay = replay;
    stored_pass_on(s, status);
}

void stored_operations(void *ctx, enum store_status status, struct operation_page *page)
{
    struct stored *s = ctx;
    s->operations = page;
    stored_pass_on(s, status);
}

void stored_deliveries(void *ctx, enum store_status status, struct delivery *array, size_t count)
{
    struct stored *s = ctx;
    s->deliveries = array;
    s->count = count;
    stored_pass_on(s, status);
}
