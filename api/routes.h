/* The table of operations, in the order of openapi.yaml: constant, any thread. */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/request.h"

/* Beside those of enum content_flag. */
enum route_flag {
    ROUTE_PUBLIC = CONTENT_FLAGS_END_,      /* no token needed */
    ROUTE_QUIET = CONTENT_FLAGS_END_ << 1,  /* access line at debug level only */
    ROUTE_SECRET = CONTENT_FLAGS_END_ << 2, /* answers may hold a secret: they are never compressed (HT-53) */
    ROUTE_COLLECTION = CONTENT_FLAGS_END_
                       << 3,               /* POST makes a member: preconditions are about the collection */
    ROUTE_FRESH = CONTENT_FLAGS_END_ << 4, /* no-cache makes it wait for Cleura (api/reads.h) */
    ROUTE_WHOLE = CONTENT_FLAGS_END_ << 5, /* about all projects together: not for a token of some */
};

struct route {
    const char *operation; /* operationId of the contract */
    enum method method;
    const char *template; /* also the metrics label */
    struct problem *(*handler)(struct request *r);
    enum role role; /* the least role */
    unsigned flags; /* of both kinds */
    size_t body_limit;
    uint64_t params; /* PARAM_BIT set of known query parameters */
};

enum { ROUTE_COUNT = 77 }; /* rows of the table; routes.c holds it to them */

extern const struct route routes[];

static inline struct content_rules route_content(const struct route *route)
{
    return (struct content_rules){route->flags, route->body_limit};
}

/* Once before the first route_match; again does nothing. Any thread. */
void routes_prepare(void);
/*
 * Finds the row for the path and the method of `r` (GET rows serve HEAD) and fills the path parameters. NULL
 * when there is none; *ret_allowed is then the bit set of methods that the path does know, 0 for an unknown
 * path. No allocation, no regular expressions.
 */
const struct route *route_match(struct request *r, unsigned *ret_allowed);

/* Whether the client prefers an event stream, and the route of `r` offers one. */
bool route_prefers_stream(const struct request *r);

#endif
