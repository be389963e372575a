#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

static bool before(const struct heap_item *a, const struct heap_item *b)
{
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void place(struct heap *h, size_t slot, struct heap_item *item)
{
    h->items[slot - 1] = item;
    item->slot = slot;
}

static void sift_up(struct heap *h, struct heap_item *item)
{
    size_t slot = item->slot;
    while (slot > 1 && before(item, h->items[slot / 2 - 1])) {
        place(h, slot, h->items[slot / 2 - 1]);
        slot /= 2;
    }
    place(h, slot, item);
}

static void sift_down(struct heap *h, struct heap_item *item)
{
    size_t slot = item->slot;
    for (;;) {
        size_t child = slot * 2;
        if (child > h->count)
            break;
        if (child < h->count && before(h->items[child], h->items[child - 1]))
            child++;
        if (!before(h->items[child - 1], item))
            break;
        place(h, slot, h->items[child - 1]);
        slot = child;
    }
    place(h, slot, item);
}

void heap_done(struct heap *h)
{
    for (size_t i = 0; i < h->count; i++)
        h->items[i]->slot = 0;
    free(h->items);
    *h = (struct heap){0};
}

void heap_set(struct heap *h, struct heap_item *item, int64_t key)
{
    assert(!item->slot || (item->slot <= h->count && h->items[item->slot - 1] == item));
    if (!item->slot) {
        if (h->count == h->capacity) {
            h->capacity = h->capacity ? h->capacity * 2 : 16;
            h->items = mem_realloc_array(h->items, h->capacity, sizeof(*h->items));
        }
        h->count++;
        place(h, h->count, item);
    }
    item->key = key;
    item->order = h->next_order++;
    sift_up(h, item);
    sift_down(h, item);
}

void heap_remove(struct heap *h, struct heap_item *item)
{
    if (!item->slot)
        return;
    size_t slot = item->slot;
    assert(slot <= h->count && h->items[slot - 1] == item); /* it is in this heap */
    struct heap_item *last = h->items[h->count - 1];
    h->count--;
    item->slot = 0;
    if (last == item)
        return;
    place(h, slot, last);
    sift_up(h, last);
    sift_down(h, last);
}

struct heap_item *heap_peek(const struct heap *h)
{
    return h->count ? h->items[0] : NULL;
}
