/*
 * The meaning of an answer for a delivery (docs/webhooks.md), and its sanitized name (WH-22): the only thing
 * about a failure that is stored, logged and counted. And when a delivery is tried again (WH-14). Pure but
 * for env's randomness; any thread.
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

/* Whether another attempt follows after `made` ones. */
bool schedule_goes_on(int made);
/*
 * How long to wait after the `made`-th attempt (1..9), with jitter; not shorter than what the receiver asked
 * for (`retry_after_s`, already clamped; negative: it asked for nothing).
 */
int64_t schedule_delay_us(const struct env *env, int made, int64_t retry_after_s);
/* How long until a date that was stored at `planned_at`: never longer than it was from there, nor than the
 * schedule can ask for, since clocks jump between runs. */
int64_t schedule_until_us(wall_us at, wall_us planned_at, wall_us now);
/* How long a receiver that says "too much" is left alone, by how often it said so in a row (1..). */
int64_t schedule_pause_us(int throttled_in_a_row);

#endif
