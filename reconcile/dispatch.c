/* Receives the commands of the HTTP side, makes the checks that all commands need, and calls the function
 * that decides commands of this type. Loop thread. */
#include "reconcile/reconcile.h"

#include <assert.h>

#include "base/assertion.h"
#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/answers/audit.h"
#include "reconcile/answers/expected.h"
#include "reconcile/answers/operations.h"
#include "reconcile/answers/replay.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/decide.h"
#include "reconcile/lookups/catalog.h"
#include "reconcile/lookups/lookup.h"
#include "reconcile/observation/fresh.h"
#include "reconcile/reload.h"
#include "reconcile/world/event_share.h"
#include "reconcile/world/world.h"

/* The deciders, one for each type of command. A decider returns the problem with which the command is
 * refused. NULL: the decider took the command over, and the command is answered, is being stored, or waits.
 */
static struct problem *(*const deciders[COMMAND_TYPE_MAX_])(struct reconcile *r, struct command *cmd) = {
    [COMMAND_CLUSTER_CREATE] = command_cluster_create,
    [COMMAND_CLUSTER_PUT] = command_cluster_put,
    [COMMAND_CLUSTER_PATCH] = command_cluster_patch,
    [COMMAND_CLUSTER_DELETE] = command_cluster_delete,
    [COMMAND_NODE_POOL] = command_node_pool,
    [COMMAND_CLUSTER_ACTION] = command_cluster_action,
    [COMMAND_KUBECONFIG] = command_kubeconfig,
    [COMMAND_LOOKUP] = command_lookup,
    [COMMAND_FRESH] = command_fresh,
    [COMMAND_CATALOG_REFRESH] = command_catalog,
    [COMMAND_LOCATION_CONFIRM] = command_location_confirm,
    [COMMAND_OPERATIONS] = command_operations,
    [COMMAND_DURATIONS] = command_durations,
    [COMMAND_OPERATION_WAIT] = command_operation_wait,
    [COMMAND_OPERATION_CANCEL] = command_operation_cancel,
    [COMMAND_WEBHOOK_CREATE] = command_webhook_create,
    [COMMAND_WEBHOOK_PATCH] = command_webhook_patch,
    [COMMAND_WEBHOOK_DELETE] = command_webhook_delete,
    [COMMAND_WEBHOOK_ENABLE] = command_webhook_enable,
    [COMMAND_WEBHOOK_ROTATE] = command_webhook_rotate,
    [COMMAND_WEBHOOK_TEST] = command_webhook_test,
    [COMMAND_WEBHOOK_RECOVER] = command_webhook_recover,
    [COMMAND_DELIVERIES] = command_deliveries,
    [COMMAND_DELIVERY] = command_delivery,
    [COMMAND_REDELIVER] = command_redeliver,
    [COMMAND_EVENTS] = command_events,
    [COMMAND_AUDIT] = command_audit,
    [COMMAND_AUDIT_REFUSED] = command_audit_refused,
    [COMMAND_TOKEN_HAND_IN] = command_token_hand_in,
    [COMMAND_TOKEN_USED] = command_token_used,
    [COMMAND_TOKEN_CREATE] = command_token_create,
    [COMMAND_TOKEN_PATCH] = command_token_patch,
    [COMMAND_TOKEN_ROTATE] = command_token_rotate,
    [COMMAND_TOKEN_DELETE] = command_token_delete,
    [COMMAND_FREEZES] = command_freezes,
    [COMMAND_FREEZE] = command_freeze,
    [COMMAND_UNFREEZE] = command_unfreeze,
    [COMMAND_BACKUPS] = command_backups,
    [COMMAND_BACKUP] = command_backup,
    [COMMAND_LAST_RELOAD] = command_last_reload,
    [COMMAND_RELOAD] = command_reload,
    [COMMAND_ACCOUNT_LOGIN] = command_account_login,
    [COMMAND_ACCOUNT_VERIFY] = command_account_verify,
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
    if (command_writes(cmd->type) && storage_is_broken(r->o.storage))
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
    assert(cmd->type < COMMAND_TYPE_MAX_ && deciders[cmd->type] && cmd->give_back);
    cmd->decided_by = r;
    struct problem *refusal = decide_command(r, cmd);
    if (refusal)
        reply_problem(cmd, refusal);
}
