#include "reconcile/lookups/fetch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/answers/reply.h"
#include "reconcile/world/waiting.h"

enum { SWEEP_S = 15 };

struct fetches {
    struct reconcile *r;
    struct fetch *all;
    struct loop_timer sweep;
};

static void fetch_free(struct fetch *f)
{
    HASH_DEL(f->r->fetches->all, f);
    upstream_cancel(&f->call);
    assert(list_is_empty(&f->waiters));
    if (f->kind->release)
        f->kind->release(f);
    free(f->shoot);
    free(f);
}

static void on_sweep(struct loop_timer *timer)
{
    struct fetches *all = CONTAINER_OF(timer, struct fetches, sweep);
    struct fetch *f, *next;
    HASH_ITER (hh, all->all, f, next)
        if (!upstream_call_is_active(&f->call) && list_is_empty(&f->waiters) && !f->kind->is_kept(f))
            fetch_free(f);
    if (all->all)
        loop_timer_set(all->r->o.loop, &all->sweep, env_mono(all->r->env) + SWEEP_S * US_PER_S);
}

struct fetches *fetches_new(struct reconcile *r)
{
    struct fetches *all = MEM_NEW(struct fetches);
    all->r = r;
    all->sweep.fire = on_sweep;
    all->sweep.name = "what was fetched";
    return all;
}

static void fail_command(struct fetch *f, struct command *cmd, const struct problem *problem)
{
    struct problem *refusal = f->kind->failed ? f->kind->failed(f, cmd, problem) : problem_copy(problem);
    if (refusal)
        reply_problem(cmd, refusal);
}

void fetch_fail(struct fetch *f, const struct problem *problem)
{
    LIST_FOR_EACH_SAFE (it, next, &f->waiters)
        fail_command(f, wait_take(CONTAINER_OF(it, struct waiting, link)), problem);
}

void fetches_stop(struct fetches *all)
{
    struct fetch *f, *next;
    loop_timer_clear(all->r->o.loop, &all->sweep);
    HASH_ITER (hh, all->all, f, next) {
        upstream_cancel(&f->call);
        reply_stopping(&f->waiters);
    }
}

void fetches_free(struct fetches *all)
{
    struct fetch *f, *next;
    HASH_ITER (hh, all->all, f, next)
        fetch_free(f);
    assert(!all->all);
    free(all);
}

void fetches_forget(struct fetches *all, const char *entity_key)
{
    struct problem *problem CLEANUP_PROBLEM = problem_new(PROBLEM_CLUSTER_NOT_FOUND, "the cluster is gone");
    struct fetch *f, *next;
    HASH_ITER (hh, all->all, f, next) {
        if (strcmp(f->entity_key, entity_key) != 0)
            continue;
        fetch_fail(f, problem);
        fetch_free(f);
    }
}

void fetches_forget_project(struct project *p, const struct problem *problem)
{
    struct fetch *f, *next;
    HASH_ITER (hh, p->r->fetches->all, f, next) {
        if (f->project != p)
            continue;
        fetch_fail(f, problem);
        fetch_free(f);
    }
}

void fetches_each(struct fetches *all, const struct fetch_kind *kind,
                  void (*visit)(struct fetch *f, void *ctx), void *ctx)
{
    struct fetch *f, *next;
    HASH_ITER (hh, all->all, f, next)
        if (f->kind == kind)
            visit(f, ctx);
}

struct fetch *fetch_find_or_add(struct project *p, const struct fetch_kind *kind, const struct entity *e,
                                const char *key)
{
    struct fetches *all = p->r->fetches;
    struct fetch *f;
    loop_assert_owner(p->r->o.loop);
    assert(strlen(key) < FETCH_KEY_BYTES && kind->size >= sizeof(*f));
    HASH_FIND_STR(all->all, key, f);
    if (f) {
        assert(f->kind == kind);
        return f;
    }
    f = mem_calloc(1, kind->size);
    memcpy(f->key, key, strlen(key));
    f->kind = kind;
    f->r = p->r;
    f->project = p;
    if (e) {
        memcpy(f->entity_key, e->key, sizeof(f->entity_key));
        f->shoot = mem_strdup(e->cluster->name);
    }
    list_init(&f->waiters);
    HASH_ADD_STR(all->all, key, f);
    if (!loop_timer_is_set(&all->sweep))
        loop_timer_set(p->r->o.loop, &all->sweep, env_mono(p->r->env) + SWEEP_S * US_PER_S);
    return f;
}

static struct problem *on_fetch_late(struct waiting *w)
{
    struct fetch *f = w->owner;
    struct problem *problem CLEANUP_PROBLEM = problem_new(PROBLEM_UPSTREAM_TIMEOUT, "%s", f->kind->late);
    fail_command(f, wait_take(w), problem);
    if (list_is_empty(&f->waiters))
        upstream_cancel(&f->call);
    return NULL;
}

bool fetch_wait(struct fetch *f, struct command *cmd, mono_us until)
{
    bool first = list_is_empty(&f->waiters) && !upstream_call_is_active(&f->call);
    wait_until(f->r, cmd, until, &f->waiters, on_fetch_late)->owner = f;
    return first;
}

void fetch_call(struct fetch *f, enum upstream_op op, const char *item, int64_t within_us,
                void (*on_done)(struct upstream_call *call, struct upstream_result *result))
{
    assert(!upstream_call_is_active(&f->call) && !list_is_empty(&f->waiters));
    f->call.op = op;
    f->call.region = f->project->region;
    f->call.project_id = f->project->project_id;
    f->call.name = f->shoot;
    f->call.item = item;
    f->call.priority = LANE_USER_WAITING;
    f->call.deadline = env_mono(f->r->env) + within_us;
    f->call.on_done = on_done;
    call_for_waiters(&f->call, &f->waiters);
    upstream_submit(project_lane(f->project), &f->call);
}

struct entity *fetch_entity(const struct fetch *f)
{
    struct entity *e = entity_by_key(f->r, f->entity_key);
    return e;
}
