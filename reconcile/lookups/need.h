/*
 * The one way in which a decision gets a fact that only Cleura knows. A decider calls command_needs. When the
 * fact is missing, the command waits in the fetch of the fact (fetch.h); then the fact is put into the
 * command, and the command is decided again from the start. Loop thread.
 */
#ifndef RECONCILE_LOOKUPS_NEED_H
#define RECONCILE_LOOKUPS_NEED_H

#include "model/command.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

/*
 * Whether the command waits for one of these facts (enum command_need). The decider then returns NULL at
 * once. A fact without which the command can be decided is empty when Cleura does not return it within
 * NEED_PATIENCE_MS, or when the account's API has no such call. Without any other fact the command is
 * answered with a problem. e: the cluster of the command, or NULL.
 */
bool command_needs(struct project *p, struct entity *e, struct command *cmd, unsigned needs);

enum { NEED_PATIENCE_MS = 2500 };

#endif
