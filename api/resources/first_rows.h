/*
 * The first rows of an order, found in one pass over the view with memory for one page: a heap whose top is
 * the last of the rows found so far. Pure; between view_enter and view_leave.
 */
#ifndef API_RESOURCES_FIRST_ROWS_H
#define API_RESOURCES_FIRST_ROWS_H

#include "api/resources/cluster_order.h"

struct first_rows {
    const struct cluster_order *order;
    struct order_row *rows; /* memory for `most` rows, of the caller */
    size_t count;
    size_t most;
};

/* Takes the row, if it is among the first `most` rows so far. */
void first_rows_consider(struct first_rows *s, const struct order_row *row);
/* Brings the rows into their order, at the end of the pass. */
void first_rows_sort(struct first_rows *s);

#endif
