/*
 * Orders of clusters for ?sort: a table of keys, up to four of them together, each up or down; clusters that
 * are equal in them are ordered by project and name, upwards. Pure; inside view_enter/view_leave.
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

/* NULL, or what is wrong with the text, static; *ret_valid, when it may help, gets the names of all keys. */
const char *cluster_order_parse(const char *text, struct cluster_order *ret, json_t **ret_valid);

/* The values of one cluster that are compared; texts are borrowed. */
struct order_row {
    const struct view_blob *blob; /* NULL: the place of a cursor */
    const char *key;
    size_t at; /* of rows of one pass over the view: in the order of their keys; 0: of none */
    int64_t numbers[ORDER_MAX_KEYS];
    const char *texts[ORDER_MAX_KEYS];
};

void order_row_of_entry(const struct cluster_order *order, const struct config *config,
                        const struct view_entry *entry, struct order_row *ret);
/* The row of a cluster that need not be there any more. Splits `project`, a copy of the place's key, in two.
 */
void order_row_of_place(const struct cluster_order *order, const struct config *config,
                        const struct cursor_place *place, char project[static CURSOR_MAX_KEY + 1],
                        struct order_row *ret);
/* False when the key is too long for a cursor. */
bool order_row_place(const struct cluster_order *order, const struct order_row *row,
                     struct cursor_place *ret);
/* <0, 0, >0; 0 only for the same cluster. */
int order_compare(const struct cluster_order *order, const struct order_row *a, const struct order_row *b);

#endif
