/*
 * An intrusive doubly linked list with a sentinel. Each item contains a struct list; the list does not own
 * the items. Threads may share a list only with a lock of its owner.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"

struct list {
    struct list *next;
    struct list *prev;
};

static inline void list_init(struct list *head)
{
    head->next = head;
    head->prev = head;
}

static inline bool list_is_empty(const struct list *head)
{
    return head->next == head;
}

/* True for an item that is in no list: it was zeroed or removed. */
static inline bool list_is_detached(const struct list *item)
{
    return !item->next;
}

static inline void list_append(struct list *head, struct list *item)
{
    item->prev = head->prev;
    item->next = head;
    head->prev->next = item;
    head->prev = item;
}

/* Removes an item from its list. Does nothing when the item is detached. */
static inline void list_remove(struct list *item)
{
    if (list_is_detached(item))
        return;
    item->prev->next = item->next;
    item->next->prev = item->prev;
    item->next = NULL;
    item->prev = NULL;
}

static inline struct list *list_pop(struct list *head)
{
    struct list *item = head->next;
    if (item == head)
        return NULL;
    list_remove(item);
    return item;
}

#define LIST_FOR_EACH(it, head) for (struct list *it = (head)->next; it != (head); it = it->next)
/* The body may remove `it`. */
#define LIST_FOR_EACH_SAFE(it, tmp, head) \
    for (struct list *it = (head)->next, *tmp = it->next; it != (head); it = tmp, tmp = it->next)

#endif
