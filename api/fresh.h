/* Reads that ask for more than memory: Cache-Control: no-cache (HT-25, promise 2). The worker of the request.
 */
#ifndef API_FRESH_H
#define API_FRESH_H

#include <stdbool.h>

struct request;

/*
 * True when the client wants a fresh read: the request is parked, and `serve` answers it from the view when
 * Cleura was read, could not be read, or the deadline passed. Prefer: wait=N (seconds) sets the deadline.
 */
bool fresh_wanted(struct request *r, void (*serve)(struct request *r));

#endif
