/*
 * Snapshots: a section is an array of chunks. Successive snapshots share the sections and chunks without
 * changes. The loop thread stages changes and publishes snapshots; readers enter an epoch (base/epoch.h).
 * These functions never block, and never use the store or the network.
 */
#include "view/view.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/epoch.h"
#include "base/mem.h"
#include "view/cluster_counts.h"

struct section {
    unsigned refs; /* used only by the loop thread, which also releases replaced snapshots */
    struct view_section_entries shown;
    struct view_chunk *chunks[];
};

struct snapshot {
    struct view_snapshot shown; /* the first member is the part for readers */
    struct section *sections[VIEW_SECTION_MAX_];
};

struct staged {
    char *key;
    struct view_blob *blob; /* the new blob; NULL: the entry is removed */
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
    struct staging staging[VIEW_SECTION_MAX_]; /* used only by the loop thread */
    bool ready;
    bool draining;
    char left_out[40];
    bool flags_changed;
    _Atomic uint64_t published;
    _Atomic uint64_t former_tokens[VIEW_FORMER_TOKENS]; /* written by the loop thread */
    unsigned former_count;
};

static struct section *section_new(size_t most_chunks)
{
    struct section *s = mem_calloc(1, sizeof(*s) + most_chunks * sizeof(struct view_chunk *));
    s->refs = 1;
    s->shown.chunks = s->chunks;
    return s;
}

/* Takes over the reference. */
static void section_add(struct section *s, struct view_chunk *chunk)
{
    assert(chunk->count > 0 && chunk->count <= VIEW_CHUNK_MOST);
    s->chunks[s->shown.chunk_count++] = chunk;
    s->shown.count += chunk->count;
}

static void section_unref(struct section *s)
{
    assert(s->refs > 0);
    if (--s->refs)
        return;
    for (size_t i = 0; i < s->shown.chunk_count; i++) {
        struct view_chunk *chunk = s->chunks[i];
        assert(chunk->refs > 0);
        if (--chunk->refs)
            continue;
        for (size_t entry = 0; entry < chunk->count; entry++)
            view_blob_unref(chunk->entries[entry].blob);
        free((void *)(uintptr_t)chunk->counts);
        free(chunk);
    }
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
    s->shown.sections[i] = section->shown;
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

const struct view_snapshot *view_shown(const struct view *v)
{
    return &atomic_load(&v->current)->shown;
}

static size_t lower_bound_in(const struct view_chunk *chunk, const char *key)
{
    size_t low = 0, high = chunk->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(chunk->entries[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct view_cursor view_seek(const struct view_snapshot *s, enum view_section section, const char *key)
{
    const struct view_section_entries *e = &s->sections[section];
    size_t low = 0, high = e->chunk_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct view_chunk *chunk = e->chunks[middle];
        if (strcmp(chunk->entries[chunk->count - 1].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return (struct view_cursor){e, low, low < e->chunk_count ? lower_bound_in(e->chunks[low], key) : 0};
}

struct view_cursor view_end(const struct view_snapshot *s, enum view_section section)
{
    return (struct view_cursor){&s->sections[section], s->sections[section].chunk_count, 0};
}

/* ---- prefetching: subjects, blobs and texts are each at a different address in memory. Without it, a list
 * of thousands of entries would wait for most of them. ---- */

enum { LINE_BYTES = 64 };

/* Returns the entry that view_next returns after `ahead` others; NULL when it is absent or two chunks away.
 */
static const struct view_entry *entry_ahead(const struct view_cursor *cursor, size_t ahead)
{
    const struct view_section_entries *e = cursor->section;
    size_t chunk = cursor->chunk, index = cursor->index + ahead;
    if (chunk < e->chunk_count && index >= e->chunks[chunk]->count)
        index -= e->chunks[chunk++]->count;
    return chunk < e->chunk_count && index < e->chunks[chunk]->count ? &e->chunks[chunk]->entries[index]
                                                                     : NULL;
}

static void fetch(const void *memory, size_t lines)
{
    for (size_t i = 0; memory && i < lines; i++)
        __builtin_prefetch((const char *)memory + i * LINE_BYTES);
}

static void fetch_subject_ahead(const struct view_cursor *cursor)
{
    enum { AHEAD = 12, LINES = 4 };
    const struct view_entry *e = entry_ahead(cursor, AHEAD);
    if (e)
        fetch(e->subject, LINES);
}

void view_fetch_text_ahead(const struct view_cursor *cursor, bool brief)
{
    enum { BLOB_AHEAD = 12, BLOB_LINES = 3, TEXT_AHEAD = 4, TEXT_LINES = 4 };
    const struct view_entry *e = entry_ahead(cursor, BLOB_AHEAD);
    if (e)
        fetch(e->blob, BLOB_LINES);
    e = entry_ahead(cursor, TEXT_AHEAD);
    if (e)
        fetch(brief ? e->blob->brief : e->blob->body, TEXT_LINES);
}

const struct view_entry *view_next(struct view_cursor *cursor)
{
    const struct view_section_entries *e = cursor->section;
    if (cursor->chunk == e->chunk_count)
        return NULL;
    const struct view_chunk *chunk = e->chunks[cursor->chunk];
    fetch_subject_ahead(cursor);
    const struct view_entry *entry = &chunk->entries[cursor->index++];
    if (cursor->index == chunk->count) {
        cursor->chunk++;
        cursor->index = 0;
    }
    return entry;
}

const struct view_entry *view_previous(struct view_cursor *cursor)
{
    const struct view_section_entries *e = cursor->section;
    if (!cursor->index) {
        if (!cursor->chunk)
            return NULL;
        cursor->index = e->chunks[--cursor->chunk]->count;
    }
    return &e->chunks[cursor->chunk]->entries[--cursor->index];
}

struct view_blob *view_find(const struct view_snapshot *s, enum view_section section, const char *key)
{
    const struct view_cursor place = view_seek(s, section, key);
    if (place.chunk == place.section->chunk_count)
        return NULL;
    const struct view_entry *entry = &place.section->chunks[place.chunk]->entries[place.index];
    return !strcmp(entry->key, key) ? entry->blob : NULL;
}

bool view_cluster_key(char key[static VIEW_CLUSTER_KEY_BYTES], const char *project, const char *name)
{
    const size_t project_len = strlen(project), name_len = strlen(name);
    *key = '\0';
    if (project_len + 1 + name_len >= VIEW_CLUSTER_KEY_BYTES)
        return false;
    memcpy(key, project, project_len);
    key[project_len] = '/';
    memcpy(key + project_len + 1, name, name_len + 1);
    return true;
}

void view_set(struct view *v, enum view_section section, const char *key, struct view_blob *blob)
{
    struct staging *staging = &v->staging[section];
    assert((unsigned)section < VIEW_SECTION_MAX_ && (!blob || !blob->key));
    if (staging->count == staging->capacity) {
        staging->capacity = staging->capacity ? staging->capacity * 2 : 16;
        staging->items = mem_realloc_array(staging->items, staging->capacity, sizeof(*staging->items));
    }
    if (blob)
        blob->key = mem_strdup(key);
    staging->items[staging->count] = (struct staged){mem_strdup(key), blob, staging->count};
    staging->count++;
}

static void release_blob(void *blob)
{
    view_blob_unref(blob);
}

void view_seen_again(struct view *v, struct view_blob *b, wall_us at, mono_us heard_at)
{
    assert(b->observed_at && at);
    atomic_store(&b->heard_at, heard_at); /* stored before seen_at, so that a form with the new time never
                                           * has the older value */
    atomic_store(&b->seen_at, at);
    struct view_blob *older = atomic_exchange(&b->again, NULL);
    if (older)
        epoch_retire(v->epoch, older, release_blob);
}

void view_set_flags(struct view *v, bool ready, bool draining)
{
    v->flags_changed |= v->ready != ready || v->draining != draining;
    v->ready = ready;
    v->draining = draining;
}

void view_set_left_out(struct view *v, const char *operation_id)
{
    assert(strcmp(operation_id, v->left_out) >= 0);
    v->flags_changed |= strcmp(operation_id, v->left_out) != 0;
    (void)snprintf(v->left_out, sizeof(v->left_out), "%s", operation_id);
}

static int staged_compare(const void *left, const void *right)
{
    const struct staged *a = left, *b = right;
    int by_key = strcmp(a->key, b->key);
    if (by_key)
        return by_key;
    return a->order < b->order ? -1 : 1;
}

/* Sorts the changes. When there are several changes for one key, only the last change remains. Returns the
 * number of remaining changes. */
static size_t staging_sort(struct staging *staging)
{
    size_t kept = 0;
    qsort(staging->items, staging->count, sizeof(*staging->items), staged_compare);
    for (size_t i = 0; i < staging->count; i++) {
        if (kept && !strcmp(staging->items[kept - 1].key, staging->items[i].key)) {
            struct staged older = staging->items[kept - 1];
            staging->items[kept - 1] = staging->items[i];
            free(older.key);
            view_blob_unref(older.blob);
        } else {
            staging->items[kept++] = staging->items[i];
        }
    }
    return staging->count = kept;
}

/* A section while it is being made: entries are collected until there are enough for a chunk. */
struct merge {
    enum view_section which;
    struct section *section;
    struct view_entry *entries;
    size_t count, capacity;
};

static void gather(struct merge *m, struct view_blob *blob)
{
    if (m->count == m->capacity) {
        m->capacity = m->capacity ? m->capacity * 2 : 2 * VIEW_CHUNK_MOST;
        m->entries = mem_realloc_array(m->entries, m->capacity, sizeof(*m->entries));
    }
    m->entries[m->count++] = (struct view_entry){blob->key, view_blob_ref(blob), blob->subject};
}

static void cut(struct merge *m)
{
    size_t pieces = (m->count + VIEW_CHUNK_MOST - 1) / VIEW_CHUNK_MOST, from = 0;
    for (size_t i = 0; i < pieces; i++) {
        size_t until = m->count * (i + 1) / pieces, count = until - from;
        struct view_chunk *chunk = mem_calloc(1, sizeof(*chunk) + count * sizeof(chunk->entries[0]));
        chunk->refs = 1;
        chunk->count = count;
        memcpy(chunk->entries, m->entries + from, count * sizeof(chunk->entries[0]));
        if (m->which == VIEW_CLUSTERS)
            chunk->counts = cluster_counts_new(chunk->entries, count);
        section_add(m->section, chunk);
        from = until;
    }
    m->count = 0;
}

/* Merges the entries of an old chunk (NULL: there is no old chunk) with the changes that belong to this
 * chunk, in order. */
static void merge_chunk(struct merge *m, const struct view_chunk *old, const struct staged *items,
                        size_t count)
{
    size_t o = 0, old_count = old ? old->count : 0;
    for (size_t i = 0; i < count; i++) {
        while (o < old_count && strcmp(old->entries[o].key, items[i].key) < 0)
            gather(m, old->entries[o++].blob);
        if (o < old_count && !strcmp(old->entries[o].key, items[i].key))
            o++;
        if (items[i].blob)
            gather(m, items[i].blob);
    }
    while (o < old_count)
        gather(m, old->entries[o++].blob);
}

/*
 * Makes a section from an old section and the changes. The new section shares each old chunk that has no
 * changes. An exception: when the entries that were collected before such a chunk are too few for a chunk of
 * their own, the entries of the old chunk are added to them. A change belongs to the last chunk that begins
 * before its key.
 */
static struct section *section_merge(enum view_section which, const struct section *old,
                                     struct staging *staging)
{
    size_t left = staging_sort(staging), chunks = old->shown.chunk_count;
    const struct staged *item = staging->items;
    const size_t most = (old->shown.count + left) / VIEW_CHUNK_FEWEST + 2;
    struct merge m = {.which = which, .section = section_new(most)};
    for (size_t i = 0; i < chunks; i++) {
        struct view_chunk *chunk = old->chunks[i];
        const char *end = i + 1 < chunks ? old->chunks[i + 1]->entries[0].key : NULL;
        size_t mine = 0;
        while (mine < left && (!end || strcmp(item[mine].key, end) < 0))
            mine++;
        if (!mine && (!m.count || m.count >= VIEW_CHUNK_FEWEST)) {
            cut(&m);
            chunk->refs++;
            section_add(m.section, chunk);
        } else {
            merge_chunk(&m, chunk, item, mine);
            if (m.count >= VIEW_CHUNK_MOST)
                cut(&m);
        }
        item += mine;
        left -= mine;
    }
    merge_chunk(&m, NULL, item, left);
    cut(&m);
    assert(!m.count && m.section->shown.chunk_count <= most);
    free(m.entries);
    return m.section;
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
            const enum view_section which = (enum view_section)i;
            snapshot_show(next, which, section_merge(which, old->sections[i], &v->staging[i]));
            staging_clear(&v->staging[i]);
        } else {
            old->sections[i]->refs++;
            snapshot_show(next, (enum view_section)i, old->sections[i]);
        }
    }
    next->shown.ready = v->ready;
    next->shown.draining = v->draining;
    memcpy(next->shown.left_out, v->left_out, sizeof(v->left_out));
    v->flags_changed = false;
    atomic_store(&v->current, next);
    atomic_fetch_add_explicit(&v->published, 1, memory_order_relaxed);
    epoch_retire(v->epoch, old, snapshot_release);
}

uint64_t view_published(const struct view *v)
{
    return atomic_load_explicit(&v->published, memory_order_relaxed);
}

/* ---- former tokens ---- */

/* Returns the first 16 hex digits of a key as a number. A guessed token does not match so many digits by
 * chance. The result is never 0, which marks an empty place. */
static uint64_t former_mark(const char *key)
{
    char digits[17];
    (void)snprintf(digits, sizeof(digits), "%s", key);
    return strtoull(digits, NULL, 16) | 1;
}

void view_note_former_token(struct view *v, const char *key)
{
    atomic_store_explicit(&v->former_tokens[v->former_count++ % VIEW_FORMER_TOKENS], former_mark(key),
                          memory_order_relaxed);
}

bool view_was_token(const struct view *v, const char *key)
{
    const uint64_t mark = former_mark(key);
    bool found = false;
    for (size_t i = 0; i < VIEW_FORMER_TOKENS; i++) /* all marks are compared each time, so that the duration
                                                     * reveals nothing */
        found |= atomic_load_explicit(&v->former_tokens[i], memory_order_relaxed) == mark;
    return found;
}
