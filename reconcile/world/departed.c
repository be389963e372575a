/*
 * Records whose shoots vanished without a deletion that was seen, kept for DEPARTED_DAYS: when the same uid
 * shows up again, the cluster comes back with its id, spec, labels and protection. Loop thread.
 */
#include "reconcile/world/departed.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/world.h"

enum { DEPARTED_DAYS = 30, DEPARTED_MAX = 20000, DEPARTED_SLICE = 500 };

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
