#include "api/list.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/reads.h"
#include "base/log.h"

enum { MAX_PAGE_BYTES = 256 * 1024 * 1024 };

void list_open(struct buffer *out)
{
    buffer_init(out, MAX_PAGE_BYTES);
    (void)buffer_add_str(out, "{\"items\":[");
}

void list_add(struct buffer *out, const char *body, size_t len)
{
    if (out->data[out->len - 1] != '[')
        (void)buffer_add(out, ",", 1);
    (void)buffer_add(out, body, len);
}

void list_add_blob(struct buffer *out, const struct view_blob *blob, bool brief, wall_us *oldest)
{
    list_add(out, brief ? blob->brief : blob->body, brief ? blob->brief_len : blob->body_len);
    if (blob->observed_at && (!*oldest || blob->observed_at < *oldest))
        *oldest = blob->observed_at;
}

void list_tell_age(struct request *r, const struct list_query *query, wall_us oldest)
{
    if (!query->tells_age)
        return;
    fresh_tell_age(r, oldest);
    fresh_tell_source(r);
}

struct problem *list_close(struct request *r, struct buffer *out, const struct cursor_place *next)
{
    char cursor[CURSOR_TEXT_BYTES];
    size_t len;
    if (next) {
        cursor_make(r, next, cursor);
        (void)buffer_printf(out, "],\"next_cursor\":\"%s\"}", cursor);
    } else {
        (void)buffer_add_str(out, "],\"next_cursor\":null}");
    }
    if (out->overflow) {
        log_error("a page is larger than it may be", "request_id", r->http.id);
        return problem_new(PROBLEM_INTERNAL_ERROR, "The page is too large; ask with a smaller limit.");
    }
    char *text = buffer_take(out, &len);
    return answer_with_text(r, text, len);
}

struct problem *list_place(struct request *r, struct cursor_place *ret_place)
{
    struct problem *p = NULL;
    switch (cursor_read(r, ret_place)) {
    case CURSOR_GOOD:
        break;
    case CURSOR_EXPIRED:
        problem_add_fault(&p, PROBLEM_CURSOR_EXPIRED, FAULT_AT_QUERY, "cursor", "expired", NULL,
                          "was given out more than 3 days ago; begin again without it");
        break;
    case CURSOR_BAD:
        problem_add_fault(&p, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, "cursor", "invalid_cursor", NULL,
                          "is not a next_cursor of this list with these filters; begin again without it");
        break;
    }
    return p;
}

bool list_has_prefix(const char *key, const char *prefix)
{
    return !prefix || !strncmp(key, prefix, strlen(prefix));
}

/* The place that the page begins at. */
static struct view_cursor first_place(const struct view_snapshot *s, const struct list_query *q,
                                      const char *after)
{
    if (q->newest_first)
        return *after ? view_seek(s, q->section, after) : view_end(s, q->section);
    struct view_cursor place = view_seek(s, q->section,
                                         *after      ? after
                                         : q->prefix ? q->prefix
                                                     : ""),
                       behind = place;
    const struct view_entry *first = view_next(&behind);
    return first && *after && !strcmp(first->key, after) ? behind : place;
}

/* Appends up to `limit` entries; returns the key of the last one when more may follow, else NULL. */
static const char *fill_page(struct request *r, const struct view_snapshot *s, const struct list_query *q,
                             const char *after, struct buffer *out, wall_us *oldest)
{
    const struct view_entry *(*const step)(struct view_cursor *) =
        q->newest_first ? view_previous : view_next;
    int64_t left = param_number(&r->params, PARAM_LIMIT);
    const char *last = NULL;
    struct view_cursor place = first_place(s, q, after);
    for (const struct view_entry *e = step(&place); e; e = step(&place)) {
        bool fits = list_has_prefix(e->key, q->prefix);
        if (!q->newest_first && !fits)
            break;
        if (!fits || !q->wanted(r, e->blob))
            continue;
        if (left-- == 0)
            return last;
        list_add_blob(out, e->blob, q->brief, oldest);
        last = e->key;
    }
    return NULL;
}

struct problem *list_answer(struct request *r, const struct list_query *query)
{
    struct cursor_place after, next;
    struct problem *p = list_place(r, &after);
    if (p)
        return p;
    struct buffer out CLEANUP_BUFFER;
    wall_us oldest = 0;
    list_open(&out);
    const struct view_snapshot *s = view_enter(r->api->options.view);
    const char *last = fill_page(r, s, query, after.key, &out, &oldest);
    bool more = last && cursor_place_set(&next, last);
    view_leave(r->api->options.view);
    next.number_count = 0;
    list_tell_age(r, query, oldest);
    return list_close(r, &out, more ? &next : NULL);
}
