/* Problems as answers (HT-1 to HT-5): body, Retry-After, challenges. The worker of the request. */
#ifndef API_PROBLEM_REPLY_H
#define API_PROBLEM_REPLY_H

#include "model/problem.h"

struct request;

/* Takes `p`. Replaces whatever answer was decided before, but keeps added header fields out. */
void respond_problem(struct request *r, struct problem *p);
/* The same from a code and a detail. */
void respond_with(struct request *r, enum problem_code code, const char *detail, ...) ATTR_PRINTF(3, 4);

#endif
