#include "api/resources/first_rows.h"

#include <assert.h>
#include <stdlib.h>

static bool is_before(const struct first_rows *s, size_t a, size_t b)
{
    return order_compare(s->order, &s->rows[a], &s->rows[b]) < 0;
}

static void swap(struct first_rows *s, size_t a, size_t b)
{
    struct order_row kept = s->rows[a];
    s->rows[a] = s->rows[b];
    s->rows[b] = kept;
}

static void sink(struct first_rows *s, size_t i)
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

void first_rows_consider(struct first_rows *s, const struct order_row *row)
{
    assert(s->most > 0 && s->count <= s->most);
    if (s->count < s->most) {
        size_t i = s->count++;
        s->rows[i] = *row;
        for (; i && is_before(s, (i - 1) / 2, i); i = (i - 1) / 2) /* moves the row up to its place in the
                                                                    * heap */
            swap(s, (i - 1) / 2, i);
    } else if (order_compare(s->order, row, &s->rows[0]) < 0) {
        s->rows[0] = *row;
        sink(s, 0);
    }
}

static int compare_rows(const void *a, const void *b, void *order)
{
    return order_compare(order, a, b);
}

void first_rows_sort(struct first_rows *s)
{
    qsort_r(s->rows, s->count, sizeof(*s->rows), compare_rows, (void *)(uintptr_t)s->order);
}
