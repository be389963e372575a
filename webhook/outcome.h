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
/* Whether the answer asks for less load, so that all deliveries to the receiver pause. Standard Webhooks
 * counts 502 and 504 among these answers; a proxy sends them when the receiver behind it is overloaded. */
bool attempt_asks_for_pause(enum attempt_result result, int status);

/* ---- the schedule of attempts ---- */

enum {
    SCHEDULE_ATTEMPTS = DELIVERY_ATTEMPTS,
    SCHEDULE_MAX_DELAY_S = 24 * 3600,
    SCHEDULE_JITTER_PERCENT = 20
};

/* Whether another attempt follows after `made` attempts. */
bool schedule_goes_on(int made);
/*
 * Returns the delay after attempt number `made` (1..9), with jitter. The delay is not shorter than
 * `retry_after_s`, which the receiver requested and the caller has limited (negative: the receiver requested
 * no delay).
 */
int64_t schedule_delay_us(const struct env *env, int made, int64_t retry_after_s);
/*
 * Returns how long to wait until `at`, a time that was stored at `planned_at`. The result is limited to the
 * original delay and to the schedule's longest delay, because the clock may have jumped while shootd was not
 * running.
 */
int64_t schedule_until_us(wall_us at, wall_us planned_at, wall_us now);
/* Returns the pause after an answer that requests less load. The argument is the number of consecutive such
 * answers (1..). */
int64_t schedule_pause_us(int throttled_in_a_row);

#endif
