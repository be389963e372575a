#include "base/metric.h"

#include <assert.h>
#include <inttypes.h>

#include "base/env.h"

void metric_family(struct buffer *out, const char *name, const char *type, const char *help)
{
    (void)buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metric_sample(struct buffer *out, const char *name, const char *labels, double value)
{
    const bool some = *labels != '\0';
    (void)buffer_printf(out, "%s%s%s%s %.15g\n", name, some ? "{" : "", labels, some ? "}" : "", value);
}

void metric_of(struct buffer *out, const char *name, const char *label, const char *which, double value)
{
    (void)buffer_printf(out, "%s{%s=\"%s\"} %.15g\n", name, label, which, value);
}

void metric_one(struct buffer *out, const char *name, const char *type, const char *help, double value)
{
    metric_family(out, name, type, help);
    metric_sample(out, name, "", value);
}

static void add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

void histogram_add(struct histogram *h, const struct histogram_edges *edges, int64_t us)
{
    size_t i = 0;
    assert(edges->count <= HISTOGRAM_EDGES_MAX);
    while (i < edges->count && us > edges->us[i])
        i++;
    add(&h->counts[i < edges->count ? i : HISTOGRAM_EDGES_MAX], 1);
    add(&h->sum_us, us > 0 ? (uint64_t)us : 0);
}

void histogram_sum(struct histogram_total *total, const struct histogram *h)
{
    for (size_t i = 0; i <= HISTOGRAM_EDGES_MAX; i++)
        total->counts[i] += atomic_load_explicit(&h->counts[i], memory_order_relaxed);
    total->sum_us += atomic_load_explicit(&h->sum_us, memory_order_relaxed);
}

uint64_t histogram_count(const struct histogram_total *total)
{
    uint64_t count = 0;
    for (size_t i = 0; i <= HISTOGRAM_EDGES_MAX; i++)
        count += total->counts[i];
    return count;
}

void histogram_write(struct buffer *out, const char *name, const char *labels,
                     const struct histogram_edges *edges, const struct histogram_total *total)
{
    const char *const comma = *labels ? "," : "", *const open = *labels ? "{" : "",
                      *const close = *labels ? "}" : "";
    uint64_t below = 0;
    for (size_t i = 0; i < edges->count; i++) {
        below += total->counts[i];
        (void)buffer_printf(out, "%s_bucket{%s%sle=\"%.15g\"} %" PRIu64 "\n", name, labels, comma,
                            (double)edges->us[i] / (double)US_PER_S, below);
    }
    below += total->counts[HISTOGRAM_EDGES_MAX];
    (void)buffer_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", name, labels, comma, below);
    (void)buffer_printf(out, "%s_sum%s%s%s %.6f\n%s_count%s%s%s %" PRIu64 "\n", name, open, labels, close,
                        (double)total->sum_us / (double)US_PER_S, name, open, labels, close, below);
}

void histogram_write_one(struct buffer *out, const char *name, const char *labels,
                         const struct histogram_edges *edges, const struct histogram *h)
{
    struct histogram_total total = {.sum_us = 0};
    histogram_sum(&total, h);
    histogram_write(out, name, labels, edges, &total);
}
