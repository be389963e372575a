#include "daemon/daemon.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "api/api.h"
#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/private_file.h"
#include "base/thread.h"
#include "base/version.h"
#include "daemon/admin_token.h"
#include "daemon/daemon_private.h"
#include "reconcile/reconcile.h"
#include "webhook/webhook.h"

enum { UPSTREAM_CONNECTIONS = 16, STUCK_S = 15, READER_JOBS = 64, READER_BYTES = 128 * 1024 * 1024 };

struct daemon {
    const struct config *config;
    const struct env *env;
    char start_id[UUID_STR_LEN];
    int state_dir; /* descriptor */
    struct listener listener;
    struct seal_key key;
    struct view *view;
    struct feed *feed;
    struct loop *loop;
    struct transport *upstream;
    struct transport *webhooks;
    struct worker *reader; /* of what Cleura sends */
    struct storage *storage;
    struct reconcile *reconcile;
    struct api *api;
    pthread_t loop_thread;
    struct admin_token_box admin_token;
    bool loop_runs;
    bool curl_is_up;
    /* liveness: read by HTTP threads too */
    _Atomic uint64_t seen_heartbeat;
    _Atomic mono_us seen_at;
};

/* ---- small steps of the start ---- */

static bool init_libraries(struct daemon *d)
{
    json_object_seed(0); /* before threads start, jansson's rule */
    if (sodium_init() < 0 || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        log_error("cryptography or HTTP library cannot be initialised");
        return false;
    }
    d->curl_is_up = true;
    return true;
}

static enum exit_code open_store(struct daemon *d)
{
    static const enum exit_code exits[] = {
        [STORE_OK] = EXIT_OK,
        [STORE_NONE] = EXIT_DEPENDENCY,
        [STORE_CONFLICT] = EXIT_DEPENDENCY,
        [STORE_RETRY] = EXIT_DEPENDENCY,
        [STORE_UNCERTAIN] = EXIT_DEPENDENCY,
        [STORE_BROKEN] = EXIT_DEPENDENCY,
        [STORE_NEWER] = EXIT_CONFIG,
        [STORE_LOCKED] = EXIT_DEPENDENCY,
    };
    char host[64] = "";
    (void)gethostname(host, sizeof(host) - 1);
    char *path CLEANUP_FREE = mem_printf("%s/shootd.db", d->config->state_dir);
    char *holder CLEANUP_FREE = mem_printf("%.20s:%d", host, getpid());
    char *error CLEANUP_FREE = NULL;
    enum store_status status = storage_open(&store_sqlite, path, holder, d->env, &d->storage, &error);
    if (status != STORE_OK)
        log_error("database cannot be used", "path", path, "status", store_status_name(status), "error",
                  error);
    assert((size_t)status < ARRAY_LEN(exits) && (status == STORE_OK) == (d->storage != NULL));
    return exits[status];
}

static bool write_first_token(const struct daemon *d, const char *token)
{
    char *path CLEANUP_FREE = mem_printf("%s/admin-token", d->config->state_dir);
    char *line CLEANUP_SECRET = mem_printf("%s\n", token);
    int r = private_file_write(d->state_dir, "admin-token", line, strlen(line));
    if (r)
        log_error("first admin token cannot be written", "path", path, "error", strerror(-r));
    else
        log_info("first admin token written", "path", path);
    return !r;
}

static void make_transports(struct daemon *d)
{
    const struct worker_limits reading = {READER_JOBS, READER_BYTES};
    d->reader = worker_new(d->loop, "reader", &reading);
    const struct transport_options upstream = {.user_agent = "shootd",
                                               .max_connections = UPSTREAM_CONNECTIONS,
                                               .max_age_s = 30,
                                               .worker = d->reader};
    const struct transport_options webhooks = {.worker = d->reader,
                                               .user_agent = "shootd-webhooks",
                                               .https_only = !d->config->webhooks.allow_http,
                                               .max_connections = WEBHOOK_CONNECTIONS,
                                               .max_age_s = 10,
                                               .address_allowed = webhook_address_allowed,
                                               .address_ctx = (void *)(uintptr_t)d->config};
    d->upstream = transport_curl_new(d->loop, &upstream);
    d->webhooks = transport_curl_new(d->loop, &webhooks);
}

/* ---- seams between the HTTP side and the loop ---- */

struct posted_command {
    struct loop_task task;
    struct daemon *daemon;
    struct command *cmd;
};

static void run_command(struct loop_task *task)
{
    struct posted_command *posted = CONTAINER_OF(task, struct posted_command, task);
    struct daemon *d = posted->daemon;
    struct command *cmd = posted->cmd;
    free(posted);
    loop_assert_owner(d->loop);
    loop_doing(d->loop, cmd->action_name);
    reconcile_command(d->reconcile, cmd);
}

static void drop_command(struct loop_task *task)
{
    struct posted_command *posted = CONTAINER_OF(task, struct posted_command, task);
    command_drop(posted->cmd);
    free(posted);
}

static void post_command(void *ctx, struct command *cmd)
{
    struct daemon *d = ctx;
    struct posted_command *posted = MEM_NEW(struct posted_command);
    *posted = (struct posted_command){{.run = run_command, .drop = drop_command}, d, cmd};
    loop_post(d->loop, &posted->task);
}

static void write_metrics(void *ctx, struct buffer *out)
{
    struct daemon *d = ctx;
    struct storage_metrics m;
    storage_metrics(d->storage, &m);
    (void)buffer_printf(
        out,
        "# HELP shootd_store_commits_total Transactions committed.\n"
        "# TYPE shootd_store_commits_total counter\nshootd_store_commits_total %llu\n"
        "# HELP shootd_store_change_sets_total Change sets in those transactions.\n"
        "# TYPE shootd_store_change_sets_total counter\nshootd_store_change_sets_total %llu\n"
        "# HELP shootd_store_errors_total Failed transactions.\n"
        "# TYPE shootd_store_errors_total counter\nshootd_store_errors_total %llu\n"
        "# HELP shootd_store_commit_seconds_total Time spent in transactions.\n"
        "# TYPE shootd_store_commit_seconds_total counter\nshootd_store_commit_seconds_total %.6f\n"
        "# HELP shootd_store_queue_depth Change sets waiting to be committed.\n"
        "# TYPE shootd_store_queue_depth gauge\nshootd_store_queue_depth %llu\n",
        (unsigned long long)m.commits, (unsigned long long)m.change_sets, (unsigned long long)m.errors,
        (double)m.commit_us_total / 1e6, (unsigned long long)m.queue_depth);
    loop_metrics(d->loop, out);
    reconcile_metrics(out);
    webhook_metrics(out, env_wall(d->env));
}

static bool loop_makes_progress(struct daemon *d)
{
    uint64_t beat = loop_heartbeat(d->loop);
    mono_us now = env_mono(d->env);
    if (beat != atomic_load(&d->seen_heartbeat)) {
        atomic_store(&d->seen_heartbeat, beat);
        atomic_store(&d->seen_at, now);
        return true;
    }
    return now - atomic_load(&d->seen_at) < STUCK_S * US_PER_S;
}

static bool is_live(void *ctx, char *why, size_t size)
{
    struct daemon *d = ctx;
    if (loop_makes_progress(d))
        return true;
    (void)snprintf(why, size, "the loop is stuck");
    return false;
}

static void tell_remarks(void *ctx, char *text, size_t size)
{
    (void)ctx;
    reconcile_remarks(text, size);
}

static bool is_writable(void *ctx, char *why, size_t size)
{
    struct daemon *d = ctx;
    if (!storage_is_broken(d->storage))
        return true;
    (void)snprintf(why, size, "the store cannot be written");
    return false;
}

bool daemon_is_alive(struct daemon *d)
{
    /* A store that cannot be written is no reason to be killed: reads go on. */
    return loop_makes_progress(d);
}

/* ---- up ---- */

static void *run_loop(void *arg)
{
    struct daemon *d = arg;
    thread_in_background("loop");
    loop_run(d->loop);
    return NULL;
}

static bool start_reconcile(struct daemon *d)
{
    char *error CLEANUP_FREE = NULL;
    char *first_token CLEANUP_SECRET = NULL;
    const struct reconcile_options options = {.loop = d->loop,
                                              .upstream_transport = d->upstream,
                                              .webhook_transport = d->webhooks,
                                              .worker = d->reader,
                                              .storage = d->storage,
                                              .view = d->view,
                                              .feed = d->feed,
                                              .config = d->config,
                                              .key = &d->key};
    d->reconcile = reconcile_new(&options);
    struct store_visitor visitor = reconcile_visitor(d->reconcile);
    enum store_status status = storage_load(d->storage, &visitor, &error);
    if (status != STORE_OK) {
        log_error("database cannot be read", "status", store_status_name(status), "error", error);
        return false;
    }
    reconcile_start(d->reconcile, &first_token);
    return !first_token || write_first_token(d, first_token);
}

static bool start_api(struct daemon *d)
{
    char *error CLEANUP_FREE = NULL;
    uint8_t cursor_secret[SEAL_KEY_BYTES];
    assert(d->listener.fd >= 0 && d->loop_runs && d->reconcile);
    seal_derive(&d->key, "shootd cursors", cursor_secret);
    struct api_limits limits = api_limits_default();
    limits.streams = (unsigned)d->config->limits.streams;
    limits.streams_per_token = (unsigned)d->config->limits.streams_per_token;
    limits.stream_lifetime_us = d->config->limits.stream_lifetime_us;
    limits.requests_per_minute = d->config->limits.requests_per_minute;
    limits.fresh_reads_per_minute = d->config->limits.fresh_reads_per_minute;
    limits.auth_failures_per_minute = d->config->limits.auth_failures_per_minute;
    limits.heartbeat_us = d->config->limits.heartbeat_us;
    const struct api_options options = {.config = d->config,
                                        .cursor_secret = cursor_secret,
                                        .view = d->view,
                                        .feed = d->feed,
                                        .limits = &limits,
                                        .env = d->env,
                                        .listen_fd = d->listener.fd,
                                        .post = post_command,
                                        .post_ctx = d,
                                        .metrics = write_metrics,
                                        .metrics_ctx = d,
                                        .live = is_live,
                                        .writable = is_writable,
                                        .live_ctx = d,
                                        .version = shootd_version,
                                        .revision = shootd_revision,
                                        .store_id = storage_id(d->storage),
                                        .start_id = d->start_id,
                                        .remarks = tell_remarks};
    d->api = api_start(&options, &error);
    explicit_bzero(cursor_secret, sizeof(cursor_secret));
    if (!d->api)
        log_error("HTTP cannot be started", "error", error);
    return d->api != NULL;
}

static enum exit_code bring_up(struct daemon *d)
{
    char *error CLEANUP_FREE = NULL;
    d->state_dir = state_dir_open(d->config->state_dir, &error);
    if (d->state_dir < 0) {
        log_error("state directory cannot be used", "error", error);
        return EXIT_DEPENDENCY;
    }
    /* The port first: a second instance must change nothing. */
    if (!listener_open(d->config->listen, &d->listener, &error)) {
        log_error("not listening", "error", error);
        return EXIT_DEPENDENCY;
    }
    if (!init_libraries(d))
        return EXIT_RUNTIME;
    enum exit_code store = open_store(d);
    if (store != EXIT_OK)
        return store;
    if (seal_key_load(d->state_dir, d->env, &d->key, &error) < 0) {
        log_error("seal key cannot be used", "error", error);
        return EXIT_DEPENDENCY;
    }
    d->view = view_new();
    d->feed = feed_new(FEED_ENTRIES, FEED_BYTES);
    d->loop = loop_new(d->env);
    make_transports(d);
    if (!start_reconcile(d))
        return EXIT_DEPENDENCY;
    storage_start(d->storage);
    if (pthread_create(&d->loop_thread, NULL, run_loop, d) != 0)
        abort();
    d->loop_runs = true;
    return start_api(d) ? EXIT_OK : EXIT_RUNTIME;
}

/* Ready means that requests are answered, with the token of the first start too: that is being stored. */
static void wait_until_served(const struct daemon *d)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    const mono_us until = env_mono(d->env) + STUCK_S * US_PER_S;
    bool ready = false;
    while (!ready && env_mono(d->env) < until) {
        ready = view_enter(d->view)->ready;
        view_leave(d->view);
        if (!ready)
            (void)nanosleep(&moment, NULL);
    }
}

struct daemon *daemon_start(const struct config *config, enum exit_code *ret_exit)
{
    struct daemon *d = MEM_NEW(struct daemon);
    d->config = config;
    d->env = env_real();
    d->listener.fd = -1;
    d->state_dir = -1;
    uuid_t id; /* tells starts apart in logs and /version */
    uuid_generate_random(id);
    uuid_unparse_lower(id, d->start_id);
    atomic_init(&d->seen_heartbeat, 0);
    atomic_init(&d->seen_at, env_mono(d->env));
    *ret_exit = bring_up(d);
    if (*ret_exit != EXIT_OK) {
        daemon_stop(d);
        return NULL;
    }
    wait_until_served(d);
    d->admin_token = (struct admin_token_box){.state_dir = d->state_dir, .post = post_command, .post_ctx = d};
    log_info("shootd is ready", "version", shootd_version, "store_id", storage_id(d->storage), "start_id",
             d->start_id, "listen", d->listener.address, "accounts", LOG_INT(config->account_count),
             "projects", LOG_INT(config->project_count));
    return d;
}

void daemon_look(struct daemon *d)
{
    admin_token_look(&d->admin_token);
}

/* ---- down ---- */

struct stop_task {
    struct loop_task task;
    struct reconcile *reconcile;
};

static void run_stop(struct loop_task *task)
{
    struct stop_task *stop = CONTAINER_OF(task, struct stop_task, task);
    reconcile_stop(stop->reconcile);
    free(stop);
}

static void drop_stop(struct loop_task *task)
{
    free(CONTAINER_OF(task, struct stop_task, task));
}

static void stop_http(struct daemon *d)
{
    /* The drain first: the last connections that are accepted already hear Connection: close (MH-16). */
    api_begin_drain(d->api);
    api_quiesce(d->api);
    struct stop_task *stop = MEM_NEW(struct stop_task);
    *stop = (struct stop_task){{.run = run_stop, .drop = drop_stop}, d->reconcile};
    loop_post(d->loop, &stop->task);
    if (!api_drained(d->api, (int)(d->config->limits.drain_us / US_PER_MS)))
        log_warning("requests were cut at the drain limit", "waiting", LOG_INT(api_parked(d->api)));
    api_stop(d->api);
}

void daemon_stop(struct daemon *d)
{
    assert(!d->api || d->loop_runs);
    if (d->api)
        stop_http(d);
    if (d->loop_runs) {
        int64_t us, cpu_us;
        loop_stop(d->loop);
        (void)pthread_join(d->loop_thread, NULL);
        loop_longest_hold(d->loop, &us, &cpu_us);
        log_info("the loop has ended", "longest_hold_us", LOG_INT(us), "longest_hold_cpu_us",
                 LOG_INT(cpu_us));
    }
    storage_close(d->storage);
    reconcile_free(d->reconcile);
    if (d->reader)
        d->reader->free(d->reader);
    if (d->upstream)
        d->upstream->free(d->upstream);
    if (d->webhooks)
        d->webhooks->free(d->webhooks);
    loop_free(d->loop);
    view_free(d->view);
    feed_free(d->feed);
    listener_close(&d->listener);
    if (d->curl_is_up)
        curl_global_cleanup();
    if (d->state_dir >= 0)
        (void)close(d->state_dir);
    explicit_bzero(&d->key, sizeof(d->key));
    free(d);
}
