/*
 * The meaning of an answer for a delivery (docs/webhooks.md), and the sanitized name of a failure (WH-22).
 * Only that name is stored, logged and counted. This file also decides when a delivery is tried again
 * (WH-14). Pure except for env's randomness; any thread.
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
 * The delay after attempt number `made` (1..9), with jitter. At least the receiver's `retry_after_s` (already
 * clamped; negative: not requested).
 */
int64_t schedule_delay_us(const struct env *env, int made, int64_t retry_after_s);
/* The time until a date that was stored at `planned_at`. Limited to the original delay and to the schedule's
 * longest delay, because the clock may jump between runs. */
int64_t schedule_until_us(wall_us at, wall_us planned_at, wall_us now);
/* The pause after an answer that asks for less load, by the number of such answers in a row (1..). */
int64_t schedule_pause_us(int throttled_in_a_row);

#endif
