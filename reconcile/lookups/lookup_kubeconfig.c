/*
 * Kubeconfigs. They are bearer secrets, and each caller gets its own kubeconfig. Kubeconfigs are only in
 * memory: never in the store, the view, a log or an event. They are kept until shortly before their expiry,
 * or until the caller's token expires, or until there are too many. Requests for the same kubeconfig share a
 * call. Loop thread.
 */
#include "reconcile/lookups/lookup.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "reconcile/answers/objects.h"
#include "reconcile/answers/reply.h"
#include "reconcile/lookups/fetch.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/world.h"

enum { CALL_DEADLINE_S = 60, DEFAULT_LIFETIME_S = 600 };

struct kubeconfig {
    struct fetch fetch; /* the key is: entity key, '\n', token id, '\n', ttl */
    char token_id[40];
    wall_us jwt_ends_at; /* when the caller's JWT expires; 0: the caller has a token of shootd */
    int ttl_seconds;
    char *text;         /* the kubeconfig, a secret; NULL until it was fetched */
    struct list by_age; /* in kubeconfigs.oldest_first of `struct reconcile` while there is a text */
    wall_us expires_at;
    mono_us kept_until; /* expires_at by the monotonic clock */
    bool expiry_known;
    bool drop_answer; /* the answer of the running call is discarded, because its credentials may be
                       * invalid */
};

static void forget_text(struct kubeconfig *k)
{
    struct reconcile *r = k->fetch.r;
    if (!k->text)
        return;
    r->kubeconfigs.count--;
    r->kubeconfigs.bytes -= strlen(k->text);
    list_remove(&k->by_age);
    mem_free_secret(TAKE_PTR(k->text));
}

static void keep_text(struct kubeconfig *k, const char *text)
{
    struct reconcile *r = k->fetch.r;
    forget_text(k);
    k->text = mem_strdup(text);
    r->kubeconfigs.count++;
    r->kubeconfigs.bytes += strlen(text);
    list_append(&r->kubeconfigs.oldest_first, &k->by_age);
}

static bool caller_lives(struct reconcile *r, const struct kubeconfig *k, wall_us now)
{
    const struct token_entry *entry;
    if (k->jwt_ends_at)
        return k->jwt_ends_at > now;
    HASH_FIND_STR(r->tokens, k->token_id, entry);
    return entry && api_token_is_live(entry->token, now);
}

static bool kubeconfig_is_kept(struct fetch *f)
{
    const struct kubeconfig *k = CONTAINER_OF(f, struct kubeconfig, fetch);
    const wall_us now = env_wall(f->r->env);
    return k->text && k->kept_until > env_mono(f->r->env) && caller_lives(f->r, k, now);
}

static void kubeconfig_release(struct fetch *f)
{
    forget_text(CONTAINER_OF(f, struct kubeconfig, fetch));
}

static const struct fetch_kind kubeconfigs = {.size = sizeof(struct kubeconfig),
                                              .late = "Cleura did not return a kubeconfig in time",
                                              .is_kept = kubeconfig_is_kept,
                                              .release = kubeconfig_release};

static void drop_of_cluster(struct fetch *f, void *ctx)
{
    const struct entity *e = ctx;
    struct kubeconfig *k = CONTAINER_OF(f, struct kubeconfig, fetch);
    if (strcmp(f->entity_key, e->key) != 0)
        return;
    forget_text(k);
    k->drop_answer = upstream_call_is_active(&f->call);
}

void kubeconfigs_drop(struct entity *e)
{
    fetches_each(e->r->fetches, &kubeconfigs, drop_of_cluster, e);
}

/* ---- the limits ---- */

/* The kubeconfigs of the same caller and cluster as `newest`. */
struct survey {
    const struct kubeconfig *newest;
    unsigned count;
    struct kubeconfig *first; /* the first one that expires, of those that are not in use; or NULL */
};

static bool is_in_use(const struct kubeconfig *k, const struct kubeconfig *newest)
{
    return k == newest || !list_is_empty(&k->fetch.waiters) || upstream_call_is_active(&k->fetch.call);
}

static void survey_one(struct fetch *f, void *ctx)
{
    struct survey *s = ctx;
    struct kubeconfig *k = CONTAINER_OF(f, struct kubeconfig, fetch);
    if (!k->text || strcmp(k->token_id, s->newest->token_id) != 0 ||
        strcmp(f->entity_key, s->newest->fetch.entity_key) != 0)
        return;
    s->count++;
    if (!is_in_use(k, s->newest) && (!s->first || k->expires_at < s->first->expires_at))
        s->first = k;
}

static struct kubeconfig *oldest_unused(struct reconcile *r, const struct kubeconfig *newest)
{
    LIST_FOR_EACH (it, &r->kubeconfigs.oldest_first) {
        struct kubeconfig *k = CONTAINER_OF(it, struct kubeconfig, by_age);
        if (!is_in_use(k, newest))
            return k;
    }
    return NULL;
}

/* Drops kubeconfigs when the newest one is too many: of its caller and cluster the one that expires first, of
 * all the oldest ones. The newest one itself is dropped only when all others are in use, because it is the
 * most likely to be requested again. The next sweep frees the fetches. */
static void limit_kept(struct kubeconfig *newest)
{
    struct reconcile *r = newest->fetch.r;
    struct survey s = {.newest = newest};
    fetches_each(r->fetches, &kubeconfigs, survey_one, &s);
    if (s.count > KUBECONFIGS_PER_CALLER)
        forget_text(s.first ? s.first : newest);
    while (r->kubeconfigs.count > KUBECONFIGS_MAX || r->kubeconfigs.bytes > KUBECONFIGS_BYTES_MAX) {
        struct kubeconfig *oldest = oldest_unused(r, newest);
        if (!oldest && !newest->text)
            return;
        forget_text(oldest ? oldest : newest);
    }
}

/* ---- answers ---- */

static void answer_kubeconfig(struct command *cmd, const struct kubeconfig *k, bool cached)
{
    char text[TIME_TEXT_BYTES];
    json_t *doc = json_object();
    json_set_str(doc, "kubeconfig", k->text);
    json_set_str(doc, "expires_at", k->expiry_known ? time_rfc3339(k->expires_at, false, text) : NULL);
    json_set_bool(doc, "cached", cached);
    cmd->reply.is_secret = true;
    reply_json(cmd, 200, doc);
}

/* Takes the address of the cluster's API server from its kubeconfig, because a shoot may come without it. */
static void note_server(const struct kubeconfig *k, const char *server)
{
    struct entity *e = fetch_entity(&k->fetch);
    const char *known = e ? e->cluster->api_server_url : NULL;
    if (!e || !server || e->cluster->deleted || (known && !strcmp(known, server)))
        return;
    mem_set_str(&e->cluster->api_server_url, server);
    entity_store(e);
}

static void on_kubeconfig(struct upstream_call *call, struct upstream_result *result)
{
    struct kubeconfig *k = CONTAINER_OF(call, struct kubeconfig, fetch.call);
    if (result->class != UPSTREAM_OK) {
        struct problem *problem CLEANUP_PROBLEM = NULL;
        if (result->class == UPSTREAM_CONFLICT || result->class == UPSTREAM_REFUSED)
            problem = problem_new(PROBLEM_CLUSTER_NOT_READY, "Cleura returns no kubeconfig now: %s",
                                  result->message ? result->message : "conflict");
        else
            problem = upstream_problem(result);
        fetch_fail(&k->fetch, problem);
        return;
    }
    keep_text(k, result->kubeconfig);
    k->expiry_known = result->expires_at != 0;
    /* The answer has no expiry: assume the shortest lifetime. */
    k->expires_at =
        k->expiry_known ? result->expires_at : env_wall(k->fetch.r->env) + DEFAULT_LIFETIME_S * US_PER_S;
    k->kept_until = env_mono(k->fetch.r->env) + (k->expires_at - env_wall(k->fetch.r->env));
    note_server(k, result->server);
    LIST_FOR_EACH_SAFE (it, next, &k->fetch.waiters)
        answer_kubeconfig(wait_take(CONTAINER_OF(it, struct waiting, link)), k, false);
    if (k->drop_answer)
        forget_text(k);
    k->drop_answer = false;
    limit_kept(k);
}

struct problem *command_kubeconfig(struct reconcile *r, struct command *cmd)
{
    static const bool possible[PHASE_MAX_] = {
        [PHASE_READY] = true,       [PHASE_DEGRADED] = true,   [PHASE_UPDATING] = true,
        [PHASE_HIBERNATING] = true, [PHASE_HIBERNATED] = true, [PHASE_WAKING] = true,
        [PHASE_RETRYING] = true,    [PHASE_FAILED] = true,     [PHASE_UNKNOWN] = true,
    };
    struct entity *e;
    struct problem *refusal = command_cluster(r, cmd, &e);
    if (refusal)
        return refusal;
    if (e->cluster->deleted)
        return problem_no_cluster(cmd->project, cmd->name);
    if (!possible[e->cluster->phase] || !e->cluster->upstream_exists)
        return problem_not_ready(e);
    char key[FETCH_KEY_BYTES];
    (void)snprintf(key, sizeof(key), "%s\n%s\n%d", e->key, cmd->caller.token_id, cmd->kubeconfig.ttl_seconds);
    struct fetch *f = fetch_find_or_add(e->project, &kubeconfigs, e, key);
    struct kubeconfig *k = CONTAINER_OF(f, struct kubeconfig, fetch);
    k->ttl_seconds = cmd->kubeconfig.ttl_seconds;
    memcpy(k->token_id, cmd->caller.token_id, sizeof(k->token_id));
    if (cmd->caller.expires_at > k->jwt_ends_at)
        k->jwt_ends_at = cmd->caller.expires_at;
    const mono_us wanted_until = env_mono(r->env) + cmd->kubeconfig.min_remaining_seconds * US_PER_S;
    if (k->text && k->kept_until > wanted_until) {
        answer_kubeconfig(cmd, k, true);
        return NULL;
    }
    if (!fetch_wait(&k->fetch, cmd, cmd->deadline))
        return NULL;
    k->drop_answer = false;
    k->fetch.call.ttl_seconds = k->ttl_seconds;
    fetch_call(&k->fetch, UPSTREAM_KUBECONFIG, NULL, CALL_DEADLINE_S * US_PER_S, on_kubeconfig);
    return NULL;
}
