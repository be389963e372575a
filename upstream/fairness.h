/*
 * Fairness between projects: start-time fair queuing. A flow is what one project wants at one priority; each
 * queued call moves the flow's virtual time on by what a call costs the lane, and a call's turn is
 *
 *     max(now, virtual time of its flow) + handicap of its priority,
 *
 * so that the hundredth call of one project stands behind the first of another. Priorities are flows of their
 * own, because a user's write must not pay for the polls of its own project.
 *
 * Nothing starves. Let S be the cost of a call, D the time one really takes, Q the longest queue, and K the
 * turn of a call that is submitted at t behind k others of its flow: K - t <= k * S + 4 * LANE_HANDICAP_S. A
 * call that is submitted after K has a later turn, and at K at most Q calls are ahead, so while the lane
 * works the call is sent by t + 32 s + k * S + Q * D. (A call that is repeated with a new token or at another
 * endpoint goes first, once each; so does a write right after the read that it is based on. A call marked as
 * a retry waits for its budget besides: upstream/account/budget.h.)
 *
 * Times are monotonic microseconds. Owner: the loop thread. Nothing here fails.
 */
#ifndef UPSTREAM_FAIRNESS_H
#define UPSTREAM_FAIRNESS_H

#include <stdbool.h>

#include "base/env.h"

/* A call overtakes those of the next lower priority that waited less than this longer. */
enum { LANE_HANDICAP_S = 8 };

struct flow;

/* A queued call's part of its flow; zeroed: none. */
struct fair_ticket {
    struct flow *flow;
    int64_t cost_us;
};

struct fairness {
    struct flow *flows;  /* those with queued calls */
    int64_t duration_us; /* moving average of a call's time */
};

/* The call's turn. `cost_us`: see fairness_cost. Fills the ticket. */
mono_us fairness_join(struct fairness *f, struct fair_ticket *ticket, const char *region,
                      const char *project_id, int priority, int64_t cost_us, mono_us now);
/* The call leaves the queue; one that was not sent gives its cost back. An empty ticket is left alone. */
void fairness_leave(struct fairness *f, struct fair_ticket *ticket, bool sent);

/* A call took this long. */
void fairness_measure(struct fairness *f, int64_t duration_us);
/*
 * The time that a call costs the lane: starts are at least `spacing_us` apart, and `max_in_flight` calls
 * share the rest. It is at most one step of priority, so that an outage full of timeouts does not turn the
 * order upside down.
 */
int64_t fairness_cost(const struct fairness *f, int64_t spacing_us, int max_in_flight);

#endif
