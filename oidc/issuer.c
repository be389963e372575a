#include "oidc/issuer.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/proxy.h"
#include "oidc/kept_keys.h"

enum { URL_MAX_BYTES = 2048, CALL_S = 10, CONNECT_S = 5, RETRY_S = 5, RETRY_LEAST_S = 1 };

#define DISCOVERY_PATH "/.well-known/openid-configuration"

enum stage { STAGE_REST, STAGE_KEPT, STAGE_DISCOVERY, STAGE_KEYS };

/* A job for the worker: it reads an answer, or the stored keys. */
struct issuer_reading {
    struct worker_job job;
    struct issuer *issuer; /* NULL: the issuer was freed while the job ran */
    enum stage stage;
    int directory;
    const struct env *env;
    char *expected; /* the issuer of the keys */
    char *body;
    size_t len;
    /* ---- the result ---- */
    const char *why; /* the reason why the answer is not usable, a static text */
    char *keys_url;
    struct oidc_keys *keys;
    wall_us read_at; /* for stored keys: when they were read from the issuer */
};

struct issuer {
    struct issuer_options o;
    const struct config_issuer *config;
    struct oidc_keys *keys; /* NULL: there are none */
    mono_us read_at;        /* when the keys were read */
    mono_us asked_for_at;   /* when keys were last read because of a token; 0: never */
    bool is_asked_for;      /* the reason of the next read is a token */
    unsigned failures;      /* failures since the last good answer */
    enum stage stage;
    struct http_call *call;
    struct issuer_reading *reading;
    int64_t fresh_us;
    struct loop_timer timer;   /* fires at the next read */
    struct loop_timer too_old; /* fires when the keys must not be used any more */
};

static _Atomic uint64_t reads[ISSUER_OUTCOME_MAX_];

uint64_t issuer_reads(enum issuer_outcome outcome)
{
    assert(outcome < ISSUER_OUTCOME_MAX_);
    return atomic_load(&reads[outcome]);
}

/* ---- limits ---- */

int64_t issuer_fresh_us(const char *cache_control)
{
    int64_t seconds = ISSUER_FRESH_USUAL_S;
    const char *age = cache_control ? strcasestr(cache_control, "max-age=") : NULL;
    if (age)
        seconds = strtoll(age + strlen("max-age="), NULL, 10);
    if (cache_control && (strcasestr(cache_control, "no-store") || strcasestr(cache_control, "no-cache")))
        seconds = 0;
    seconds = seconds < ISSUER_FRESH_MIN_S   ? ISSUER_FRESH_MIN_S
              : seconds > ISSUER_FRESH_MAX_S ? ISSUER_FRESH_MAX_S
                                             : seconds;
    return seconds * US_PER_S;
}

bool issuer_may_name(const char *issuer, const char *url)
{
    static const char https[] = "https://", http[] = "http://";
    if (strlen(url) > URL_MAX_BYTES)
        return false;
    for (const char *at = url; *at; at++)
        if (*at <= ' ' || *at > '~' || *at == '\\')
            return false;
    if (!strncmp(url, https, sizeof(https) - 1))
        return url[sizeof(https) - 1] != '\0';
    /* The configuration allows http only for loopback addresses, so keys from the same origin are safe. */
    const size_t origin = sizeof(http) - 1 + strcspn(issuer + sizeof(http) - 1, "/");
    return !strncmp(issuer, http, sizeof(http) - 1) && !strncmp(url, issuer, origin) && url[origin] == '/';
}

/* ---- reading an answer; worker thread ---- */

static void read_discovery(struct issuer_reading *r)
{
    static const struct json_limits limits = {ISSUER_DISCOVERY_BYTES, 5000, 1000};
    enum json_scan_end end;
    json_t *doc CLEANUP_JSON = json_parse_foreign(r->body, r->len, &limits, &end);
    const char *url = json_str(doc, "jwks_uri");
    if (!doc)
        r->why = json_scan_text(end);
    else if (strcmp(json_str_or(doc, "issuer", ""), r->expected) != 0)
        r->why = "it names another issuer";
    else if (!url || !issuer_may_name(r->expected, url))
        r->why = "it has no jwks_uri that shootd may use";
    else
        r->keys_url = mem_strdup(url);
}

static void read_keys(struct issuer_reading *r)
{
    r->keys = oidc_keys_read(r->body, r->len, &r->why);
    if (r->keys && r->directory >= 0)
        kept_keys_write(r->directory, r->expected, r->body, r->len, env_wall(r->env));
}

static void read_kept(struct issuer_reading *r)
{
    r->body = kept_keys_read(r->directory, r->expected, &r->len, &r->read_at);
    if (r->body)
        r->keys = oidc_keys_read(r->body, r->len, &r->why);
}

static void work(struct worker_job *job)
{
    static void (*const works[])(struct issuer_reading * r) = {
        [STAGE_KEPT] = read_kept, [STAGE_DISCOVERY] = read_discovery, [STAGE_KEYS] = read_keys};
    struct issuer_reading *r = CONTAINER_OF(job, struct issuer_reading, job);
    assert(r->stage < ARRAY_LEN(works) && works[r->stage]);
    works[r->stage](r);
}

static void reading_free(struct issuer_reading *r)
{
    oidc_keys_free(r->keys);
    free(r->keys_url);
    free(r->expected);
    free(r->body);
    free(r);
}

static void drop(struct worker_job *job)
{
    struct issuer_reading *r = CONTAINER_OF(job, struct issuer_reading, job);
    assert(!r->issuer || r->issuer->reading == r);
    if (r->issuer)
        r->issuer->reading = NULL;
    reading_free(r);
}

/* ---- reads ---- */

static const char *const stage_names[] = {[STAGE_DISCOVERY] = "discovery", [STAGE_KEYS] = "keys"};

static void read_in(struct issuer *issuer, int64_t us)
{
    assert(us >= 0 && !issuer->call && !issuer->reading);
    issuer->stage = STAGE_REST;
    loop_timer_set(issuer->o.loop, &issuer->timer, env_mono(loop_env(issuer->o.loop)) + us);
}

static int64_t retry_us(const struct issuer *issuer)
{
    assert(issuer->failures);
    const unsigned doublings = issuer->failures < 8 ? issuer->failures - 1 : 7;
    int64_t most = (int64_t)RETRY_S << doublings;
    most = most < ISSUER_RETRY_MAX_S ? most : ISSUER_RETRY_MAX_S;
    return RETRY_LEAST_S * US_PER_S +
           (int64_t)env_random_below(loop_env(issuer->o.loop), (uint64_t)(most * US_PER_S));
}

/* Drops the keys. Otherwise a revoked key would remain valid while the new keys cannot be read. */
static void on_too_old(struct loop_timer *timer)
{
    struct issuer *issuer = CONTAINER_OF(timer, struct issuer, too_old);
    assert(issuer->keys);
    log_error("issuer keys are too old: tokens are refused until new keys are read", "issuer",
              issuer->config->issuer);
    oidc_keys_free(TAKE_PTR(issuer->keys));
    issuer->o.changed(issuer->o.ctx);
}

/* Takes over the keys. */
static void use_keys(struct issuer *issuer, struct oidc_keys *keys, mono_us read_at)
{
    oidc_keys_free(issuer->keys);
    issuer->keys = keys;
    issuer->read_at = read_at;
    loop_timer_set(issuer->o.loop, &issuer->too_old, read_at + ISSUER_KEPT_S * US_PER_S);
}

static void fail(struct issuer *issuer, const char *why, int status)
{
    assert(issuer->stage == STAGE_DISCOVERY || issuer->stage == STAGE_KEYS);
    atomic_fetch_add(&reads[ISSUER_NOT_READ], 1);
    const bool ends_first_read = issuer_awaits_keys(issuer);
    if (!issuer->failures++)
        log_warning("issuer keys cannot be read", "issuer", issuer->config->issuer, "step",
                    stage_names[issuer->stage], "error", why, "status", LOG_INT(status));
    read_in(issuer, retry_us(issuer));
    if (ends_first_read)
        issuer->o.changed(issuer->o.ctx);
}

static void take_keys(struct issuer *issuer, struct oidc_keys *keys)
{
    assert(keys && issuer->fresh_us >= ISSUER_FRESH_MIN_S * US_PER_S);
    atomic_fetch_add(&reads[ISSUER_READ], 1);
    if (issuer->failures || !issuer->keys)
        log_info("issuer keys read", "issuer", issuer->config->issuer, "keys",
                 LOG_INT((int64_t)oidc_keys_count(keys)));
    issuer->failures = 0;
    use_keys(issuer, keys, env_mono(loop_env(issuer->o.loop)));
    read_in(issuer, issuer->fresh_us);
    issuer->o.changed(issuer->o.ctx);
}

/* Uses the keys that an earlier run of shootd stored. Their age continues: they expire ISSUER_KEPT_S after
 * they were read from the issuer. False: there are no stored keys, or they are too old. */
static bool take_kept_keys(struct issuer *issuer, struct issuer_reading *r)
{
    const int64_t age = env_wall(r->env) - r->read_at;
    const bool are_good = r->keys && age >= 0 && age < ISSUER_KEPT_S * US_PER_S;
    assert(!issuer->keys); /* the stored keys are read once, before any other keys */
    if (are_good) {
        use_keys(issuer, TAKE_PTR(r->keys), env_mono(r->env) - age);
        log_info("stored issuer keys are used", "issuer", issuer->config->issuer, "keys",
                 LOG_INT((int64_t)oidc_keys_count(issuer->keys)));
    }
    read_in(issuer, 0);
    return are_good;
}

static void ask(struct issuer *issuer, enum stage stage, const char *url);

static void done(struct worker_job *job)
{
    struct issuer_reading *r = CONTAINER_OF(job, struct issuer_reading, job);
    struct issuer *issuer = r->issuer;
    if (issuer) {
        assert(issuer->reading == r && issuer->stage == r->stage);
        issuer->reading = NULL;
        if (r->stage == STAGE_KEPT) {
            if (take_kept_keys(issuer, r))
                issuer->o.changed(issuer->o.ctx);
        } else if (r->why) {
            fail(issuer, r->why, 200);
        } else if (r->stage == STAGE_DISCOVERY) {
            ask(issuer, STAGE_KEYS, r->keys_url);
        } else {
            take_keys(issuer, TAKE_PTR(r->keys));
        }
    }
    reading_free(r);
}

static void prepare(struct issuer *issuer, struct issuer_reading *r)
{
    r->job = (struct worker_job){.work = work, .done = done, .drop = drop, .bytes = r->len};
    r->issuer = issuer;
    r->stage = issuer->stage;
    r->directory = issuer->o.directory;
    r->env = loop_env(issuer->o.loop);
    r->expected = mem_strdup(issuer->config->issuer);
}

/* Submits a job to the worker. False: too many jobs wait already. */
static bool submit(struct issuer *issuer, struct issuer_reading *r)
{
    assert(!issuer->reading);
    prepare(issuer, r);
    issuer->reading = r;
    if (issuer->o.worker->submit(issuer->o.worker, &r->job))
        return true;
    issuer->reading = NULL;
    reading_free(r);
    return false;
}

static void on_answer(void *ctx, const struct http_answer *answer)
{
    struct issuer *issuer = ctx;
    assert(!issuer->reading);
    issuer->call = NULL;
    if (answer->outcome != HTTP_ANSWERED || answer->status != 200) {
        fail(issuer, answer->error ? answer->error : "another status than 200", answer->status);
        return;
    }
    issuer->fresh_us = issuer_fresh_us(answer->cache_control);
    struct issuer_reading *r = MEM_NEW(struct issuer_reading);
    r->body = TAKE_PTR(*answer->owned_body);
    r->len = answer->body_len;
    if (!submit(issuer, r))
        fail(issuer, "too much waits to be read", answer->status);
}

static void ask(struct issuer *issuer, enum stage stage, const char *url)
{
    /* Some issuers offer keys only with the type of RFC 7517, and refuse requests that do not name it. */
    static const struct http_header headers[] = {
        {"Accept", "application/json, application/jwk-set+json, */*;q=0.1"}, {NULL, NULL}};
    char *proxy CLEANUP_SECRET = proxy_for(issuer->config->http_proxy, url);
    const struct http_request request = {.method = "GET",
                                         .url = url,
                                         .proxy = proxy,
                                         .headers = headers,
                                         .connect_timeout_us = CONNECT_S * US_PER_S,
                                         .timeout_us = CALL_S * US_PER_S,
                                         .max_body =
                                             stage == STAGE_KEYS ? OIDC_JWKS_BYTES : ISSUER_DISCOVERY_BYTES};
    assert(!issuer->call && !issuer->reading);
    issuer->stage = stage;
    issuer->call = issuer->o.transport->start(issuer->o.transport, &request, on_answer, issuer);
}

static void on_time(struct loop_timer *timer)
{
    struct issuer *issuer = CONTAINER_OF(timer, struct issuer, timer);
    const char *name = issuer->config->issuer;
    size_t len = strlen(name);
    assert(issuer->stage == STAGE_REST);
    while (len && name[len - 1] == '/') /* a '/' at the end is left out (OpenID Connect Discovery 4.1) */
        len--;
    if (issuer->is_asked_for)
        issuer->asked_for_at = env_mono(loop_env(issuer->o.loop));
    issuer->is_asked_for = false;
    char *url CLEANUP_FREE = mem_printf("%.*s%s", (int)len, name, DISCOVERY_PATH);
    ask(issuer, STAGE_DISCOVERY, url);
}

void issuer_wants_key(struct issuer *issuer)
{
    const mono_us now = env_mono(loop_env(issuer->o.loop));
    const mono_us next = issuer->asked_for_at + ISSUER_ASKED_FOR_S * US_PER_S;
    /* There is one call at a time. After failures, tokens do not cause additional calls. */
    if (issuer->stage != STAGE_REST || issuer->failures || issuer->is_asked_for)
        return;
    issuer->is_asked_for = true;
    const mono_us at = issuer->asked_for_at && next > now ? next : now;
    if (at < issuer->read_at + issuer->fresh_us)
        loop_timer_set(issuer->o.loop, &issuer->timer, at);
}

/* ---- start and end ---- */

/* Reads the stored keys before the loop runs, so the first requests after the start can use them. */
static void read_kept_at_once(struct issuer *issuer)
{
    struct issuer_reading *r = MEM_NEW(struct issuer_reading);
    prepare(issuer, r);
    work(&r->job);
    (void)take_kept_keys(issuer, r);
    reading_free(r);
}

struct issuer *issuer_new(const struct issuer_options *options, const struct config_issuer *config)
{
    assert(options->loop && options->transport && options->worker && options->changed);
    struct issuer *issuer = MEM_NEW(struct issuer);
    issuer->o = *options;
    issuer->config = config;
    issuer->timer.fire = on_time;
    issuer->timer.name = "issuer";
    issuer->too_old.fire = on_too_old;
    issuer->too_old.name = "old issuer keys";
    issuer->stage = STAGE_KEPT;
    if (options->directory < 0)
        read_in(issuer, 0);
    else if (options->reads_at_once)
        read_kept_at_once(issuer);
    else if (!submit(issuer, MEM_NEW(struct issuer_reading)))
        read_in(issuer, 0);
    return issuer;
}

void issuer_free(struct issuer *issuer)
{
    if (issuer->call)
        issuer->o.transport->cancel(issuer->o.transport, issuer->call);
    if (issuer->reading)
        issuer->reading->issuer = NULL;
    loop_timer_clear(issuer->o.loop, &issuer->timer);
    loop_timer_clear(issuer->o.loop, &issuer->too_old);
    oidc_keys_free(issuer->keys);
    free(issuer);
}

const struct config_issuer *issuer_config(const struct issuer *issuer)
{
    return issuer->config;
}

void issuer_rebind(struct issuer *issuer, const struct config_issuer *config)
{
    assert(!strcmp(issuer->config->issuer, config->issuer));
    issuer->config = config;
}

struct oidc_keys *issuer_keys(const struct issuer *issuer)
{
    return issuer->keys;
}

bool issuer_awaits_keys(const struct issuer *issuer)
{
    return !issuer->keys && !issuer->failures;
}

mono_us issuer_read_at(const struct issuer *issuer)
{
    return issuer->read_at;
}
