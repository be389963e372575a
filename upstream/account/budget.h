/*
 * The retry budget of one account (UP-12): the number of retries is at most a tenth of the number of good
 * answers, so that retries cannot make an overload worse. The budget has at most ten tokens, and a retry uses
 * one. One retry per 10 s is always allowed, so no call starves. Pure; times are monotonic microseconds.
 * Owner: the loop thread. These functions cannot fail.
 */
#ifndef UPSTREAM_ACCOUNT_BUDGET_H
#define UPSTREAM_ACCOUNT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/env.h"

struct budget {
    int tenths;       /* tenths of a token */
    mono_us floor_at; /* when the next retry is allowed although there is no token */
};

/* The budget is full at the start, because the first failures after a start show no overload. */
void budget_init(struct budget *b);
/* Called after a good answer: adds a tenth of a token. */
void budget_earn(struct budget *b);
/* Returns when the next retry is allowed; this time is in the past when there is a token. */
mono_us budget_ready_at(const struct budget *b);
/* Whether `retries` retries would be allowed now. */
bool budget_covers(const struct budget *b, size_t retries, mono_us now);
/* Called when an allowed retry is sent. */
void budget_spend(struct budget *b, mono_us now);

#endif
