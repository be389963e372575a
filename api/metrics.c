#include "api/metrics.h"

#include <assert.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "api/api_private.h"
#include "api/cluster_metrics.h"
#include "api/routes.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "http/message/content.h"

/* The edges of the histograms (OB-7). */
static const struct histogram_edges request_edges = {17,
                                                     {500, 1000, 2500, 5000, 10000, 25000, 50000, 75000,
                                                      100000, 250000, 500000, 750000, 1000000, 2500000,
                                                      5000000, 7500000, 10000000}};
/* The edges for requests that wait. The last edges are for the longest ?wait and the longest streams. */
static const struct histogram_edges wait_edges = {
    10, {100000, 500000, 1000000, 2500000, 5000000, 10000000, 30000000, 60000000, 300000000, 1800000000}};

/* All statuses that shootd sends. A status that is not in this list would be counted as 500. A unit compares
 * the list with the table of problems. */
static const int statuses[] = {200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 406, 408, 409, 412,
                               413, 414, 415, 417, 422, 423, 429, 431, 500, 501, 502, 503, 504};

enum {
    STATUSES = ARRAY_LEN(statuses),
    NO_ROUTE = ROUTE_COUNT, /* "none": no route matched */
    MAX_ROUTES,
    METHODS = METHOD_MAX_ + 1,
};

/* The counters of one worker. Only this worker writes them and a scrape reads them, so relaxed loads and
 * stores are enough. */
struct shard {
    struct shard *next;
    _Atomic uint64_t requests[MAX_ROUTES][METHODS][STATUSES];
    struct histogram requested[MAX_ROUTES]; /* durations */
    struct histogram waited[MAX_ROUTES];
};

static _Atomic uint64_t next_serial = 1;
static _Thread_local struct {
    uint64_t serial;
    struct shard *shard;
} mine;

void metrics_init(struct metrics *m)
{
    mutex_init(&m->lock);
    atomic_init(&m->shards, NULL);
    m->serial = atomic_fetch_add(&next_serial, 1);
}

void metrics_done(struct metrics *m)
{
    for (struct shard *s = atomic_load(&m->shards), *next; s; s = next) {
        next = s->next;
        free(s);
    }
    mutex_done(&m->lock);
}

static struct shard *shard_of_thread(struct metrics *m)
{
    if (mine.serial == m->serial)
        return mine.shard;
    struct shard *s = MEM_NEW(struct shard);
    mutex_lock(&m->lock);
    s->next = atomic_load(&m->shards);
    atomic_store(&m->shards, s);
    mutex_unlock(&m->lock);
    mine.serial = m->serial;
    mine.shard = s;
    return s;
}

static void add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static size_t status_index(int status)
{
    size_t internal = 0;
    for (size_t i = 0; i < STATUSES; i++) {
        if (statuses[i] == status)
            return i;
        if (statuses[i] == MHD_HTTP_INTERNAL_SERVER_ERROR)
            internal = i;
    }
    return internal;
}

int metrics_status(int status)
{
    return statuses[status_index(status)];
}

/* Whether the request waits for the end of an operation, for an answer of Cleura, or for the client. The
 * duration of such a request does not show shootd's speed. Only routes with may_wait have such requests. */
static bool was_asked_to_wait(const struct request *r)
{
    if (r->http.answer.is_stream || r->wants_fresh || r->params.given[PARAM_WAIT])
        return true;
    return r->http.headers.values[HEADER_PREFER] && r->route && r->route->params & PARAM_BIT(PARAM_WAIT) &&
           prefer_read(&r->http.headers).wait_s > 0;
}

void metrics_count(struct metrics *m, const struct request *r, int64_t duration_us)
{
    struct shard *s = shard_of_thread(m);
    size_t route = r->route ? (size_t)(r->route - routes) : NO_ROUTE;
    assert(route < MAX_ROUTES && (size_t)r->http.method < METHODS);
    if (r->http.answer.status)
        add(&s->requests[route][r->http.method][status_index(r->http.answer.status)], 1);
    if (was_asked_to_wait(r))
        histogram_add(&s->waited[route], &wait_edges, duration_us);
    else
        histogram_add(&s->requested[route], &request_edges, duration_us);
}

/* Adds up one counter of all shards; `counter` is its address in the first shard. */
static uint64_t total(struct shard *first, const _Atomic uint64_t *counter)
{
    size_t offset = (uintptr_t)counter - (uintptr_t)first;
    uint64_t sum = 0;
    for (struct shard *s = first; s; s = s->next)
        sum += atomic_load_explicit((_Atomic uint64_t *)(void *)((char *)s + offset), memory_order_relaxed);
    return sum;
}

static const char *route_label(size_t route)
{
    return route == NO_ROUTE ? "none" : routes[route].template;
}

/* Whether the counter of a route for this status exists from the start, at 0 (OB-6). Without this counter,
 * Prometheus would not see the first error as an increase. */
static bool is_there_from_the_start(int status)
{
    return status == MHD_HTTP_OK || status == MHD_HTTP_INTERNAL_SERVER_ERROR ||
           status == MHD_HTTP_SERVICE_UNAVAILABLE;
}

static void write_requests_of(struct buffer *out, struct shard *first, size_t route)
{
    for (size_t method = 0; method < METHODS; method++) {
        bool declared = route != NO_ROUTE && routes[route].method == (enum method)method;
        for (size_t i = 0; i < STATUSES; i++) {
            uint64_t n = first ? total(first, &first->requests[route][method][i]) : 0;
            if (!n && !(declared && is_there_from_the_start(statuses[i])))
                continue;
            buffer_printf(out,
                          "shootd_http_requests_total{method=\"%s\",route=\"%s\",code=\"%d\"} %" PRIu64 "\n",
                          method_name((enum method)method), route_label(route), statuses[i], n);
        }
    }
}

/* `offset` is the offset of the array of histograms in a shard. HEAD is counted as GET. */
static void write_durations_of(struct buffer *out, const struct shard *first, size_t route, const char *name,
                               const struct histogram_edges *edges, size_t offset)
{
    struct histogram_total total = {.sum_us = 0};
    char labels[METRIC_LABELS_BYTES];
    for (const struct shard *s = first; s; s = s->next)
        histogram_sum(&total, (const struct histogram *)(const void *)((const char *)s + offset) + route);
    (void)snprintf(labels, sizeof(labels), "route=\"%s\",method=\"%s\"", route_label(route),
                   method_name(route == NO_ROUTE ? METHOD_MAX_ : routes[route].method));
    histogram_write(out, name, labels, edges, &total);
}

static bool may_wait(size_t route)
{
    return route != NO_ROUTE && (routes[route].flags & ROUTE_FRESH ||
                                 routes[route].params & (PARAM_BIT(PARAM_WAIT) | PARAM_BIT(PARAM_TICKET)));
}

static void write_durations(struct buffer *out, const struct shard *first)
{
    static const char requested[] = "shootd_http_request_duration_seconds",
                      waited[] = "shootd_http_wait_duration_seconds";
    metric_family(out, requested);
    for (size_t i = 0; i < MAX_ROUTES; i++)
        write_durations_of(out, first, i, requested, &request_edges, offsetof(struct shard, requested));
    metric_family(out, waited);
    for (size_t i = 0; i < MAX_ROUTES; i++)
        if (may_wait(i))
            write_durations_of(out, first, i, waited, &wait_edges, offsetof(struct shard, waited));
}

static void write_logs(struct buffer *out)
{
    static const char *const names[LOG_LEVEL_MAX_] = {"error", "warning", "info", "debug"};
    metric_family(out, "shootd_log_messages_total");
    for (int level = 0; level < LOG_LEVEL_MAX_; level++)
        metric_of(out, "shootd_log_messages_total", "level", names[level],
                  (double)log_count((enum log_level)level));
    metric_one(out, "shootd_log_lines_dropped_total", (double)log_writer_dropped());
}

static void write_access_log(const struct access_log *log, struct buffer *out)
{
    metric_one(out, "shootd_access_log_dropped_total", (double)atomic_load(&log->dropped));
}

static void write_gauges(struct api *api, const struct http_numbers *n, struct buffer *out)
{
    metric_one(out, "shootd_http_requests_in_flight", (double)n->in_flight);
    metric_one(out, "shootd_http_parked", (double)n->suspended);
    metric_one(out, "shootd_http_connections_reaped_total", (double)n->connections_reaped);
    metric_one(out, "shootd_http_connections_refused_total", (double)n->connections_refused);
    const struct rate_limit *quotas[] = {&api->requests, &api->auth_failures, &api->fresh_reads};
    metric_family(out, "shootd_http_quota_refused_total");
    for (size_t i = 0; i < ARRAY_LEN(quotas); i++)
        metric_of(out, "shootd_http_quota_refused_total", "policy", quotas[i]->name,
                  (double)atomic_load(&quotas[i]->refused));
    metric_family(out, "shootd_auth_failures_total");
    for (int why = 0; why < AUTH_FAILURE_MAX_; why++)
        metric_of(out, "shootd_auth_failures_total", "reason", auth_failure_name((enum auth_failure)why),
                  (double)atomic_load(&api->refused_credentials[why]));
    metric_one(out, "shootd_view_snapshots_total", (double)view_published(api->options.view));
    metric_one(out, "shootd_oidc_tokens_waiting", verifier_taken(&api->verifier));
    metric_one(out, "shootd_oidc_tokens_turned_away_total", (double)atomic_load(&api->verifier.refused));
    metric_family(out, "shootd_build_info");
    buffer_printf(out, "shootd_build_info{version=\"%s\",revision=\"%s\"} 1\n", api->options.version,
                  api->options.revision);
}

static void write_event_log(struct buffer *out, struct feed *feed)
{
    struct feed_numbers n;
    feed_numbers(feed, &n);
    metric_family(out, "shootd_events_total");
    for (int type = EVENT_NONE + 1; type < EVENT_TYPE_MAX_; type++)
        metric_of(out, "shootd_events_total", "type", event_type_name((enum event_type)type),
                  (double)n.published[type]);
    metric_one(out, "shootd_events_oldest_sequence", (double)n.oldest);
    metric_one(out, "shootd_events_newest_sequence", (double)n.newest);
}

static void write_streams(const struct streams *all, struct buffer *out)
{
    metric_one(out, "shootd_sse_streams", (double)atomic_load(&all->open));
    metric_family(out, "shootd_sse_streams_ended_total");
    for (int end = STREAM_CLIENT; end < STREAM_END_MAX_; end++)
        metric_of(out, "shootd_sse_streams_ended_total", "end", stream_end_name((enum stream_end)end),
                  (double)atomic_load(&all->counts.ended[end]));
    metric_one(out, "shootd_sse_events_sent_total", (double)atomic_load(&all->counts.sent));
    write_event_log(out, all->api->options.feed);
}

/* ---- the process_* families that every Prometheus client library has, from /proc/self ---- */

enum { FIELD_THREADS, FIELD_START, FIELD_VSIZE, FIELD_RSS, FIELD_MAX_ };

/* Numbers of /proc/self/stat by their position after the command name (proc(5), where `state` is 3). */
static bool read_stat(uint64_t values[static FIELD_MAX_])
{
    static const int places[FIELD_MAX_] = {
        [FIELD_THREADS] = 20, [FIELD_START] = 22, [FIELD_VSIZE] = 23, [FIELD_RSS] = 24};
    char text[1024];
    FILE *file = fopen("/proc/self/stat", "re");
    if (!file)
        return false;
    size_t n = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[n] = '\0';
    char *rest = strrchr(text, ')');
    if (!rest || !rest[1])
        return false;
    rest += 2;
    int place = 3;
    for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "), place++)
        for (int i = 0; i < FIELD_MAX_; i++)
            if (places[i] == place)
                values[i] = strtoull(word, NULL, 10);
    return place > places[FIELD_RSS];
}

static unsigned count_open_files(void)
{
    unsigned count = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return 0;
    for (const struct dirent *d = readdir(dir); d; d = readdir(dir))
        count += d->d_name[0] != '.';
    (void)closedir(dir);
    return count - 1; /* the directory itself was counted, too */
}

static void write_process(struct buffer *out)
{
    uint64_t stat[FIELD_MAX_] = {0};
    struct timespec cpu;
    struct rlimit files;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    metric_one(out, "process_cpu_seconds_total", (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    metric_one(out, "process_open_fds", count_open_files());
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        metric_one(out, "process_max_fds", (double)files.rlim_cur);
    if (!read_stat(stat))
        return;
    struct timespec wall, up;
    (void)clock_gettime(CLOCK_REALTIME, &wall);
    (void)clock_gettime(CLOCK_BOOTTIME, &up);
    const double booted = (double)(wall.tv_sec - up.tv_sec) + (double)(wall.tv_nsec - up.tv_nsec) / 1e9;
    metric_one(out, "process_virtual_memory_bytes", (double)stat[FIELD_VSIZE]);
    metric_one(out, "process_resident_memory_bytes", (double)stat[FIELD_RSS] * (double)sysconf(_SC_PAGESIZE));
    metric_one(out, "process_start_time_seconds",
               booted + (double)stat[FIELD_START] / (double)sysconf(_SC_CLK_TCK));
    metric_one(out, "process_threads", (double)stat[FIELD_THREADS]);
}

/* ---- all metrics ---- */

void metrics_write(struct api *api, const struct http_numbers *numbers, struct buffer *out)
{
    struct shard *first = atomic_load(&api->metrics.shards);
    metric_family(out, "shootd_http_requests_total");
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        write_requests_of(out, first, i);
    write_requests_of(out, first, NO_ROUTE);
    write_durations(out, first);
    write_gauges(api, numbers, out);
    cluster_metrics_write(api->options.view, out);
    write_streams(&api->streams, out);
    write_logs(out);
    write_access_log(&api->access_log, out);
    write_process(out);
}
