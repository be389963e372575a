#include "reconcile/projects.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "reconcile/answers/objects.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/decide.h"
#include "reconcile/lookups/catalog.h"
#include "reconcile/lookups/fetch.h"
#include "reconcile/observation/fresh.h"
#include "reconcile/observation/poll.h"
#include "reconcile/world/departed.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"

/* ---- making and freeing ---- */

static struct project *project_new(struct reconcile *r, const char *name)
{
    struct project *p = MEM_NEW(struct project);
    p->r = r;
    p->name = mem_strdup(name);
    p->state = MEM_NEW(struct project_state);
    p->state->name = mem_strdup(name);
    p->unremembered = true;
    p->oldest_observation = p->oldest_until_now = NOT_OBSERVED;
    list_init(&p->clusters);
    fresh_init(p);
    catalog_init(p);
    poll_init(p);
    return p;
}

static void project_configure(struct project *p, const struct config_project *config)
{
    p->config = config;
    mem_set_str(&p->region, config->region);
    mem_set_str(&p->project_id, config->project_id);
}

struct project *project_add(struct reconcile *r, const struct config_project *config)
{
    struct project *p = project_new(r, config->name);
    project_configure(p, config);
    HASH_ADD_KEYPTR(hh, r->projects, p->name, strlen(p->name), p);
    return p;
}

struct project *project_of_row(struct reconcile *r, const char *name)
{
    struct project *p = project_find(r, name);
    if (!p)
        HASH_FIND_STR(r->retired, name, p);
    if (p)
        return p;
    p = project_new(r, name);
    p->place.resting = true;
    HASH_ADD_KEYPTR(hh, r->retired, p->name, strlen(p->name), p);
    return p;
}

static void project_free(struct project *p)
{
    assert(list_is_empty(&p->clusters) && !upstream_call_is_active(&p->poll.call) &&
           !upstream_call_is_active(&p->catalog.call));
    loop_timer_clear(p->r->o.loop, &p->catalog.timer);
    loop_timer_clear(p->r->o.loop, &p->catalog.share);
    json_decref(p->catalog.shared);
    heap_done(&p->poll.due);
    deleted_shoots_clear(p);
    project_state_free(p->state);
    free(p->poll.name);
    free(p->poll.call.known);
    free(p->poll.last_error);
    free(p->shown);
    free(p->region);
    free(p->project_id);
    free(p->name);
    free(p);
}

void projects_free(struct reconcile *r)
{
    struct project **all[] = {&r->projects, &r->retired};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct project *p, *next;
        HASH_ITER (hh, *all[i], p, next) {
            HASH_DEL(*all[i], p);
            project_free(p);
        }
    }
}

/* ---- starting ---- */

void project_start(struct project *p)
{
    assert(p->config && !p->account);
    HASH_FIND_STR(p->r->accounts, p->config->account->name, p->account);
    assert(p->account); /* checked by the loader of the configuration */
    p->poll.discovery_due = env_mono(p->r->env);
    catalog_show(p);
}

/* A delete comes first. The other operations are in the order of their acceptance, which is the order of ids.
 */
static int by_turn(const void *left, const void *right)
{
    const struct operation *const *a = left, *const *b = right;
    bool a_first = (*a)->type == OPERATION_DELETE, b_first = (*b)->type == OPERATION_DELETE;
    if (a_first != b_first)
        return a_first ? -1 : 1;
    if ((*a)->created_at != (*b)->created_at)
        return (*a)->created_at < (*b)->created_at ? -1 : 1;
    return strcmp((*a)->id, (*b)->id);
}

void project_take_up_cluster(struct entity *e)
{
    struct cluster *c = e->cluster;
    assert(e->project->config);
    if (!c->upstream_exists && !entity_has_open_operation(e) && !e->queued && c->phase != PHASE_FAILED) {
        /* Nothing continues the create, for example because its row could not be read. A client may request
         * the cluster again. */
        c->phase = PHASE_FAILED;
        c->health = HEALTH_UNKNOWN;
        mem_set_str(&c->message, e->op ? e->op->message
                                       : "The operation that should create the cluster cannot be read: "
                                         "create the cluster again");
        entity_store(e);
    }
    c->stale = e->project->place.set_aside ||
               (c->observed_at && env_mono(e->r->env) - c->heard_at > schedule_interval(e));
    entity_show_stored(e);
    if (c->upstream_exists || entity_open_type(e) == OPERATION_DELETE)
        schedule_soon(e, 0);
    if (e->queued > 1)
        qsort(e->queue, e->queued, sizeof(*e->queue), by_turn);
    entity_touch(e);
}

void project_begin_reading(struct project *p)
{
    catalog_fetch(p);
    schedule_rearm(p);
}

void projects_spread(struct reconcile *r)
{
    const struct config *config = r->o.config;
    struct account *account;
    for (account = r->accounts; account; account = account->hh.next)
        account->projects = 0;
    for (size_t i = 0; i < config->project_count; i++) {
        HASH_FIND_STR(r->accounts, config->projects[i].account->name, account);
        assert(account); /* checked by the loader of the configuration */
        project_of_row(r, config->projects[i].name)->poll.phase = account->projects++;
    }
    for (size_t i = 0; i < config->project_count; i++) {
        HASH_FIND_STR(r->accounts, config->projects[i].account->name, account);
        project_of_row(r, config->projects[i].name)->poll.phases = account->projects;
    }
}

/* ---- pausing ---- */

static void answer_all(struct project *p)
{
    struct problem *problem CLEANUP_PROBLEM = problem_at_rest(p);
    fresh_refuse(p);
    reply_problem_all(&p->catalog.waiters, problem);
    fetches_forget_project(p, problem);
}

/* Stops the work on the cluster. After that, only the stored state of its step is known, like after a
 * restart. */
static unsigned put_to_rest(struct walk *w ATTR_UNUSED, struct entity *e)
{
    life_stop(e);
    entity_forget_tries(e);
    schedule_forget(e);
    if (!e->project->config)
        entity_hide(e);
    return WALK_CHANGED;
}

static void on_at_rest(struct walk *w)
{
    struct project *p = CONTAINER_OF(w, struct project, place.moving);
    p->account = NULL;
    p->place.moved(p);
}

static void project_rest(struct project *p, void (*done)(struct project *p))
{
    assert(!p->place.resting && !walk_is_under_way(&p->place.moving));
    p->place.resting = true;
    p->place.moved = done;
    poll_stop(p);
    catalog_stop(p);
    answer_all(p);
    mem_set_str(&p->poll.last_error, NULL);
    p->poll.failures = 0;
    p->place.moving =
        (struct walk){.name = "putting a project to rest", .visit = put_to_rest, .on_end = on_at_rest};
    walk_project(p, &p->place.moving);
}

void project_pause(struct project *p, void (*done)(struct project *p))
{
    walks_leave(p);
    project_rest(p, done);
}

void project_retire(struct project *p, void (*done)(struct project *p))
{
    struct reconcile *r = p->r;
    walks_leave(p);
    catalog_stop(p);
    p->config = NULL;
    HASH_DEL(r->projects, p);
    HASH_ADD_KEYPTR(hh, r->retired, p->name, strlen(p->name), p);
    view_set(r->o.view, VIEW_PROJECTS, p->name, NULL);
    view_set(r->o.view, VIEW_CATALOGS, p->name, NULL);
    mem_set_str(&p->shown, NULL);
    project_rest(p, done);
}

/* ---- resuming ---- */

bool project_rebind(struct project *p, const struct config_project *config)
{
    const bool same_defaults =
        p->config->defaults == config->defaults || json_equal(p->config->defaults, config->defaults);
    p->config = config;
    if (!same_defaults)
        catalog_show(p);
    return !same_defaults;
}

static unsigned take_up(struct walk *w ATTR_UNUSED, struct entity *e)
{
    if (e->cluster->deleted) /* the end of the record is being stored */
        return WALK_PASSED_BY;
    project_take_up_cluster(e);
    return WALK_CHANGED;
}

static void on_taken_up(struct walk *w)
{
    struct project *p = CONTAINER_OF(w, struct project, place.moving);
    project_begin_reading(p);
    p->place.moved(p);
}

void project_resume(struct project *p, const struct config_project *config, void (*done)(struct project *p))
{
    struct reconcile *r = p->r;
    assert(p->place.resting && !p->account && !walk_is_under_way(&p->place.moving));
    if (!p->config) {
        HASH_DEL(r->retired, p);
        HASH_ADD_KEYPTR(hh, r->projects, p->name, strlen(p->name), p);
    }
    project_configure(p, config);
    p->place.resting = p->place.set_aside = false;
    p->place.moved = done;
    project_start(p);
    location_check(p);
    project_show(p);
    p->place.moving = (struct walk){.name = "taking a project up", .visit = take_up, .on_end = on_taken_up};
    walk_project(p, &p->place.moving);
}
