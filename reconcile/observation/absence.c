/*
 * Clusters that Cleura does not show. An empty list or a 404 can be a moment of blindness, of Cleura or of a
 * gateway, so absence is believed only when it lasts (polling.absent_for) or when a deletion was seen to run.
 * Until then the cluster is `unknown`, and says why and since when.
 * A record that ends without a deletion is kept (world/departed.h). Loop thread.
 */
#include "reconcile/observation/absence.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "reconcile/operations/ends.h"
#include "reconcile/world/assess.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"

/* Cleura took a deletion of ours. */
static bool deletion_was_taken(const struct entity *e)
{
    const struct operation *op = e->op;
    return entity_open_type(e) == OPERATION_DELETE && op->step_count && op->steps[0].status == STEP_DONE &&
           !op->steps[0].uncertain;
}

/*
 * Only time counts in which Cleura was read and did not show it: an outage, or time that the daemon was not
 * running, says nothing.
 */
static int64_t left_us(struct entity *e)
{
    mono_us now = env_mono(e->r->env);
    if (e->absence.read_at)
        e->absence.confirmed_us += now - e->absence.read_at;
    e->absence.read_at = now;
    return e->r->o.config->polling.absent_for_us - e->absence.confirmed_us;
}

void absence_unread(struct entity *e)
{
    e->absence.read_at = 0;
}

static void begin_absence(struct entity *e)
{
    struct cluster *c = e->cluster;
    char since[TIME_TEXT_BYTES];
    struct save *save = save_new(e->r, NULL, NULL);
    enum phase before = c->phase;
    c->absent_since = env_wall(e->r->env);
    free(c->message);
    c->message =
        mem_printf("Cleura does not show the cluster since %s; it counts as gone when that lasts for %lld s",
                   time_rfc3339(c->absent_since, false, since),
                   (long long)(e->r->o.config->polling.absent_for_us / US_PER_S));
    log_warning("cluster is not shown by Cleura", "project", c->project, "cluster", c->name, "reason",
                c->message);
    assess_settle(e, save);
    if (c->phase == before) /* a deletion waits for it: nothing else tells */
        emit_cluster(save, EVENT_CLUSTER_UNREACHABLE, e, before, c->message);
    save_entity(save, e);
    save_submit(save, false);
}

void absence_noted(struct entity *e)
{
    struct cluster *c = e->cluster;
    assert(!entity_is_committing(e) && !upstream_call_is_active(&e->step.call));
    const bool ours = deletion_was_taken(e), runs = shoot_is_being_deleted(c->shoot);
    int64_t again = LOOK_AGAIN_S * US_PER_S;
    if (!c->upstream_exists || (ours && runs)) {
        entity_gone(e);
        return;
    }
    if (!ours && !e->absence.missing_in_list) {
        e->project->discovery_due =
            env_mono(e->r->env); /* one 404 may be a gateway's: what does a list say? */
    } else if (++e->absence.reads < ABSENT_READS) {
        e->absence.read_alone = true;
    } else {
        if (!c->absent_since && !ours && !runs)
            begin_absence(e);
        int64_t left = ours || runs ? 0 : left_us(e);
        if (left <= 0) {
            entity_gone(e);
            return;
        }
        e->absence.read_alone = true;
        again = schedule_interval(e) < left ? schedule_interval(e) : left;
    }
    schedule_soon(e, again);
}
