/* The counters of webhooks. The counters are global, because a scrape runs on any thread and has no access to
 * the engine. */
#include "webhook/engine_private.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/metric.h"

/* The first edges are usual response times; the last edges are about the times of the later attempts. */
static const struct histogram_edges delay_edges = {11,
                                                   {10000, 50000, 100000, 500000, 1000000, 5000000, 30000000,
                                                    600000000, 3600000000, 36000000000, 360000000000}};

static _Atomic uint64_t attempts[ATTEMPT_RESULT_MAX_];
static struct histogram delays;
static _Atomic int64_t pending;
static _Atomic int64_t in_flight;
static _Atomic wall_us oldest;
static _Atomic int64_t webhooks[WEBHOOK_STATE_MAX_];

/* Changes a gauge, which is never below 0. */
static void move_gauge(_Atomic int64_t *gauge, int delta)
{
    int64_t before = atomic_fetch_add_explicit(gauge, delta, memory_order_relaxed);
    assert(before + delta >= 0);
    (void)before;
}

void webhook_count_attempt(enum attempt_result result)
{
    assert(result < ATTEMPT_RESULT_MAX_);
    atomic_fetch_add_explicit(&attempts[result], 1, memory_order_relaxed);
}

void webhook_count_pending(int delta)
{
    move_gauge(&pending, delta);
}

void webhook_count_in_flight(int delta)
{
    move_gauge(&in_flight, delta);
}

void webhook_observe_delay(int64_t delay_us)
{
    histogram_add(&delays, &delay_edges, delay_us);
}

void webhook_note_oldest(wall_us at)
{
    atomic_store_explicit(&oldest, at, memory_order_relaxed);
}

void webhook_count_webhook(enum webhook_state state, int delta)
{
    assert(state < WEBHOOK_STATE_MAX_);
    move_gauge(&webhooks[state], delta);
}

void webhook_metrics(struct buffer *out, wall_us now)
{
    static const char attempts_name[] = "shootd_webhook_attempts_total",
                      delays_name[] = "shootd_webhook_delivery_delay_seconds",
                      webhooks_name[] = "shootd_webhooks";
    const wall_us oldest_at = atomic_load(&oldest);
    metric_family(out, attempts_name);
    for (int i = 0; i < ATTEMPT_RESULT_MAX_; i++)
        metric_of(out, attempts_name, "outcome", attempt_result_name((enum attempt_result)i),
                  (double)atomic_load(&attempts[i]));
    metric_family(out, delays_name);
    histogram_write_one(out, delays_name, "", &delay_edges, &delays);
    metric_one(out, "shootd_webhook_pending", (double)atomic_load(&pending));
    metric_one(out, "shootd_webhook_in_flight", (double)atomic_load(&in_flight));
    metric_one(out, "shootd_webhook_oldest_pending_age_seconds",
               oldest_at && now > oldest_at ? (double)(now - oldest_at) / (double)US_PER_S : 0);
    metric_family(out, webhooks_name);
    for (int i = 0; i < WEBHOOK_STATE_MAX_; i++)
        metric_of(out, webhooks_name, "state", webhook_state_name((enum webhook_state)i),
                  (double)atomic_load(&webhooks[i]));
}
