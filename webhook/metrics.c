/* The counters of webhooks. Process-wide, because scrapes come from any thread and know no engine. */
#include "webhook/metrics.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "webhook/webhook.h"

static _Atomic uint64_t attempts[ATTEMPT_RESULT_MAX_];
static _Atomic int64_t pending;
static _Atomic int64_t endpoints[2]; /* active, disabled */

void webhook_count_attempt(enum attempt_result result)
{
    atomic_fetch_add_explicit(&attempts[result], 1, memory_order_relaxed);
}

void webhook_count_pending(int delta)
{
    atomic_fetch_add_explicit(&pending, delta, memory_order_relaxed);
}

void webhook_count_endpoint(bool disabled, int delta)
{
    atomic_fetch_add_explicit(&endpoints[disabled], delta, memory_order_relaxed);
}

void webhook_metrics(struct buffer *out)
{
    (void)buffer_add_str(out,
                         "# HELP shootd_webhook_attempts_total Finished attempts to deliver, by outcome.\n"
                         "# TYPE shootd_webhook_attempts_total counter\n");
    for (int i = 0; i < ATTEMPT_RESULT_MAX_; i++)
        (void)buffer_printf(out, "shootd_webhook_attempts_total{outcome=\"%s\"} %" PRIu64 "\n",
                            attempt_result_name((enum attempt_result)i), atomic_load(&attempts[i]));
    (void)buffer_printf(out,
                        "# HELP shootd_webhook_pending Deliveries that are neither delivered nor given up.\n"
                        "# TYPE shootd_webhook_pending gauge\nshootd_webhook_pending %" PRId64 "\n",
                        atomic_load(&pending));
    (void)buffer_printf(out,
                        "# HELP shootd_webhook_endpoints Subscriptions, by state.\n"
                        "# TYPE shootd_webhook_endpoints gauge\n"
                        "shootd_webhook_endpoints{state=\"active\"} %" PRId64 "\n"
                        "shootd_webhook_endpoints{state=\"disabled\"} %" PRId64 "\n",
                        atomic_load(&endpoints[0]), atomic_load(&endpoints[1]));
}
