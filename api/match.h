/* From a path to a row of the route table. Pure, no allocation, no regular expressions. */
#ifndef API_MATCH_H
#define API_MATCH_H

#include <stdbool.h>

#include "api/routes.h"

/* Why a path cannot be taken at all; NULL when it is fine. Decodes r->path into r->segments, in place. */
const char *path_split(struct request *r);
/* Decodes %xx in place; false for bad escapes, NUL and bytes that are not UTF-8. */
bool percent_decode(char *text);
/*
 * Finds the row for the segments and the method (GET rows serve HEAD) and fills the path parameters. NULL
 * when there is none; *ret_allowed is then the bit set of methods that the path does know, 0 for an unknown
 * path.
 */
const struct route *route_match(struct request *r, unsigned *ret_allowed);
/* The value of an Allow field for a bit set of methods. */
void route_allow(unsigned allowed, char *text, size_t size);

#endif
