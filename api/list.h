/*
 * Collections (HT-35 to HT-37): pages of prepared bodies, joined without making JSON again. Keyset cursors
 * over the order of the view, or another one (api/resources/cluster_order.h). A page has an entity tag, the
 * digest of its bytes. Inside view_enter/view_leave; the worker of the request.
 */
#ifndef API_LIST_H
#define API_LIST_H

#include "api/cursor.h"
#include "api/request.h"
#include "view/view.h"

struct list_query {
    enum view_section section;
    const char *prefix; /* only keys that begin with it, or NULL */
    bool newest_first;  /* from the greatest key down */
    bool brief;         /* the short form of the items */
    bool tells_age;     /* the answer says where it comes from, and how old its oldest item is */
    bool (*wanted)(struct request *r, const struct view_blob *blob);
};

/* Answers with the page that the request's limit and cursor ask for. */
struct problem *list_answer(struct request *r, const struct list_query *query);

/* The pieces, for lists that are made in other ways. */

/* Where the page begins. */
struct problem *list_place(struct request *r, struct cursor_place *ret_place);
/*
 * Writes {"items":[...],"next_cursor":...}; `next` is the place of the last item when more may follow. A page
 * that grew beyond what is held in memory is an internal error (nothing that is half there goes out).
 */
void list_open(struct buffer *out);
void list_add(struct buffer *out, const char *body, size_t len);
/* Adds an entry of the view; *oldest, 0 at first, is when Cleura told of the oldest item that it told of. */
void list_add_blob(struct buffer *out, const struct view_blob *blob, bool brief, wall_us *oldest);
/* Before list_close, for a query that tells the age. */
void list_tell_age(struct request *r, const struct list_query *query, wall_us oldest);
struct problem *list_close(struct request *r, struct buffer *out, const struct cursor_place *next);
/* A NULL prefix fits every key. */
bool list_has_prefix(const char *key, const char *prefix);

#endif
