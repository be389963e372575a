/*
 * Kubeconfigs: bearer secrets, kept in memory only, per caller, until their margin; requests for the same one
 * share one call. Never in the store, the view, a log or an event. Loop thread.
 */
#include "reconcile/lookups/kubeconfig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "reconcile/answers/reply.h"
#include "reconcile/answers/subject.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/world.h"

enum { CALL_DEADLINE_S = 60, KEY_BYTES = 384, SWEEP_S = 60, DEFAULT_LIFETIME_S = 600 };

struct kubeconfig {
    UT_hash_handle hh;
    char key[KEY_BYTES]; /* entity key, then '\n' token id '\n' ttl */
    struct reconcile *r;
    char entity_key[ENTITY_KEY_BYTES];
    char *name; /* the shoot's, for the call */
    int ttl_seconds;
    char *text; /* secret; NULL while none was fetched */
    wall_us expires_at;
    bool expiry_known;
    bool drop_answer; /* the one under way may be void already: not kept */
    struct upstream_call call;
    struct list waiters;
};

struct kubeconfigs {
    struct reconcile *r;
    struct kubeconfig *all;
    struct loop_timer sweep;
};

static void entry_free(struct kubeconfigs *k, struct kubeconfig *entry)
{
    HASH_DEL(k->all, entry);
    upstream_cancel(&entry->call);
    mem_free_secret(entry->text);
    free(entry->name);
    free(entry);
}

static void on_sweep(struct loop_timer *timer)
{
    struct kubeconfigs *k = CONTAINER_OF(timer, struct kubeconfigs, sweep);
    struct kubeconfig *entry, *next;
    wall_us now = env_wall(k->r->env);
    HASH_ITER (hh, k->all, entry, next) {
        if (!entry->call.active && list_is_empty(&entry->waiters) && entry->expires_at <= now)
            entry_free(k, entry);
    }
    if (k->all)
        loop_timer_set(k->r->o.loop, &k->sweep, env_mono(k->r->env) + SWEEP_S * US_PER_S);
}

struct kubeconfigs *kubeconfigs_new(struct reconcile *r)
{
    struct kubeconfigs *k = MEM_NEW(struct kubeconfigs);
    k->r = r;
    k->sweep.fire = on_sweep;
    k->sweep.name = "kubeconfigs";
    return k;
}

static void fail_waiters(struct kubeconfig *entry, const struct problem *problem)
{
    LIST_FOR_EACH_SAFE (it, next, &entry->waiters) {
        struct problem *copy = problem_new(problem->code, "%s", problem->detail);
        copy->retry_after_s = problem->retry_after_s;
        reply_problem(wait_take(CONTAINER_OF(it, struct waiting, link)), copy);
    }
}

void kubeconfigs_stop(struct kubeconfigs *k)
{
    struct problem *problem CLEANUP_PROBLEM = problem_new(PROBLEM_SHUTTING_DOWN, "shootd is stopping");
    struct kubeconfig *entry, *next;
    problem->retry_after_s = 5;
    loop_timer_clear(k->r->o.loop, &k->sweep);
    HASH_ITER (hh, k->all, entry, next) {
        upstream_cancel(&entry->call);
        fail_waiters(entry, problem);
    }
}

void kubeconfigs_free(struct kubeconfigs *k)
{
    struct kubeconfig *entry, *next;
    HASH_ITER (hh, k->all, entry, next)
        entry_free(k, entry);
    free(k);
}

void kubeconfigs_forget(struct kubeconfigs *k, const char *entity_key)
{
    struct problem *problem CLEANUP_PROBLEM = problem_new(PROBLEM_CLUSTER_NOT_FOUND, "the cluster is gone");
    struct kubeconfig *entry, *next;
    HASH_ITER (hh, k->all, entry, next) {
        if (strcmp(entry->entity_key, entity_key) != 0)
            continue;
        fail_waiters(entry, problem);
        entry_free(k, entry);
    }
}

void kubeconfigs_drop(struct kubeconfigs *k, const char *entity_key)
{
    struct kubeconfig *entry, *next;
    HASH_ITER (hh, k->all, entry, next) {
        if (strcmp(entry->entity_key, entity_key) != 0)
            continue;
        mem_free_secret(TAKE_PTR(entry->text));
        entry->drop_answer = entry->call.active;
    }
}

static void answer_kubeconfig(struct command *cmd, const struct kubeconfig *entry, bool cached)
{
    char text[TIME_TEXT_BYTES];
    json_t *doc = json_object();
    json_set_str(doc, "kubeconfig", entry->text);
    json_set_str(doc, "expires_at",
                 entry->expiry_known ? time_rfc3339(entry->expires_at, false, text) : NULL);
    json_set_bool(doc, "cached", cached);
    cmd->answer_is_secret = true;
    reply_json(cmd, 200, doc);
}

/* Cleura's API of generation v2 does not tell where the cluster's is. */
static void note_server(const struct kubeconfig *entry, const char *server)
{
    struct entity *e;
    HASH_FIND_STR(entry->r->entities, entry->entity_key, e);
    const char *known = e ? e->cluster->api_server_url : NULL;
    if (!e || !server || e->cluster->deleted || (known && !strcmp(known, server)))
        return;
    mem_set_str(&e->cluster->api_server_url, server);
    entity_store(e);
}

static void on_kubeconfig(struct upstream_call *call, const struct upstream_result *result)
{
    struct kubeconfig *entry = CONTAINER_OF(call, struct kubeconfig, call);
    if (result->class != UPSTREAM_OK) {
        struct problem *problem CLEANUP_PROBLEM = NULL;
        if (result->class == UPSTREAM_CONFLICT || result->class == UPSTREAM_REFUSED)
            problem = problem_new(PROBLEM_CLUSTER_NOT_READY, "Cleura gives no kubeconfig now: %s",
                                  result->message ? result->message : "conflict");
        else
            problem = upstream_problem(result);
        fail_waiters(entry, problem);
        return;
    }
    mem_free_secret(entry->text);
    entry->text = mem_strdup(result->kubeconfig);
    entry->expiry_known = result->expires_at != 0;
    /* Nothing tells the expiry: believe the shortest lifetime there is. */
    entry->expires_at =
        entry->expiry_known ? result->expires_at : env_wall(entry->r->env) + DEFAULT_LIFETIME_S * US_PER_S;
    note_server(entry, result->server);
    LIST_FOR_EACH_SAFE (it, next, &entry->waiters)
        answer_kubeconfig(wait_take(CONTAINER_OF(it, struct waiting, link)), entry, false);
    if (entry->drop_answer)
        mem_free_secret(TAKE_PTR(entry->text));
    entry->drop_answer = false;
}

/* The last one who waited has left: nobody needs the transfer any more (UP-19). */
static void on_kubeconfig_deadline(struct waiting *w)
{
    struct reconcile *r = w->r;
    struct kubeconfig *entry, *next;
    reply_problem(wait_take(w), problem_new(PROBLEM_UPSTREAM_TIMEOUT, "Cleura gave no kubeconfig in time"));
    HASH_ITER (hh, r->kubeconfigs->all, entry, next)
        if (entry->call.active && list_is_empty(&entry->waiters))
            upstream_cancel(&entry->call);
}

static struct kubeconfig *find_or_add(struct kubeconfigs *k, const struct command *cmd,
                                      const struct entity *e)
{
    char key[KEY_BYTES];
    struct kubeconfig *entry;
    (void)snprintf(key, sizeof(key), "%s\n%s\n%d", e->key, cmd->token_id, cmd->ttl_seconds);
    HASH_FIND_STR(k->all, key, entry);
    if (entry)
        return entry;
    entry = MEM_NEW(struct kubeconfig);
    memcpy(entry->key, key, sizeof(key));
    memcpy(entry->entity_key, e->key, sizeof(entry->entity_key));
    entry->r = k->r;
    entry->name = mem_strdup(e->cluster->name);
    entry->ttl_seconds = cmd->ttl_seconds;
    list_init(&entry->waiters);
    HASH_ADD_STR(k->all, key, entry);
    if (!loop_timer_is_set(&k->sweep))
        loop_timer_set(k->r->o.loop, &k->sweep, env_mono(k->r->env) + SWEEP_S * US_PER_S);
    return entry;
}

static void fetch(struct kubeconfig *entry, const struct project *p)
{
    entry->drop_answer = false;
    entry->call.op = UPSTREAM_KUBECONFIG;
    entry->call.region = p->config->region;
    entry->call.project_id = p->config->project_id;
    entry->call.name = entry->name;
    entry->call.ttl_seconds = entry->ttl_seconds;
    entry->call.priority = LANE_USER_WAITING;
    entry->call.deadline = env_mono(entry->r->env) + CALL_DEADLINE_S * US_PER_S;
    entry->call.on_done = on_kubeconfig;
    call_for_waiters(&entry->call, &entry->waiters);
    upstream_submit(project_lane(p), &entry->call);
}

void command_kubeconfig(struct reconcile *r, struct command *cmd)
{
    static const bool possible[PHASE_MAX_] = {
        [PHASE_READY] = true,       [PHASE_DEGRADED] = true,   [PHASE_UPDATING] = true,
        [PHASE_HIBERNATING] = true, [PHASE_HIBERNATED] = true, [PHASE_WAKING] = true,
        [PHASE_RETRYING] = true,    [PHASE_FAILED] = true,     [PHASE_UNKNOWN] = true,
    };
    struct entity *e = command_cluster(r, cmd);
    if (!e)
        return;
    if (e->cluster->deleted) {
        reply_problem(cmd, problem_new(PROBLEM_CLUSTER_NOT_FOUND, "no cluster '%s' in project '%s'",
                                       cmd->name, cmd->project));
        return;
    }
    if (!possible[e->cluster->phase] || !e->cluster->upstream_exists) {
        struct problem *p =
            problem_new(PROBLEM_CLUSTER_NOT_READY, "the cluster is %s", phase_name(e->cluster->phase));
        p->retry_after_s = 15;
        reply_problem(cmd, p);
        return;
    }
    struct kubeconfig *entry = find_or_add(r->kubeconfigs, cmd, e);
    wall_us wanted_until = env_wall(r->env) + cmd->min_remaining_seconds * US_PER_S;
    if (entry->text && entry->expires_at > wanted_until) {
        answer_kubeconfig(cmd, entry, true);
        return;
    }
    (void)wait_new(r, cmd, &entry->waiters, on_kubeconfig_deadline);
    if (!entry->call.active)
        fetch(entry, e->project);
}
