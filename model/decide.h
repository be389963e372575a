/*
 * One word for the state of a cluster (GA-6) and its health (GA-5), from what Cleura reports and
 * what we asked for. Pure; any thread.
 */
#ifndef MODEL_DECIDE_H
#define MODEL_DECIDE_H

#include <stdbool.h>

#include "model/cluster.h"

struct decision {
    enum phase phase;
    enum health health;
    bool settling;
    bool operation_finished; /* Cleura's operation ended well and is not the stale one before our write */
    bool operation_failed;   /* Failed or Aborted: Cleura gave up */
    const char *message;     /* borrowed from shoot or cluster, or static */
    const char *unheard;     /* a word of Cleura's that is not in our table, and counts as in progress;
                                borrowed, or NULL */
};
/* The message, with the word that was not heard before. The caller owns it; NULL stays NULL. */
char *decision_message(const struct decision *d);

/*
 * Whether the guard against the stale end (Succeeded, the Failed of an earlier try, or a state that nobody
 * knows) still holds for this observation: a write was accepted and what is shown is still the operation from
 * before it. Generations that report no time (v1) are believed after GUARD_BLIND_US, the longest pick-up
 * delay of GA-6.
 */
#define GUARD_BLIND_US (60 * US_PER_S)
/* A write that changes nothing starts no operation: after this long what is shown is believed again. */
#define GUARD_LIMIT_US (1800 * US_PER_S)
bool decide_guard_holds(const struct cluster *c, const struct shoot *s, wall_us now);

/*
 * `open`: the type of our open operation, or -1 when there is none. While an update or an action is open,
 * success between two of its steps is not "ready".
 */
struct decision decide(const struct cluster *c, const struct shoot *s, int open, wall_us now);

#endif
