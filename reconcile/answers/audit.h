/* The audit log. Loop thread. */
#ifndef RECONCILE_ANSWERS_AUDIT_H
#define RECONCILE_ANSWERS_AUDIT_H

#include "model/command.h"
#include "reconcile/world/save.h"

/* The change that the save holds is told, with the answer that was prepared for it. */
void audit_accepted(struct save *save, struct command *cmd);
/* What was refused, and what gave a secret away. */
void audit_answered(struct command *cmd);
/* What the daemon did itself; `what` is static. */
void audit_daemon(struct reconcile *r, const char *what);
/* Ends the minutes that are over, or all: what was left out is told. */
void audit_tick(struct reconcile *r, bool all);
void audit_free(struct reconcile *r);
void command_audit(struct reconcile *r, struct command *cmd);
void command_audit_denied(struct reconcile *r, struct command *cmd);

#endif
