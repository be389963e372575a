/*
 * Start and stop of the HTTP server, and libmicrohttpd's callbacks. Only this file depends on the order of
 * the library's calls; the stages of a request are in http/server_request.c.
 */
#include "http/http.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/env.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "http/http_private.h"
#include "http/message/target.h"

enum {
    /* The memory of a connection, which is large enough for the largest header section of a request (HT-13)
     * and for the header section of the answer. The library clears the memory after each request. */
    CONNECTION_MEMORY = 32 * 1024,
    UNREAD_MOMENTS = 60,
    LINGER_MOMENTS = 250, /* http_stop waits for at most this many moments, half a second */
};

struct connection_limits http_limits_default(void)
{
    return (struct connection_limits){
        .header_us = 10 * US_PER_S,
        .body_us = 30 * US_PER_S,
        .idle_us = 60 * US_PER_S,
        .send_us = 120 * US_PER_S,
        .reap_us = 500 * US_PER_MS,
    };
}

/* libmicrohttpd's own messages (MH-8). Most of these messages are about malformed requests, so the level is
 * debug. */
static void on_log(void *cls, const char *format, va_list args) ATTR_PRINTF(2, 0);
static void on_log(void *cls ATTR_UNUSED, const char *format, va_list args)
{
    char text[256];
    (void)vsnprintf(text, sizeof(text), format, args);
    text[strcspn(text, "\r\n")] = '\0';
    log_debug("libmicrohttpd", "text", text);
}

/* shootd decodes paths and queries itself, segment by segment (http/message/target.h). */
static size_t keep_escapes(void *cls ATTR_UNUSED, struct MHD_Connection *mhd ATTR_UNUSED, char *text)
{
    return strlen(text);
}

static struct connection *peer_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void *on_request_line(void *cls ATTR_UNUSED, const char *target, struct MHD_Connection *mhd)
{
    struct connection *peer = peer_of(mhd);
    headers_refuse_cookies(mhd);
    if (peer) {
        peer->target_len = strlen(target);
        (void)connection_enter(peer, PHASE_CONN_HEADER, env_mono(peer->reaper->env));
        struct problem *problem = query_refuse_target(target);
        if (problem)
            connection_refuse(peer, problem);
    }
    /* The struct server_request is made at the first handler call: only from then on does the library
     * guarantee a call of the completion callback. */
    return NULL;
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http *http = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        struct connection *peer = connection_open(&http->reaper, mhd);
        peer->is_proxy = trust_has(&http->trust, peer->address);
        if (peer->tls)
            handshakes_add(&http->handshakes, peer);
        *context = peer;
        acceptor_seen(&http->acceptor);
        return;
    }
    struct connection *peer = TAKE_PTR(*context);
    bool gave_place = false;
    if (peer) {
        response_cache_free(peer->response_cache);
        if (peer->tls)
            handshakes_remove(peer);
        gave_place = connection_close(peer);
    }
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    acceptor_closed(&http->acceptor, info ? info->client_addr : NULL, gave_place);
}

/* Called at the end of each library call before the body. `go_on`: no check has set the answer. */
static enum MHD_Result end_checks(struct server_request *r, bool go_on)
{
    /* Another thread may already have resumed `r`, but only this thread continues it. The library calls the
     * handler again before it reads the body or sends 100 (Continue). */
    if (r->stage == STAGE_CHECK_SUSPENDED) {
        if (r->peer)
            (void)connection_enter(r->peer, PHASE_CONN_WORK, r->started);
        return MHD_YES;
    }
    r->stage = STAGE_BODY;
    /* an answer in this call would end the connection (MH-2) */
    if (go_on || (!r->has_body && !r->must_close))
        return MHD_YES;
    r->must_close = true;
    return server_request_send(r);
}

/* The first call for a request: the header section is complete. */
static enum MHD_Result on_headers(struct http *http, struct MHD_Connection *mhd, const char *target,
                                  const char *method, const char *version, void **context)
{
    struct server_request *r = server_request_new(http, mhd, peer_of(mhd), method, version);
    *context = r;
    atomic_fetch_add(&http->in_flight, 1);
    if (r->peer && !connection_enter(r->peer, PHASE_CONN_BODY, r->started))
        return MHD_NO;
    return end_checks(r, server_request_check(r, target));
}

/* Continues the first call, in which the request was suspended. The time limit of the body begins now. */
static enum MHD_Result on_check_resumed(struct server_request *r)
{
    if (r->peer && !connection_enter(r->peer, PHASE_CONN_BODY, env_mono(r->server->options.env)))
        return MHD_NO;
    return end_checks(r, server_request_resume_check(r));
}

/* Handles the library's last call for a request: all bytes were received, or the request was resumed. */
static enum MHD_Result on_complete(struct server_request *r)
{
    if (r->stage == STAGE_SUSPENDED) {
        server_request_resume(r);
    } else if (!r->answer.status) {
        r->took_time = r->took_time || r->has_body;
        if (r->peer && !connection_enter(r->peer, PHASE_CONN_WORK, r->started))
            return MHD_NO;
        server_request_handle(r);
    }
    /* another thread may already have resumed `r`, as in end_checks */
    return r->stage == STAGE_SUSPENDED ? MHD_YES : server_request_send(r);
}

static enum MHD_Result take_call(struct http *http, struct MHD_Connection *mhd, const char *target,
                                 const char *method, const char *version, const char *upload,
                                 size_t *upload_size, void **context)
{
    struct server_request *r = *context;
    if (!r)
        return on_headers(http, mhd, target, method, version, context);
    if (r->stage == STAGE_CHECK_SUSPENDED)
        return on_check_resumed(r);
    if (*upload_size) {
        bool ok = server_request_append(r, upload, *upload_size);
        *upload_size = 0;
        return ok ? MHD_YES : MHD_NO;
    }
    return r->stage == STAGE_ANSWERED ? MHD_YES : on_complete(r);
}

static void enter(struct http *http)
{
    if (http->options.application->enter)
        http->options.application->enter(http->options.ctx);
}

static void leave(struct http *http)
{
    if (http->options.application->leave)
        http->options.application->leave(http->options.ctx);
}

static enum MHD_Result on_access(void *cls, struct MHD_Connection *mhd, const char *target,
                                 const char *method, const char *version, const char *upload,
                                 size_t *upload_size, void **context)
{
    enter(cls);
    enum MHD_Result result = take_call(cls, mhd, target, method, version, upload, upload_size, context);
    leave(cls);
    return result;
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

static void land(struct http *http)
{
    unsigned before = atomic_fetch_sub(&http->in_flight, 1);
    assert(before > 0);
    if (before != 1 || !atomic_load(&http->draining))
        return;
    mutex_lock(&http->flight_lock);
    cond_broadcast(&http->landed);
    mutex_unlock(&http->flight_lock);
}

static void on_completed(void *cls, struct MHD_Connection *mhd ATTR_UNUSED, void **context,
                         enum MHD_RequestTerminationCode code)
{
    struct http *http = cls;
    struct server_request *r = TAKE_PTR(*context);
    if (!r)
        return;
    bool is_stream = r->stream != NULL;
    if (r->suspension) /* the client of `r` has left, so the library does not call the handler again */
        suspension_drop(r);
    const mono_us now = env_mono(http->options.env);
    enter(http);
    http->options.application->done(r, now - r->started, outcome_name(code));
    leave(http);
    if (r->peer && r->must_close && !is_stream && code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
        connection_close_lingering(r->peer);
    if (r->peer)
        (void)connection_enter(r->peer, PHASE_CONN_IDLE, now);
    server_request_free(r);
    land(http);
}

/* The acceptor limits the connections. The library's limit, which it divides among the workers, is never
 * reached. */
static bool start_daemon(struct http *http)
{
    int threads = http->options.threads;
    unsigned connections = http->options.connections * (unsigned)(threads > 1 ? threads : 1) + 1;
    const char *authorities = http->options.tls ? tls_client_authorities(http->options.tls) : NULL;
    struct MHD_OptionItem pool[] = {
        {threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem tls[] = {
        {http->options.tls ? MHD_OPTION_HTTPS_PRIORITIES : MHD_OPTION_END, 0, (char[]){TLS_PRIORITIES}},
        {MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, (void *)(uintptr_t)tls_choose},
        {authorities ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0, (void *)(uintptr_t)authorities},
        {MHD_OPTION_END, 0, NULL},
    };
    if (http->options.tls)
        tls_serve(http->options.tls);
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG |
            MHD_USE_NO_LISTEN_SOCKET | (http->options.tls ? MHD_USE_TLS : 0),
        0, NULL, NULL, on_access, http, MHD_OPTION_EXTERNAL_LOGGER, on_log, http,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_LIMIT,
        connections, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, on_request_line, http, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_ARRAY, tls, MHD_OPTION_ARRAY, pool,
        MHD_OPTION_END);
    return http->daemon != NULL;
}

static void http_free(struct http *http)
{
    if (http->options.tls)
        tls_serve(NULL);
    trust_done(&http->trust);
    suspensions_done(&http->suspensions);
    cond_done(&http->landed);
    mutex_done(&http->flight_lock);
    free(http);
}

static struct http *http_new(const struct http_options *options)
{
    struct http *http = MEM_NEW(struct http);
    http->options = *options;
    suspensions_init(&http->suspensions);
    trust_init(&http->trust, options->trusted_proxies);
    mutex_init(&http->flight_lock);
    cond_init(&http->landed);
    return http;
}

static bool start_server(struct http *http, char **ret_error)
{
    errno = 0;
    if (!start_daemon(http)) {
        *ret_error = mem_printf("cannot start the HTTP server: %s", errno ? strerror(errno) : "see the log");
        return false;
    }
    const struct acceptor_options accept = {
        .env = http->options.env,
        .daemon = http->daemon,
        .listen_fd = http->options.listen_fd,
        .limit = http->options.connections,
        .per_address = http->options.connections_per_address,
        .trust = &http->trust,
        .has_tls = http->options.tls != NULL,
        .reaper = &http->reaper,
    };
    int r = acceptor_start(&http->acceptor, &accept);
    if (r < 0) {
        *ret_error = mem_printf("cannot start a thread: %s", strerror(-r));
        MHD_stop_daemon(http->daemon);
    }
    return r == 0;
}

static int start_watchers(struct http *http)
{
    http->reaper.tick = suspensions_expire;
    http->reaper.tick_ctx = &http->suspensions;
    int r = reaper_start(&http->reaper, http->options.env, &http->options.limits);
    if (r < 0 || !http->options.tls)
        return r;
    r = handshakes_start(&http->handshakes);
    if (r < 0)
        reaper_stop(&http->reaper);
    return r;
}

static void stop_watchers(struct http *http)
{
    if (http->options.tls)
        handshakes_done(&http->handshakes);
    reaper_stop(&http->reaper);
}

struct http *http_start(const struct http_options *options, char **ret_error)
{
    struct http *http = http_new(options);
    int r = start_watchers(http);
    if (r < 0) {
        *ret_error = mem_printf("cannot start a thread: %s", strerror(-r));
        http_free(http);
        return NULL;
    }
    if (start_server(http, ret_error))
        return http;
    if (options->tls)
        handshakes_stop(&http->handshakes);
    stop_watchers(http);
    http_free(http);
    return NULL;
}

void http_quiesce(struct http *http)
{
    acceptor_stop(&http->acceptor);
}

void http_begin_drain(struct http *http)
{
    atomic_store(&http->draining, true);
}

bool http_drained(struct http *http, int timeout_ms)
{
    /* Connections that were accepted shortly before this call may have sent a request. Therefore requests
     * are still read for a short time. */
    static const struct timespec moment = {.tv_nsec = 5000000};
    for (int i = 0; i < UNREAD_MOMENTS && (acceptor_unseen(&http->acceptor) || reaper_unread(&http->reaper));
         i++)
        (void)nanosleep(&moment, NULL);
    const struct timespec until = cond_until(timeout_ms * US_PER_MS);
    mutex_lock(&http->flight_lock);
    int r = 0;
    while (atomic_load(&http->in_flight) && r == 0)
        r = pthread_cond_timedwait(&http->landed, &http->flight_lock, &until);
    bool drained = atomic_load(&http->in_flight) == 0;
    mutex_unlock(&http->flight_lock);
    return drained;
}

struct http_numbers http_numbers(const struct http *http)
{
    return (struct http_numbers){
        .in_flight = atomic_load(&http->in_flight),
        .suspended = atomic_load(&http->suspensions.owned),
        .connections_reaped = atomic_load(&http->reaper.reaped),
        .connections_refused = atomic_load(&http->acceptor.peers.refused),
    };
}

void http_stop(struct http *http)
{
    static const struct timespec moment = {.tv_nsec = 2000000};
    atomic_store(&http->draining, true);
    atomic_store(&http->stopping, true);
    http_quiesce(http);
    if (http->options.tls)
        handshakes_stop(&http->handshakes);
    /* A resume has its effect later, on the worker. A request is counted shortly before it is suspended
     * (MH-13). */
    while (atomic_load(&http->suspensions.count) || atomic_load(&http->suspended_streams)) {
        suspensions_expire(&http->suspensions, INT64_MAX);
        http->options.application->end_streams(http->options.ctx);
        (void)nanosleep(&moment, NULL);
    }
    MHD_stop_daemon(http->daemon);
    assert(!atomic_load(&http->in_flight));
    for (int i = 0; i < LINGER_MOMENTS && reaper_lingering(&http->reaper); i++)
        (void)nanosleep(&moment, NULL);
    acceptor_done(&http->acceptor);
    stop_watchers(http);
    http_free(http);
}
