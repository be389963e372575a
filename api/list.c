#include "api/list.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/problem_reply.h"
#include "base/mem.h"

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

void list_close(struct request *r, struct buffer *out, const char *next_key)
{
    char cursor[CURSOR_TEXT_BYTES];
    if (next_key && cursor_make(r, next_key, cursor))
        (void)buffer_printf(out, "],\"next_cursor\":\"%s\"}", cursor);
    else
        (void)buffer_add_str(out, "],\"next_cursor\":null}");
    size_t len;
    char *text = buffer_take(out, &len);
    answer_text(&r->answer, MHD_HTTP_OK, TYPE_JSON, text, len);
    answer_header(&r->answer, "Cache-Control", "private, no-cache");
}

static bool has_prefix(const char *key, const char *prefix)
{
    return !prefix || !strncmp(key, prefix, strlen(prefix));
}

/* The position of the first entry to look at, and the step to the next. */
static size_t first_index(const struct view_snapshot *s, const struct list_query *q, const char *after)
{
    const struct view_entry *entries = s->sections[q->section].entries;
    size_t count = s->sections[q->section].count;
    if (q->newest_first)
        return *after ? view_lower_bound(s, q->section, after) : count; /* one above the first */
    size_t i = view_lower_bound(s, q->section, *after ? after : q->prefix ? q->prefix : "");
    return i < count && *after && !strcmp(entries[i].key, after) ? i + 1 : i;
}

/* Appends up to `limit` entries; returns the key of the last one when more may follow, else NULL. */
static const char *fill_page(struct request *r, const struct view_snapshot *s, const struct list_query *q,
                             const char *after, struct buffer *out)
{
    const struct view_entry *entries = s->sections[q->section].entries;
    size_t count = s->sections[q->section].count;
    int64_t left = param_number(&r->params, PARAM_LIMIT);
    const char *last = NULL;
    size_t next = first_index(s, q, after);
    while (q->newest_first ? next > 0 : next < count) {
        const struct view_entry *e = q->newest_first ? &entries[--next] : &entries[next++];
        if (!q->newest_first && !has_prefix(e->key, q->prefix))
            break;
        if (!has_prefix(e->key, q->prefix) || !q->wanted(r, e->blob))
            continue;
        if (left-- == 0)
            return last;
        list_add(out, e->blob->body, e->blob->body_len);
        last = e->key;
    }
    return NULL;
}

void list_reply_bad_cursor(struct request *r)
{
    struct problem *p = NULL;
    problem_add_fault(&p, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, "cursor", "invalid_cursor", NULL,
                      "is not a next_cursor of this list with these filters; begin again without it");
    respond_problem(r, p);
}

void list_reply(struct request *r, const struct list_query *query)
{
    char after[CURSOR_MAX_KEY + 1];
    if (!cursor_read(r, after)) {
        list_reply_bad_cursor(r);
        return;
    }
    struct buffer out CLEANUP_BUFFER;
    list_open(&out);
    const struct view_snapshot *s = view_enter(r->api->options.view);
    const char *next = fill_page(r, s, query, after, &out);
    char *next_key CLEANUP_FREE = mem_strdup(next);
    view_leave(r->api->options.view);
    list_close(r, &out, next_key);
}
