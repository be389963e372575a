/*
 * Life of the HTTP server and libmicrohttpd's callbacks. Only this file knows the order in which the library
 * calls; everything a request goes through is in request.c.
 */
#include "api/api.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/api_private.h"
#include "api/checks.h"
#include "api/conditional.h"
#include "api/openapi.h"
#include "api/request.h"
#include "api/respond.h"
#include "base/log.h"
#include "base/mem.h"

enum {
    /* Holds the largest header section (HT-13) and the answer's; the library clears it after each request. */
    CONNECTION_MEMORY = 32 * 1024,
    DEFAULT_CONNECTIONS = 8192,
    UNREAD_MOMENTS = 60,
    LINGER_MOMENTS = 250, /* half a second */
};

struct api_limits api_limits_default(void)
{
    return (struct api_limits){
        .header_us = 10 * US_PER_S,
        .body_us = 30 * US_PER_S,
        .idle_us = 60 * US_PER_S,
        .send_us = 120 * US_PER_S,
        .reap_us = 500 * US_PER_MS,
        .command_us = 30 * US_PER_S,
        .overdue_us = 2 * US_PER_S,
        .wait_max_s = 55,
        .waiters = 2000,
        .waiters_per_token = 200,
        .streams = 4096,
        .streams_per_token = 1024,
        .stream_lifetime_us = 15 * 60 * US_PER_S,
        .heartbeat_us = 15 * US_PER_S,
        .stream_backlog = 10000,
        .requests_per_minute = 60000,
        .auth_failures_per_minute = 600,
        .fresh_reads_per_minute = 120,
    };
}

/* libmicrohttpd's own complaints (MH-8): mostly malformed requests, so not worth more than debug. */
static void on_log(void *cls, const char *format, va_list args) ATTR_PRINTF(2, 0);
static void on_log(void *cls, const char *format, va_list args)
{
    char text[256];
    (void)cls;
    (void)vsnprintf(text, sizeof(text), format, args);
    text[strcspn(text, "\r\n")] = '\0';
    log_debug("libmicrohttpd", "text", text);
}

/* Paths and queries are decoded by us, segment by segment (api/match.h). */
static size_t keep_escapes(void *cls, struct MHD_Connection *mhd, char *text)
{
    (void)cls;
    (void)mhd;
    return strlen(text);
}

static struct connection *peer_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void *on_request_line(void *cls, const char *target, struct MHD_Connection *mhd)
{
    struct connection *peer = peer_of(mhd);
    (void)cls;
    headers_refuse_cookies(mhd);
    if (peer) {
        peer->target_len = strlen(target);
        (void)connection_enter(peer, PHASE_CONN_HEADER);
        struct problem *problem = params_refuse_target(target);
        if (problem)
            connection_refuse(peer, problem);
    }
    return NULL; /* the request is made at the first handler call: only then it is sure to be completed */
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct api *api = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        struct connection *peer = connection_open(&api->reaper, mhd);
        peer->is_proxy = trust_has(&api->trust, peer);
        *context = peer;
        acceptor_seen(&api->acceptor);
        return;
    }
    if (*context)
        connection_close(TAKE_PTR(*context));
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    acceptor_closed(&api->acceptor, info ? info->client_addr : NULL);
}

/* First call: the header section is complete. */
static enum MHD_Result on_headers(struct api *api, struct MHD_Connection *mhd, const char *target,
                                  const char *method, const char *version, void **context)
{
    struct request *r = request_new(api, mhd, peer_of(mhd), method, version);
    *context = r;
    atomic_fetch_add(&api->in_flight, 1);
    if (r->peer && !connection_enter(r->peer, PHASE_CONN_BODY))
        return MHD_NO;
    bool go_on = request_check(r, target);
    r->stage = STAGE_BODY;
    if (go_on || (!r->has_body && !r->must_close))
        return MHD_YES; /* an answer at this point would end the connection (MH-2) */
    r->must_close = true;
    return respond_send(r);
}

/* Last call: all bytes are here, or the request was resumed. */
static enum MHD_Result on_complete(struct request *r)
{
    if (r->stage == STAGE_BODY && !r->answer.status) {
        if (r->peer && !connection_enter(r->peer, PHASE_CONN_WORK))
            return MHD_NO;
        request_handle(r);
        if (r->stage == STAGE_PARKED)
            return MHD_YES; /* `r` may already be on its way back, but only this thread brings it */
    } else if (r->stage == STAGE_PARKED) {
        request_resumed(r);
    }
    return respond_send(r);
}

static enum MHD_Result on_access(void *cls, struct MHD_Connection *mhd, const char *target,
                                 const char *method, const char *version, const char *upload,
                                 size_t *upload_size, void **context)
{
    struct request *r = *context;
    if (!r)
        return on_headers(cls, mhd, target, method, version, context);
    if (*upload_size) {
        bool ok = body_append(r, upload, *upload_size);
        *upload_size = 0;
        return ok ? MHD_YES : MHD_NO;
    }
    return r->stage == STAGE_ANSWERED ? MHD_YES : on_complete(r);
}

static const char *outcome_name(enum MHD_RequestTerminationCode code)
{
    switch (code) {
    case MHD_REQUEST_TERMINATED_COMPLETED_OK:
        return NULL;
    case MHD_REQUEST_TERMINATED_WITH_ERROR:
        return "error";
    case MHD_REQUEST_TERMINATED_TIMEOUT_REACHED:
        return "timeout";
    case MHD_REQUEST_TERMINATED_DAEMON_SHUTDOWN:
        return "shutdown";
    case MHD_REQUEST_TERMINATED_READ_ERROR:
    case MHD_REQUEST_TERMINATED_CLIENT_ABORT:
        return "client_abort";
    }
    return "unknown";
}

static void land(struct api *api)
{
    if (atomic_fetch_sub(&api->in_flight, 1) != 1 || !atomic_load(&api->draining))
        return;
    (void)pthread_mutex_lock(&api->flight_lock);
    (void)pthread_cond_broadcast(&api->landed);
    (void)pthread_mutex_unlock(&api->flight_lock);
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **context,
                         enum MHD_RequestTerminationCode code)
{
    struct api *api = cls;
    (void)mhd;
    struct request *r = TAKE_PTR(*context);
    if (!r)
        return;
    int64_t duration = env_mono(api->options.env) - r->started;
    const char *outcome = r->stream ? stream_end_name(streams_completed(r)) : outcome_name(code);
    metrics_count(&api->metrics, r, duration);
    access_log_write(r, duration, outcome);
    if (r->peer && r->must_close && !r->stream && code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        connection_linger(r->peer);
    if (r->peer)
        (void)connection_enter(r->peer, PHASE_CONN_IDLE);
    request_abandon(r);
    request_free(r);
    land(api);
}

static unsigned connection_limit(const struct api *api)
{
    int configured = api->options.config->limits.connections;
    return (unsigned)(configured > 0 ? configured : DEFAULT_CONNECTIONS);
}

/* The limit of connections is the acceptor's; the library's, which it divides by the workers, is never met.
 */
static bool start_daemon(struct api *api)
{
    int threads = api->options.config->limits.http_threads;
    unsigned connections = connection_limit(api) * (unsigned)(threads > 1 ? threads : 1) + 1;
    struct MHD_OptionItem pool[] = {
        {threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    api->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG |
            MHD_USE_NO_LISTEN_SOCKET,
        0, NULL, NULL, on_access, api, MHD_OPTION_EXTERNAL_LOGGER, on_log, api,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_LIMIT,
        connections, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, on_request_line, api, MHD_OPTION_NOTIFY_COMPLETED, on_completed, api,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, api, MHD_OPTION_ARRAY, pool, MHD_OPTION_END);
    return api->daemon != NULL;
}

static void api_free(struct api *api)
{
    metrics_done(&api->metrics);
    trust_done(&api->trust);
    quota_done(&api->requests);
    quota_done(&api->auth_failures);
    quota_done(&api->fresh_reads);
    for (size_t i = 0; i < ARRAY_LEN(api->openapi_coded); i++)
        free(atomic_load(&api->openapi_coded[i]));
    lot_done(&api->lot);
    tickets_done(&api->tickets);
    (void)pthread_cond_destroy(&api->landed);
    (void)pthread_mutex_destroy(&api->flight_lock);
    free(api);
}

static struct api *api_new(const struct api_options *options)
{
    struct api *api = MEM_NEW(struct api);
    api->options = *options;
    api->limits = options->limits ? *options->limits : api_limits_default();
    etag_of_bytes(openapi_yaml, openapi_yaml_len, api->openapi_etag);
    if (options->cursor_secret)
        memcpy(api->cursor_secret, options->cursor_secret, sizeof(api->cursor_secret));
    else
        options->env->random(options->env, api->cursor_secret, sizeof(api->cursor_secret));
    options->env->random(options->env, api->print_key, sizeof(api->print_key));
    lot_init(&api->lot);
    tickets_init(&api->tickets);
    metrics_init(&api->metrics);
    trust_init(&api->trust, options->config->trusted_proxies);
    quota_init(&api->requests, "requests", api->limits.requests_per_minute);
    quota_init(&api->auth_failures, "auth_failures", api->limits.auth_failures_per_minute);
    quota_init(&api->fresh_reads, "fresh_reads", api->limits.fresh_reads_per_minute);
    (void)pthread_mutex_init(&api->flight_lock, NULL);
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&api->landed, &attr);
    (void)pthread_condattr_destroy(&attr);
    return api;
}

static bool start_server(struct api *api, char **ret_error)
{
    errno = 0;
    if (!start_daemon(api)) {
        *ret_error = mem_printf("cannot start the HTTP server: %s", errno ? strerror(errno) : "see the log");
        return false;
    }
    const struct acceptor_options accept = {
        .env = api->options.env,
        .daemon = api->daemon,
        .listen_fd = api->options.listen_fd,
        .limit = connection_limit(api),
        .per_address = (unsigned)api->options.config->limits.connections_per_address,
        .trust = &api->trust,
    };
    int r = acceptor_start(&api->acceptor, &accept);
    if (r < 0) {
        *ret_error = mem_printf("cannot start a thread: %s", strerror(-r));
        MHD_stop_daemon(api->daemon);
    }
    return r == 0;
}

static void expire_parked(void *ctx, mono_us now)
{
    struct api *api = ctx;
    lot_expire(&api->lot, now);
}

struct api *api_start(const struct api_options *options, char **ret_error)
{
    struct api *api = api_new(options);
    api->reaper.tick = expire_parked;
    api->reaper.tick_ctx = api;
    int r = reaper_start(&api->reaper, options->env, &api->limits);
    if (r < 0) {
        *ret_error = mem_printf("cannot start a thread: %s", strerror(-r));
        api_free(api);
        return NULL;
    }
    r = streams_start(&api->streams, api);
    if (r < 0)
        abort(); /* the thread before it could be made */
    if (!start_server(api, ret_error)) {
        streams_stop(&api->streams);
        reaper_stop(&api->reaper);
        api_free(api);
        return NULL;
    }
    return api;
}

void api_quiesce(struct api *api)
{
    acceptor_stop(&api->acceptor);
}

void api_begin_drain(struct api *api)
{
    atomic_store(&api->draining, true);
    streams_end_all(&api->streams);
}

/* Connections that were accepted right before the quiesce get their request read, as long as that takes a
 * moment. */
static void wait_for_unread(struct api *api)
{
    static const struct timespec moment = {.tv_nsec = 5000000};
    for (int i = 0; i < UNREAD_MOMENTS && (acceptor_unseen(&api->acceptor) || reaper_unread(&api->reaper));
         i++)
        (void)nanosleep(&moment, NULL);
}

bool api_drained(struct api *api, int timeout_ms)
{
    wait_for_unread(api);
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t at = until.tv_sec * US_PER_S + until.tv_nsec / 1000 + timeout_ms * US_PER_MS;
    until = (struct timespec){.tv_sec = at / US_PER_S, .tv_nsec = at % US_PER_S * 1000};
    (void)pthread_mutex_lock(&api->flight_lock);
    int r = 0;
    while (atomic_load(&api->in_flight) && r == 0)
        r = pthread_cond_timedwait(&api->landed, &api->flight_lock, &until);
    bool drained = atomic_load(&api->in_flight) == 0;
    (void)pthread_mutex_unlock(&api->flight_lock);
    return drained;
}

unsigned api_parked(const struct api *api)
{
    return atomic_load(&api->lot.count);
}

void api_stop(struct api *api)
{
    static const struct timespec moment = {.tv_nsec = 2000000};
    atomic_store(&api->draining, true);
    atomic_store(&api->stopping, true);
    api_quiesce(api);
    /* A resume takes effect later, on the worker; a request that is just about to park is counted already
     * (MH-13). */
    while (api_parked(api) || streams_suspended(&api->streams)) {
        lot_evict(&api->lot);
        streams_end_all(&api->streams);
        (void)nanosleep(&moment, NULL);
    }
    MHD_stop_daemon(api->daemon);
    for (int i = 0; i < LINGER_MOMENTS && reaper_lingering(&api->reaper); i++)
        (void)nanosleep(&moment, NULL);
    acceptor_done(&api->acceptor);
    streams_stop(&api->streams);
    reaper_stop(&api->reaper);
    api_free(api);
}
