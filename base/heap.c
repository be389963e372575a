#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

static bool heap_is_before(const struct heap_item *a, const struct heap_item *b)
{
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void heap_place(struct heap *h, size_t slot, struct heap_item *item)
{
    h->items[slot - 1] = item;
    item->slot = slot;
}

static void heap_sift_up(struct heap *h, struct heap_item *item)
{
    size_t slot = item->slot;
    while (slot > 1 && heap_is_before(item, h->items[slot / 2 - 1])) {
        heap_place(h, slot, h->items[slot / 2 - 1]);
        slot /= 2;
    }
    heap_place(h, slot, item);
}

static void heap_sift_down(struct heap *h, struct heap_item *item)
{
    size_t slot = item->slot;
    for (;;) {
        size_t child = slot * 2;
        if (child > h->count)
            break;
        if (child < h->count && heap_is_before(h->items[child], h->items[child - 1]))
            child++;
        if (!heap_is_before(h->items[child - 1], item))
            break;
        heap_place(h, slot, h->items[child - 1]);
        slot = child;
    }
    heap_place(h, slot, item);
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
        heap_place(h, h->count, item);
    }
    item->key = key;
    item->order = h->next_order++;
    heap_sift_up(h, item);
    heap_sift_down(h, item);
}

void heap_remove(struct heap *h, struct heap_item *item)
{
    if (!item->slot)
        return;
    size_t slot = item->slot;
    assert(slot <= h->count && h->items[slot - 1] == item); /* the item must be in this heap */
    struct heap_item *last = h->items[h->count - 1];
    h->count--;
    item->slot = 0;
    if (last == item)
        return;
    heap_place(h, slot, last);
    heap_sift_up(h, last);
    heap_sift_down(h, last);
}

struct heap_item *heap_peek(const struct heap *h)
{
    return h->count ? h->items[0] : NULL;
}
