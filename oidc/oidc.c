#include "oidc/oidc.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/epoch.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "config/changes.h"
#include "model/string_list.h"
#include "oidc/issuer.h"
#include "oidc/rules.h"

/* The pause between two requests for new keys, and between two log lines. Because of this pause, senders of
 * bad tokens cannot cause many log lines. */
enum { PAUSE_US = 1000000 };

/* The snapshot that other threads read. `trusts` points into the configuration, which may be freed
 * before the snapshot: only a thread between config_current_enter and config_current_leave reads it. */
struct oidc_snapshot {
    size_t count;
    char *names[CONFIG_MAX_ISSUERS]; /* the issuers */
    uint64_t generations[CONFIG_MAX_ISSUERS];
    struct oidc_trust trusts[CONFIG_MAX_ISSUERS];
    struct oidc_keys *held[CONFIG_MAX_ISSUERS];
    bool awaits_keys[CONFIG_MAX_ISSUERS];
    mono_us read_at[CONFIG_MAX_ISSUERS];
};

/* A configured issuer. Its generation is a number that grows with every change of its configuration. */
struct known_issuer {
    struct issuer *issuer;
    uint64_t generation;
};

struct oidc {
    struct issuer_options options; /* the options of each issuer */
    struct known_issuer issuers[CONFIG_MAX_ISSUERS];
    size_t count;
    uint64_t newest_generation;
    struct epoch *epoch;
    _Atomic(struct oidc_snapshot *) shown;
    _Atomic mono_us asked_at[CONFIG_MAX_ISSUERS];
    _Atomic mono_us logged_at;
    _Atomic uint64_t ends[OIDC_END_MAX_];
};

/* ---- the snapshot ---- */

static void snapshot_free(void *object)
{
    struct oidc_snapshot *s = object;
    for (size_t i = 0; s && i < s->count; i++) {
        free(s->names[i]);
        oidc_keys_free(s->held[i]);
    }
    free(s);
}

/* Returns the current snapshot, never NULL. Called only between epoch_enter and epoch_leave. */
static const struct oidc_snapshot *shown(struct oidc *o)
{
    const struct oidc_snapshot *s = atomic_load(&o->shown);
    assert(s && s->count <= CONFIG_MAX_ISSUERS);
    return s;
}

static void publish(void *ctx)
{
    struct oidc *o = ctx;
    struct oidc_snapshot *s = MEM_NEW(struct oidc_snapshot);
    s->count = o->count;
    for (size_t i = 0; i < o->count; i++) {
        const struct issuer *issuer = o->issuers[i].issuer;
        assert(issuer && o->issuers[i].generation);
        struct oidc_keys *keys = issuer_keys(issuer);
        s->names[i] = mem_strdup(issuer_config(issuer)->issuer);
        s->generations[i] = o->issuers[i].generation;
        s->held[i] = keys ? oidc_keys_ref(keys) : NULL;
        s->awaits_keys[i] = issuer_awaits_keys(issuer);
        s->read_at[i] = issuer_read_at(issuer);
        s->trusts[i] = (struct oidc_trust){issuer_config(issuer), s->held[i]};
    }
    struct oidc_snapshot *before = atomic_exchange(&o->shown, s);
    if (before)
        epoch_retire(o->epoch, before, snapshot_free);
}

/* ---- the configuration ---- */

/* Removes the issuer with this name from the list and returns it. When there is none, the member `issuer` of
 * the result is NULL. */
static struct known_issuer take_issuer(struct known_issuer *issuers, size_t count, const char *name)
{
    struct known_issuer found = {0};
    for (size_t i = 0; i < count && !found.issuer; i++) {
        if (issuers[i].issuer && !strcmp(issuer_config(issuers[i].issuer)->issuer, name)) {
            found = issuers[i];
            issuers[i].issuer = NULL;
        }
    }
    return found;
}

static struct known_issuer configured(struct oidc *o, struct known_issuer known,
                                      const struct config_issuer *config)
{
    if (!known.issuer)
        return (struct known_issuer){issuer_new(&o->options, config), ++o->newest_generation};
    if (!config_issuer_equal(issuer_config(known.issuer), config))
        known.generation = ++o->newest_generation;
    issuer_rebind(known.issuer, config);
    return known;
}

static void set_issuers(struct oidc *o, const struct config *config)
{
    struct known_issuer before[CONFIG_MAX_ISSUERS];
    const size_t count = o->count;
    assert(config->oidc.issuer_count <= CONFIG_MAX_ISSUERS);
    memcpy(before, o->issuers, sizeof(before));
    o->count = config->oidc.issuer_count;
    for (size_t i = 0; i < o->count; i++) {
        const struct config_issuer *of = &config->oidc.issuers[i];
        o->issuers[i] = configured(o, take_issuer(before, count, of->issuer), of);
    }
    for (size_t i = 0; i < count; i++)
        if (before[i].issuer)
            issuer_free(before[i].issuer);
}

void oidc_configure(struct oidc *o, const struct config *config)
{
    loop_assert_owner(o->options.loop);
    set_issuers(o, config);
    publish(o);
}

/* Returns the generation of the issuer; 0 when there is no such issuer. */
static uint64_t generation_of(const struct oidc_snapshot *s, const char *issuer)
{
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->names[i], issuer))
            return s->generations[i];
    return 0;
}

uint64_t oidc_generation(struct oidc *o, const char *issuer)
{
    epoch_enter(o->epoch);
    const uint64_t generation = generation_of(shown(o), issuer);
    epoch_leave(o->epoch);
    return generation;
}

/* ---- requests for new keys ---- */

struct wish {
    struct loop_task task;
    struct oidc *oidc;
    uint64_t generation; /* the generation of the issuer */
};

static void drop_wish(struct loop_task *task)
{
    free(CONTAINER_OF(task, struct wish, task));
}

static void run_wish(struct loop_task *task)
{
    const struct wish *wish = CONTAINER_OF(task, struct wish, task);
    const struct oidc *o = wish->oidc;
    for (size_t i = 0; i < o->count; i++)
        if (o->issuers[i].generation == wish->generation)
            issuer_wants_key(o->issuers[i].issuer);
    drop_wish(task);
}

/* Returns true at most once in PAUSE_US for each `last`, the time of the last true result (0: none). */
static bool is_time(_Atomic mono_us *last, mono_us now)
{
    mono_us before = atomic_load(last);
    return (!before || now - before >= PAUSE_US) && atomic_compare_exchange_strong(last, &before, now);
}

static void want_key(struct oidc *o, const struct oidc_snapshot *s, size_t issuer, mono_us now)
{
    assert(issuer < s->count);
    if (!is_time(&o->asked_at[issuer], now))
        return;
    struct wish *wish = MEM_NEW(struct wish);
    *wish = (struct wish){{.run = run_wish, .drop = drop_wish}, o, s->generations[issuer]};
    loop_post(o->options.loop, &wish->task);
}

/* ---- check of a token ---- */

static void identify(const struct oidc_snapshot *s, const struct oidc_claims *claims,
                     struct oidc_identity *ret)
{
    assert(claims->trust < s->count && claims->all && claims->subject);
    const struct config_issuer *issuer = s->trusts[claims->trust].issuer;
    const struct config_rule *rule = oidc_rule_for(issuer, claims->all);
    *ret = (struct oidc_identity){
        .issuer = mem_strdup(issuer->issuer),
        .subject = mem_strdup(claims->subject),
        .has_rule = rule != NULL,
        .role = rule ? rule->role : ROLE_VIEWER,
        .projects = rule ? string_list_copy(rule->projects) : mem_calloc(1, sizeof(char *)),
        .expires_at = claims->expires_at,
        .generation = s->generations[claims->trust],
    };
}

static void log_check(struct oidc *o, enum oidc_end end, const char *issuer, const char *subject, mono_us now)
{
    assert(end < OIDC_END_MAX_);
    atomic_fetch_add(&o->ends[end], 1);
    if (end != OIDC_OK && is_time(&o->logged_at, now))
        log_info("JWT refused", "reason", oidc_end_name(end), "issuer", issuer, "subject", subject);
}

enum oidc_end oidc_check(struct oidc *o, const char *token, size_t len, struct oidc_identity *ret,
                         bool *ret_awaits_keys)
{
    const struct env *env = loop_env(o->options.loop);
    const mono_us now = env_mono(env);
    struct oidc_claims claims;
    *ret = (struct oidc_identity){0};
    epoch_enter(o->epoch);
    const struct oidc_snapshot *s = shown(o);
    enum oidc_end end = oidc_verify(token, len, s->trusts, s->count, env_wall(env), &claims);
    const bool is_known = end == OIDC_OK || end > OIDC_ISSUER;
    if (end == OIDC_OK)
        identify(s, &claims, ret);
    if (end == OIDC_OK && !ret->has_rule)
        end = OIDC_NO_RULE;
    *ret_awaits_keys = end == OIDC_KEYS_MISSING && s->awaits_keys[claims.trust];
    if (end == OIDC_KEY_UNKNOWN || end == OIDC_SIGNATURE)
        want_key(o, s, claims.trust, now);
    if (!*ret_awaits_keys)
        log_check(o, end, is_known ? s->trusts[claims.trust].issuer->issuer : NULL, ret->subject, now);
    epoch_leave(o->epoch);
    json_decref(claims.all);
    return end;
}

void oidc_identity_done(struct oidc_identity *identity)
{
    free(identity->issuer);
    free(identity->subject);
    string_list_free(identity->projects);
    *identity = (struct oidc_identity){0};
}

/* ---- metrics ---- */

/* Writes one value for all issuers, because label values must come from a closed set. */
static void write_keys(struct oidc *o, struct buffer *out)
{
    const mono_us now = env_mono(loop_env(o->options.loop));
    size_t keys = 0, without = 0;
    int64_t age = 0;
    epoch_enter(o->epoch);
    const struct oidc_snapshot *s = shown(o);
    for (size_t i = 0; i < s->count; i++) {
        keys += s->held[i] ? oidc_keys_count(s->held[i]) : 0;
        without += !s->held[i];
        if (s->held[i] && now - s->read_at[i] > age)
            age = now - s->read_at[i];
    }
    epoch_leave(o->epoch);
    metric_one(out, "shootd_oidc_keys", (double)keys);
    metric_one(out, "shootd_oidc_issuers_without_keys", (double)without);
    metric_one(out, "shootd_oidc_oldest_keys_age_seconds", (double)(age / US_PER_S));
}

void oidc_metrics(struct oidc *o, struct buffer *out)
{
    static const char tokens[] = "shootd_oidc_tokens_total", reads[] = "shootd_oidc_key_reads_total";
    metric_family(out, tokens);
    for (int i = 0; i < OIDC_END_MAX_; i++)
        metric_of(out, tokens, "result", oidc_end_name((enum oidc_end)i), (double)atomic_load(&o->ends[i]));
    metric_family(out, reads);
    metric_of(out, reads, "outcome", "ok", (double)issuer_reads(ISSUER_READ));
    metric_of(out, reads, "outcome", "failed", (double)issuer_reads(ISSUER_NOT_READ));
    write_keys(o, out);
}

/* ---- start and end ---- */

struct oidc *oidc_new(struct loop *loop, struct transport *transport, struct worker *worker, int directory,
                      const struct config *config)
{
    struct oidc *o = MEM_NEW(struct oidc);
    o->options = (struct issuer_options){.loop = loop,
                                         .transport = transport,
                                         .worker = worker,
                                         .directory = directory,
                                         .reads_at_once = true,
                                         .changed = publish,
                                         .ctx = o};
    o->epoch = epoch_new();
    set_issuers(o, config);
    o->options.reads_at_once = false; /* later calls are made while the loop runs */
    publish(o);
    return o;
}

void oidc_free(struct oidc *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->count; i++)
        issuer_free(o->issuers[i].issuer);
    snapshot_free(atomic_load(&o->shown));
    epoch_free(o->epoch);
    free(o);
}
