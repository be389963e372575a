/* The table of operations (routes.def): constant, any thread. */
#ifndef API_ROUTES_H
#define API_ROUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/request.h"

/* Flags of a route, in addition to those of enum content_flag. */
enum route_flag {
    ROUTE_PUBLIC = CONTENT_FLAGS_END_,          /* the route needs no token */
    ROUTE_QUIET = CONTENT_FLAGS_END_ << 1,      /* the access line is written at level debug only */
    ROUTE_SECRET = CONTENT_FLAGS_END_ << 2,     /* answers may contain a secret: never compressed (HT-53) */
    ROUTE_COLLECTION = CONTENT_FLAGS_END_ << 3, /* a POST makes a member, so preconditions apply to the
                                                 * collection */
    ROUTE_FRESH = CONTENT_FLAGS_END_ << 4,      /* for requests with no-cache, Cleura is read first
                                                 * (api/fresh.h) */
    ROUTE_WHOLE = CONTENT_FLAGS_END_ << 5, /* the route concerns all projects together, and needs a token for
                                            * all of them */
    ROUTE_ANY_QUERY = CONTENT_FLAGS_END_ << 6, /* the query is for the web page: shootd neither reads nor
                                                * refuses it */
};

struct route {
    const char *operation; /* the operationId of the contract */
    enum method method;
    const char *template; /* the template of the path, which is also a label of metrics */
    struct problem *(*handler)(struct request *r);
    enum command_type command; /* the command that the handler makes; COMMAND_NONE: none, or not always the
                                * same one */
    enum role role;            /* the lowest role that may use the route */
    unsigned flags;            /* flags of the enum above and of http/message/content.h */
    size_t body_limit;
    uint64_t params; /* the bit set (PARAM_BIT) of the route's query parameters */
};

/* The number of rows. */
enum {
    ROUTE_COUNT = 0
#define ROUTE(...) +1
#include "api/routes.def"
#undef ROUTE
};

extern const struct route routes[ROUTE_COUNT];

static inline struct content_rules route_content(const struct route *route)
{
    return (struct content_rules){route->flags, route->body_limit};
}

/* Must be called before the first route_match; repeated calls do nothing. Any thread. */
void routes_prepare(void);
/*
 * Finds the row for the path and the method of `r` (GET rows also serve HEAD) and sets the path parameters.
 * NULL when no row matches; *ret_allowed is then the bit set of methods for the path, 0 for an unknown path.
 * No allocation, no regular expressions.
 */
const struct route *route_match(struct request *r, unsigned *ret_allowed);

/* Whether the client prefers an event stream, and the route of `r` offers one. */
bool route_prefers_stream(const struct request *r);

#endif
