/*
 * What phase, health and drift follow from what is known of a cluster: after an observation, and when an
 * operation begins or ends. Loop thread.
 */
#include "reconcile/world/assess.h"

#include <stdlib.h>

#include "base/mem.h"
#include "model/spec.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/phase_events.h"
#include "reconcile/world/save.h"

bool assess_apply(struct cluster *c, const struct decision *d)
{
    bool same = c->phase == d->phase && c->health == d->health && c->settling == d->settling &&
                mem_same_str(c->message, d->message);
    c->phase = d->phase;
    c->health = d->health;
    c->settling = d->settling;
    if (!mem_same_str(c->message, d->message))
        mem_set_str(&c->message, d->message);
    return !same;
}

/* What a managed cluster has otherwise than asked for, while nothing is under way that changes it. */
bool assess_drift(struct entity *e, struct save *save)
{
    struct cluster *c = e->cluster;
    json_t *drift CLEANUP_JSON = json_array();
    if (c->managed && c->spec && c->shoot && !entity_has_open_operation(e) && !e->queued && !c->guard_since)
        (void)spec_differences(c->spec, c->shoot->observed, drift);
    bool before = json_array_size(c->drift) > 0, now = json_array_size(drift) > 0;
    if ((!before && !now) || json_equal(c->drift, drift))
        return false;
    json_decref(c->drift);
    c->drift = now ? json_incref(drift) : NULL;
    if (now) {
        const char *path = json_str_or(json_array_get(drift, 0), "path", "");
        char *message CLEANUP_FREE =
            mem_printf("%zu member(s) differ from the spec: %s%s", json_array_size(drift), path,
                       json_array_size(drift) > 1 ? ", ..." : "");
        emit_cluster(save, EVENT_CLUSTER_DRIFTED, e, c->phase, message);
    }
    return true;
}

/* From the same observation, after what is wanted changed. */
void assess_again(struct entity *e)
{
    struct cluster *c = e->cluster;
    struct decision d = decide(c, c->shoot, entity_open_type(e), env_wall(e->r->env));
    (void)assess_apply(c, &d);
}

void assess_settle(struct entity *e, struct save *save)
{
    enum phase before = e->cluster->phase;
    assess_again(e);
    phase_emit_change(e, save, &before);
    (void)assess_drift(e, save);
}
