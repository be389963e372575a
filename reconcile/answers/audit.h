/* The audit log. Loop thread. */
#ifndef RECONCILE_ANSWERS_AUDIT_H
#define RECONCILE_ANSWERS_AUDIT_H

#include "model/command.h"
#include "reconcile/world/save.h"

/* Adds the entry for the change in the save, with its prepared answer. */
void audit_accepted(struct save *save, struct command *cmd);
/* Adds the entry for a request without a transaction: it was refused, it failed, it returned a secret, or its
 * effect is outside the store. */
void audit_answered(struct command *cmd);
/* Adds the entry for an action of the daemon itself; `what` is static. */
void audit_daemon(struct reconcile *r, const char *what);
/* Ends the count of each minute that has passed, or of all minutes. If entries were left out in a minute,
 * adds one entry with their number. */
void audit_tick(struct reconcile *r, bool all);
void audit_free(struct reconcile *r);
struct problem *command_audit(struct reconcile *r, struct command *cmd);
struct problem *command_audit_refused(struct reconcile *r, struct command *cmd);

#endif
