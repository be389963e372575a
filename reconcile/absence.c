/*
 * Clusters that Cleura does not show. An empty list or a 404 can be a moment of blindness, of Cleura or of a
 * gateway, so absence is believed only when it lasts (polling.absent_for) or when a deletion was seen to run.
 * Until then the cluster is `unknown`, and says why and since when.
 *
 * A record that ends without a deletion is kept aside for DEPARTED_DAYS: when the same uid shows up again,
 * the cluster comes back with its id, spec, labels and protection. Loop thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "reconcile/world_private.h"

enum { DEPARTED_DAYS = 30, DEPARTED_MAX = 20000, DEPARTED_SLICE = 500 };

/* ---- absent ---- */

/* Cleura took a deletion of ours. */
static bool deletion_was_taken(const struct entity *e)
{
    const struct operation *op = e->op;
    return entity_wish(e) == OPERATION_DELETE && op->step_count && op->steps[0].status == STEP_DONE &&
           !op->steps[0].uncertain;
}

/*
 * Only time counts in which Cleura was read and did not show it: an outage, or time that the daemon was not
 * running, says nothing.
 */
static int64_t left_us(struct entity *e)
{
    mono_us now = env_mono(e->r->env);
    if (e->absent_read_at)
        e->absent_us += now - e->absent_read_at;
    e->absent_read_at = now;
    return e->r->o.config->polling.absent_for_us - e->absent_us;
}

void absence_unread(struct entity *e)
{
    e->absent_read_at = 0;
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
    log_warning("cluster is not shown by Cleura", "project", c->project, "cluster", c->name, "message",
                c->message);
    observe_settle(e, save);
    if (c->phase == before) /* a deletion waits for it: nothing else tells */
        emit_cluster(save, EVENT_CLUSTER_UNREACHABLE, e, before, c->message);
    save_entity(save, e);
    save_submit(save, false);
}

void absence_noted(struct entity *e)
{
    struct cluster *c = e->cluster;
    const bool ours = deletion_was_taken(e), runs = shoot_is_being_deleted(c->shoot);
    int64_t again = LOOK_AGAIN_S * US_PER_S;
    if (!c->upstream_exists || (ours && runs)) {
        entity_gone(e);
        return;
    }
    if (!ours && !e->missing_in_list) {
        e->project->discovery_due =
            env_mono(e->r->env); /* one 404 may be a gateway's: what does a list say? */
    } else if (++e->absent_reads < ABSENT_READS) {
        e->confirm_absent = true;
    } else {
        if (!c->absent_since && !ours && !runs)
            begin_absence(e);
        int64_t left = ours || runs ? 0 : left_us(e);
        if (left <= 0) {
            entity_gone(e);
            return;
        }
        e->confirm_absent = true;
        again = poll_interval(e) < left ? poll_interval(e) : left;
    }
    poll_soon(e, again);
}

/* ---- departed ---- */

/* The same uid in another project is another record. */
struct departed_key {
    struct project *project;
    uuid_t uid;
};

struct departed {
    UT_hash_handle hh;
    struct departed_key key;
    struct cluster *cluster;
};

static struct departed_key key_of(struct project *p, const struct shoot *shoot)
{
    struct departed_key key;
    memset(&key, 0, sizeof(key));
    key.project = p;
    uuid_copy(key.uid, shoot->uid);
    return key;
}

static void forget(struct reconcile *r, struct departed *d)
{
    HASH_DEL(r->departed, d);
    cluster_free(d->cluster);
    free(d);
}

void departed_add(struct project *p, struct cluster *c)
{
    struct departed_key key = key_of(p, c->shoot);
    struct departed *d;
    HASH_FIND(hh, p->r->departed, &key, sizeof(key), d);
    if (d)
        forget(p->r, d);
    d = MEM_NEW(struct departed);
    d->key = key;
    d->cluster = c;
    HASH_ADD(hh, p->r->departed, key, sizeof(d->key), d);
}

struct cluster *departed_take(struct project *p, const struct shoot *shoot)
{
    struct departed *d;
    if (!shoot_has_uid(shoot))
        return NULL;
    struct departed_key key = key_of(p, shoot);
    HASH_FIND(hh, p->r->departed, &key, sizeof(key), d);
    if (!d)
        return NULL;
    struct cluster *c = TAKE_PTR(d->cluster);
    forget(p->r, d);
    c->departed_at = 0;
    c->absent_since = 0;
    c->deleted = false;
    return c;
}

bool departed_purge(struct reconcile *r)
{
    const wall_us before = env_wall(r->env) - INT64_C(86400) * DEPARTED_DAYS * US_PER_S;
    struct save *save = NULL;
    unsigned left = DEPARTED_SLICE;
    struct departed *d, *next;
    HASH_ITER (hh, r->departed, d, next) {
        if (d->cluster->departed_at >= before && HASH_COUNT(r->departed) <= DEPARTED_MAX)
            continue;
        if (!left--)
            break;
        if (!save)
            save = save_new(r, NULL, NULL);
        change_delete_cluster(save->set, d->cluster->id);
        forget(r, d);
    }
    if (save)
        save_submit(save, false);
    return !d;
}

void departed_free(struct reconcile *r)
{
    struct departed *d, *next;
    HASH_ITER (hh, r->departed, d, next)
        forget(r, d);
}
