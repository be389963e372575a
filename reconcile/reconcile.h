/*
 * The deciding part: it owns every cluster, operation and subscription in memory, polls Cleura, drives
 * operations step by step, emits events, and publishes the view. All of it on the loop thread.
 *
 * Data flow of a write: command -> check against memory -> change set -> storage writer (commit) -> back on
 * the loop: view, answer, webhooks -> next upstream call. Memory is ahead of the store by what is queued;
 * nothing is shown, acknowledged or sent upstream before it is committed.
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
/* The visitor that fills the reconciler from storage_load; before reconcile_start. */
struct store_visitor reconcile_visitor(struct reconcile *r);
/*
 * After the load: publishes the first view and takes up every open operation. Before the loop runs, or on it.
 * When the store has no API token, *ret_first_token is a new admin token (secret, the caller writes it to its
 * file and frees it), whose row is committed before the first answer; else NULL.
 */
void reconcile_start(struct reconcile *r, char **ret_first_token);
/* Loop thread: decides a command; its reply runs now or later, exactly once. */
void reconcile_command(struct reconcile *r, struct command *cmd);
/* Loop thread: no more upstream calls; waiting commands are answered with shutting_down; readiness goes off.
 */
void reconcile_stop(struct reconcile *r);
/* After the loop ended and storage was closed. NULL is allowed. */
void reconcile_free(struct reconcile *r);

/* Appends shootd_upstream_*, shootd_clusters, ... to a scrape; ages are those of `now`. Any thread. */
void reconcile_metrics(struct buffer *out, mono_us now);
/* Conditions that an operator should know although all goes on: rows put aside, projects set aside, webhooks
 * whose secrets cannot be opened. "" when there are none. Any thread. */
void reconcile_remarks(char *text, size_t size);
/* How many webhooks have secrets that the seal key does not open. After the load; loop thread. */
unsigned reconcile_unreadable_webhooks(const struct reconcile *r);

#endif
