/* The table of all paths of both generations and of /_sim/. */
#ifndef SIMULATOR_ROUTES_H
#define SIMULATOR_ROUTES_H

#include "simulator/request/exchange.h"

#include <stdbool.h>
#include <stddef.h>

/* All routes, in the order of the table. */
const struct route *routes_all(size_t *ret_count);
/* What a letter of a pattern stands for, as Cleura's contract names it. */
const char *routes_param_name(char letter);
/* Splits the path and finds the route; fills route and params. */
void routes_match(struct exchange *x);
/* Tells why a path parameter is not acceptable, or NULL. */
bool routes_check_params(struct exchange *x);

#endif
