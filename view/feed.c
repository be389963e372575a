#include "view/feed.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/env.h"
#include "base/lock.h"
#include "base/mem.h"
#include "view/render.h"

struct feed {
    pthread_mutex_t lock; /* protects all members below */
    pthread_cond_t woken;
    unsigned wakes;
    struct feed_numbers numbers;
    struct feed_entry **ring; /* the entries; the index is the sequence modulo max_entries */
    size_t count;             /* the number of entries in the ring; their sequences are newest - count + 1 to
                               * newest */
    size_t bytes;
    size_t max_entries;
    size_t max_bytes;
};

struct feed_entry *feed_entry_ref(struct feed_entry *e)
{
    atomic_fetch_add(&e->refs, 1);
    return e;
}

void feed_entry_unref(struct feed_entry *e)
{
    if (!e)
        return;
    unsigned before = atomic_fetch_sub(&e->refs, 1);
    assert(before > 0);
    if (before != 1)
        return;
    free(e->project);
    free(e->cluster);
    free(e->text);
    free(e);
}

static struct feed_entry *entry_new(const struct event *event)
{
    struct feed_entry *e = MEM_NEW(struct feed_entry);
    struct buffer text;
    buffer_init(&text, SIZE_MAX);
    render_event_stream(&text, event);
    atomic_init(&e->refs, 1);
    e->sequence = event->sequence;
    e->type = event->type;
    e->project = mem_strdup(event->project);
    e->cluster = mem_strdup(event->cluster);
    e->text = buffer_take(&text, &e->len);
    return e;
}

struct feed *feed_new(size_t max_entries, size_t max_bytes)
{
    struct feed *f = MEM_NEW(struct feed);
    assert(max_entries > 0);
    f->max_entries = max_entries;
    f->max_bytes = max_bytes;
    f->ring = mem_calloc(max_entries, sizeof(struct feed_entry *));
    mutex_init(&f->lock);
    cond_init(&f->woken);
    return f;
}

/* Called while the lock is held. */
static struct feed_entry **place_of(struct feed *f, int64_t sequence)
{
    return &f->ring[(uint64_t)sequence % f->max_entries];
}

/* Removes the oldest entry and returns it. Called while the lock is held. */
static struct feed_entry *take_first(struct feed *f)
{
    struct feed_entry **place = place_of(f, f->numbers.newest - (int64_t)f->count + 1);
    assert(f->count && *place);
    struct feed_entry *e = TAKE_PTR(*place);
    f->count--;
    assert(f->bytes >= e->len);
    f->bytes -= e->len;
    return e;
}

void feed_free(struct feed *f)
{
    if (!f)
        return;
    while (f->count)
        feed_entry_unref(take_first(f));
    cond_done(&f->woken);
    mutex_done(&f->lock);
    free(f->ring);
    free(f);
}

void feed_begin(struct feed *f, int64_t oldest, int64_t newest)
{
    mutex_lock(&f->lock);
    f->numbers.oldest = oldest;
    f->numbers.newest = newest;
    mutex_unlock(&f->lock);
}

void feed_set_oldest(struct feed *f, int64_t oldest)
{
    mutex_lock(&f->lock);
    f->numbers.oldest = oldest;
    mutex_unlock(&f->lock);
}

/* Removes and returns the oldest entry when there is no space for `e`, or when `e` does not follow the
 * newest entry. Otherwise returns NULL. Called while the lock is held. */
static struct feed_entry *make_room(struct feed *f, const struct feed_entry *e)
{
    bool follows = e->sequence == f->numbers.newest + 1; /* otherwise the ring would have a gap */
    bool fits = f->count < f->max_entries && f->bytes + e->len <= f->max_bytes;
    return f->count && (!follows || !fits) ? take_first(f) : NULL;
}

void feed_publish(struct feed *f, const struct event *event)
{
    struct feed_entry *e = entry_new(event);
    mutex_lock(&f->lock);
    for (struct feed_entry *old = make_room(f, e); old; old = make_room(f, e)) {
        mutex_unlock(&f->lock);
        feed_entry_unref(old);
        mutex_lock(&f->lock);
    }
    struct feed_entry **place = place_of(f, e->sequence);
    assert(!*place && e->type < EVENT_TYPE_MAX_);
    *place = e;
    f->count++;
    f->bytes += e->len;
    f->numbers.newest = e->sequence;
    f->numbers.oldest = f->numbers.oldest ? f->numbers.oldest : e->sequence;
    f->numbers.published[e->type]++;
    f->wakes++;
    cond_signal(&f->woken);
    mutex_unlock(&f->lock);
}

int64_t feed_newest(struct feed *f)
{
    mutex_lock(&f->lock);
    int64_t newest = f->numbers.newest;
    mutex_unlock(&f->lock);
    return newest;
}

void feed_numbers(struct feed *f, struct feed_numbers *ret)
{
    mutex_lock(&f->lock);
    *ret = f->numbers;
    mutex_unlock(&f->lock);
}

enum feed_place feed_next(struct feed *f, int64_t after, struct feed_entry **ret_entry)
{
    enum feed_place place = FEED_END;
    mutex_lock(&f->lock);
    if (after < f->numbers.newest - (int64_t)f->count) {
        place = FEED_BEHIND;
    } else if (after < f->numbers.newest) {
        *ret_entry = feed_entry_ref(*place_of(f, after + 1));
        place = FEED_ENTRY;
    }
    mutex_unlock(&f->lock);
    return place;
}

size_t feed_batch(struct feed *f, int64_t after, struct feed_entry **ret_entries, size_t max)
{
    size_t count = 0;
    mutex_lock(&f->lock);
    int64_t lost = f->numbers.newest - (int64_t)f->count;
    for (int64_t i = (after < lost ? lost : after) + 1; i <= f->numbers.newest && count < max; i++)
        ret_entries[count++] = feed_entry_ref(*place_of(f, i));
    mutex_unlock(&f->lock);
    return count;
}

void feed_wait(struct feed *f, unsigned *wakes, int64_t timeout_us)
{
    const struct timespec until = cond_until(timeout_us);
    mutex_lock(&f->lock);
    while (f->wakes == *wakes && pthread_cond_timedwait(&f->woken, &f->lock, &until) == 0)
        ;
    *wakes = f->wakes;
    mutex_unlock(&f->lock);
}

void feed_wake(struct feed *f)
{
    mutex_lock(&f->lock);
    f->wakes++;
    cond_signal(&f->woken);
    mutex_unlock(&f->lock);
}
