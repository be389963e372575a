/*
 * The catalog of Cleura's offers in a region. It is read once an hour for all projects of an account, and
 * stored. This file also emits the events about the expiry of versions: when a version that a cluster uses
 * expires in 30, 14, 7 and 1 days, and when it has expired. Each event is emitted once per cluster and
 * version, also when shootd restarts. After the expiry Cleura forces an upgrade (CL-20). Loop thread.
 */
#include "reconcile/lookups/catalog.h"

#include <assert.h>
#include <string.h>

#include "base/attrs.h"
#include "base/etag.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/expiry.h"
#include "model/spec.h"
#include "reconcile/answers/objects.h"
#include "reconcile/answers/reply.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"
#include "view/render.h"

/* ---- versions that expire ---- */

#define DAY_US (24 * 3600 * US_PER_S)

/* Returns the warning that is due, in days until the expiry; 0: the version has expired, -1: no warning is
 * due yet. */
static int due_warning(int64_t left_us)
{
    static const int days[] = {0, 1, 7, 14, 30};
    for (size_t i = 0; i < ARRAY_LEN(days); i++)
        if (left_us <= days[i] * DAY_US)
            return days[i];
    return -1;
}

struct catalog_look {
    struct entity *e;
    json_t *announced; /* the last warning that was emitted for each version in use */
    struct save *save; /* NULL until the first event */
};

static void expiry_of_version(void *ctx, const struct version_in_use *v)
{
    struct catalog_look *look = ctx;
    struct entity *e = look->e;
    wall_us now = env_wall(e->r->env);
    if (!v->expires_at)
        return;
    char *key CLEANUP_FREE = mem_printf("%s %s", v->component, v->version);
    int due = due_warning(v->expires_at - now);
    int64_t before = json_int(e->cluster->expiry_announced, key, INT64_MAX);
    if (due >= 0 && due < before) {
        const struct expiring x = {.what = v->component,
                                   .version = v->version,
                                   .expires_at = json_str(v->entry, "expires_at"),
                                   .days_left = v->expires_at > now ? (v->expires_at - now) / DAY_US : 0};
        if (!look->save)
            look->save = save_new(e->r, NULL, NULL);
        emit_expiring(look->save, e, &x);
        json_set_int(look->announced, key, due);
    } else if (before != INT64_MAX) {
        json_set_int(look->announced, key, before);
    }
}

static bool announce_expiry(struct entity *e, const json_t *catalog)
{
    struct cluster *c = e->cluster;
    if (!c->shoot || c->deleted || entity_is_committing(e))
        return false;
    json_t *announced CLEANUP_JSON = json_object();
    struct catalog_look look = {.e = e, .announced = announced};
    versions_in_use(c->shoot, catalog, expiry_of_version, &look);
    if (!look.save)
        return false;
    json_decref(c->expiry_announced);
    c->expiry_announced = json_incref(announced);
    save_entity(look.save, e);
    save_submit(look.save, false);
    return true;
}

static unsigned expiry_of_cluster(struct walk *w, struct entity *e)
{
    struct project *p = CONTAINER_OF(w, struct project, catalog.expiry);
    if (!p->state->catalog)
        return WALK_PASSED_BY;
    /* In a new catalog, the dates of expiry may be different. */
    wall_us before = e->cluster->expires_at;
    entity_note_expiry(e);
    bool changed = e->cluster->expires_at != before;
    if (changed)
        entity_show(e);
    changed |= announce_expiry(e, p->state->catalog);
    return changed ? WALK_CHANGED : WALK_LOOKED_AT;
}

void expiry_check(struct project *p)
{
    if (p->state->catalog && !p->r->stopping)
        walk_project(p, &p->catalog.expiry);
}

enum { CATALOG_MAX_AGE_S = 3600, CATALOG_DEADLINE_S = 60, CATALOG_RETRY_S = 15 };

/* ---- the catalog ---- */

/* Returns the catalog in the form of the API; the caller owns it. */
static json_t *catalog_document(const struct project *p)
{
    struct spec_context context;
    project_spec_context(p, &context);
    json_t *doc = json_copy(p->state->catalog);
    json_set_take(doc, "defaults", spec_defaults(&context));
    json_set_take(doc, "fetched_at", time_or_null(p->state->catalog_at));
    return doc;
}

void catalog_show(struct project *p)
{
    if (!p->state->catalog)
        return;
    json_t *doc CLEANUP_JSON = catalog_document(p);
    char *text = json_text(doc);
    char etag[ETAG_BYTES];
    etag_of_bytes(text, strlen(text), etag);
    view_set(p->r->o.view, VIEW_CATALOGS, p->name,
             render_catalog_blob(etag, text, doc, p->state->catalog_at));
}

static void take_catalog(struct project *p, const json_t *catalog)
{
    assert(!project_is_at_rest(p));
    /* After a start the catalog is read again, and is stored only when it differs. */
    bool news = !json_equal(p->state->catalog, catalog);
    json_decref(p->state->catalog);
    p->state->catalog = json_deep_copy(catalog);
    p->state->catalog_at = env_wall(p->r->env);
    if (news)
        project_store(p);
    catalog_show(p);
    LIST_FOR_EACH_SAFE (it, next, &p->catalog.waiters)
        command_is_ready(wait_take(CONTAINER_OF(it, struct waiting, link)));
    expiry_check(p);
    loop_timer_set(p->r->o.loop, &p->catalog.timer, env_mono(p->r->env) + CATALOG_MAX_AGE_S * US_PER_S);
}

static bool shares_catalog(const struct project *p, const struct project *from)
{
    return p != from && !project_is_at_rest(p) && p->account == from->account &&
           !strcmp(p->region, from->region);
}

/* One project is handled per turn, because for each project the catalog is copied and stored. */
static void share_catalog(struct project *from)
{
    struct project *p = from->catalog.share_next;
    assert(from->catalog.shared);
    while (p && !shares_catalog(p, from))
        p = p->hh.next;
    from->catalog.share_next = p ? p->hh.next : NULL;
    if (!p) {
        json_decref(from->catalog.shared);
        from->catalog.shared = NULL;
        return;
    }
    loop_timer_set(from->r->o.loop, &from->catalog.share, env_mono(from->r->env));
    upstream_cancel(&p->catalog.call);
    take_catalog(p, from->catalog.shared);
    project_show(p);
}

static void on_share_turn(struct loop_timer *timer)
{
    share_catalog(CONTAINER_OF(timer, struct project, catalog.share));
}

/* One call serves all projects of an account in a region, because the catalog is the same for them. */
static void catalog_read(struct project *p, const json_t *catalog)
{
    struct project *other, *next;
    HASH_ITER (hh, p->r->projects, other, next)
        if (shares_catalog(other, p))
            upstream_cancel(&other->catalog.call);
    take_catalog(p, catalog);
    project_show(p);
    json_decref(p->catalog.shared);
    p->catalog.shared = json_incref(p->state->catalog);
    p->catalog.share_next = p->r->projects;
    share_catalog(p);
}

static void on_catalog(struct upstream_call *call, struct upstream_result *result)
{
    struct project *p = CONTAINER_OF(call, struct project, catalog.call);
    if (result->class == UPSTREAM_OK) {
        catalog_read(p, result->catalog);
        return;
    }
    struct problem *problem CLEANUP_PROBLEM = upstream_problem(result);
    struct problem *for_callers CLEANUP_PROBLEM =
        problem_new(problem->code, "the catalog cannot be read: %s", problem->detail);
    for_callers->retry_after_s = problem->retry_after_s;
    log_warning("catalog cannot be read", "project", p->name, "error", problem->detail);
    reply_problem_all(&p->catalog.waiters, for_callers);
    int64_t wait_s = result->retry_after_s > CATALOG_RETRY_S ? result->retry_after_s : CATALOG_RETRY_S;
    loop_timer_set(p->r->o.loop, &p->catalog.timer, env_mono(p->r->env) + wait_s * US_PER_S);
    project_show(p);
}

void catalog_fetch(struct project *p)
{
    if (upstream_call_is_active(&p->catalog.call) || p->r->stopping || project_is_at_rest(p))
        return;
    loop_timer_clear(p->r->o.loop, &p->catalog.timer);
    p->catalog.call.op = UPSTREAM_CATALOG;
    p->catalog.call.region = p->region;
    p->catalog.call.project_id = p->project_id;
    p->catalog.call.priority = list_is_empty(&p->catalog.waiters) ? LANE_DISCOVERY : LANE_USER_WAITING;
    p->catalog.call.deadline = env_mono(p->r->env) + CATALOG_DEADLINE_S * US_PER_S;
    p->catalog.call.on_done = on_catalog;
    call_for_waiters(&p->catalog.call, &p->catalog.waiters);
    upstream_submit(project_lane(p), &p->catalog.call);
}

static void on_catalog_due(struct loop_timer *timer)
{
    catalog_fetch(CONTAINER_OF(timer, struct project, catalog.timer));
}

static struct problem *on_wait_deadline(struct waiting *w ATTR_UNUSED)
{
    return problem_new(PROBLEM_UPSTREAM_TIMEOUT, "the catalog of this project was not read in time");
}

bool catalog_wait(struct project *p, struct command *cmd)
{
    if (p->state->catalog)
        return false;
    (void)wait_new(p->r, cmd, &p->catalog.waiters, on_wait_deadline);
    catalog_fetch(p);
    return true;
}

struct problem *command_catalog(struct reconcile *r, struct command *cmd)
{
    struct project *p;
    struct problem *refusal = command_project(r, cmd, &p);
    if (!refusal && !catalog_wait(p, cmd))
        reply_json(cmd, 200, catalog_document(p));
    return refusal;
}

void catalog_init(struct project *p)
{
    list_init(&p->catalog.waiters);
    p->catalog.expiry = (struct walk){.name = "versions that expire", .visit = expiry_of_cluster};
    p->catalog.timer.fire = on_catalog_due;
    p->catalog.timer.name = "catalog";
    p->catalog.share.fire = on_share_turn;
    p->catalog.share.name = "catalog for another project";
}

/* Other projects that share their catalog leave out this project. */
void catalog_stop(struct project *p)
{
    upstream_cancel(&p->catalog.call);
    loop_timer_clear(p->r->o.loop, &p->catalog.timer);
    loop_timer_clear(p->r->o.loop, &p->catalog.share);
    json_decref(p->catalog.shared);
    p->catalog.shared = NULL;
    for (struct project *other = p->r->projects; other; other = other->hh.next)
        if (other->catalog.share_next == p)
            other->catalog.share_next = p->hh.next;
}
