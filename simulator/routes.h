/* The table of all paths of both generations and of /_sim/. */
#ifndef SIMULATOR_ROUTES_H
#define SIMULATOR_ROUTES_H

#include "exchange.h"

#include <stdbool.h>

enum route_flag {
    ROUTE_AUTH = 1,   /* needs a live login and token */
    ROUTE_REGION = 2, /* region and project must exist */
    ROUTE_SHOOT = 4   /* and so must the shoot */
};

struct route {
    const char *method;
    const char *pattern; /* {t}ag {r}egion {p}roject {s}hoot {w}orker {n}ode {d}omain {u}ser na{m}e {i}d */
    enum operation operation;
    int generation; /* 0: /_sim/ */
    unsigned flags;
    int success; /* the usual status */
    void (*handle)(struct exchange *x);
};

/* All routes, in the order of the table. */
const struct route *routes_all(size_t *ret_count);
/* What a letter of a pattern stands for, as Cleura's contract names it. */
const char *routes_param_name(char letter);
/* Splits the path and finds the route; fills route and params. */
void routes_match(struct exchange *x);
/* Tells why a path parameter is not acceptable, or NULL. */
bool routes_check_params(struct exchange *x);

#endif
