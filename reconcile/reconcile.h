/*
 * The reconciler makes all decisions. It owns every cluster, operation and subscription in memory, polls
 * Cleura, runs operations step by step, emits events, and publishes the view. Everything runs on the loop
 * thread.
 *
 * Data flow of a write: command -> check against memory -> change set -> storage writer (commit) -> back on
 * the loop: view, answer, webhooks -> next upstream call. Memory is newer than the store by the queued
 * changes. Nothing is shown, acknowledged or sent to Cleura before it is committed.
 */
#ifndef RECONCILE_RECONCILE_H
#define RECONCILE_RECONCILE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/seal.h"
#include "model/command.h"
#include "reconcile/world/options.h"

struct reconcile;

struct reconcile *reconcile_new(const struct reconcile_options *options);
/* Returns the visitor with which storage_load fills the reconciler. Used before reconcile_start. */
struct store_visitor reconcile_visitor(struct reconcile *r);
/*
 * Called after the load: publishes the first view and continues every open operation. Called before the loop
 * runs, or on the loop thread. When the store has no API token, *ret_first_token is a new admin token (a
 * secret; the caller writes it to its file and frees it). The token's row is committed before the first
 * answer. Otherwise *ret_first_token is NULL.
 */
void reconcile_start(struct reconcile *r, char **ret_first_token);
/* Decides a command; its answer is given now or later, exactly once. Loop thread. */
void reconcile_command(struct reconcile *r, struct command *cmd);
/* Makes no more upstream calls, answers waiting commands with shutting_down, and reports that shootd is not
 * ready. Loop thread. */
void reconcile_stop(struct reconcile *r);
/* Called after the loop ended and storage was closed. NULL is allowed. */
void reconcile_free(struct reconcile *r);

/* Appends shootd_upstream_*, shootd_operations_open, ... to a scrape, with ages at `now`. Any thread. */
void reconcile_metrics(struct buffer *out, mono_us now);
/* Writes the conditions that an operator should know although the daemon works: rows in the quarantine,
 * projects that are set aside, webhooks whose secrets cannot be opened. "" when there is no such condition.
 * Any thread. */
void reconcile_remarks(char *text, size_t size);
/* Returns the number of webhooks whose secrets the seal key does not open. After the load; loop thread. */
unsigned reconcile_unreadable_webhooks(const struct reconcile *r);

#endif
