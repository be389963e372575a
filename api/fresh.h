/*
 * Fresh reads: Cache-Control: no-cache (HT-25). A route with ROUTE_FRESH answers from the view. When the
 * client wants a fresh read, the handler runs only after Cleura was read, after a read has failed, or after
 * the deadline. Prefer: wait=N (seconds) sets the deadline. Runs on the worker of the request.
 */
#ifndef API_FRESH_H
#define API_FRESH_H

#include "base/env.h"
#include "model/command.h"

struct problem;
struct request;

/* Suspends the request until Cleura was read, if its client wants a fresh read and has not used up its limit.
 * Otherwise the handler runs at once. Returns a problem when the server stops. */
struct problem *fresh_ask(struct request *r);
/* Adds the header field that shows how the fresh read ended. */
void fresh_name_outcome(struct request *r, enum fresh_outcome outcome);
/* Adds the header field that says that the answer comes from the cache. Does nothing when the client asked
 * for a fresh read, because fresh_name_outcome has already added the field (HT-28). */
void fresh_set_source(struct request *r);
/*
 * Adds the age of the data and the time when Cleura reported the data. When Cleura has not reported them,
 * the age is 0 s and there is no time (HT-24). `heard_at` is the same time on the monotonic clock; the age
 * is computed from it. Entity tags do not depend on the age, so a 304 has the age, too. `as_text` is the
 * time as a text; NULL: this function makes the text.
 */
void fresh_set_age(struct request *r, wall_us observed_at, mono_us heard_at, const char *as_text);

#endif
