/*
 * Versions that run out: an event when one that a cluster uses has 30, 14, 7 and 1 days left, and when it is
 * over, each once per cluster and version, also over restarts. Cleura upgrades by force after that
 * (CL-20). Loop thread.
 */
#include "reconcile/observation/expiry.h"

#include "base/attrs.h"
#include "base/mem.h"
#include "model/expiry.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/walk.h"

#define DAY_US (24 * 3600 * US_PER_S)

/* The warning that is due, by the days that are left; -1: none yet. 0: it is over. */
static int due_warning(int64_t left_us)
{
    static const int days[] = {0, 1, 7, 14, 30};
    for (size_t i = 0; i < ARRAY_LEN(days); i++)
        if (left_us <= days[i] * DAY_US)
            return days[i];
    return -1;
}

struct look {
    struct entity *e;
    json_t *told;      /* what was or is told of the versions in use */
    struct save *save; /* made when the first event is */
};

static void look_at(void *ctx, const struct version_in_use *v)
{
    struct look *look = ctx;
    struct entity *e = look->e;
    wall_us now = env_wall(e->r->env);
    if (!v->expires_at)
        return;
    char *key CLEANUP_FREE = mem_printf("%s %s", v->component, v->version);
    int due = due_warning(v->expires_at - now);
    int64_t before = json_int(e->cluster->expiry_told, key, INT64_MAX);
    if (due >= 0 && due < before) {
        const struct expiring x = {.what = v->component,
                                   .version = v->version,
                                   .expires_at = json_str(v->entry, "expires_at"),
                                   .days_left = v->expires_at > now ? (v->expires_at - now) / DAY_US : 0};
        if (!look->save)
            look->save = save_new(e->r, NULL, NULL);
        emit_expiring(look->save, e, &x);
        json_set_int(look->told, key, due);
    } else if (before != INT64_MAX) {
        json_set_int(look->told, key, before);
    }
}

static bool tell_what_expires(struct entity *e, const json_t *catalog)
{
    struct cluster *c = e->cluster;
    if (!c->shoot || c->deleted || entity_is_committing(e))
        return false;
    json_t *told CLEANUP_JSON = json_object();
    struct look look = {.e = e, .told = told};
    versions_in_use(c->shoot->observed, catalog, look_at, &look);
    if (!look.save)
        return false;
    json_decref(c->expiry_told);
    c->expiry_told = json_incref(told);
    save_entity(look.save, e);
    save_submit(look.save, false);
    return true;
}

/* Another catalog tells other dates. */
static bool renew_note(struct entity *e)
{
    wall_us before = e->cluster->expires_at;
    entity_note_expiry(e);
    if (e->cluster->expires_at == before)
        return false;
    entity_show(e);
    return true;
}

static unsigned look_at_cluster(struct walk *w, struct entity *e)
{
    struct project *p = CONTAINER_OF(w, struct project, expiry);
    if (!p->state->catalog)
        return WALK_PASSED_BY;
    bool changed = renew_note(e);
    changed |= tell_what_expires(e, p->state->catalog);
    return changed ? WALK_CHANGED : WALK_LOOKED_AT;
}

void expiry_init(struct project *p)
{
    p->expiry = (struct walk){.name = "versions that expire", .visit = look_at_cluster};
}

void expiry_look(struct project *p)
{
    if (p->state->catalog && !p->r->stopping)
        walk_project(p, &p->expiry);
}
