/*
 * The view: an immutable snapshot of everything that API reads serve, with JSON and ETags made ahead.
 * Published by the loop thread, read by the HTTP threads without a lock (base/epoch.h). Nothing in it ever
 * changes; a change builds one new blob and a new snapshot that shares all the others.
 */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "base/env.h"
#include "base/timefmt.h"
#include "model/cluster.h"

/* One resource: reference counted, immutable but for the atomics. Any thread. */
struct view_blob {
    _Atomic unsigned refs;
    char *key;     /* set by view_set */
    char etag[64]; /* quoted */
    char *body;    /* compact JSON */
    size_t body_len;
    _Atomic(struct http_coded *) coded; /* NULL until somebody wanted it; set once, any thread; owned */
    char *brief;                        /* clusters: the short form of the body; others: NULL */
    size_t brief_len;
    wall_us observed_at; /* clusters: the time of observation in the body, 0: none; catalogs: when they were
                            fetched; others: 0 */
    char observed_text[TIME_TEXT_BYTES];        /* the same as people write it, "" for 0 */
    size_t observed_in_body, observed_in_brief; /* where it begins */
    _Atomic wall_us seen_at;           /* newest observation, which found the same: view_seen_again */
    _Atomic mono_us heard_at;          /* the same moment, for its age; clusters only */
    _Atomic(struct view_blob *) again; /* the form that has seen_at, once somebody wanted it; owned */
    const void
        *subject; /* struct cluster_facts *, struct operation *, ... as the section says; owned by the blob */
    void (*subject_free)(void *subject);
};

/* Takes body and subject. */
struct view_blob *view_blob_new(const char *etag, char *body, wall_us observed_at, void *subject,
                                void (*subject_free)(void *));
/* For a cluster, before it is shown. Takes `brief`; in both texts the time of observation begins there. */
void view_blob_set_brief(struct view_blob *b, char *brief, size_t observed_in_body, size_t observed_in_brief);
/* For a cluster, before it is shown: when Cleura last reported the state in it. */
void view_blob_set_heard(struct view_blob *b, mono_us heard_at);
/* When Cleura last reported the state in the blob; 0: never. */
wall_us view_blob_seen_at(const struct view_blob *b);
/*
 * Inside view_enter/view_leave: a reference to the blob, or to the form of it whose body has the newest time
 * of observation. That form has neither key, brief nor subject.
 */
struct view_blob *view_blob_as_seen(struct view_blob *b);
/* Appends the body, or the brief, with the newest time of observation; returns that time. */
wall_us view_blob_write(const struct view_blob *b, bool brief, struct buffer *out);
struct view_blob *view_blob_ref(struct view_blob *b);
void view_blob_unref(struct view_blob *b);

enum view_section {
    VIEW_CLUSTERS,   /* key "project/name", subject struct cluster_facts */
    VIEW_OPERATIONS, /* key id, subject struct operation without its body: not to be rendered again */
    VIEW_WEBHOOKS,   /* key id, subject struct subscription */
    VIEW_TOKENS,     /* key lower-case hex SHA-256 digest, subject struct api_token */
    VIEW_PROJECTS,   /* key name; body as GET /v1/projects/{p}; subject NULL unless changes are frozen: not to
                        be   looked into */
    VIEW_CATALOGS,   /* key project name; body as GET /v1/projects/{p}/catalog, subject the same as json_t: to
                        be read only, without taking references */
    VIEW_ACCOUNTS,   /* key name; body as an item of GET /v1/accounts, without its projects */
    VIEW_SECTION_MAX_,
};

enum { VIEW_CLUSTER_KEY_BYTES = CLUSTER_KEY_BYTES };
/* "project/name". False, and the key is "", when it is too long for any cluster. Any thread. */
bool view_cluster_key(char key[static VIEW_CLUSTER_KEY_BYTES], const char *project, const char *name);

struct cluster_counts; /* view/cluster_counts.h */

struct view_entry {
    const char *key; /* the blob's */
    struct view_blob *blob;
    const void *subject; /* the blob's: who looks at thousands of entries gets there without a look at it */
};

/*
 * A run of neighbours. Successive snapshots share the chunks in which nothing changed: making one costs what
 * changed, not what there is.
 */
struct view_chunk {
    unsigned refs;                       /* loop thread */
    const struct cluster_counts *counts; /* of VIEW_CLUSTERS; others: NULL */
    size_t count;
    struct view_entry entries[];
};

/* Every chunk but the last of a section has at least the fewest; none has more than the most. */
enum { VIEW_CHUNK_FEWEST = 32, VIEW_CHUNK_MOST = 128 };

struct view_section_entries {
    struct view_chunk *const *chunks; /* sorted by key (strcmp), none of them empty */
    size_t chunk_count;
    size_t count; /* of entries */
};

struct view_snapshot {
    struct view_section_entries sections[VIEW_SECTION_MAX_];
    bool ready;    /* the store was read and the loop runs */
    bool draining; /* a stop was ordered: /readyz is 503 */
    /* All operations that ended and have a greater id are here, the others in the store; "": all are here. */
    char left_out[40];
};

struct view;

struct view *view_new(void);
void view_free(struct view *v);

/* Reader, any thread: the snapshot stays valid until view_leave. Do not block in between. */
const struct view_snapshot *view_enter(struct view *v);
void view_leave(struct view *v);
/* Inside enter/leave: NULL when absent. Take a reference to keep it longer. */
struct view_blob *view_find(const struct view_snapshot *s, enum view_section section, const char *key);

/* A place between two entries of a section. */
struct view_cursor {
    const struct view_section_entries *section;
    size_t chunk, index;
};
/* Inside: before the first entry whose key is >= key, and behind all entries. */
struct view_cursor view_seek(const struct view_snapshot *s, enum view_section section, const char *key);
struct view_cursor view_end(const struct view_snapshot *s, enum view_section section);
/* Inside: the entry behind or before the place, which moves over it; NULL: there is none. view_next fetches
 * the subjects of entries ahead from memory. */
const struct view_entry *view_next(struct view_cursor *cursor);
const struct view_entry *view_previous(struct view_cursor *cursor);

/* Loop thread: what readers find now, without what is staged; until the next view_publish. */
const struct view_snapshot *view_shown(const struct view *v);
/* Loop thread: stages one change; blob NULL removes. Takes the reference. */
void view_set(struct view *v, enum view_section section, const char *key, struct view_blob *blob);
/*
 * Loop thread: an observation found the state in the blob, which is shown or staged, unchanged. No new
 * snapshot: readers write the time when they want the blob.
 */
void view_seen_again(struct view *v, struct view_blob *b, wall_us at, mono_us heard_at);
/*
 * Tokens that were good until lately, by the first digits of their digest's hex form: for a counter, and
 * nothing else. The last VIEW_FORMER_TOKENS of this process; there is no staging. Noted by the loop thread,
 * asked by any.
 */
enum { VIEW_FORMER_TOKENS = 256 };
void view_note_former_token(struct view *v, const char *key);
bool view_was_token(const struct view *v, const char *key);
void view_set_flags(struct view *v, bool ready, bool draining);
/* Loop thread: the id grows only; shown with the next view_publish. */
void view_set_left_out(struct view *v, const char *operation_id);
/*
 * Loop thread: makes what was staged visible at once. Nothing staged: does nothing. Beside the changed
 * entries it touches only their neighbours, at most VIEW_CHUNK_MOST of each.
 */
void view_publish(struct view *v);

#endif
