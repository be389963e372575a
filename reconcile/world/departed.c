/*
 * Clusters that are no longer at Cleura. When a shoot disappears without a visible deletion, its record is
 * kept for DEPARTED_DAYS. When the same uid appears again, the cluster returns with its id, spec, labels and
 * protection.
 *
 * Deleted shoots are kept for the time in which a list may still show them (CL-8), so that they are not
 * discovered again. Deleted shoots are only in memory: a restart loses them. Loop thread.
 */
#include "reconcile/world/departed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/world.h"

enum { DEPARTED_DAYS = 30, DEPARTED_MAX = 20000, DEPARTED_SLICE = 500 };

/* The key includes the project, because the same uid in another project belongs to another record. */
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

static void departed_forget(struct reconcile *r, struct departed *d)
{
    HASH_DEL(r->departed, d);
    cluster_free(d->cluster);
    free(d);
}

void departed_add(struct project *p, struct cluster *c)
{
    assert(c->departed_at && shoot_has_uid(c->shoot)); /* a record without uid could not return */
    struct departed_key key = key_of(p, c->shoot);
    struct departed *d;
    HASH_FIND(hh, p->r->departed, &key, sizeof(key), d);
    if (d)
        departed_forget(p->r, d);
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
    if (!d || strcmp(d->cluster->name, shoot->name) != 0) /* the name of a shoot never changes */
        return NULL;
    struct cluster *c = TAKE_PTR(d->cluster);
    departed_forget(p->r, d);
    c->departed_at = 0;
    c->absent_since = 0;
    c->trouble_since = 0;
    c->deleted = false;
    c->operation_id[0] = '\0'; /* its last operation is from before the disappearance */
    return c;
}

bool departed_purge(struct reconcile *r)
{
    const wall_us before = settled_clock_now(&r->settled) - INT64_C(86400) * DEPARTED_DAYS * US_PER_S;
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
        departed_forget(r, d);
    }
    if (save)
        save_submit(save, false);
    return !d;
}

void departed_free(struct reconcile *r)
{
    struct departed *d, *next;
    HASH_ITER (hh, r->departed, d, next)
        departed_forget(r, d);
}

/* ---- shoots that were deleted ---- */

struct deleted_shoot {
    UT_hash_handle hh;
    uuid_t uid;
    mono_us until;
};

static void deleted_shoots_expire(struct project *p, mono_us now)
{
    struct deleted_shoot *g, *next;
    HASH_ITER (hh, p->deleted_shoots, g, next) {
        if (g->until > now)
            continue;
        HASH_DEL(p->deleted_shoots, g);
        free(g);
    }
}

static struct deleted_shoot *deleted_shoot_find(struct project *p, const struct shoot *shoot)
{
    struct deleted_shoot *g = NULL;
    deleted_shoots_expire(p, env_mono(p->r->env));
    if (shoot_has_uid(shoot))
        HASH_FIND(hh, p->deleted_shoots, shoot->uid, sizeof(shoot->uid), g);
    return g;
}

void deleted_shoot_add(struct project *p, const struct shoot *shoot)
{
    struct deleted_shoot *g = deleted_shoot_find(p, shoot);
    if (!shoot_has_uid(shoot))
        return;
    if (!g) {
        g = MEM_NEW(struct deleted_shoot);
        uuid_copy(g->uid, shoot->uid);
        HASH_ADD(hh, p->deleted_shoots, uid, sizeof(g->uid), g);
    }
    g->until = env_mono(p->r->env) + OBSERVE_LAG_S * US_PER_S;
}

bool deleted_shoot_is_known(struct project *p, const struct shoot *shoot)
{
    return deleted_shoot_find(p, shoot) != NULL;
}

void deleted_shoots_clear(struct project *p)
{
    deleted_shoots_expire(p, INT64_MAX);
}
