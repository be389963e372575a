/* Receives the commands of the HTTP side, makes the checks that all commands need, and calls the function
 * that decides commands of this type. Loop thread. */
#include "reconcile/reconcile.h"

#include <assert.h>

#include "base/assertion.h"
#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/answers/replay.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/decide.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/event_share.h"
#include "reconcile/world/world.h"

static command_decider *const deciders[COMMAND_TYPE_MAX_] = {
#define COMMAND(name, decider, ...) command_##decider,
#include "model/commands.def"
#undef COMMAND
};

static struct problem *problem_of_broken_store(struct reconcile *r)
{
    char why[STORE_TROUBLE_BYTES];
    storage_trouble(r->o.storage, why);
    char *detail CLEANUP_FREE = mem_printf("the store does not accept changes now: %s", why);
    return problem_passing(PROBLEM_STORE_UNAVAILABLE, 5, detail);
}

/* Makes the checks that are the same for every command, then calls the decider of this command. */
static struct problem *decide_command(struct reconcile *r, struct command *cmd)
{
    struct problem *refusal = r->stopping ? problem_stopping() : reply_denial(r, cmd);
    if (refusal)
        return refusal;
    if (replay_is_open(cmd))
        return replay_look_up(r, cmd);
    if (command_is(cmd, COMMAND_STORES) && storage_is_broken(r->o.storage))
        return problem_of_broken_store(r);
    refusal = freeze_refusal(r, cmd);
    if (!refusal)
        refusal = event_share_refusal(r, cmd);
    return refusal ? refusal : deciders[cmd->type](r, cmd);
}

void reconcile_command(struct reconcile *r, struct command *cmd)
{
    loop_assert_owner(r->o.loop);
    assertion_about("request", cmd->request_id);
    assert(cmd->type < COMMAND_TYPE_MAX_ && cmd->give_back);
    cmd->decided_by = r;
    struct problem *refusal = decide_command(r, cmd);
    if (refusal)
        reply_problem(cmd, refusal);
}
