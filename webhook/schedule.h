/* When a delivery is tried again (WH-14). Pure but for env; any thread. */
#ifndef WEBHOOK_SCHEDULE_H
#define WEBHOOK_SCHEDULE_H

#include <stdbool.h>

#include "base/env.h"

enum { SCHEDULE_ATTEMPTS = 10, SCHEDULE_MAX_DELAY_S = 24 * 3600, SCHEDULE_JITTER_PERCENT = 20 };

/* Whether another attempt follows after `made` ones. */
bool schedule_goes_on(int made);
/*
 * How long to wait after the `made`-th attempt (1..9), with jitter; not shorter than what the receiver asked
 * for
 * (`retry_after_s`, already clamped; negative: it asked for nothing).
 */
int64_t schedule_delay_us(const struct env *env, int made, int64_t retry_after_s);
/* How long until a stored date, never longer than the schedule can ask for: clocks jump between runs. */
int64_t schedule_until_us(wall_us at, wall_us now);
/* How long a receiver that says "too much" is left alone, by how often it said so in a row (1..). */
int64_t schedule_pause_us(int throttled_in_a_row);

#endif
