/*
 * The circuit breaker of one account (UP-16): a pure state machine; the time is passed in, only
 * the jitter comes from env. A zeroed struct is a closed breaker. Times: monotonic microseconds. Owner: the
 * loop thread. Nothing here fails.
 *
 *   closed     everything may go. 5 failures in a row, or at least 20 results in the last 10 s of which half
 *              are failures, open it. Only a failure opens it.
 *   open       nothing may go for 5 s, doubled up to 60 s each time a probe fails; a success resets this.
 *              Jitter only lengthens (by up to a fifth), so that counts of attempts are upper bounds.
 *   half open  one request at a time, the probe. 3 successes close it, one failure opens it again. Three,
 *              because a lane sends one at a time anyway: it costs waiting callers nothing, and one lucky
 *              answer of a peer that drowns does not bring the whole load back.
 */
#ifndef UPSTREAM_ACCOUNT_BREAKER_H
#define UPSTREAM_ACCOUNT_BREAKER_H

#include <stdbool.h>

#include "base/env.h"

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN };
/* "closed", "open", "half_open". Any thread. */
const char *breaker_state_name(enum breaker_state state);

enum { BREAKER_WINDOW_S = 10 };

struct breaker {
    enum breaker_state state; /* as of the last event; ask breaker_state */
    mono_us until;            /* not closed: no probe before */
    int64_t pause_us;         /* how long it was opened last, without jitter; 0 after a success */
    int failures;             /* in a row, while closed */
    int successes;            /* of probes, while half open */
    bool probing;             /* a probe is out */
    struct {
        int64_t second;
        unsigned results;
        unsigned failures;
    } window[BREAKER_WINDOW_S];
};

enum breaker_state breaker_state(const struct breaker *b, mono_us now);
/* Whether a request may start. */
bool breaker_admits(const struct breaker *b, mono_us now);

/* A request starts; it was admitted. */
void breaker_started(struct breaker *b);
/* The peer answered something that is no 5xx. */
void breaker_success(struct breaker *b, mono_us now);
/* No answer, or a 5xx. Results of requests that were sent before it opened change nothing. */
void breaker_failure(struct breaker *b, const struct env *env, mono_us now);
/*
 * A request ended without showing anything about the peer. If it was the probe, the next one waits as long as
 * this one did: a caller that gives up again and again must not turn probes into a stream.
 */
void breaker_abandoned(struct breaker *b, const struct env *env, mono_us now);
/* The peer itself named a time (Retry-After): while open no probe before it. */
void breaker_hold(struct breaker *b, mono_us until);

#endif
