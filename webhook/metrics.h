/* What the engine counts. Called from the loop thread, read by any (atomics). */
#ifndef WEBHOOK_METRICS_H
#define WEBHOOK_METRICS_H

#include <stdbool.h>

#include "base/env.h"
#include "webhook/outcome.h"

void webhook_count_attempt(enum attempt_result result);
/* delta: +1 or -1 */
void webhook_count_pending(int delta);
void webhook_count_in_flight(int delta);
/* From the event to its delivery. */
void webhook_observe_delay(int64_t delay_us);
/* When the oldest event happened that some delivery still waits for; 0: none waits. */
void webhook_note_oldest(wall_us at);
void webhook_count_endpoint(bool disabled, int delta);

#endif
