/* Logins, by hand and remembered. Loop thread. */
#ifndef RECONCILE_COMMANDS_ACCOUNTS_H
#define RECONCILE_COMMANDS_ACCOUNTS_H

#include "reconcile/world/project.h"

/* `remembered` is borrowed and may be NULL. */
void account_start(struct account *a, struct reconcile *r, const struct config_account *config,
                   const struct account_state *remembered);
void account_done(struct account *a);
void account_show(struct account *a);

#endif
