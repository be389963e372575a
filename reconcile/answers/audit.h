/* The audit log. Loop thread. */
#ifndef RECONCILE_ANSWERS_AUDIT_H
#define RECONCILE_ANSWERS_AUDIT_H

#include "model/command.h"
#include "reconcile/world/save.h"

/* Adds the audit entry of an accepted command to the save that stores its change. The answer is prepared
 * before, because the entry contains its status. */
void audit_accepted(struct save *save, struct command *cmd);
/* Adds the entry for a request without a transaction: it was refused, it failed, it returned a secret, or its
 * effect is outside the store. */
void audit_answered(struct command *cmd);
/* Adds the entry for an action of the daemon itself. */
void audit_daemon(struct reconcile *r, enum own_action action);
/* Ends each count of refused and failed requests that is older than a minute, or (`all`) every count. When
 * requests of a count got no entry, adds one entry with their number. */
void audit_tick(struct reconcile *r, bool all);
void audit_free(struct reconcile *r);

#endif
