/* What decides each type of command. Loop thread. Each takes the command. */
#ifndef RECONCILE_COMMANDS_DECIDE_H
#define RECONCILE_COMMANDS_DECIDE_H

#include "model/command.h"

struct reconcile;

void command_cluster_create(struct reconcile *r, struct command *cmd);
void command_cluster_put(struct reconcile *r, struct command *cmd);
void command_cluster_patch(struct reconcile *r, struct command *cmd);
void command_cluster_delete(struct reconcile *r, struct command *cmd);
void command_cluster_action(struct reconcile *r, struct command *cmd);
void command_node_pool(struct reconcile *r, struct command *cmd);
void command_operation_cancel(struct reconcile *r, struct command *cmd);
void command_location_confirm(struct reconcile *r, struct command *cmd);
void command_account_login(struct reconcile *r, struct command *cmd);
void command_account_verify(struct reconcile *r, struct command *cmd);
void command_events(struct reconcile *r, struct command *cmd);
void command_webhook_create(struct reconcile *r, struct command *cmd);
void command_webhook_patch(struct reconcile *r, struct command *cmd);
void command_webhook_delete(struct reconcile *r, struct command *cmd);
void command_webhook_enable(struct reconcile *r, struct command *cmd);
void command_webhook_rotate(struct reconcile *r, struct command *cmd);
void command_webhook_test(struct reconcile *r, struct command *cmd);
void command_webhook_recover(struct reconcile *r, struct command *cmd);
void command_deliveries(struct reconcile *r, struct command *cmd);
void command_delivery(struct reconcile *r, struct command *cmd);
void command_redeliver(struct reconcile *r, struct command *cmd);
void command_token_create(struct reconcile *r, struct command *cmd);
void command_token_delete(struct reconcile *r, struct command *cmd);

#endif
