/*
 * Derives the phase of a cluster, one word for its state (GA-6), and its health (GA-5), from Cleura's report
 * and the last request. Pure; any thread.
 */
#ifndef MODEL_DECIDE_H
#define MODEL_DECIDE_H

#include <stdbool.h>

#include "model/cluster.h"
#include "model/shoot.h"

struct decision {
    enum phase phase;
    enum health health;
    bool settling;
    bool operation_finished; /* Cleura's last operation succeeded, and is newer than the last write */
    bool operation_failed;   /* Failed or Aborted: Cleura does not try again */
    const char *title;       /* of the worst condition that is not met, static; or NULL */
    const char *message;     /* a text that is borrowed from shoot or cluster, or static */
    const char *unheard;     /* an enum value of Cleura that is in no table and is treated as "in progress";
                              * borrowed, or NULL */
};
/* Returns the message, with the title before it or the unknown enum value added. The caller owns it; NULL
 * stays NULL. */
char *decision_message(const struct decision *d);

/*
 * Whether the guard against an outdated result still applies to this observation: Cleura accepted a write,
 * but still shows the operation from before the write (Succeeded, an earlier Failed, or an unknown state).
 * When Cleura reports no time of the operation, the guard ends after GUARD_BLIND_US, the longest
 * delay between a write and the start of its run (GA-6).
 */
#define GUARD_BLIND_US (60 * US_PER_S)
/* The guard ends after this time at the latest, because a write that changes nothing starts no operation. */
#define GUARD_LIMIT_US (1800 * US_PER_S)
bool decide_guard_holds(const struct cluster *c, const struct shoot *s, wall_us now);

/*
 * `open`: the type of the cluster's open operation, or -1 when there is none. While an update or an action is
 * open, success between two of its steps is not "ready".
 */
struct decision decide(const struct cluster *c, const struct shoot *s, int open, wall_us now);

#endif
