/*
 * Intrusive binary min-heap over 64-bit keys (due times). Items know their index, so a change or a removal
 * costs O(log n). Items with equal keys are returned in the order of insertion, so a repeated run has the
 * same order. One owner thread.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_item {
    int64_t key;
    uint64_t order; /* set by the heap */
    size_t slot;    /* the index in the heap, from 1; 0: the item is in no heap */
};

struct heap {
    struct heap_item **items;
    size_t count;
    size_t capacity;
    uint64_t next_order;
};

void heap_done(struct heap *h);
/* Inserts the item with `key`, or moves an item that is already in this heap to `key`. */
void heap_set(struct heap *h, struct heap_item *item, int64_t key);
/* Removes the item; does nothing when the item is in no heap. */
void heap_remove(struct heap *h, struct heap_item *item);
/* Returns the item with the smallest key; NULL when the heap is empty. */
struct heap_item *heap_peek(const struct heap *h);

static inline bool heap_contains(const struct heap_item *item)
{
    return item->slot != 0;
}

#endif
