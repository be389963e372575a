/*
 * Snapshots: sections are arrays that successive snapshots share while nothing in them changes. The loop
 * thread stages and publishes; readers pass through the epoch. Never blocks, never touches store or network.
 */
#include "view/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/epoch.h"
#include "base/mem.h"

struct section {
    unsigned refs; /* loop thread, and the release of a retired snapshot, which runs there too */
    struct view_entry *entries;
    size_t count;
};

struct snapshot {
    struct view_snapshot shown; /* first member: what readers see */
    struct section *sections[VIEW_SECTION_MAX_];
};

struct staged {
    char *key;
    struct view_blob *blob; /* NULL: remove */
    size_t order;
};

struct staging {
    struct staged *items;
    size_t count;
    size_t capacity;
};

struct view {
    _Atomic(struct snapshot *) current;
    struct epoch *epoch;
    struct staging staging[VIEW_SECTION_MAX_]; /* loop thread */
    bool ready;
    bool draining;
    bool flags_changed;
};

struct view_blob *view_blob_new(const char *etag, char *body, wall_us observed_at, void *subject,
                                void (*subject_free)(void *))
{
    struct view_blob *b = MEM_NEW(struct view_blob);
    atomic_init(&b->refs, 1);
    atomic_init(&b->coded, NULL);
    strncpy(b->etag, etag, sizeof(b->etag) - 1);
    b->body = body;
    b->body_len = body ? strlen(body) : 0;
    b->observed_at = observed_at;
    b->subject = subject;
    b->subject_free = subject_free;
    return b;
}

void view_blob_set_brief(struct view_blob *b, char *brief)
{
    b->brief = brief;
    b->brief_len = strlen(brief);
}

struct view_blob *view_blob_ref(struct view_blob *b)
{
    atomic_fetch_add(&b->refs, 1);
    return b;
}

void view_blob_unref(struct view_blob *b)
{
    if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
        return;
    if (b->subject_free)
        b->subject_free((void *)(uintptr_t)b->subject);
    free(atomic_load(&b->coded));
    free(b->key);
    free(b->body);
    free(b->brief);
    free(b);
}

static struct section *section_new(size_t capacity)
{
    struct section *s = MEM_NEW(struct section);
    s->refs = 1;
    s->entries = mem_calloc(capacity, sizeof(*s->entries));
    return s;
}

static void section_unref(struct section *s)
{
    if (--s->refs)
        return;
    for (size_t i = 0; i < s->count; i++)
        view_blob_unref(s->entries[i].blob);
    free(s->entries);
    free(s);
}

static void snapshot_release(void *object)
{
    struct snapshot *s = object;
    for (int i = 0; i < VIEW_SECTION_MAX_; i++)
        section_unref(s->sections[i]);
    free(s);
}

static void snapshot_show(struct snapshot *s, enum view_section i, struct section *section)
{
    s->sections[i] = section;
    s->shown.sections[i].entries = section->entries;
    s->shown.sections[i].count = section->count;
}

struct view *view_new(void)
{
    struct view *v = MEM_NEW(struct view);
    struct snapshot *empty = MEM_NEW(struct snapshot);
    for (int i = 0; i < VIEW_SECTION_MAX_; i++)
        snapshot_show(empty, (enum view_section)i, section_new(0));
    atomic_init(&v->current, empty);
    v->epoch = epoch_new();
    return v;
}

static void staging_clear(struct staging *staging)
{
    for (size_t i = 0; i < staging->count; i++) {
        free(staging->items[i].key);
        view_blob_unref(staging->items[i].blob);
    }
    staging->count = 0;
}

void view_free(struct view *v)
{
    if (!v)
        return;
    for (int i = 0; i < VIEW_SECTION_MAX_; i++) {
        staging_clear(&v->staging[i]);
        free(v->staging[i].items);
    }
    epoch_free(v->epoch);
    snapshot_release(atomic_load(&v->current));
    free(v);
}

const struct view_snapshot *view_enter(struct view *v)
{
    epoch_enter(v->epoch);
    return &atomic_load(&v->current)->shown;
}

void view_leave(struct view *v)
{
    epoch_leave(v->epoch);
}

size_t view_lower_bound(const struct view_snapshot *s, enum view_section section, const char *key)
{
    size_t low = 0, high = s->sections[section].count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(s->sections[section].entries[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct view_blob *view_find(const struct view_snapshot *s, enum view_section section, const char *key)
{
    size_t i = view_lower_bound(s, section, key);
    if (i == s->sections[section].count || strcmp(s->sections[section].entries[i].key, key) != 0)
        return NULL;
    return s->sections[section].entries[i].blob;
}

void view_set(struct view *v, enum view_section section, const char *key, struct view_blob *blob)
{
    struct staging *staging = &v->staging[section];
    if (staging->count == staging->capacity) {
        staging->capacity = staging->capacity ? staging->capacity * 2 : 16;
        staging->items = mem_realloc_array(staging->items, staging->capacity, sizeof(*staging->items));
    }
    if (blob)
        blob->key = mem_strdup(key);
    staging->items[staging->count] = (struct staged){mem_strdup(key), blob, staging->count};
    staging->count++;
}

void view_set_flags(struct view *v, bool ready, bool draining)
{
    v->flags_changed |= v->ready != ready || v->draining != draining;
    v->ready = ready;
    v->draining = draining;
}

static int staged_compare(const void *left, const void *right)
{
    const struct staged *a = left, *b = right;
    int by_key = strcmp(a->key, b->key);
    if (by_key)
        return by_key;
    return a->order < b->order ? -1 : 1;
}

static void section_add(struct section *s, struct view_blob *blob)
{
    s->entries[s->count++] = (struct view_entry){blob->key, view_blob_ref(blob)};
}

/* Merges the sorted old entries with the sorted staged ones; of several for one key the last wins. */
static struct section *section_merge(const struct section *old, struct staging *staging)
{
    qsort(staging->items, staging->count, sizeof(*staging->items), staged_compare);
    struct section *merged = section_new(old->count + staging->count);
    size_t o = 0;
    for (size_t i = 0; i < staging->count; i++) {
        const struct staged *item = &staging->items[i];
        if (i + 1 < staging->count && !strcmp(item->key, staging->items[i + 1].key))
            continue;
        while (o < old->count && strcmp(old->entries[o].key, item->key) < 0)
            section_add(merged, old->entries[o++].blob);
        if (o < old->count && !strcmp(old->entries[o].key, item->key))
            o++;
        if (item->blob)
            section_add(merged, item->blob);
    }
    while (o < old->count)
        section_add(merged, old->entries[o++].blob);
    return merged;
}

void view_publish(struct view *v)
{
    bool changed = v->flags_changed;
    for (int i = 0; i < VIEW_SECTION_MAX_; i++)
        changed |= v->staging[i].count > 0;
    if (!changed) {
        epoch_collect(v->epoch);
        return;
    }
    struct snapshot *old = atomic_load(&v->current);
    struct snapshot *next = MEM_NEW(struct snapshot);
    for (int i = 0; i < VIEW_SECTION_MAX_; i++) {
        if (v->staging[i].count) {
            snapshot_show(next, (enum view_section)i, section_merge(old->sections[i], &v->staging[i]));
            staging_clear(&v->staging[i]);
        } else {
            old->sections[i]->refs++;
            snapshot_show(next, (enum view_section)i, old->sections[i]);
        }
    }
    next->shown.ready = v->ready;
    next->shown.draining = v->draining;
    v->flags_changed = false;
    atomic_store(&v->current, next);
    epoch_retire(v->epoch, old, snapshot_release);
}
