/*
 * Collections (HT-35 to HT-37): pages of prepared bodies, joined without making JSON again. Keyset cursors
 * over the order of the view. Inside view_enter/view_leave; the worker of the request.
 */
#ifndef API_LIST_H
#define API_LIST_H

#include "api/request.h"
#include "view/view.h"

struct list_query {
    enum view_section section;
    const char *prefix; /* only keys that begin with it, or NULL */
    bool newest_first;  /* from the greatest key down */
    bool (*wanted)(struct request *r, const struct view_blob *blob);
};

/* Answers with the page that the request's limit and cursor ask for. */
void list_reply(struct request *r, const struct list_query *query);
/* Writes {"items":[...],"next_cursor":...} from the pieces. */
void list_open(struct buffer *out);
void list_add(struct buffer *out, const char *body, size_t len);
void list_close(struct request *r, struct buffer *out, const char *next_key);

/* 400 for a cursor that is not of this list. */
void list_reply_bad_cursor(struct request *r);

#endif
