/* The table of operations, in the order of openapi.yaml: constant, any thread. */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include <stddef.h>
#include <stdint.h>

#include "api/request.h"

enum route_flag {
    ROUTE_PUBLIC = 1,          /* no token needed */
    ROUTE_BODY = 2,            /* takes a JSON object */
    ROUTE_QUIET = 4,           /* access line at debug level only */
    ROUTE_ANY_TYPE = 8,        /* the Accept field is not looked at: there is one form only */
    ROUTE_OFFERS_YAML = 16,    /* beside JSON */
    ROUTE_MERGE_PATCH = 32,    /* the body may also be application/merge-patch+json */
    ROUTE_SECRET = 64,         /* answers may hold a secret: they are never compressed (HT-53) */
    ROUTE_BODY_OPTIONAL = 256, /* with ROUTE_BODY: no body is an empty object */
    ROUTE_OFFERS_STREAM = 512, /* text/event-stream, beside JSON */
    ROUTE_COLLECTION = 128,    /* POST makes a member: preconditions are about the collection itself */
};

struct route {
    const char *operation; /* operationId of the contract */
    enum method method;
    const char *template; /* also the metrics label */
    struct problem *(*handler)(struct request *r);
    enum role role; /* the least role */
    unsigned flags;
    size_t body_limit;
    uint32_t params; /* PARAM_BIT set of known query parameters */
};

enum { ROUTE_COUNT = 62 }; /* rows of the table; routes.c holds it to them */

extern const struct route routes[];

#endif
