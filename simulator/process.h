/* Processes a request, on the thread of its connection. */
#ifndef SIMULATOR_PROCESS_H
#define SIMULATOR_PROCESS_H

#include "simulator/request/sim_exchange.h"

#include <stdbool.h>

/* Finds the route and counts the request. The caller frees the exchange with exchange_free. */
struct sim_exchange *process_begin(struct sim *sim, struct MHD_Connection *connection, const char *method,
                                   const char *path);
/* Processes a request after the last byte of its body, until the answer is finished. The function sleeps, so
 * it is called without the lock. */
void process_finish(struct sim_exchange *x);

/* routes.c: splits the path and finds the route; fills route and params. */
void routes_match(struct sim_exchange *x);
/* Checks the path parameters. When a parameter is not acceptable, sets an answer that reports this, and
 * returns false. */
bool routes_check_params(struct sim_exchange *x);

#endif
