#include "api/cluster_page.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/cluster_order.h"
#include "base/mem.h"

/* The first rows of what was looked at so far: a heap with the last of them on top. */
struct selection {
    const struct cluster_order *order;
    struct order_row *rows;
    size_t count;
    size_t most;
};

static bool is_before(const struct selection *s, size_t a, size_t b)
{
    return order_compare(s->order, &s->rows[a], &s->rows[b]) < 0;
}

static void swap(struct selection *s, size_t a, size_t b)
{
    struct order_row kept = s->rows[a];
    s->rows[a] = s->rows[b];
    s->rows[b] = kept;
}

static void rise(struct selection *s, size_t i)
{
    while (i && is_before(s, (i - 1) / 2, i)) {
        swap(s, (i - 1) / 2, i);
        i = (i - 1) / 2;
    }
}

static void sink(struct selection *s, size_t i)
{
    for (;;) {
        size_t last = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < s->count; child++)
            if (is_before(s, last, child))
                last = child;
        if (last == i)
            return;
        swap(s, i, last);
        i = last;
    }
}

static void consider(struct selection *s, const struct order_row *row)
{
    if (s->count < s->most) {
        s->rows[s->count] = *row;
        rise(s, s->count++);
    } else if (order_compare(s->order, row, &s->rows[0]) < 0) {
        s->rows[0] = *row;
        sink(s, 0);
    }
}

static int compare_rows(const void *a, const void *b, void *order)
{
    return order_compare(order, a, b);
}

/* Everything that is wanted and comes after the place; the first `most` of it, in order. */
static void select_rows(struct request *r, const struct view_snapshot *s, const struct list_query *q,
                        const struct order_row *after, struct selection *selection)
{
    struct view_cursor place = view_seek(s, q->section, q->prefix ? q->prefix : "");
    struct order_row row;
    for (const struct view_entry *e = view_next(&place); e && list_has_prefix(e->key, q->prefix);
         e = view_next(&place)) {
        if (!q->wanted(r, e->blob))
            continue;
        order_row_of_blob(selection->order, r->api->options.config, e->blob, &row);
        if (!after || order_compare(selection->order, &row, after) > 0)
            consider(selection, &row);
    }
    qsort_r(selection->rows, selection->count, sizeof(*selection->rows), compare_rows,
            (void *)(uintptr_t)selection->order);
}

void cluster_page_reply(struct request *r, const struct list_query *query)
{
    struct cursor_place place, next;
    struct cluster_order order;
    struct order_row after;
    char project[CURSOR_MAX_KEY + 1];
    json_t *valid CLEANUP_JSON = NULL;
    (void)cluster_order_parse(r->params.texts[PARAM_SORT], &order, &valid); /* api/params.c found it good */
    if (!list_place(r, &place))
        return;
    order_row_of_place(&order, r->api->options.config, &place, project, &after);

    size_t limit = (size_t)param_number(&r->params, PARAM_LIMIT);
    struct order_row *rows CLEANUP_FREE = mem_calloc(limit + 1, sizeof(*rows)); /* one more: is there more? */
    struct selection selection = {.order = &order, .rows = rows, .most = limit + 1};
    struct buffer out CLEANUP_BUFFER;
    wall_us oldest = 0;
    list_open(&out);
    const struct view_snapshot *s = view_enter(r->api->options.view);
    select_rows(r, s, query, *place.key ? &after : NULL, &selection);
    for (size_t i = 0; i < selection.count && i < limit; i++)
        list_add_blob(&out, rows[i].blob, query->brief, &oldest);
    bool more = selection.count > limit && order_row_place(&order, &rows[limit - 1], &next);
    view_leave(r->api->options.view);
    list_tell_age(r, query, oldest);
    list_close(r, &out, more ? &next : NULL);
}
