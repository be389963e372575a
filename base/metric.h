/*
 * The text forms of metrics (OB-1), and histograms (OB-2). Names, help, types and edges are our own
 * constants. Labels are given as they are written: a="x",b="y", of values that need no escape; "" for none.
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
    const char *type; /* as in the text */
    const char *labels;
    const char *help;
};

/* The row of this name; NULL: there is none. Any thread. */
const struct metric_info *metric_find(const char *name);

/* The head of a family that the table has: before its samples, which stand together. Any thread. */
void metric_family(struct buffer *out, const char *name);
void metric_sample(struct buffer *out, const char *name, const char *labels, double value);
/* One with a single label. */
void metric_of(struct buffer *out, const char *name, const char *label, const char *which, double value);
/* A family of one sample. */
void metric_one(struct buffer *out, const char *name, double value);

/*
 * Appends the same families in the form of OpenMetrics 1.0.0, with the same names and labels of all samples.
 * A counter whose name without _total is that of another family is of type unknown there. Any thread.
 */
void metric_to_openmetrics(const struct buffer *text, struct buffer *out);

enum { HISTOGRAM_EDGES_MAX = 20, METRIC_LABELS_BYTES = 256 };

/* Upper bounds, ascending. */
struct histogram_edges {
    size_t count;
    int64_t us[HISTOGRAM_EDGES_MAX];
};

/* Times. One thread adds, without atomic additions; any reads. Zeroed it is empty. */
struct histogram {
    _Atomic uint64_t counts[HISTOGRAM_EDGES_MAX + 1]; /* not cumulative; the last one is above every edge */
    _Atomic uint64_t sum_us;
};

/* The sum, for a scrape, of several histograms that have the same edges. Zeroed it is empty. */
struct histogram_total {
    uint64_t counts[HISTOGRAM_EDGES_MAX + 1];
    uint64_t sum_us;
};

/* A time below 0 counts as 0: wall clocks may be set back. The histogram's thread. */
void histogram_add(struct histogram *h, const struct histogram_edges *edges, int64_t us);
void histogram_sum(struct histogram_total *total, const struct histogram *h);
uint64_t histogram_count(const struct histogram_total *total);
/* Its samples, in seconds. */
void histogram_write(struct buffer *out, const char *name, const char *labels,
                     const struct histogram_edges *edges, const struct histogram_total *total);
/* Those of one alone. */
void histogram_write_one(struct buffer *out, const char *name, const char *labels,
                         const struct histogram_edges *edges, const struct histogram *h);

#endif
