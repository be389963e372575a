/* The processing of a request. The thread of its connection. */
#ifndef SIMULATOR_PROCESS_H
#define SIMULATOR_PROCESS_H

#include "simulator/request/exchange.h"

#include <stdbool.h>

/* Finds the route and counts the request. exchange_free ends it. */
struct exchange *process_begin(struct sim *sim, struct MHD_Connection *connection, const char *method,
                               const char *path);
/* Processes a request after the last byte of its body, until the answer is finished. Sleeps, so call it
 * without the lock. */
void process_finish(struct exchange *x);

/* routes.c: splits the path and finds the route; fills route and params. */
void routes_match(struct exchange *x);
/* False after it answered that a path parameter is not acceptable. */
bool routes_check_params(struct exchange *x);

#endif
