/* What the engine counts. Called from the loop thread, read by any (atomics). */
#ifndef WEBHOOK_METRICS_H
#define WEBHOOK_METRICS_H

#include <stdbool.h>

#include "webhook/outcome.h"

void webhook_count_attempt(enum attempt_result result);
/* delta: +1 or -1 */
void webhook_count_pending(int delta);
void webhook_count_endpoint(bool disabled, int delta);

#endif
