/*
 * The view: an immutable snapshot of all data for API reads, with prepared JSON and ETags. The loop thread
 * publishes snapshots, and HTTP threads read them without a lock (base/epoch.h). A snapshot never changes.
 * When a resource changes, one new blob and a new snapshot are made. The new snapshot shares all other blobs
 * with the old one.
 *
 * Why whole snapshots: a list and the counts beside it are of one moment, although the loop goes on. Why
 * prepared bytes: the same cluster is read far more often than it changes, and a read that makes no JSON
 * cannot become slow with the size of the fleet.
 */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/env.h"
#include "base/etag.h"
#include "base/timefmt.h"
#include "model/cluster.h"

/* One resource: reference counted, immutable except for the atomic members. Any thread. */
struct view_blob {
    /* A page of a list reads these members of each of its blobs. They are adjacent, because in a large fleet
     * they are not in the processor's cache. */
    char *body; /* compact JSON */
    size_t body_len;
    char *brief; /* for clusters the short form of the body, for other resources NULL */
    size_t brief_len;
    wall_us observed_at;      /* for clusters the time of observation in the body (0: the cluster was never
                               * observed), for catalogs the time when they were read, for other resources 0 */
    _Atomic wall_us seen_at;  /* the time of the newest observation, also of an observation that found no
                               * change (view_seen_again) */
    _Atomic mono_us heard_at; /* the same time on the monotonic clock, from which the age is computed; for
                               * clusters only */
    uint32_t observed_in_body, observed_in_brief; /* where the time begins in both texts */
    uint32_t observed_len;                        /* the length of observed_text */
    _Atomic uint32_t refs;
    char etag[ETAG_BYTES]; /* the entity tag, in quotes */

    char observed_text[TIME_TEXT_BYTES]; /* observed_at as text, "" for 0 */
    char *key;                           /* set by view_set */
    _Atomic(struct http_coded *) coded;  /* the gzip form, NULL until a reader needs it; set once, by any
                                          * thread; owned */
    _Atomic(struct view_blob *) again;   /* the form of the blob with the time seen_at, NULL until a reader
                                          * needs it; owned */
    const void *subject; /* struct cluster_facts *, struct operation *, ... see enum view_section; owned by
                          * the blob */
    void (*subject_free)(void *subject);
};

/* Makes a blob; takes over body and subject. */
struct view_blob *view_blob_new(const char *etag, char *body, wall_us observed_at, void *subject,
                                void (*subject_free)(void *));
/* Sets the short form of a cluster, before its blob is in the view. Takes over `brief`. The numbers are the
 * positions at which the time of observation begins in both texts. */
void view_blob_set_brief(struct view_blob *b, char *brief, size_t observed_in_body, size_t observed_in_brief);
/* Sets when Cleura last reported the state of a cluster, before its blob is in the view. */
void view_blob_set_heard(struct view_blob *b, mono_us heard_at);
/* Returns when Cleura last reported the state in the blob; 0: never. */
wall_us view_blob_seen_at(const struct view_blob *b);
/*
 * Called between view_enter and view_leave: returns a reference to the blob, or to a form of the blob with
 * the newest time of observation. This form has no key, no brief and no subject.
 */
struct view_blob *view_blob_as_seen(struct view_blob *b);
/* Appends the body, or the brief, with the newest time of observation; returns that time. `last` stores the
 * last time as a text from one call to the next; it must be zeroed before the first call. */
wall_us view_blob_write(const struct view_blob *b, bool brief, struct time_text *last, struct buffer *out);
struct view_blob *view_blob_ref(struct view_blob *b);
void view_blob_unref(struct view_blob *b);

enum view_section {
    VIEW_CLUSTERS,   /* key "project/name", subject struct cluster_facts */
    VIEW_OPERATIONS, /* key id, subject struct operation without its notes, and without its body except for
                      * the pools of an open create, so it cannot be rendered again */
    VIEW_WEBHOOKS,   /* key id, subject struct subscription */
    VIEW_TOKENS,     /* key lower-case hex SHA-256 digest, subject struct api_token */
    VIEW_PROJECTS,   /* key name; body: the form of GET /v1/projects/{p}; subject struct place_facts */
    VIEW_CATALOGS,   /* key project name; body: the form of GET /v1/projects/{p}/catalog; subject: the catalog
                      * as json_t, to which readers take no reference */
    VIEW_ACCOUNTS,   /* key name; body: the form of an item of GET /v1/accounts, without its projects;
                      * subject struct place_facts */
    VIEW_SECTION_MAX_,
};

enum { VIEW_CLUSTER_KEY_BYTES = CLUSTER_KEY_BYTES };
/* Writes "project/name". Returns false, and makes the key "", when "project/name" is longer than the key of
 * any cluster. Any thread. */
bool view_cluster_key(char key[static VIEW_CLUSTER_KEY_BYTES], const char *project, const char *name);

struct cluster_counts; /* view/cluster_counts.h */

struct view_entry {
    const char *key; /* owned by the blob */
    struct view_blob *blob;
    const void *subject; /* the blob owns the object; the pointer is copied from the blob, so that long lists
                          * need not read the blob */
};

/*
 * Entries that follow each other in a section. Successive snapshots share the chunks without changes, so the
 * cost of a new snapshot depends only on its changes.
 */
struct view_chunk {
    unsigned refs;                       /* loop thread */
    const struct cluster_counts *counts; /* the counts, for chunks of VIEW_CLUSTERS; otherwise NULL */
    size_t count;
    struct view_entry entries[];
};

/* Every chunk except the last of a section has at least VIEW_CHUNK_FEWEST entries. No chunk has more than
 * VIEW_CHUNK_MOST. */
enum { VIEW_CHUNK_FEWEST = 32, VIEW_CHUNK_MOST = 128 };

struct view_section_entries {
    struct view_chunk *const *chunks; /* sorted by key (strcmp); no chunk is empty */
    size_t chunk_count;
    size_t count; /* number of entries */
};

struct view_snapshot {
    struct view_section_entries sections[VIEW_SECTION_MAX_];
    bool ready;    /* the store was read and the loop runs */
    bool draining; /* the daemon is stopping: /readyz is 503 */
    /* The view contains all ended operations with a greater id than this; other ended operations are only in
     * the store. "": the view contains all ended operations. */
    char left_out[40];
};

struct view;

struct view *view_new(void);
void view_free(struct view *v);

/* Called by a reader, on any thread: the snapshot stays valid until view_leave. The caller must not block
 * before view_leave. */
const struct view_snapshot *view_enter(struct view *v);
void view_leave(struct view *v);
/* Called between enter and leave: finds a blob; NULL when it is absent. A caller that keeps the blob longer
 * must take a reference. */
struct view_blob *view_find(const struct view_snapshot *s, enum view_section section, const char *key);

/* A place between two entries of a section. */
struct view_cursor {
    const struct view_section_entries *section;
    size_t chunk, index;
};
/* Called between enter and leave: returns the place before the first entry whose key is >= key, or the place
 * after all entries. */
struct view_cursor view_seek(const struct view_snapshot *s, enum view_section section, const char *key);
struct view_cursor view_end(const struct view_snapshot *s, enum view_section section);
/* Called between enter and leave: moves the place over the next or previous entry and returns this entry;
 * NULL: there is no such entry. view_next prefetches the subjects of later entries. */
const struct view_entry *view_next(struct view_cursor *cursor);
const struct view_entry *view_previous(struct view_cursor *cursor);
/* Called between enter and leave, for a list that needs the texts of most entries: prefetches blobs and texts
 * of the entries that view_next returns soon. */
void view_fetch_text_ahead(const struct view_cursor *cursor, bool brief);

/* Returns the current snapshot, without staged changes; valid until the next view_publish. Loop thread. */
const struct view_snapshot *view_shown(const struct view *v);
/* Stages one change; blob NULL removes the entry. Takes over the reference. Loop thread. */
void view_set(struct view *v, enum view_section section, const char *key, struct view_blob *blob);
/* Called when an observation found no change of the blob, which is in the view or staged. No new snapshot is
 * made: a reader inserts the new time when it uses the blob. Loop thread. */
void view_seen_again(struct view *v, struct view_blob *b, wall_us at, mono_us heard_at);
/*
 * Tokens that are no longer valid, known by the first hex digits of their digests. Only a counter of
 * refusals uses them. The view has the last VIEW_FORMER_TOKENS such tokens since the start of this process.
 * They are not staged: the loop thread adds them, and any thread reads them at once.
 */
enum { VIEW_FORMER_TOKENS = 256 };
void view_note_former_token(struct view *v, const char *key);
bool view_was_token(const struct view *v, const char *key);
void view_set_flags(struct view *v, bool ready, bool draining);
/* Sets left_out, which never moves to a smaller id. The new value is visible after the next view_publish.
 * Loop thread. */
void view_set_left_out(struct view *v, const char *operation_id);
/*
 * Makes all staged changes visible at once. Does nothing when no change is staged. A chunk with a changed
 * entry is replaced by new chunks of at most VIEW_CHUNK_MOST entries. Most other chunks of a changed section
 * are shared: only their pointers are copied. Loop thread.
 */
void view_publish(struct view *v);
/* Returns the number of snapshots that were published. Any thread. */
uint64_t view_published(const struct view *v);

#endif
