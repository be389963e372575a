/*
 * Names are unique in the whole cloud (CL-21). shootd asks Cleura before it accepts a create, so the caller
 * gets the answer at once. The wait is short. A create is accepted also while Cleura cannot be reached; it
 * then ends as name_taken if necessary. A taken name may belong to an own cluster that was not seen yet, so
 * the project is read before the answer. Loop thread.
 */
#include "reconcile/lookups/lookup.h"

#include <assert.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/answers/reply.h"
#include "reconcile/observation/poll.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/world.h"

enum { PATIENCE_MS = 2500 };

struct name_check {
    struct list link;
    struct reconcile *r;
    struct project *project;
    struct command *cmd;
    char *name;
    struct upstream_call call;
    struct loop_timer give_up;
};

/* Removes the check; the caller owns the command. */
static struct command *name_check_end(struct name_check *n)
{
    struct command *cmd = n->cmd;
    assert(cmd && !list_is_detached(&n->link));
    upstream_cancel(&n->call);
    loop_timer_clear(n->r->o.loop, &n->give_up);
    list_remove(&n->link);
    free(n->name);
    free(n);
    return cmd;
}

static void decide_on(struct name_check *n)
{
    struct reconcile *r = n->r;
    r->reactions.decide_again(r, name_check_end(n));
}

/* The project was read. Either it now contains the cluster, or the name belongs to a cluster elsewhere. */
static void on_listed(struct command *part)
{
    struct command *cmd = part->ctx;
    if (part->reply.problem && part->reply.problem->code == PROBLEM_SHUTTING_DOWN) { /* no decider is left */
        command_free(part);
        command_drop(cmd);
        return;
    }
    struct reconcile *r = cmd->decided_by;
    const char *name = cmd->type == COMMAND_CLUSTER_PUT ? cmd->name : json_str_or(cmd->body, "name", "");
    bool known = entity_find(r, cmd->project, name) != NULL;
    bool sure = !part->reply.problem && part->fresh.outcome != FRESH_FAILED;
    command_free(part);
    if (known || !sure || r->stopping)
        r->reactions.decide_again(r, cmd);
    else
        reply_problem(cmd,
                      problem_new(PROBLEM_NAME_TAKEN,
                                  "Cleura reports that the name '%s' is taken; no create was sent", name));
}

static void on_name_checked(struct upstream_call *call, const struct upstream_result *result)
{
    struct name_check *n = CONTAINER_OF(call, struct name_check, call);
    if (result->class != UPSTREAM_OK || !json_bool(result->document, "is_taken", false)) {
        n->cmd->write.name_is_free = result->class == UPSTREAM_OK;
        decide_on(n);
        return;
    }
    /* The name is taken: read the project to find its owner. */
    struct reconcile *r = n->r;
    struct command *part = command_new(COMMAND_FRESH);
    part->project = mem_strdup(n->project->name);
    part->deadline = env_mono(r->env) + PATIENCE_MS * US_PER_MS;
    part->give_back = on_listed;
    part->fresh.now = true;
    part->ctx = name_check_end(n);
    command_fresh(r, part);
}

static void on_give_up(struct loop_timer *timer)
{
    decide_on(CONTAINER_OF(timer, struct name_check, give_up));
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
    LIST_FOR_EACH_SAFE (it, next, &r->name_checks)
        reply_stopping(name_check_end(CONTAINER_OF(it, struct name_check, link)));
}

void name_checks_forget_project(struct project *p)
{
    LIST_FOR_EACH_SAFE (it, next, &p->r->name_checks) {
        struct name_check *n = CONTAINER_OF(it, struct name_check, link);
        if (n->project == p)
            decide_on(n);
    }
}
