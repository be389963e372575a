/*
 * Helps a caller whose path names no cluster or no project: the answer also names the project that has the
 * cluster, or a similar name. Only what the caller may see is named. Runs on the worker of the request.
 */
#ifndef API_OTHER_NAME_H
#define API_OTHER_NAME_H

#include "api/request.h"

/* Adds the sentence to a problem of the path, if there is such a name. Returns the problem; NULL for NULL. */
struct problem *with_other_name(const struct request *r, struct problem *p);

#endif
