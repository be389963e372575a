#include "daemon/daemon.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <semaphore.h>
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
#include "base/metric.h"
#include "base/private_file.h"
#include "base/seal_key.h"
#include "base/span.h"
#include "base/thread.h"
#include "base/version.h"
#include "config/proxy.h"
#include "daemon/admin_token.h"
#include "daemon/daemon_private.h"
#include "http/connection/tls.h"
#include "daemon/reload.h"
#include "oidc/oidc.h"
#include "tracing/exporter.h"
#include "reconcile/reload.h"
#include "webhook/webhook.h"

enum {
    UPSTREAM_CONNECTIONS = 16,
    ISSUER_CONNECTIONS = 4,
    STUCK_S = 15,
    READER_JOBS = 64,
    READER_BYTES = 128 * 1024 * 1024,
    BACKUP_JOBS = 4,
    BACKUP_LISTS = 64
};

struct daemon {
    struct config_current *config;
    struct reloader reloader;
    const struct env *env;
    char start_id[UUID_STR_LEN];
    int state_dir; /* descriptor of the state directory */
    struct listener listener;
    struct tls *tls; /* NULL: plain HTTP */
    struct seal_key key;
    struct view *view;
    struct feed *feed;
    struct loop *loop;
    struct transport *upstream;
    struct transport *webhooks;
    struct transport *issuers;
    struct transport *collector; /* NULL: no traces are recorded */
    struct span_exporter *exporter;
    struct oidc *oidc;
    struct worker *reader;  /* processes Cleura's answers */
    struct worker *copyist; /* makes copies of the store */
    struct worker *lister;  /* lists backups, also while a backup is made */
    struct storage *storage;
    struct reconcile *reconcile;
    struct api *api;
    pthread_t loop_thread;
    struct admin_token_box admin_token;
    bool loop_runs;
    bool curl_is_up;
    /* for the liveness check; HTTP threads also read them */
    _Atomic uint64_t seen_heartbeat;
    _Atomic mono_us seen_at;
};

/* Returns the current configuration. Called on the loop thread, or before the loop runs. */
static const struct config *config_of(const struct daemon *d)
{
    return config_current_get(d->config);
}

/* ---- small steps of the start ---- */

static bool init_libraries(struct daemon *d)
{
    json_object_seed(0); /* jansson requires this call before threads start */
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
    char *path CLEANUP_FREE = mem_printf("%s/shootd.db", config_of(d)->state_dir);
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
    char *path CLEANUP_FREE = mem_printf("%s/admin-token", config_of(d)->state_dir);
    char *line CLEANUP_SECRET = mem_printf("%s\n", token);
    int r = private_file_write(d->state_dir, "admin-token", line, strlen(line));
    if (r)
        log_error("first admin token cannot be written", "path", path, "error", strerror(-r));
    else
        log_info("first admin token written", "path", path);
    return !r;
}

static bool webhook_may_reach(void *ctx, const char *host, const struct sockaddr *address)
{
    const struct daemon *d = ctx;
    return webhook_address_allowed((void *)(uintptr_t)config_of(d), host, address);
}

static void make_transports(struct daemon *d)
{
    const struct worker_limits reading = {READER_JOBS, READER_BYTES};
    const struct worker_limits copying = {BACKUP_JOBS, 0};
    const struct worker_limits listing = {BACKUP_LISTS, 0};
    d->reader = worker_new(d->loop, "reader", &reading);
    d->copyist = worker_new(d->loop, "store-backup", &copying);
    d->lister = worker_new(d->loop, "backup-list", &listing);
    const struct transport_options upstream = {.user_agent = "shootd",
                                               .max_connections = UPSTREAM_CONNECTIONS,
                                               .max_age_s = 30,
                                               .worker = d->reader};
    const struct transport_options webhooks = {.worker = d->reader,
                                               .user_agent = "shootd-webhooks",
                                               .https_only = !config_of(d)->webhooks.allow_http,
                                               .max_connections = WEBHOOK_CONNECTIONS,
                                               .max_age_s = 10,
                                               .address_allowed = webhook_may_reach,
                                               .address_ctx = d};
    /* Plain http is used only for issuers on loopback: config/check.c and oidc/issuer.c ensure that. */
    const struct transport_options issuers = {
        .worker = d->reader, .user_agent = "shootd", .max_connections = ISSUER_CONNECTIONS, .max_age_s = 10};
    d->upstream = transport_curl_new(d->loop, &upstream);
    d->webhooks = transport_curl_new(d->loop, &webhooks);
    d->issuers = transport_curl_new(d->loop, &issuers);
    d->oidc = oidc_new(d->loop, d->issuers, d->reader, d->state_dir, config_of(d));
}

static void start_tracing(struct daemon *d)
{
    const struct config *config = config_of(d);
    if (!config->tracing.endpoint)
        return;
    const struct transport_options collector = {
        .worker = d->reader, .user_agent = "shootd", .max_connections = 1, .max_age_s = 60};
    d->collector = transport_curl_new(d->loop, &collector);
    span_set_ratio(config->tracing.ratio);
    d->exporter = span_exporter_new(&(struct span_exporter_options){.loop = d->loop,
                                                                    .transport = d->collector,
                                                                    .endpoint = config->tracing.endpoint,
                                                                    .version = shootd_version,
                                                                    .instance = d->start_id});
}

/* ---- the seal key ---- */

/* A seal key is made after the store. When the key is older, the store was lost, moved or emptied. A key that
 * is a credential may be older than the first start. */
static void shout_about_a_lost_store(const struct daemon *d)
{
    struct seal_key key;
    if (storage_is_new(d->storage) && !seal_key_is_credential() &&
        seal_key_read(d->state_dir, &key) != -ENOENT)
        log_error(
            "there was no store beside seal.key, so a new one was made: all tokens, webhooks, specs and "
            "operations of the earlier store are missing. If the earlier store was not removed on "
            "purpose, stop shootd and restore a backup",
            "path", config_of(d)->state_dir);
    explicit_bzero(&key, sizeof(key));
}

static bool load_seal_key(struct daemon *d)
{
    char *error CLEANUP_FREE = NULL;
    int r = seal_key_settle(d->state_dir, storage_seal_key(d->storage));
    if (r < 0) {
        log_error("interrupted seal key rotation cannot be finished", "error", strerror(-r));
        return false;
    }
    if (r > 0)
        log_info("the interrupted rotation of the seal key is finished: the new key is in use");
    shout_about_a_lost_store(d);
    r = seal_key_load(d->state_dir, d->env, &d->key, &error);
    if (r < 0)
        log_error("seal key cannot be used", "error", error);
    return r == 0;
}

/* After a failure, the next start stores the id of the key. */
static void on_key_noted(struct change_set *set, enum store_status status ATTR_UNUSED)
{
    change_set_free(set);
}

/* Stores the id of the key. As long as secrets of webhooks are sealed with an older key, the store contains
 * the id of the older key. */
static void note_seal_key(const struct daemon *d)
{
    char id[SEAL_KEY_ID_BYTES];
    const char *stored = storage_seal_key(d->storage);
    const unsigned unreadable = reconcile_unreadable_webhooks(d->reconcile);
    seal_key_id(&d->key, id);
    if (!strcmp(id, stored))
        return;
    if (*stored)
        log_error("the seal key does not fit the store: accounts log in again, stored "
                  "answers of idempotency keys are lost, and webhooks need new secrets",
                  "webhooks", LOG_INT(unreadable));
    if (unreadable)
        return;
    struct change_set *set = change_set_new();
    set->on_done = on_key_noted;
    change_put_seal_key(set, id);
    storage_submit(d->storage, set);
}

/* ---- connections between the HTTP side and the loop ---- */

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
    metric_one(out, "shootd_store_commits_total", (double)m.commits);
    metric_one(out, "shootd_store_change_sets_total", (double)m.change_sets);
    metric_one(out, "shootd_store_errors_total", (double)m.errors);
    metric_one(out, "shootd_store_commit_seconds_total", (double)m.commit_us_total / (double)US_PER_S);
    metric_one(out, "shootd_store_queue_depth", (double)m.queue_depth);
    metric_one(out, "shootd_tls_certificate_end_timestamp_seconds",
               (double)(d->tls ? tls_ends_at(d->tls) / US_PER_S : 0));
    loop_metrics(d->loop, out);
    reconcile_metrics(out, env_mono(d->env));
    webhook_metrics(out, env_wall(d->env));
    oidc_metrics(d->oidc, out);
    span_metrics(out);
    span_exporter_metrics(out);
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
    (void)snprintf(why, size, "the loop makes no progress");
    return false;
}

static void report_remarks(void *ctx ATTR_UNUSED, char *text, size_t size)
{
    reconcile_remarks(text, size);
}

/* ---- reload of the configuration; the loop thread ---- */

static void apply_config(void *ctx, const struct config *config, void (*done)(void *ctx), void *done_ctx)
{
    struct daemon *d = ctx;
    log_set_level(config->log_level);
    transport_curl_set_https_only(d->webhooks, !config->webhooks.allow_http);
    api_configure(d->api, config);
    oidc_configure(d->oidc, config);
    reconcile_configure(d->reconcile, config, done, done_ctx);
}

static void config_in_force(void *ctx, const struct config *config)
{
    struct daemon *d = ctx;
    api_in_force(d->api, config);
    proxies_log(config);
}

static void report_reload(void *ctx, uint64_t covers, const struct config_changes *changes,
                          const char *faults)
{
    struct daemon *d = ctx;
    const struct reload_outcome outcome = {.covers = covers, .changes = *changes, .faults = faults};
    reconcile_reloaded(d->reconcile, &outcome);
}

static bool is_writable(void *ctx, char *why, size_t size)
{
    struct daemon *d = ctx;
    if (!storage_is_broken(d->storage))
        return true;
    char trouble[STORE_TROUBLE_BYTES];
    storage_trouble(d->storage, trouble);
    (void)snprintf(why, size, "the store cannot be written%s%s", *trouble ? ": " : "", trouble);
    return false;
}

bool daemon_is_alive(struct daemon *d)
{
    /* When the store cannot be written, the watchdog must not kill the process, because reads still work. */
    return loop_makes_progress(d);
}

/* ---- start ---- */

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
                                              .copyist = d->copyist,
                                              .lister = d->lister,
                                              .storage = d->storage,
                                              .view = d->view,
                                              .feed = d->feed,
                                              .config = config_of(d),
                                              .key = &d->key,
                                              .ask_reload = reloader_ask,
                                              .reload_ctx = &d->reloader};
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

/* Prepares reloads. Called before a reload can be requested. */
static void prepare_reloads(struct daemon *d)
{
    d->reloader.loop = d->loop;
    d->reloader.current = d->config;
    d->reloader.apply = apply_config;
    d->reloader.in_force = config_in_force;
    d->reloader.report = report_reload;
    d->reloader.ctx = d;
    reloader_init(&d->reloader);
}

static bool start_api(struct daemon *d)
{
    char *error CLEANUP_FREE = NULL;
    uint8_t cursor_secret[SEAL_KEY_BYTES];
    assert(d->listener.fd >= 0 && d->loop_runs && d->reconcile);
    seal_derive(&d->key, "shootd cursors", cursor_secret);
    struct api_limits limits = api_limits_default();
    api_limits_take(&limits, config_of(d));
    const struct api_options options = {.config = d->config,
                                        .cursor_secret = cursor_secret,
                                        .view = d->view,
                                        .feed = d->feed,
                                        .oidc = d->oidc,
                                        .limits = &limits,
                                        .env = d->env,
                                        .listen_fd = d->listener.fd,
                                        .tls = d->tls,
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
                                        .remarks = report_remarks};
    d->api = api_start(&options, &error);
    explicit_bzero(cursor_secret, sizeof(cursor_secret));
    if (!d->api)
        log_error("HTTP cannot be started", "error", error);
    return d->api != NULL;
}

/* True when the certificate is usable, or none is configured. */
static bool open_tls(struct daemon *d)
{
    char *error CLEANUP_FREE = NULL;
    d->tls = certificate_open(config_of(d), &error);
    if (error)
        log_error("certificate cannot be used", "error", error);
    return !error;
}

static enum exit_code bring_up(struct daemon *d)
{
    char *error CLEANUP_FREE = NULL;
    d->state_dir = state_dir_open(config_of(d)->state_dir, &error);
    if (d->state_dir < 0) {
        log_error("state directory cannot be used", "error", error);
        return EXIT_DEPENDENCY;
    }
    /* The port is opened first. A second instance fails here, and therefore changes nothing. */
    if (!listener_open(config_of(d)->listen, config_of(d)->tls.certificate ? "https" : "http", &d->listener,
                       &error)) {
        log_error("cannot listen", "error", error);
        return EXIT_DEPENDENCY;
    }
    if (!open_tls(d))
        return EXIT_CONFIG;
    if (!init_libraries(d))
        return EXIT_RUNTIME;
    enum exit_code store = open_store(d);
    if (store != EXIT_OK)
        return store;
    if (!load_seal_key(d))
        return EXIT_DEPENDENCY;
    d->view = view_new();
    d->feed = feed_new(FEED_ENTRIES, FEED_BYTES);
    d->loop = loop_new(d->env);
    make_transports(d);
    start_tracing(d);
    if (!start_reconcile(d))
        return EXIT_DEPENDENCY;
    storage_start(d->storage);
    note_seal_key(d);
    if (pthread_create(&d->loop_thread, NULL, run_loop, d) != 0)
        abort();
    d->loop_runs = true;
    prepare_reloads(d);
    return start_api(d) ? EXIT_OK : EXIT_RUNTIME;
}

/* Waits until requests are answered. That includes requests with the token of the first start, so the
 * function also waits until this token is stored. */
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

struct daemon *daemon_start(struct config *config, const char *path, enum exit_code *ret_exit)
{
    struct daemon *d = MEM_NEW(struct daemon);
    d->config = config_current_new(config);
    d->reloader.path = path;
    d->env = env_real();
    d->listener.fd = -1;
    d->state_dir = -1;
    uuid_t id; /* an id of this start, for logs and /version */
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
    proxies_log(config);
    log_info("shootd is ready", "version", shootd_version, "store_id", storage_id(d->storage), "start_id",
             d->start_id, "listen", d->listener.address, "accounts", LOG_INT(config->account_count),
             "projects", LOG_INT(config->project_count));
    return d;
}

static void look_at_certificate(struct daemon *d)
{
    char *error CLEANUP_FREE = NULL;
    char ends_at[TIME_TEXT_BYTES];
    switch (tls_refresh(d->tls, &error)) {
    case TLS_SAME:
        break;
    case TLS_TAKEN:
        log_info("new connections get the new certificate", "ends_at",
                 time_rfc3339(tls_ends_at(d->tls), false, ends_at));
        break;
    case TLS_FAULTY:
        log_error("new certificate cannot be used, the old one stays in use", "error", error);
        break;
    }
}

void daemon_poll(struct daemon *d)
{
    admin_token_poll(&d->admin_token);
    reloader_poll(&d->reloader);
    if (d->tls)
        look_at_certificate(d);
}

void daemon_reload(struct daemon *d)
{
    reloader_begin(&d->reloader);
}

/* ---- stop ---- */

struct stop_task {
    struct loop_task task;
    struct reconcile *reconcile;
    sem_t *has_run;
};

static void run_stop(struct loop_task *task)
{
    struct stop_task *stop = CONTAINER_OF(task, struct stop_task, task);
    reconcile_stop(stop->reconcile);
    (void)sem_post(stop->has_run);
    free(stop);
}

static void drop_stop(struct loop_task *task)
{
    free(CONTAINER_OF(task, struct stop_task, task));
}

static void stop_http(struct daemon *d)
{
    /* The drain begins first, so the last accepted connections already get Connection: close (MH-16). */
    api_begin_drain(d->api);
    api_quiesce(d->api);
    struct stop_task *stop = MEM_NEW(struct stop_task);
    sem_t has_run;
    (void)sem_init(&has_run, 0, 0);
    *stop = (struct stop_task){{.run = run_stop, .drop = drop_stop}, d->reconcile, &has_run};
    loop_post(d->loop, &stop->task);
    if (!api_drained(d->api, (int)(config_of(d)->limits.drain_us / US_PER_MS)))
        log_warning("requests aborted: the time of limits.drain is over", "waiting",
                    LOG_INT(api_parked(d->api)));
    /* Earlier tasks, for example a reload, still use the API. This loop waits for them. */
    while (sem_wait(&has_run) < 0 && errno == EINTR)
        ;
    (void)sem_destroy(&has_run);
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
        log_info("event loop has ended", "longest_hold_us", LOG_INT(us), "longest_hold_cpu_us",
                 LOG_INT(cpu_us));
    }
    if (d->copyist)
        d->copyist->free(d->copyist); /* a backup that still waits uses the store, which is closed below */
    if (d->lister)
        d->lister->free(d->lister);
    storage_close(d->storage);
    reconcile_free(d->reconcile);
    oidc_free(d->oidc);
    span_exporter_free(d->exporter);
    if (d->reader)
        d->reader->free(d->reader);
    if (d->upstream)
        d->upstream->free(d->upstream);
    if (d->webhooks)
        d->webhooks->free(d->webhooks);
    if (d->issuers)
        d->issuers->free(d->issuers);
    if (d->collector)
        d->collector->free(d->collector);
    loop_free(d->loop);
    view_free(d->view);
    feed_free(d->feed);
    listener_close(&d->listener);
    tls_free(d->tls);
    if (d->curl_is_up)
        curl_global_cleanup();
    if (d->state_dir >= 0)
        (void)close(d->state_dir);
    explicit_bzero(&d->key, sizeof(d->key));
    reloader_done(&d->reloader);
    config_free((struct config *)(uintptr_t)config_of(d));
    config_current_free(d->config);
    free(d);
}
