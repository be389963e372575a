/*
 * Decides what an answer means for a delivery (docs/webhooks.md), and gives each failure a name from a fixed
 * list (WH-22). Only this name is stored, logged and counted. This file also decides when a delivery is tried
 * again (WH-14). Pure except for env's randomness; any thread.
 */
#ifndef WEBHOOK_OUTCOME_H
#define WEBHOOK_OUTCOME_H

#include <stdbool.h>

#include "base/env.h"
#include "loop/transport.h"
#include "model/webhook.h"

enum attempt_result attempt_result_of(const struct http_answer *answer);

/* ---- the schedule of attempts ---- */

enum {
    SCHEDULE_ATTEMPTS = DELIVERY_ATTEMPTS,
    SCHEDULE_MAX_DELAY_S = 24 * 3600,
    SCHEDULE_JITTER_PERCENT = 20
};

/* Whether another attempt follows after `made` attempts. */
bool schedule_goes_on(int made);
/*
 * Returns the delay after attempt number `made` (1..9), with jitter. The delay is at least the receiver's
 * `retry_after_s`, which is limited already (negative: the receiver requested no delay).
 */
int64_t schedule_delay_us(const struct env *env, int made, int64_t retry_after_s);
/* Returns the time until the date `at`, which was stored at `planned_at`. The result is at most the original
 * delay and the schedule's longest delay, because the clock may jump between two runs of shootd. */
int64_t schedule_until_us(wall_us at, wall_us planned_at, wall_us now);
/* Returns the pause after an answer with which the receiver asks for less load; the argument is the number of
 * consecutive answers of this kind (1..). */
int64_t schedule_pause_us(int throttled_in_a_row);

#endif
