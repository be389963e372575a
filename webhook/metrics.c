/* The counters of webhooks. Process-wide, because scrapes come from any thread and know no engine. */
#include "webhook/engine_private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>

#include "base/attrs.h"

/* Upper bounds in seconds: the usual moment, then the attempts of the schedule. Written as they are shown. */
static const struct {
    int64_t us;
    const char *le;
} delay_bounds[] = {
    {10000, "0.01"},      {50000, "0.05"},        {100000, "0.1"},          {500000, "0.5"},
    {1000000, "1"},       {5000000, "5"},         {30000000, "30"},         {600000000, "600"},
    {3600000000, "3600"}, {36000000000, "36000"}, {360000000000, "360000"},
};

static _Atomic uint64_t attempts[ATTEMPT_RESULT_MAX_];
static _Atomic uint64_t delays[ARRAY_LEN(delay_bounds) + 1]; /* the last one: longer than all */
static _Atomic int64_t delay_us_total;
static _Atomic int64_t pending;
static _Atomic int64_t in_flight;
static _Atomic wall_us oldest;
static _Atomic int64_t endpoints[2]; /* active, disabled */

/* Adds to a gauge, which never falls below 0. */
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
    size_t i = 0;
    int64_t delay = delay_us > 0 ? delay_us : 0; /* wall clocks may be set back */
    while (i < ARRAY_LEN(delay_bounds) && delay > delay_bounds[i].us)
        i++;
    atomic_fetch_add_explicit(&delays[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&delay_us_total, delay, memory_order_relaxed);
}

void webhook_note_oldest(wall_us at)
{
    atomic_store_explicit(&oldest, at, memory_order_relaxed);
}

void webhook_count_endpoint(bool disabled, int delta)
{
    move_gauge(&endpoints[disabled], delta);
}

static void write_delays(struct buffer *out)
{
    static const char name[] = "shootd_webhook_delivery_delay_seconds";
    uint64_t sum = 0;
    (void)buffer_printf(out, "# HELP %s From the event to its delivery.\n# TYPE %s histogram\n", name, name);
    for (size_t i = 0; i < ARRAY_LEN(delays); i++) {
        sum += atomic_load(&delays[i]);
        (void)buffer_printf(out, "%s_bucket{le=\"%s\"} %" PRIu64 "\n", name,
                            i < ARRAY_LEN(delay_bounds) ? delay_bounds[i].le : "+Inf", sum);
    }
    (void)buffer_printf(out, "%s_sum %.6f\n%s_count %" PRIu64 "\n", name,
                        (double)atomic_load(&delay_us_total) / (double)US_PER_S, name, sum);
}

static void write_gauge(struct buffer *out, const char *name, const char *help, double value)
{
    (void)buffer_printf(out, "# HELP %s %s\n# TYPE %s gauge\n%s %.15g\n", name, help, name, name, value);
}

void webhook_metrics(struct buffer *out, wall_us now)
{
    const wall_us oldest_at = atomic_load(&oldest);
    (void)buffer_add_str(out,
                         "# HELP shootd_webhook_attempts_total Finished attempts to deliver, by outcome.\n"
                         "# TYPE shootd_webhook_attempts_total counter\n");
    for (int i = 0; i < ATTEMPT_RESULT_MAX_; i++)
        (void)buffer_printf(out, "shootd_webhook_attempts_total{outcome=\"%s\"} %" PRIu64 "\n",
                            attempt_result_name((enum attempt_result)i), atomic_load(&attempts[i]));
    write_delays(out);
    write_gauge(out, "shootd_webhook_pending", "Deliveries that are neither delivered nor given up.",
                (double)atomic_load(&pending));
    write_gauge(out, "shootd_webhook_in_flight", "Of these, those that are being sent.",
                (double)atomic_load(&in_flight));
    write_gauge(out, "shootd_webhook_oldest_pending_age_seconds",
                "Since the oldest event of these; 0: there is none.",
                oldest_at && now > oldest_at ? (double)(now - oldest_at) / (double)US_PER_S : 0);
    (void)buffer_printf(out,
                        "# HELP shootd_webhook_endpoints Subscriptions, by state.\n"
                        "# TYPE shootd_webhook_endpoints gauge\n"
                        "shootd_webhook_endpoints{state=\"active\"} %" PRId64 "\n"
                        "shootd_webhook_endpoints{state=\"disabled\"} %" PRId64 "\n",
                        atomic_load(&endpoints[0]), atomic_load(&endpoints[1]));
}
