/* The interface of this folder to reconcile.c and housekeeping.c: it decides commands, and looks after the
 * objects that they are about. Loop thread. */
#ifndef RECONCILE_COMMANDS_DECIDE_H
#define RECONCILE_COMMANDS_DECIDE_H

#include "model/cluster.h"
#include "model/command.h"
#include "model/webhook.h"

struct account;
struct account_state;
struct config_account;
struct project;
struct reconcile;
struct subscription_entry;
struct token_entry;

/* ---- each decides one type of command, and takes it ---- */

void command_cluster_create(struct reconcile *r, struct command *cmd);
void command_cluster_put(struct reconcile *r, struct command *cmd);
void command_cluster_patch(struct reconcile *r, struct command *cmd);
void command_cluster_delete(struct reconcile *r, struct command *cmd);
void command_cluster_action(struct reconcile *r, struct command *cmd);
void command_node_pool(struct reconcile *r, struct command *cmd);
void command_operation_cancel(struct reconcile *r, struct command *cmd);
void command_location_confirm(struct reconcile *r, struct command *cmd);
void command_freezes(struct reconcile *r, struct command *cmd);
void command_freeze(struct reconcile *r, struct command *cmd);
void command_unfreeze(struct reconcile *r, struct command *cmd);
void command_backups(struct reconcile *r, struct command *cmd);
void command_backup(struct reconcile *r, struct command *cmd);
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
void command_token_hand_in(struct reconcile *r, struct command *cmd);
void command_token_used(struct reconcile *r, struct command *cmd);
void command_token_create(struct reconcile *r, struct command *cmd);
void command_token_patch(struct reconcile *r, struct command *cmd);
void command_token_rotate(struct reconcile *r, struct command *cmd);
void command_token_delete(struct reconcile *r, struct command *cmd);

/* ---- accounts.c: logins, by hand and remembered ---- */

/* Keeps what is known of an account, taken, until account_add wants it. */
void account_remember(struct reconcile *r, struct account_state *state);
void account_add(struct reconcile *r, const struct config_account *config);
/* Its calls are given up; nobody waits for a login. Its known state is retained. */
void account_remove(struct account *a);
void accounts_free(struct reconcile *r);
void account_show(struct account *a);

/* ---- location.c: where at Cleura a project is ---- */

/* Notices at the start that the project is at another place than before. */
void location_check(struct project *p);

/* ---- freeze.c ---- */

/* Answers a change of a cluster in a project where changes are frozen, and takes it; false: it may be
 * decided. */
bool freeze_refuses(struct reconcile *r, struct command *cmd);
/* Ends those whose time has passed. Every housekeeping. */
void freezes_check(struct reconcile *r);

/* ---- backups.c ---- */

/* Makes the backup that is due. Every housekeeping. */
void backups_check(struct reconcile *r);
void backups_metrics(struct buffer *out);

/* ---- tokens.c ---- */

/* Makes a token, which the caller owns until it is stored; *ret_secret is the token itself. */
struct api_token *token_new(const struct reconcile *r, const char *name, enum role role, char **projects,
                            const char *created_by, char **ret_secret);
/* Sees to it that the secret from before a rotation ends when its time has passed. */
void token_watch(struct token_entry *entry);
/* Emits token.expiring for tokens that end soon, for each once 14 days and once 1 day ahead, and removes
 * those that ended 30 days ago. */
void tokens_check(struct reconcile *r);

/* ---- event_log.c ---- */

/* A purge has ended: the feed learns what is left. */
void event_log_purged(struct reconcile *r);

/* ---- webhooks.c ---- */

/* The engine switched a webhook off; takes the engine's copy. */
void webhook_was_disabled(struct reconcile *r, struct subscription *s);
/* Adds a stored webhook to those in memory, and sees to it that its old keys end in time. */
struct subscription_entry *webhook_add(struct reconcile *r, struct subscription *s);
void webhook_entry_free(struct reconcile *r, struct subscription_entry *entry);

#endif
