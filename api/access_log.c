#include "api/access_log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/request.h"
#include "api/routes.h"
#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/timefmt.h"

enum {
    BATCH = 64,
    GATHER_US = 20 * 1000, /* how long the thread waits for a full batch */
    NAME_BYTES = 72,       /* the limit for names in the path; longer names are cut, as no object has one */
};

/* The content of one line. Pointers refer to static text. */
struct access_entry {
    enum log_level level;
    const char *method, *route, *code, *outcome;
    int status;
    wall_us ended_at; /* when the request ended; the line may be written later */
    int64_t duration_us;
    size_t bytes_in, bytes_out;
    char id[REQUEST_ID_BYTES];
    char trace_id[TRACE_ID_BYTES];
    char token[NAME_BYTES], project[NAME_BYTES], cluster[NAME_BYTES];
    char client[CLIENT_BYTES];
};

/* ---- selection of requests ---- */

static bool is_write(const struct request *r)
{
    const enum method m = r->http.method;
    return m != METHOD_GET && m != METHOD_HEAD && m != METHOD_OPTIONS;
}

/* Whether the request was slow. A stream never counts as slow, and neither does a request whose client may
 * have asked to wait. */
static bool is_slow(const struct request *r, int64_t duration_us)
{
    const bool may_last =
        r->http.answer.is_stream || r->params.given[PARAM_WAIT] || r->http.headers.values[HEADER_PREFER];
    return duration_us >= ACCESS_LOG_SLOW_MS * US_PER_MS && !may_last;
}

static bool is_wanted(enum access_log_mode mode, const struct request *r, int64_t duration_us,
                      const char *outcome)
{
    const bool was_cut = outcome && !r->http.answer.is_stream;
    return mode == ACCESS_LOG_ALL || is_write(r) || r->http.answer.status >= MHD_HTTP_FORBIDDEN || was_cut ||
           is_slow(r, duration_us);
}

/* ---- the ring ---- */

static void copy_name(char place[static NAME_BYTES], const char *name)
{
    const size_t len = name ? strnlen(name, NAME_BYTES - 1) : 0;
    memcpy(place, name ? name : "", len);
    place[len] = '\0';
}

static void fill_entry(struct access_entry *e, struct request *r, enum log_level level, int64_t duration_us,
                       const char *outcome)
{
    struct server_request *http = &r->http;
    e->level = level;
    e->method = http->method_text;
    e->route = r->route ? r->route->template : "none";
    e->code = http->problem == PROBLEM_MAX_ ? NULL : problem_kind(http->problem)->code;
    e->outcome = outcome;
    e->status = http->answer.status;
    e->ended_at = env_wall(r->api->options.env);
    e->duration_us = duration_us;
    e->bytes_in = http->body_seen;
    e->bytes_out = http->answer.len;
    memcpy(e->id, http->id, sizeof(e->id));
    memcpy(e->trace_id, server_request_trace(http)->id, sizeof(e->trace_id));
    copy_name(e->token, r->token ? r->token->id : NULL);
    copy_name(e->project, r->project);
    copy_name(e->cluster, r->name);
    const size_t client_len = http->client ? strnlen(http->client, CLIENT_BYTES - 1) : 0;
    memcpy(e->client, http->client ? http->client : "", client_len);
    e->client[client_len] = '\0';
}

void access_log_add(struct access_log *log, struct request *r, int64_t duration_us, const char *outcome)
{
    const bool is_quiet = r->route && r->route->flags & ROUTE_QUIET;
    const enum log_level level = is_quiet ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
    const int mode = atomic_load_explicit(&log->mode, memory_order_relaxed);
    if (mode == ACCESS_LOG_OFF || !log_is_written(level) ||
        !is_wanted((enum access_log_mode)mode, r, duration_us, outcome))
        return;
    struct access_entry entry;
    fill_entry(&entry, r, level, duration_us, outcome);
    mutex_lock(&log->lock);
    assert(log->count <= ACCESS_LOG_ENTRIES && !log->is_stopping);
    const bool is_full = log->count == ACCESS_LOG_ENTRIES;
    if (!is_full)
        log->entries[(log->first + log->count++) % ACCESS_LOG_ENTRIES] = entry;
    if (!is_full && (log->count == 1 || log->count == BATCH))
        cond_signal(&log->changed);
    mutex_unlock(&log->lock);
    if (is_full)
        atomic_fetch_add(&log->dropped, 1);
}

/* ---- the thread ---- */

static const char *or_null(const char *text)
{
    return *text ? text : NULL;
}

static void write_entry(const struct access_entry *e)
{
    char ended_at[TIME_TEXT_BYTES];
    log_write(e->level, "{method} {route} answered {status} in {duration_us} us", "request_id", e->id,
              "trace_id", or_null(e->trace_id), "method", e->method, "route", e->route, "status",
              LOG_INT(e->status), "ended_at", time_rfc3339(e->ended_at, true, ended_at), "duration_us",
              LOG_INT(e->duration_us), "bytes_in", LOG_INT(e->bytes_in), "bytes_out", LOG_INT(e->bytes_out),
              "token", or_null(e->token), "project", or_null(e->project), "cluster", or_null(e->cluster),
              "code", e->code, "client", or_null(e->client), "outcome", e->outcome, NULL);
}

/* Waits for entries and moves at most BATCH of them to `batch`; returns 0 at the end. *ret_may_wait is false
 * when shootd stops: nothing waits for the log then. */
static unsigned take_batch(struct access_log *log, struct access_entry batch[static BATCH],
                           bool *ret_may_wait)
{
    mutex_lock(&log->lock);
    while (!log->count && !log->is_stopping)
        cond_wait(&log->changed, &log->lock);
    const struct timespec until = cond_until(GATHER_US);
    for (int r = 0; r == 0 && log->count < BATCH && !log->is_stopping;)
        r = pthread_cond_timedwait(&log->changed, &log->lock, &until);
    assert(log->first < ACCESS_LOG_ENTRIES && log->count <= ACCESS_LOG_ENTRIES);
    const unsigned taken = log->count < BATCH ? log->count : BATCH;
    for (unsigned i = 0; i < taken; i++)
        batch[i] = log->entries[(log->first + i) % ACCESS_LOG_ENTRIES];
    log->first = (log->first + taken) % ACCESS_LOG_ENTRIES;
    log->count -= taken;
    *ret_may_wait = !log->is_stopping;
    mutex_unlock(&log->lock);
    return taken;
}

static void *write_lines(void *arg)
{
    struct access_log *log = arg;
    struct access_entry batch[BATCH];
    thread_in_background("access-log");
    bool may_wait;
    for (unsigned taken; (taken = take_batch(log, batch, &may_wait)) > 0;) {
        log_hold(may_wait);
        for (unsigned i = 0; i < taken; i++)
            write_entry(&batch[i]);
        log_release();
    }
    return NULL;
}

void access_log_set(struct access_log *log, enum access_log_mode mode)
{
    atomic_store(&log->mode, (int)mode);
}

int access_log_start(struct access_log *log, enum access_log_mode mode)
{
    access_log_set(log, mode);
    mutex_init(&log->lock);
    cond_init(&log->changed);
    log->entries = mem_calloc(ACCESS_LOG_ENTRIES, sizeof(*log->entries));
    const int r = pthread_create(&log->thread, NULL, write_lines, log);
    if (r == 0)
        return 0;
    log->mode = ACCESS_LOG_OFF;
    free(log->entries);
    cond_done(&log->changed);
    mutex_done(&log->lock);
    return -r;
}

void access_log_stop(struct access_log *log)
{
    mutex_lock(&log->lock);
    log->is_stopping = true;
    cond_signal(&log->changed);
    mutex_unlock(&log->lock);
    (void)pthread_join(log->thread, NULL);
    assert(!log->count);
    free(log->entries);
    cond_done(&log->changed);
    mutex_done(&log->lock);
}
