/*
 * Functions for reads of single resources and of collections (HT-35 to HT-37). Each returns a problem when a
 * precondition fails. A page is made of prepared bodies, without new JSON. Its items are in the order of the
 * view, or in another order (api/resources/cluster_order.h), and its cursor names the last item. The entity
 * tag of a page is the digest of its items' entity tags and its total, or the digest of the page's bytes when
 * the items have no entity tags. Runs on the worker of the request.
 */
#ifndef API_READS_H
#define API_READS_H

#include "api/cursor.h"
#include "api/request.h"
#include "view/view.h"

/* Returns a reference to a blob of the view, which the caller releases; NULL when it is absent. */
struct view_blob *read_blob(struct request *r, enum view_section section, const char *key);
/* Does the same as read_blob for the cluster in the path; returns PROBLEM_CLUSTER_NOT_FOUND when no such
 * cluster exists. */
struct problem *read_cluster(struct request *r, struct view_blob **ret);
/* Does the same as read_cluster, but the body has the newest time of observation; the returned blob may have
 * no subject. */
struct problem *read_cluster_body(struct request *r, struct view_blob **ret);
/* Answers with a blob, which it takes over. Sets ETag and Cache-Control, and checks the preconditions. */
struct problem *answer_with_blob(struct request *r, struct view_blob *blob);
/* Answers with a JSON text made for this answer, which it takes over; the entity tag is a digest of the
 * bytes. */
struct problem *answer_with_text(struct request *r, char *text, size_t len);
/* Does the same as answer_with_text, with a given entity tag. */
struct problem *answer_with_tagged_text(struct request *r, char *text, size_t len, const char *etag);
/* Answers with a document, which it takes over. */
struct problem *answer_with_document(struct request *r, json_t *doc);
/* Does the same as answer_with_document, for public data, which shared caches may store. */
struct problem *answer_with_public_document(struct request *r, json_t *doc);

/* ---- collections ---- */

/* Gets the place where the page begins. */
struct problem *list_place(struct request *r, struct cursor_place *ret_place);
enum { LIST_NO_TOTAL = -1 };

/* A page while it is built. */
struct list_body {
    struct buffer text;
    int64_t total;         /* the number of items on all pages; LIST_NO_TOTAL: the page does not have it */
    struct buffer tags;    /* the concatenated entity tags of the items */
    bool is_tagged;        /* all items have an entity tag */
    wall_us oldest;        /* the oldest time of observation of the items; 0: no item was observed */
    mono_us oldest_heard;  /* the same moment on the monotonic clock */
    struct time_text seen; /* the last written time as a text, because many items have the same time */
};

/* A page is {"items":[...],"next_cursor":...}, with "total" between them when it is set. list_open begins it,
 * and list_done frees its memory. */
void list_open(struct list_body *page);
void list_done(struct list_body *page);
void list_add(struct list_body *page, const char *item, size_t len);
/* Adds items separated by commas, and their concatenated entity tags. */
void list_add_tagged(struct list_body *page, const char *items, const char *tags);
/* Adds an entry of the view. */
void list_add_blob(struct list_body *page, const struct view_blob *blob, bool brief);
/* Adds the source of the answer and the age of its oldest item. Called before list_close. */
void list_set_age(struct request *r, const struct list_body *page);
/*
 * Answers with the page. `next` is the place of the last item when more items may follow, otherwise NULL. A
 * page above the size limit of an answer is an internal error, so that no incomplete page is sent. The
 * caller must still call list_done.
 */
struct problem *list_close(struct request *r, struct list_body *page, const struct cursor_place *next);

#define CLEANUP_LIST_BODY CLEANUP(list_done)
/* Whether the key begins with the prefix; a NULL prefix matches every key. */
bool list_has_prefix(const char *key, const char *prefix);

/* Returns the number of items that the page may have: `limit`, or its default. */
int64_t list_limit(const struct request *r);
/* Returns the words of a parameter in a NULL-terminated array, which the caller owns. NULL: the parameter is
 * absent, so everything matches. */
char **list_words(const struct request *r, enum param_id id);
/* Returns the requested projects that the token may see, in a NULL-terminated array, which the caller owns.
 * NULL: all projects. A caller that may see all projects also sees items without a project, and items of
 * removed projects. */
char **list_projects(const struct request *r);

/* Answers with a JSON array from the decider; `next` is the key of its last item, NULL or "" when no page
 * follows. */
struct problem *list_answer_array(struct request *r, const char *array, const char *next);

/* ---- pages made for each caller, item by item ---- */

struct list_page {
    struct request *r;
    struct list_body body;
    struct cursor_place after; /* the page begins after this key */
    struct cursor_place last;  /* the last item that was added */
    int64_t left;
    bool more; /* there is another page */
};

/* Returns NULL or a problem. After NULL the page must be ended with list_page_end. */
struct problem *list_page_begin(struct list_page *page, struct request *r);
/* Called before an item is added: returns whether the page is full. The item then belongs to the
 * next page. */
bool list_page_is_full(struct list_page *page);
/* Adds an item, which is taken over, with this key. */
void list_page_add(struct list_page *page, const char *key, json_t *item);
/* Answers with the page. */
struct problem *list_page_end(struct list_page *page);

/*
 * ---- pages of a section of the view, which limit and cursor of the request select:
 *
 *     struct problem *p = list_view_begin(&list, r, &query);
 *     if (p)
 *         return p;
 *     for (const struct view_entry *e = list_view_next(&list); e; e = list_view_next(&list))
 *         if (is_wanted(r, e))
 *             list_view_add(&list, e);
 *     return list_view_end(&list);
 * ----
 */

struct list_query {
    enum view_section section;
    const char *prefix; /* selects only keys that begin with this text, or NULL; it must stay valid until the
                         * end of the list */
    bool newest_first;  /* keys in descending order */
    bool brief;         /* the page has the short form of the items */
    bool states_age;    /* the answer has header fields with its source and the age of its oldest item */
    bool may_go_on;     /* only for operations: the store may have items that are not in the view */
};

struct list_view {
    struct request *r;
    struct list_query query;
    struct list_body body;
    struct cursor_place after; /* the page begins after this key */
    const struct view_snapshot *snapshot;
    struct view_cursor place;
    const char *last; /* the key of the last item that was added */
    int64_t left;
    bool more;    /* there is another page */
    bool goes_on; /* set at the end of the view: the page is not full, and more items may be in the store */
};

/* Enters the view. Returns NULL or a problem. After NULL, list_view_end or list_view_discard must be
 * called. */
struct problem *list_view_begin(struct list_view *list, struct request *r, const struct list_query *query);
/* Returns the next entry that the query selects; NULL when there is no further entry, or when the page is
 * full. */
const struct view_entry *list_view_next(struct list_view *list);
/* Adds an entry. When the page is full, the entry belongs to the next page. */
void list_view_add(struct list_view *list, const struct view_entry *entry);
/* Leaves the view without an answer, when `goes_on` shows that the page must be made from the store. */
void list_view_discard(struct list_view *list);
/* Leaves the view, and answers with the page. */
struct problem *list_view_end(struct list_view *list);

#endif
