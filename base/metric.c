#include "base/metric.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/env.h"

static const struct metric_info table[] = {
#define METRIC(name, type, labels, help) {#name, #type, labels, help},
#include "base/metric_table.h"
#undef METRIC
};

const struct metric_info *metric_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (!strcmp(table[i].name, name))
            return &table[i];
    return NULL;
}

void metric_family(struct buffer *out, const char *name)
{
    const struct metric_info *m = metric_find(name);
    assert(m);
    buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, m->help, name, m->type);
}

void metric_sample(struct buffer *out, const char *name, const char *labels, double value)
{
    const bool some = *labels != '\0';
    buffer_printf(out, "%s%s%s%s %.15g\n", name, some ? "{" : "", labels, some ? "}" : "", value);
}

void metric_of(struct buffer *out, const char *name, const char *label, const char *which, double value)
{
    buffer_printf(out, "%s{%s=\"%s\"} %.15g\n", name, label, which, value);
}

void metric_one(struct buffer *out, const char *name, double value)
{
    metric_family(out, name);
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

enum { EDGE_BYTES = 32 };

/* Writes the edge in seconds, in the form that OpenMetrics requires: 0.5, 1.0. Both output forms use this
 * text, so their labels are the same. */
static const char *edge_text(int64_t us, char text[static EDGE_BYTES])
{
    const int n = snprintf(text, EDGE_BYTES, "%.15g", (double)us / (double)US_PER_S);
    assert(n > 0 && n < EDGE_BYTES - 2 && !strchr(text, 'e'));
    if (!strchr(text, '.'))
        memcpy(text + n, ".0", sizeof(".0"));
    return text;
}

void histogram_write(struct buffer *out, const char *name, const char *labels,
                     const struct histogram_edges *edges, const struct histogram_total *total)
{
    const char *const comma = *labels ? "," : "", *const open = *labels ? "{" : "",
                      *const close = *labels ? "}" : "";
    uint64_t below = 0;
    for (size_t i = 0; i < edges->count; i++) {
        char edge[EDGE_BYTES];
        below += total->counts[i];
        buffer_printf(out, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", name, labels, comma,
                      edge_text(edges->us[i], edge), below);
    }
    below += total->counts[HISTOGRAM_EDGES_MAX];
    buffer_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", name, labels, comma, below);
    buffer_printf(out, "%s_sum%s%s%s %.6f\n%s_count%s%s%s %" PRIu64 "\n", name, open, labels, close,
                  (double)total->sum_us / (double)US_PER_S, name, open, labels, close, below);
}

void histogram_write_one(struct buffer *out, const char *name, const char *labels,
                         const struct histogram_edges *edges, const struct histogram *h)
{
    struct histogram_total total = {.sum_us = 0};
    histogram_sum(&total, h);
    histogram_write(out, name, labels, edges, &total);
}

/* ---- OpenMetrics ---- */

#define TOTAL "_total"

/* Returns the length of the family's name in OpenMetrics, where the family name of a counter has no
 * _total. */
static size_t family_len(const struct metric_info *m)
{
    const size_t len = strlen(m->name);
    return strcmp(m->type, "counter") != 0 ? len : len - (sizeof(TOTAL) - 1);
}

/* Writes one of the two lines of a family's head. */
static void write_head(struct buffer *out, const char *keyword, size_t keyword_len, const char *name,
                       size_t name_len)
{
    char text[METRIC_LABELS_BYTES];
    assert(name_len < sizeof(text));
    memcpy(text, name, name_len);
    text[name_len] = '\0';
    const struct metric_info *m = metric_find(text);
    assert(m);
    const bool is_type = !strncmp(keyword, "# TYPE ", keyword_len);
    buffer_printf(out, "%.*s%.*s %s\n", (int)keyword_len, keyword, (int)family_len(m), m->name,
                  is_type ? m->type : m->help);
}

void metric_to_openmetrics(const struct buffer *text, struct buffer *out)
{
    enum { KEYWORD = sizeof("# TYPE ") - 1 };
    for (size_t at = 0; at < text->len;) {
        const char *line = text->data + at, *end = memchr(line, '\n', text->len - at);
        assert(end);
        const size_t len = (size_t)(end - line) + 1;
        if (*line == '#') {
            const char *name = line + KEYWORD, *blank = memchr(name, ' ', (size_t)(end - name));
            assert(len > KEYWORD && blank);
            write_head(out, line, KEYWORD, name, (size_t)(blank - name));
        } else {
            buffer_add(out, line, len);
        }
        at += len;
    }
    buffer_add_str(out, "# EOF\n");
}
