/* The end of a turn of the loop. Loop thread. */
#ifndef RECONCILE_TURN_H
#define RECONCILE_TURN_H

struct reconcile;

/* Makes the lists of a new reconciler empty. */
void turn_init(struct reconcile *r);
/*
 * Passes on what happened in this turn, until nothing is left: results of the store to those that asked,
 * waits that are over, slices of walks, commands that became ready, and then the operation of each cluster
 * that was touched, once. After that it publishes the view, the events and the answers, in this order: a
 * client that gets an event or an answer finds its effect in the view. `ctx` is the reconciler.
 */
void turn_end(void *ctx);

#endif
