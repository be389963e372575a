/*
 * The orders of clusters for ?sort. There is a table of keys; an order has up to four of them, each ascending
 * or descending. Clusters with equal keys are ordered by project and name, ascending. Pure; between
 * view_enter and view_leave.
 */
#ifndef API_RESOURCES_CLUSTER_ORDER_H
#define API_RESOURCES_CLUSTER_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "api/cursor.h"
#include "base/json.h"
#include "config/config.h"
#include "view/view.h"

enum { ORDER_MAX_KEYS = CURSOR_MAX_NUMBERS };

struct order_key; /* a row of the table */

struct cluster_order {
    const struct order_key *keys[ORDER_MAX_KEYS];
    bool down[ORDER_MAX_KEYS];
    unsigned count;
};

/* Returns NULL, or the fault, which the caller frees. When `text` contains an unknown key, *ret_valid gets
 * the names of all keys. */
char *cluster_order_parse(const char *text, struct cluster_order *ret, json_t **ret_valid);

/* The values of one cluster that are compared; the texts are borrowed. */
struct order_row {
    const struct view_blob *blob; /* NULL: the row was made from the place of a cursor */
    const char *key;
    size_t at; /* the position in a pass over the view, ascending; 0: the row is not from a pass */
    int64_t numbers[ORDER_MAX_KEYS];
    const char *texts[ORDER_MAX_KEYS];
};

void order_row_of_entry(const struct cluster_order *order, const struct config *config,
                        const struct view_entry *entry, struct order_row *ret);
/* Makes the row of a cluster that may no longer exist. The caller has copied the place's key to `project`;
 * the function splits it in two. */
void order_row_of_place(const struct cluster_order *order, const struct config *config,
                        const struct cursor_place *place, char project[static CURSOR_MAX_KEY + 1],
                        struct order_row *ret);
/* Makes the place of a row, for a cursor. False when the key is too long for a cursor. */
bool order_row_place(const struct cluster_order *order, const struct order_row *row,
                     struct cursor_place *ret);
/* Returns a negative number, 0 or a positive number; 0 only for the same cluster. */
int order_compare(const struct cluster_order *order, const struct order_row *a, const struct order_row *b);

#endif
