/* The audit log. Loop thread. */
#ifndef RECONCILE_ANSWERS_AUDIT_H
#define RECONCILE_ANSWERS_AUDIT_H

#include "model/command.h"
#include "reconcile/world/save.h"

/* Adds the entry for the change in the save, with its prepared answer. */
void audit_accepted(struct save *save, struct command *cmd);
/* Adds the entry for a request without a transaction: refused, failed, or with a secret or an effect outside
 * the store. */
void audit_answered(struct command *cmd);
/* Adds the entry for an action of the daemon itself; `what` is static. */
void audit_daemon(struct reconcile *r, const char *what);
/* Ends the minutes that have passed, or all; one entry per minute counts the entries that were left out. */
void audit_tick(struct reconcile *r, bool all);
void audit_free(struct reconcile *r);
void command_audit(struct reconcile *r, struct command *cmd);
void command_audit_denied(struct reconcile *r, struct command *cmd);

#endif
