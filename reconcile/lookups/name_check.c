/*
 * Names are unique in the whole cloud (CL-21). shootd asks Cleura before it accepts a create, so the caller
 * gets the answer at once. The wait is short. A create is also accepted while Cleura cannot be reached; such
 * a create later fails with name_taken if the name is not free. A taken name may belong to a cluster of the
 * same project that shootd has not seen yet, so the project is read before the answer. Loop thread.
 */
#include "reconcile/lookups/lookup.h"

#include <assert.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/answers/reply.h"
#include "reconcile/observation/fresh.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/world.h"

enum { PATIENCE_MS = 2500 };

struct name_check {
    struct list link; /* in reconcile.name_checks, while Cleura is asked whether the name is free */
    struct reconcile *r;
    struct project *project;
    struct command *cmd;
    char *name;
    struct upstream_call call;
    struct loop_timer give_up;
    struct fresh_reader listing; /* used when the name is taken: a read of the project, because its owner may
                                  * be a cluster of this project */
};

/* Ends the question to Cleura. */
static void stop_asking(struct name_check *n)
{
    assert(n->cmd && !list_is_detached(&n->link));
    upstream_cancel(&n->call);
    loop_timer_clear(n->r->o.loop, &n->give_up);
    list_remove(&n->link);
}

/* Frees the check and returns its command, which the caller owns. */
static struct command *name_check_free(struct name_check *n)
{
    struct command *cmd = n->cmd;
    assert(list_is_detached(&n->link) && list_is_detached(&n->listing.link));
    free(n->name);
    free(n);
    return cmd;
}

static void decide_on(struct name_check *n)
{
    command_is_ready(name_check_free(n));
}

/* The project was read. Either the project now contains the cluster, or the name belongs to a cluster of
 * another project. */
static void on_listed(struct fresh_reader *reader, enum fresh_outcome outcome)
{
    struct name_check *n = CONTAINER_OF(reader, struct name_check, listing);
    n->cmd->write.name_is_taken = outcome == FRESH_READ && !entity_find(n->r, n->project->name, n->name);
    decide_on(n);
}

/* The loop has ended, so nothing can decide the command any more. */
static void on_listing_dropped(struct fresh_reader *reader)
{
    command_drop(name_check_free(CONTAINER_OF(reader, struct name_check, listing)));
}

static void on_name_checked(struct upstream_call *call, const struct upstream_result *result)
{
    struct name_check *n = CONTAINER_OF(call, struct name_check, call);
    stop_asking(n);
    if (result->class != UPSTREAM_OK || !json_bool(result->document, "is_taken", false)) {
        n->cmd->write.name_is_free = result->class == UPSTREAM_OK;
        decide_on(n);
        return;
    }
    n->listing = (struct fresh_reader){.until = env_mono(n->r->env) + PATIENCE_MS * US_PER_MS,
                                       .done = on_listed,
                                       .dropped = on_listing_dropped};
    fresh_read(n->project, &n->listing);
}

/* Lets the command be decided without the check. */
static void decide_without(struct name_check *n)
{
    stop_asking(n);
    decide_on(n);
}

static void on_give_up(struct loop_timer *timer)
{
    decide_without(CONTAINER_OF(timer, struct name_check, give_up));
}

bool name_check_wait(struct project *p, struct command *cmd, const char *name)
{
    struct reconcile *r = p->r;
    if (cmd->stage >= COMMAND_NAME_CHECKED || !upstream_supports(project_lane(p), UPSTREAM_NAME_TAKEN))
        return false;
    assert(command_write_of(cmd));
    cmd->stage = COMMAND_NAME_CHECKED;
    struct name_check *n = MEM_NEW(struct name_check);
    n->r = r;
    n->project = p;
    n->cmd = cmd;
    n->name = mem_strdup(name);
    n->give_up.fire = on_give_up;
    n->give_up.name = "name check";
    list_append(&r->name_checks, &n->link);
    mono_us until = env_mono(r->env) + PATIENCE_MS * US_PER_MS;
    loop_timer_set(r->o.loop, &n->give_up, until);
    n->call = (struct upstream_call){.op = UPSTREAM_NAME_TAKEN,
                                     .region = p->region,
                                     .project_id = p->project_id,
                                     .name = n->name,
                                     .priority = LANE_USER_WAITING,
                                     .deadline = until,
                                     .on_done = on_name_checked};
    upstream_call_for(&n->call, &cmd->trace, cmd->request_id);
    upstream_submit(project_lane(p), &n->call);
    return true;
}

void name_checks_stop(struct reconcile *r)
{
    LIST_FOR_EACH_SAFE (it, next, &r->name_checks) {
        struct name_check *n = CONTAINER_OF(it, struct name_check, link);
        stop_asking(n);
        reply_stopping(name_check_free(n));
    }
}

void name_checks_forget_project(struct project *p)
{
    LIST_FOR_EACH_SAFE (it, next, &p->r->name_checks) {
        struct name_check *n = CONTAINER_OF(it, struct name_check, link);
        if (n->project == p)
            decide_without(n);
    }
}
