#include "http/suspend.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/lock.h"
#include "base/mem.h"
#include "http/http_private.h"

/* A suspension has two references: its request has one until the resume, and the thread that resumes it has
 * the other. */
struct suspension {
    pthread_mutex_t lock; /* protects request and result */
    atomic_uint refs;
    void (*discard)(void *result);
    struct server_request *request; /* NULL after the resume */
    void *result;
    struct list link; /* protected by the lock of the list */
    mono_us due;      /* when the wait ends */
    char owner[SUSPENSION_OWNER_BYTES];
};

void suspensions_init(struct suspensions *all)
{
    mutex_init(&all->lock);
    list_init(&all->waiting);
    atomic_init(&all->count, 0);
    atomic_init(&all->owned, 0);
}

void suspensions_done(struct suspensions *all)
{
    assert(!atomic_load(&all->count) && !atomic_load(&all->owned) && list_is_empty(&all->waiting));
    mutex_done(&all->lock);
}

static void suspension_unref(struct suspension *s)
{
    unsigned before = atomic_fetch_sub(&s->refs, 1);
    assert(before > 0);
    if (before != 1)
        return;
    if (s->result)
        s->discard(s->result);
    mutex_done(&s->lock);
    free(s);
}

/* Resumes the request; only the first call has an effect. The caller holds s->lock, so the request still
 * exists. */
static void resume_once(struct suspension *s)
{
    struct server_request *r = TAKE_PTR(s->request);
    if (r)
        MHD_resume_connection(r->mhd);
}

void suspension_resume(struct suspension *s, void *result)
{
    mutex_lock(&s->lock);
    assert(!s->result);
    s->result = result;
    resume_once(s);
    mutex_unlock(&s->lock);
    suspension_unref(s);
}

static struct suspension *suspension_new(struct server_request *r, const struct suspension_terms *terms)
{
    struct suspension *s = MEM_NEW(struct suspension);
    mutex_init(&s->lock);
    atomic_init(&s->refs, 2);
    s->discard = terms->discard;
    s->request = r;
    s->due = terms->due;
    if (terms->owner)
        memcpy(s->owner, terms->owner, strnlen(terms->owner, sizeof(s->owner) - 1));
    return s;
}

struct suspension *http_suspend(struct server_request *r, const struct suspension_terms *terms)
{
    struct suspensions *all = &r->server->suspensions;
    assert((r->stage == STAGE_OPENED || r->stage == STAGE_BODY) && !r->suspension);
    /* The suspension is counted before the flag is read, because http_stop sets the flag before it reads the
     * count. */
    atomic_fetch_add(&all->count, 1);
    if (atomic_load(&r->server->stopping)) {
        atomic_fetch_sub(&all->count, 1);
        return NULL;
    }
    struct suspension *s = suspension_new(r, terms);
    if (s->owner[0])
        atomic_fetch_add(&all->owned, 1);
    r->suspension = s;
    r->stage = r->stage == STAGE_OPENED ? STAGE_CHECK_SUSPENDED : STAGE_SUSPENDED;
    mutex_lock(&all->lock);
    list_append(&all->waiting, &s->link);
    mutex_unlock(&all->lock);
    /* The connection is suspended before another thread can get the reference. Therefore a result from any
     * thread finds a suspended connection (MH-10). */
    MHD_suspend_connection(r->mhd);
    return s;
}

void *suspension_leave(struct server_request *r)
{
    struct suspensions *all = &r->server->suspensions;
    struct suspension *s = TAKE_PTR(r->suspension);
    assert(s && atomic_load(&all->count) > 0);
    mutex_lock(&all->lock);
    list_remove(&s->link);
    mutex_unlock(&all->lock);
    if (s->owner[0])
        atomic_fetch_sub(&all->owned, 1);
    atomic_fetch_sub(&all->count, 1);

    mutex_lock(&s->lock);
    s->request = NULL;
    void *result = TAKE_PTR(s->result);
    mutex_unlock(&s->lock);
    suspension_unref(s);
    return result;
}

void suspension_drop(struct server_request *r)
{
    void (*discard)(void *result) = r->suspension->discard;
    void *result = suspension_leave(r);
    if (result)
        discard(result);
}

unsigned http_suspended(const struct server_request *r)
{
    return atomic_load(&r->server->suspensions.owned);
}

unsigned http_suspended_of(const struct server_request *r, const char *owner)
{
    struct suspensions *all = &r->server->suspensions;
    unsigned count = 0;
    mutex_lock(&all->lock);
    LIST_FOR_EACH (it, &all->waiting)
        count += !strcmp(CONTAINER_OF(it, struct suspension, link)->owner, owner);
    mutex_unlock(&all->lock);
    return count;
}

void suspensions_expire(void *suspensions, mono_us now)
{
    struct suspensions *all = suspensions;
    mutex_lock(&all->lock);
    LIST_FOR_EACH (it, &all->waiting) {
        struct suspension *s = CONTAINER_OF(it, struct suspension, link);
        if (s->due > now)
            continue;
        mutex_lock(&s->lock);
        resume_once(s);
        mutex_unlock(&s->lock);
    }
    mutex_unlock(&all->lock);
}
