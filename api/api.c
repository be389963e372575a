/* The API server: its limits, the state that its files share, its start and stop. */
#include "api/api.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/request.h"
#include "api/routes.h"
#include "base/mem.h"
#include "base/thread.h"

enum { DEFAULT_CONNECTIONS = 8192 };

struct api_limits api_limits_default(void)
{
    return (struct api_limits){
        .connection = http_limits_default(),
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

void api_limits_take(struct api_limits *limits, const struct config *config)
{
    limits->streams = (unsigned)config->limits.streams;
    limits->streams_per_token = (unsigned)config->limits.streams_per_token;
    limits->stream_lifetime_us = config->limits.stream_lifetime_us;
    limits->requests_per_minute = config->limits.requests_per_minute;
    limits->fresh_reads_per_minute = config->limits.fresh_reads_per_minute;
    limits->auth_failures_per_minute = config->limits.auth_failures_per_minute;
    limits->heartbeat_us = config->limits.heartbeat_us;
}

static void api_free(struct api *api)
{
    metrics_done(&api->metrics);
    rate_limit_done(&api->requests);
    rate_limit_done(&api->auth_failures);
    rate_limit_done(&api->fresh_reads);
    for (size_t i = 0; i < ARRAY_LEN(api->openapi_coded); i++)
        free(atomic_load(&api->openapi_coded[i]));
    tickets_done(&api->tickets);
    jwt_cache_done(&api->jwts);
    free(api);
}

/* There is at most one thread per processor, because more threads would only take time from each other. */
static int http_threads(const struct config *config)
{
    const int wanted = config->limits.http_threads, processors = thread_processors();
    return wanted < processors ? wanted : processors;
}

static void set_live_limits(struct api *api, const struct api_limits *limits)
{
    atomic_store(&api->live.streams, limits->streams);
    atomic_store(&api->live.streams_per_token, limits->streams_per_token);
    atomic_store(&api->live.stream_lifetime_us, limits->stream_lifetime_us);
    atomic_store(&api->live.heartbeat_us, limits->heartbeat_us);
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
    api->http_threads = http_threads(api_config(api));
    set_live_limits(api, &api->limits);
    tickets_init(&api->tickets);
    jwt_cache_init(&api->jwts);
    metrics_init(&api->metrics);
    rate_limit_init(&api->requests, "requests", api->limits.requests_per_minute);
    rate_limit_init(&api->auth_failures, "auth_failures", api->limits.auth_failures_per_minute);
    rate_limit_init(&api->fresh_reads, "fresh_reads", api->limits.fresh_reads_per_minute);
    return api;
}

static struct http *start_http(struct api *api, char **ret_error)
{
    const struct config *config = api_config(api);
    const int connections = config->limits.connections;
    const struct http_options options = {
        .env = api->options.env,
        .listen_fd = api->options.listen_fd,
        .tls = api->options.tls,
        .threads = api->http_threads,
        .connections = (unsigned)(connections > 0 ? connections : DEFAULT_CONNECTIONS),
        .connections_per_address = (unsigned)config->limits.connections_per_address,
        .limits = api->limits.connection,
        .trusted_proxies = config->trusted_proxies,
        .application = &api_application,
        .ctx = api,
    };
    /* NOLINTNEXTLINE(misc-redundant-expression): the words of two folders */
    static_assert(sizeof(CONFIG_LOCAL_PROXY) == sizeof(CLIENT_LOCAL), "one word for peers on this machine");
    assert(!strcmp(CONFIG_LOCAL_PROXY, CLIENT_LOCAL));
    return http_start(&options, ret_error);
}

static bool start_threads(struct api *api, char **ret_error)
{
    int r = access_log_start(&api->access_log, api_config(api)->access_log);
    if (r == 0 && (r = streams_start(&api->streams, api)) < 0)
        access_log_stop(&api->access_log);
    if (r == 0 && (r = verifier_start(&api->verifier, api->options.env)) < 0) {
        streams_stop(&api->streams);
        access_log_stop(&api->access_log);
    }
    if (r < 0)
        *ret_error = mem_printf("cannot start a thread: %s", strerror(-r));
    return r == 0;
}

static void stop_threads(struct api *api)
{
    verifier_stop(&api->verifier);
    streams_stop(&api->streams);
    access_log_stop(&api->access_log);
}

struct api *api_start(const struct api_options *options, char **ret_error)
{
    assert(options->config && options->view && options->feed && options->env && options->post);
    routes_prepare();
    struct api *api = api_new(options);
    if (start_threads(api, ret_error)) {
        api->http = start_http(api, ret_error);
        if (api->http)
            return api;
        stop_threads(api);
    }
    api_free(api);
    return NULL;
}

void api_configure(struct api *api, const struct config *config)
{
    struct api_limits limits = api->limits;
    api_limits_take(&limits, config);
    set_live_limits(api, &limits);
    rate_limit_set(&api->requests, limits.requests_per_minute);
    rate_limit_set(&api->auth_failures, limits.auth_failures_per_minute);
    rate_limit_set(&api->fresh_reads, limits.fresh_reads_per_minute);
    access_log_set(&api->access_log, config->access_log);
}

void api_in_force(struct api *api, const struct config *config)
{
    atomic_store(&api->clients_generation, config->tls.clients_generation);
}

void api_quiesce(struct api *api)
{
    http_quiesce(api->http);
}

void api_begin_drain(struct api *api)
{
    http_begin_drain(api->http);
    streams_end_all(&api->streams);
}

bool api_drained(struct api *api, int timeout_ms)
{
    return http_drained(api->http, timeout_ms);
}

unsigned api_parked(const struct api *api)
{
    return http_numbers(api->http).suspended;
}

void api_stop(struct api *api)
{
    assert(api->http);
    atomic_store(&api->stopping, true);
    http_stop(api->http);
    stop_threads(api);
    api_free(api);
}
