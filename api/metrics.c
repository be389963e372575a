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
#include "api/routes.h"
#include "base/log.h"
#include "base/mem.h"

/* Bucket edges in microseconds and as the text of `le` (OB-2, OB-7); 30 and 60 s for long polls. */
static const struct {
    int64_t us;
    const char *le;
} buckets[] = {
    {500, "0.0005"},  {1000, "0.001"},  {2500, "0.0025"}, {5000, "0.005"},  {10000, "0.01"},
    {25000, "0.025"}, {50000, "0.05"},  {75000, "0.075"}, {100000, "0.1"},  {250000, "0.25"},
    {500000, "0.5"},  {750000, "0.75"}, {1000000, "1"},   {2500000, "2.5"}, {5000000, "5"},
    {7500000, "7.5"}, {10000000, "10"}, {30000000, "30"}, {60000000, "60"},
};

/* Every status that we send. Others would count as 500. */
static const int statuses[] = {200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 406, 408, 409,
                               412, 413, 414, 415, 417, 422, 429, 431, 500, 501, 502, 503, 504};

enum {
    BUCKETS = ARRAY_LEN(buckets),
    STATUSES = ARRAY_LEN(statuses),
    NO_ROUTE = ROUTE_COUNT, /* "none": no route matched */
    MAX_ROUTES,
    METHODS = METHOD_MAX_ + 1,
};

struct duration {
    _Atomic uint64_t buckets[BUCKETS + 1]; /* not cumulative; the last one is above every edge */
    _Atomic uint64_t sum_us;
};

/* Written by one worker, read by a scrape: relaxed loads and stores, no atomic additions. */
struct shard {
    struct shard *next;
    _Atomic uint64_t requests[MAX_ROUTES][METHODS][STATUSES];
    struct duration durations[MAX_ROUTES];
};

static _Atomic uint64_t next_serial = 1;
static _Thread_local struct {
    uint64_t serial;
    struct shard *shard;
} mine;

void metrics_init(struct metrics *m)
{
    (void)pthread_mutex_init(&m->lock, NULL);
    atomic_init(&m->shards, NULL);
    m->serial = atomic_fetch_add(&next_serial, 1);
}

void metrics_done(struct metrics *m)
{
    for (struct shard *s = atomic_load(&m->shards), *next; s; s = next) {
        next = s->next;
        free(s);
    }
    (void)pthread_mutex_destroy(&m->lock);
}

static struct shard *shard_of_thread(struct metrics *m)
{
    if (mine.serial == m->serial)
        return mine.shard;
    struct shard *s = MEM_NEW(struct shard);
    (void)pthread_mutex_lock(&m->lock);
    s->next = atomic_load(&m->shards);
    atomic_store(&m->shards, s);
    (void)pthread_mutex_unlock(&m->lock);
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

void metrics_count(struct metrics *m, const struct request *r, int64_t duration_us)
{
    struct shard *s = shard_of_thread(m);
    size_t route = r->route ? (size_t)(r->route - routes) : NO_ROUTE;
    assert(route < MAX_ROUTES && (size_t)r->http.method < METHODS);
    if (r->http.answer.status)
        add(&s->requests[route][r->http.method][status_index(r->http.answer.status)], 1);
    if (r->http.answer.is_stream)
        return; /* how long clients stay says nothing about how fast we are */
    size_t bucket = 0;
    while (bucket < BUCKETS && duration_us > buckets[bucket].us)
        bucket++;
    add(&s->durations[route].buckets[bucket], 1);
    add(&s->durations[route].sum_us, (uint64_t)duration_us);
}

/* Sums one counter, given by its place in the first shard, over all shards. */
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

static void family(struct buffer *out, const char *name, const char *type, const char *help)
{
    (void)buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_requests_of(struct buffer *out, struct shard *first, size_t route)
{
    for (size_t method = 0; method < METHODS; method++) {
        bool declared = route != NO_ROUTE && routes[route].method == (enum method)method;
        for (size_t i = 0; i < STATUSES; i++) {
            uint64_t n = first ? total(first, &first->requests[route][method][i]) : 0;
            if (!n && !(declared && statuses[i] == MHD_HTTP_OK)) /* known pairs start at 0 (OB-6) */
                continue;
            (void)buffer_printf(
                out, "shootd_http_requests_total{method=\"%s\",route=\"%s\",code=\"%d\"} %" PRIu64 "\n",
                method_name((enum method)method), route_label(route), statuses[i], n);
        }
    }
}

static void write_duration_of(struct buffer *out, struct shard *first, size_t route)
{
    uint64_t counts[BUCKETS + 1] = {0};
    uint64_t sum_us = 0;
    for (size_t other = route; first && other < MAX_ROUTES; other++) {
        bool same = other == route || (route != NO_ROUTE && other < ROUTE_COUNT &&
                                       !strcmp(routes[other].template, routes[route].template));
        if (!same)
            continue;
        for (size_t i = 0; i <= BUCKETS; i++)
            counts[i] += total(first, &first->durations[other].buckets[i]);
        sum_us += total(first, &first->durations[other].sum_us);
    }
    static const char name[] = "shootd_http_request_duration_seconds";
    const char *label = route_label(route);
    uint64_t below = 0;
    for (size_t i = 0; i < BUCKETS; i++) {
        below += counts[i];
        (void)buffer_printf(out, "%s_bucket{route=\"%s\",le=\"%s\"} %" PRIu64 "\n", name, label,
                            buckets[i].le, below);
    }
    below += counts[BUCKETS];
    (void)buffer_printf(out, "%s_bucket{route=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name, label, below);
    (void)buffer_printf(out, "%s_sum{route=\"%s\"} %.6f\n", name, label, (double)sum_us / 1e6);
    (void)buffer_printf(out, "%s_count{route=\"%s\"} %" PRIu64 "\n", name, label, below);
}

static void write_logs(struct buffer *out)
{
    static const char *const names[LOG_LEVEL_MAX_] = {"error", "warning", "info", "debug"};
    family(out, "shootd_log_messages_total", "counter", "Log messages by level, dropped ones included.");
    for (int level = 0; level < LOG_LEVEL_MAX_; level++)
        (void)buffer_printf(out, "shootd_log_messages_total{level=\"%s\"} %" PRIu64 "\n", names[level],
                            log_count((enum log_level)level));
}

static void write_access_log(const struct access_log *log, struct buffer *out)
{
    family(out, "shootd_access_log_dropped_total", "counter",
           "Access lines that were not written because too many waited.");
    (void)buffer_printf(out, "shootd_access_log_dropped_total %" PRIu64 "\n", atomic_load(&log->dropped));
}

static void write_gauges(struct api *api, const struct http_numbers *n, struct buffer *out)
{
    family(out, "shootd_http_requests_in_flight", "gauge",
           "Requests between header section and end of answer.");
    (void)buffer_printf(out, "shootd_http_requests_in_flight %u\n", n->in_flight);
    family(out, "shootd_http_parked", "gauge",
           "Requests that wait for a decision or for an operation to end.");
    (void)buffer_printf(out, "shootd_http_parked %u\n", n->suspended);
    family(out, "shootd_http_connections_reaped_total", "counter",
           "Connections shut down for being too slow.");
    (void)buffer_printf(out, "shootd_http_connections_reaped_total %u\n", n->connections_reaped);
    family(out, "shootd_http_connections_refused_total", "counter",
           "Connections refused because their address had too many open.");
    (void)buffer_printf(out, "shootd_http_connections_refused_total %" PRIu64 "\n", n->connections_refused);
    const struct rate_limit *quotas[] = {&api->requests, &api->auth_failures, &api->fresh_reads};
    family(out, "shootd_http_quota_refused_total", "counter", "Requests answered 429 for a quota.");
    for (size_t i = 0; i < ARRAY_LEN(quotas); i++)
        (void)buffer_printf(out, "shootd_http_quota_refused_total{policy=\"%s\"} %" PRIu64 "\n",
                            quotas[i]->name, atomic_load(&quotas[i]->refused));
    family(out, "shootd_build_info", "gauge", "Version of the program; always 1.");
    (void)buffer_printf(out, "shootd_build_info{version=\"%s\",revision=\"%s\"} 1\n", api->options.version,
                        api->options.revision);
}

static void write_event_log(struct buffer *out, struct feed *feed)
{
    struct feed_numbers n;
    feed_numbers(feed, &n);
    family(out, "shootd_events_total", "counter", "Events that became durable since the start.");
    for (int type = EVENT_NONE + 1; type < EVENT_TYPE_MAX_; type++)
        (void)buffer_printf(out, "shootd_events_total{type=\"%s\"} %" PRIu64 "\n",
                            event_type_name((enum event_type)type), n.published[type]);
    family(out, "shootd_events_oldest_sequence", "gauge",
           "Number of the oldest event that is kept, 0: none.");
    (void)buffer_printf(out, "shootd_events_oldest_sequence %" PRId64 "\n", n.oldest);
    family(out, "shootd_events_newest_sequence", "gauge", "Number of the newest event.");
    (void)buffer_printf(out, "shootd_events_newest_sequence %" PRId64 "\n", n.newest);
}

static void write_streams(const struct streams *all, struct buffer *out)
{
    family(out, "shootd_sse_streams", "gauge", "Open event streams.");
    (void)buffer_printf(out, "shootd_sse_streams %u\n", atomic_load(&all->open));
    family(out, "shootd_sse_streams_total", "counter", "Event streams that ended, by the reason.");
    for (int end = STREAM_CLIENT; end < STREAM_END_MAX_; end++)
        (void)buffer_printf(out, "shootd_sse_streams_total{end=\"%s\"} %" PRIu64 "\n",
                            stream_end_name((enum stream_end)end), atomic_load(&all->counts.ended[end]));
    family(out, "shootd_sse_events_sent_total", "counter", "Events sent to streams.");
    (void)buffer_printf(out, "shootd_sse_events_sent_total %" PRIu64 "\n", atomic_load(&all->counts.sent));
    write_event_log(out, all->api->options.feed);
}

/* ---- the process_* families that every Prometheus client library has, from /proc/self ---- */

enum { FIELD_THREADS, FIELD_START, FIELD_VSIZE, FIELD_RSS, FIELD_MAX_ };

/* Numbers of /proc/self/stat by their place after the command name (proc(5), counted from `state` = 3). */
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
    return count - 1; /* the directory itself */
}

static void write_one(struct buffer *out, const char *name, const char *type, const char *help, double value)
{
    (void)buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", name, help, name, type, name, value);
}

static void write_process(struct buffer *out)
{
    uint64_t stat[FIELD_MAX_] = {0};
    struct timespec cpu;
    struct rlimit files;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    write_one(out, "process_cpu_seconds_total", "counter", "Total user and system CPU time spent in seconds.",
              (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    write_one(out, "process_open_fds", "gauge", "Number of open file descriptors.", count_open_files());
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        write_one(out, "process_max_fds", "gauge", "Maximum number of open file descriptors.",
                  (double)files.rlim_cur);
    if (!read_stat(stat))
        return;
    struct timespec wall, up;
    (void)clock_gettime(CLOCK_REALTIME, &wall);
    (void)clock_gettime(CLOCK_BOOTTIME, &up);
    const double booted = (double)(wall.tv_sec - up.tv_sec) + (double)(wall.tv_nsec - up.tv_nsec) / 1e9;
    write_one(out, "process_virtual_memory_bytes", "gauge", "Virtual memory size in bytes.",
              (double)stat[FIELD_VSIZE]);
    write_one(out, "process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
              (double)stat[FIELD_RSS] * (double)sysconf(_SC_PAGESIZE));
    write_one(out, "process_start_time_seconds", "gauge",
              "Start time of the process since unix epoch in seconds.",
              booted + (double)stat[FIELD_START] / (double)sysconf(_SC_CLK_TCK));
    write_one(out, "process_threads", "gauge", "Number of OS threads in the process.",
              (double)stat[FIELD_THREADS]);
}

/* ---- all of them ---- */

void metrics_write(struct api *api, const struct http_numbers *numbers, struct buffer *out)
{
    struct shard *first = atomic_load(&api->metrics.shards);
    family(out, "shootd_http_requests_total", "counter", "Completed HTTP requests.");
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        write_requests_of(out, first, i);
    write_requests_of(out, first, NO_ROUTE);
    family(out, "shootd_http_request_duration_seconds", "histogram",
           "Time from the end of the header section to the end of the answer.");
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        bool is_first = true; /* rows of one template share the label; the first of them stands for all */
        for (size_t before = 0; is_first && before < i; before++)
            is_first = strcmp(routes[before].template, routes[i].template) != 0;
        if (is_first)
            write_duration_of(out, first, i);
    }
    write_duration_of(out, first, NO_ROUTE);
    write_gauges(api, numbers, out);
    write_streams(&api->streams, out);
    write_logs(out);
    write_access_log(&api->access_log, out);
    write_process(out);
}
