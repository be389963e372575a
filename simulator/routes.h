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
    const char *pattern; /* {t}ag {r}egion {p}roject {s}hoot {w}orker {n}ode {d}omain {i}d */
    enum operation operation;
    int generation; /* 0: /_sim/ */
    unsigned flags;
    int success; /* the usual status */
    void (*handle)(struct exchange *x);
};

/* Splits the path and finds the route; fills route and params. */
void routes_match(struct exchange *x);
/* Tells why a path parameter is not acceptable, or NULL. */
bool routes_check_params(struct exchange *x);

#endif
