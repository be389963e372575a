/*
 * The circuit breaker of one account (UP-16): a pure state machine. The caller passes the time; only the
 * jitter comes from env. A zeroed struct is a closed breaker. Times: monotonic microseconds. Owner: the loop
 * thread. These functions cannot fail.
 *
 *   closed     every request may start. The breaker opens after 5 consecutive failures. It also opens
 *              when the last 10 s had at least 20 results, and at least half of them were failures. Only
 *              a failure opens it.
 *   open       no request may start for 5 s. Each failed probe doubles this time, up to 60 s; a success
 *              resets it. Jitter only makes the time longer (by up to a fifth), so there are never more
 *              attempts than without jitter.
 *   half open  one request at a time, the probe. 3 successes close the breaker, one failure opens it again.
 *              A single good answer of an overloaded peer must not bring back the whole load. A lane sends
 *              one call at a time anyway, so three probes cost waiting callers no time.
 */
#ifndef UPSTREAM_ACCOUNT_BREAKER_H
#define UPSTREAM_ACCOUNT_BREAKER_H

#include <stdbool.h>

#include "base/env.h"

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN };
/* Returns "closed", "open" or "half_open". Any thread. */
const char *breaker_state_name(enum breaker_state state);

enum { BREAKER_WINDOW_S = 10 };

struct breaker {
    enum breaker_state state; /* the state after the last event; breaker_state returns the current one */
    mono_us until;            /* no probe starts before this time, unless the breaker is closed */
    int64_t pause_us;         /* the last pause without jitter; 0 after a success */
    int failures;             /* consecutive failures while closed */
    int successes;            /* successful probes while half open */
    bool probing;             /* a probe is in flight */
    struct {
        int64_t second;
        unsigned results;
        unsigned failures;
    } window[BREAKER_WINDOW_S];
};

enum breaker_state breaker_state(const struct breaker *b, mono_us now);
/* Whether a request may start. */
bool breaker_admits(const struct breaker *b, mono_us now);

/* Called when an admitted request starts. */
void breaker_started(struct breaker *b);
/* Called when the peer has sent an answer that is no 5xx. */
void breaker_success(struct breaker *b, mono_us now);
/* Called when there was no answer, or a 5xx. A request that was sent before the breaker opened changes
 * nothing. */
void breaker_failure(struct breaker *b, const struct env *env, mono_us now);
/*
 * Called when a request has ended and showed nothing about the peer's health. When that request was the
 * probe, the next probe waits for the same time again. Without this wait, callers that cancel their requests
 * would cause many probes.
 */
void breaker_abandoned(struct breaker *b, const struct env *env, mono_us now);
/* Called when the peer has sent a time (Retry-After): while the breaker is open, no probe is sent before this
 * time. */
void breaker_hold(struct breaker *b, mono_us until);

#endif
