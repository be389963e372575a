/*
 * Functions that reads share, of single resources and of collections (HT-35 to HT-37): each returns the
 * problem when a precondition fails. Pages are prepared bodies, joined without making JSON again, with keyset
 * cursors over the order of the view, or another one (api/resources/cluster_order.h); a page has an entity
 * tag, the digest of its items' tags, or of its bytes where they have none. The worker of the request.
 */
#ifndef API_READS_H
#define API_READS_H

#include "api/cursor.h"
#include "api/request.h"
#include "view/view.h"

/* Takes a reference out of the view for as long as the request needs it; NULL when absent. */
struct view_blob *read_blob(struct request *r, enum view_section section, const char *key);
/* The cluster that the path names, the same way; PROBLEM_CLUSTER_NOT_FOUND when there is none. */
struct problem *read_cluster(struct request *r, struct view_blob **ret);
/* The same for its body, which holds the newest time of observation; the blob may be without a subject. */
struct problem *read_cluster_body(struct request *r, struct view_blob **ret);
/* Answers with a blob, which it takes: ETag, Cache-Control, preconditions. */
struct problem *answer_with_blob(struct request *r, struct view_blob *blob);
/* The same with a JSON text made for this answer, which it takes; the tag is a digest of its bytes. */
struct problem *answer_with_text(struct request *r, char *text, size_t len);
/* The same with the entity tag that it has. */
struct problem *answer_with_tagged_text(struct request *r, char *text, size_t len, const char *etag);
/* Takes `doc`. */
struct problem *answer_with_document(struct request *r, json_t *doc);
/* The same for what is no tenant's: shared caches may keep it too. */
struct problem *answer_with_public_document(struct request *r, json_t *doc);

/* ---- fresh reads: Cache-Control: no-cache (HT-25, promise 2) ---- */

/*
 * Answers with `serve`, from the view: at once, or, when the client wants a fresh read, after Cleura was
 * read, could not be read, or the deadline passed. Prefer: wait=N (seconds) sets the deadline.
 */
struct problem *fresh_read(struct request *r, struct problem *(*serve)(struct request *r));
/* Adds the field that says: from memory. Not after a fresh read, which has added its own (HT-28). */
void fresh_set_source(struct request *r);
/* Adds how old the answer is and when Cleura gave it: an answer of just now, or none yet, is 0 s old (HT-24).
 * The age is by the monotonic clock: `heard_at` is the same moment. Entity tags do not change with it, so a
 * 304 has it, too. `as_text` is the same time, prepared; NULL: it is written now. */
void fresh_set_age(struct request *r, wall_us observed_at, mono_us heard_at, const char *as_text);

/* ---- collections ---- */

struct list_query {
    enum view_section section;
    const char *prefix; /* only keys that begin with it, or NULL */
    bool newest_first;  /* from the greatest key down */
    bool brief;         /* the short form of the items */
    bool states_age;    /* the answer says where it comes from, and how old its oldest item is */
    bool (*wanted)(struct request *r, const struct view_entry *entry);
    /* For operations: answers with the page, which reaches to those that have left the view; NULL: they are
     * not wanted. */
    struct problem *(*older)(struct request *r, const struct cursor_place *after);
};

/* Answers with the page that the request's limit and cursor ask for. */
struct problem *list_answer(struct request *r, const struct list_query *query);

/* The pieces, for lists that are made in other ways. */

/* Where the page begins. */
struct problem *list_place(struct request *r, struct cursor_place *ret_place);
/* A page while it is written. */
struct list_body {
    struct buffer text;
    struct buffer tags;   /* of its items */
    bool is_tagged;       /* all items have one */
    bool goes_on;         /* it is not full, and what has left the view may belong to it */
    wall_us oldest;       /* when Cleura showed the oldest item that it has shown; 0: it showed none */
    mono_us oldest_heard; /* the same moment */
};

/*
 * Writes {"items":[...],"next_cursor":...}; `next` is the place of the last item when more may follow. A page
 * that grew beyond what is held in memory is an internal error (nothing that is half there goes out).
 */
void list_open(struct list_body *page);
void list_done(struct list_body *page);
void list_add(struct list_body *page, const char *item, size_t len);
/* Adds items with commas between them, and their entity tags, one behind the other. */
void list_add_tagged(struct list_body *page, const char *items, const char *tags);
/* Adds an entry of the view. */
void list_add_blob(struct list_body *page, const struct view_blob *blob, bool brief);
/* Before list_close, for a query that reports the age. */
void list_set_age(struct request *r, const struct list_query *query, const struct list_body *page);
/* The page is still to be ended with list_done. */
struct problem *list_close(struct request *r, struct list_body *page, const struct cursor_place *next);

#define CLEANUP_LIST_BODY CLEANUP(list_done)
/* A NULL prefix fits every key. */
bool list_has_prefix(const char *key, const char *prefix);

/* The words of a parameter, NULL-terminated; the caller owns them. NULL: it was not given, and everything is
 * wanted. */
char **list_words(const struct request *r, enum param_id id);
/* The projects that are asked for and that the token sees, likewise. NULL: all. A caller that sees all
 * projects sees also what is about none, and what is about those that are no longer there. */
char **list_projects(const struct request *r);

/* The page of a JSON array that the deciding side made; `next` is the key of its last item, NULL or "" when
 * none follows. */
struct problem *list_answer_array(struct request *r, const char *array, const char *next);

/* ---- pages that are made anew for each caller, item by item ---- */

struct list_page {
    struct request *r;
    struct list_body body;
    struct cursor_place after; /* where it begins: behind this key */
    struct cursor_place last;  /* the last item that was added */
    int64_t left;
    bool more; /* and there is another page */
};

/* NULL, and the page is to be ended with list_page_end; else the problem. */
struct problem *list_page_begin(struct list_page *page, struct request *r);
/* Asked when there is another item: whether it is one of another page. */
bool list_page_is_full(struct list_page *page);
/* Adds an item, which is taken, of this key. */
void list_page_add(struct list_page *page, const char *key, json_t *item);
/* Answers with the page. */
struct problem *list_page_end(struct list_page *page);

#endif
