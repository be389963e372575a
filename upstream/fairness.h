/*
 * Fairness between projects: start-time fair queuing. A flow is all calls of one project with one priority.
 * Each queued call moves the flow's virtual time ahead by the cost of a call. The turn of a call is
 *
 *     max(now, virtual time of its flow) + handicap of its priority
 *
 * Therefore the hundredth call of one project is behind the first call of another. Each priority has its own
 * flow, because a user's write must not wait for the polls of its own project.
 *
 * No call starves. Let S be the cost of a call, D its real duration, Q the longest queue, and K the turn of a
 * call that is submitted at t behind k others of its flow: K - t <= k * S + 4 * LANE_HANDICAP_S. A call
 * submitted after K has a later turn, and at K at most Q calls are ahead. While the lane works, the call is
 * therefore sent by t + 32 s + k * S + Q * D. (Some calls go first, once each: a call repeated with a new
 * token or at another endpoint, and a write right after the read on which it is based. A call marked as a
 * retry also waits for its budget: upstream/account/budget.h.)
 *
 * Times are monotonic microseconds. Owner: the loop thread. These functions cannot fail.
 */
#ifndef UPSTREAM_FAIRNESS_H
#define UPSTREAM_FAIRNESS_H

#include <stdbool.h>

#include "base/env.h"

/* A call is sent before a call of the next lower priority, unless that call was submitted at least this
 * number of seconds earlier. */
enum { LANE_HANDICAP_S = 8 };

struct flow;

/* The cost that a queued call has added to the virtual time of its flow; zeroed: no flow. */
struct fair_ticket {
    struct flow *flow;
    int64_t cost_us;
};

struct fairness {
    struct flow *flows;  /* flows with queued calls */
    int64_t duration_us; /* the moving average of the duration of calls */
};

/* Adds a call to its flow, fills the ticket, and returns the turn of the call. `cost_us`: see
 * fairness_cost. */
mono_us fairness_join(struct fairness *f, struct fair_ticket *ticket, const char *region,
                      const char *project_id, int priority, int64_t cost_us, mono_us now);
/* Called when the call leaves the queue. When it was not sent, its flow gets the cost back. An empty ticket
 * is allowed. */
void fairness_leave(struct fairness *f, struct fair_ticket *ticket, bool sent);

/* Adds the duration of a call to the average. */
void fairness_measure(struct fairness *f, int64_t duration_us);
/*
 * Returns the time for which a call occupies the lane: starts are at least `spacing_us` apart, and
 * `max_in_flight` calls run at the same time. The result is at most the handicap of one priority, so that an
 * outage with many timeouts does not reverse the order.
 */
int64_t fairness_cost(const struct fairness *f, int64_t spacing_us, int max_in_flight);

#endif
