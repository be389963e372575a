/*
 * The retry budget of one account (UP-12): retries are at most a tenth of what Cleura answers,
 * with room for ten at once, so that they never multiply an overload. One retry per 10 s goes in any case, so
 * that nothing starves. Pure; times are monotonic microseconds. Owner: the loop thread. Nothing here fails.
 */
#ifndef UPSTREAM_ACCOUNT_BUDGET_H
#define UPSTREAM_ACCOUNT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/env.h"

struct budget {
    int tenths;       /* of a token */
    mono_us floor_at; /* when a retry may go without a token */
};

/* Starts full: the first failures after a start are no overload. */
void budget_init(struct budget *b);
/* A call was answered well. */
void budget_earn(struct budget *b);
/* When the next retry may go; in the past when there is a token. */
mono_us budget_ready_at(const struct budget *b);
/* Whether `retries` retries could go now. */
bool budget_covers(const struct budget *b, size_t retries, mono_us now);
/* A retry goes; it was ready. */
void budget_spend(struct budget *b, mono_us now);

#endif
