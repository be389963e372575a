/*
 * Each reading thread registers its slot at its first read, because libmicrohttpd starts its workers itself.
 * A slot contains 0 outside a read section. All memory orderings are sequentially consistent: the reader's
 * store of its epoch must be visible before its load of the protected pointer. Weaker orderings do not
 * guarantee that.
 */
#include "base/epoch.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"

struct slot {
    _Alignas(64) _Atomic uint64_t entered; /* the epoch of the read section; 0 outside a section */
    _Atomic int in_use;                    /* 0 when the thread of this slot has ended */
    struct slot *next;
};

struct retired {
    void *object;
    void (*release)(void *object);
    uint64_t epoch;
    struct retired *next;
};

struct epoch {
    _Atomic uint64_t current;
    _Atomic(struct slot *) slots; /* slots are added, and never removed */
    pthread_key_t key;
    struct retired *oldest; /* replaced objects that are not freed yet; only the writer uses the list */
    struct retired **newest;
};

static void slot_release(void *arg)
{
    struct slot *slot = arg;
    assert(!atomic_load(&slot->entered)); /* a thread does not end inside a read section */
    atomic_store(&slot->in_use, 0);
}

struct epoch *epoch_new(void)
{
    struct epoch *e = MEM_NEW(struct epoch);
    atomic_init(&e->current, 1);
    e->newest = &e->oldest;
    if (pthread_key_create(&e->key, slot_release) != 0)
        abort();
    return e;
}

void epoch_free(struct epoch *e)
{
    if (!e)
        return;
    for (struct retired *r = e->oldest, *next; r; r = next) {
        next = r->next;
        r->release(r->object);
        free(r);
    }
    for (struct slot *s = atomic_load(&e->slots), *next; s; s = next) {
        next = s->next;
        assert(!atomic_load(&s->entered)); /* no reader is inside a read section */
        free(s);
    }
    (void)pthread_key_delete(e->key);
    free(e);
}

static struct slot *slot_claim(struct epoch *e)
{
    for (struct slot *s = atomic_load(&e->slots); s; s = s->next) {
        int expected = 0;
        if (atomic_compare_exchange_strong(&s->in_use, &expected, 1))
            return s;
    }
    struct slot *slot = aligned_alloc(64, sizeof(*slot));
    if (!slot)
        abort();
    atomic_init(&slot->entered, 0);
    atomic_init(&slot->in_use, 1);
    slot->next = atomic_load(&e->slots);
    while (!atomic_compare_exchange_weak(&e->slots, &slot->next, slot))
        ;
    return slot;
}

static struct slot *slot_mine(struct epoch *e)
{
    struct slot *slot = pthread_getspecific(e->key);
    if (!slot) {
        slot = slot_claim(e);
        (void)pthread_setspecific(e->key, slot);
    }
    return slot;
}

void epoch_enter(struct epoch *e)
{
    struct slot *slot = slot_mine(e);
    assert(atomic_load(&slot->entered) == 0);
    atomic_store(&slot->entered, atomic_load(&e->current));
}

void epoch_leave(struct epoch *e)
{
    struct slot *slot = slot_mine(e);
    assert(atomic_load(&slot->entered));
    atomic_store(&slot->entered, 0);
}

void epoch_retire(struct epoch *e, void *object, void (*release)(void *object))
{
    struct retired *r = MEM_NEW(struct retired);
    *r = (struct retired){.object = object, .release = release, .epoch = atomic_fetch_add(&e->current, 1)};
    *e->newest = r;
    e->newest = &r->next;
    epoch_collect(e);
}

static uint64_t oldest_reader(struct epoch *e)
{
    uint64_t oldest = UINT64_MAX;
    for (struct slot *s = atomic_load(&e->slots); s; s = s->next) {
        uint64_t entered = atomic_load(&s->entered);
        if (entered && entered < oldest)
            oldest = entered;
    }
    return oldest;
}

void epoch_collect(struct epoch *e)
{
    if (!e->oldest)
        return;
    uint64_t oldest = oldest_reader(e);
    while (e->oldest && e->oldest->epoch < oldest) {
        struct retired *r = e->oldest;
        e->oldest = r->next;
        if (!e->oldest)
            e->newest = &e->oldest;
        r->release(r->object);
        free(r);
    }
}
