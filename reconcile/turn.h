/* The end of a turn of the loop. Loop thread. */
#ifndef RECONCILE_TURN_H
#define RECONCILE_TURN_H

struct reconcile;

/* Makes the lists of a new reconciler empty. */
void turn_init(struct reconcile *r);
/*
 * Handles everything that happened in this turn, until all lists are empty: results of the store, waits that
 * have ended, slices of walks, commands that became ready. Then it continues the operation of each cluster
 * that was touched, once. After that it publishes the view, sends the events and then the answers. Therefore
 * a client that gets an event or an answer finds the reported change in the view. `ctx` is the reconciler.
 */
void turn_end(void *ctx);

#endif
