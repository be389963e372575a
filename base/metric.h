/*
 * The text forms of metrics (OB-1), and histograms (OB-2). Names, help, types and edges are constants of
 * shootd. A caller passes labels in their output form, a="x",b="y", with values that need no escape. "" means
 * no labels.
 */
#ifndef BASE_METRIC_H
#define BASE_METRIC_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* A row of base/metric_table.h. */
struct metric_info {
    const char *name;
    const char *type; /* the type, as in the output */
    const char *labels;
    const char *help;
};

/* Returns the row with this name; NULL when there is none. Any thread. */
const struct metric_info *metric_find(const char *name);

/* Writes the head of a family of the table. The samples of the family follow it without a gap. Any thread. */
void metric_family(struct buffer *out, const char *name);
void metric_sample(struct buffer *out, const char *name, const char *labels, double value);
/* Writes one sample with a single label. */
void metric_of(struct buffer *out, const char *name, const char *label, const char *which, double value);
/* Writes a family with one sample. */
void metric_one(struct buffer *out, const char *name, double value);

/*
 * Appends the families of `text` in the form of OpenMetrics 1.0.0. All samples keep their names and labels.
 * Any thread.
 */
void metric_to_openmetrics(const struct buffer *text, struct buffer *out);

enum { HISTOGRAM_EDGES_MAX = 20, METRIC_LABELS_BYTES = 256 };

/* The upper bounds of the buckets, ascending. */
struct histogram_edges {
    size_t count;
    int64_t us[HISTOGRAM_EDGES_MAX];
};

/* A histogram of times. Only one thread adds times, so additions need not be atomic; any thread reads. A
 * zeroed struct is empty. */
struct histogram {
    _Atomic uint64_t counts[HISTOGRAM_EDGES_MAX + 1]; /* not cumulative; the last count is of times above
                                                       * every edge */
    _Atomic uint64_t sum_us;
};

/* The sum of several histograms with the same edges. Each scrape computes it. A zeroed struct is empty. */
struct histogram_total {
    uint64_t counts[HISTOGRAM_EDGES_MAX + 1];
    uint64_t sum_us;
};

/* Adds a time; a time below 0 counts as 0, because wall clocks may be set back. Called only on the thread of
 * the histogram. */
void histogram_add(struct histogram *h, const struct histogram_edges *edges, int64_t us);
void histogram_sum(struct histogram_total *total, const struct histogram *h);
uint64_t histogram_count(const struct histogram_total *total);
/* Writes the samples of the sum, in seconds. */
void histogram_write(struct buffer *out, const char *name, const char *labels,
                     const struct histogram_edges *edges, const struct histogram_total *total);
/* Writes the samples of one histogram. */
void histogram_write_one(struct buffer *out, const char *name, const char *labels,
                         const struct histogram_edges *edges, const struct histogram *h);

#endif
