/* The interface of this folder to reconcile.c and housekeeping.c, beside the deciders: maintains the objects
 * of commands. Loop thread. */
#ifndef RECONCILE_COMMANDS_DECIDE_H
#define RECONCILE_COMMANDS_DECIDE_H

#include "model/api_token.h"
#include "model/command.h"
#include "model/webhook.h"

struct account;
struct account_state;
struct config_account;
struct project;
struct reconcile;
struct subscription_entry;
struct token_entry;
struct webhook_report;

/* ---- accounts.c: manual logins and stored states ---- */

/* Keeps the stored state of an account (taken over) in memory until account_add uses it. */
void account_remember(struct reconcile *r, struct account_state *state);
void account_add(struct reconcile *r, const struct config_account *config);
/* Cancels the account's calls. No command may wait for a login. The known state of the account is kept. */
void account_remove(struct account *a);
void accounts_free(struct reconcile *r);
void account_show(struct account *a);
/* Reads the clusters of all its projects, and missing catalogs, as soon as possible. */
void account_read_soon(struct account *a);

/* ---- location.c: the location of a project at Cleura ---- */

/* Called at the start: detects whether the location of the project has changed. */
void location_check(struct project *p);

/* ---- freeze.c ---- */

/* Returns the problem for a change of a cluster in a frozen project; NULL: the command may be decided. */
struct problem *freeze_refusal(struct reconcile *r, const struct command *cmd);
/* Ends the freezes whose time has passed. Called in every run of the housekeeping. */
void freezes_check(struct reconcile *r);

/* ---- backups.c ---- */

/* Begins a scheduled backup when it is due. Called in every run of the housekeeping. */
void backups_check(struct reconcile *r);
void backups_metrics(struct buffer *out);

/* ---- tokens.c ---- */

/* Makes a token, which the caller owns until it is stored; *ret_secret is the secret. */
struct api_token *token_new(const struct reconcile *r, const char *name, enum role role, char **projects,
                            const char *created_by, char **ret_secret);
/* Sets the timer for the expiry of the old secret after a rotation. */
void token_watch(struct token_entry *entry);
/* Emits token.expiring for tokens that expire soon: for each token once 14 days and once 1 day before.
 * Removes tokens that expired 30 days ago. */
void tokens_check(struct reconcile *r);

/* ---- event_log.c ---- */

/* Called when a purge has ended: reports the oldest remaining event to the feed. */
void event_log_purged(struct reconcile *r);

/* ---- webhooks.c ---- */

/* Decides about a report of the engine: disables the webhook, unless its owner has changed it meanwhile. */
void webhook_failed_for_good(struct reconcile *r, const struct webhook_report *report);
/* Adds a stored webhook to memory, and sets the timer for the expiry of its old keys. */
struct subscription_entry *webhook_add(struct reconcile *r, struct subscription *s);
void webhook_entry_free(struct reconcile *r, struct subscription_entry *entry);

#endif
