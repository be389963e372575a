/* Reads that ask for more than memory: Cache-Control: no-cache (HT-25, promise 2). The worker of the request.
 */
#ifndef API_FRESH_H
#define API_FRESH_H

#include "base/env.h"

struct problem;
struct request;

/*
 * Answers with `serve`, from the view: at once, or, when the client wants a fresh read, after Cleura was
 * read, could not be read, or the deadline passed. Prefer: wait=N (seconds) sets the deadline.
 */
struct problem *fresh_read(struct request *r, struct problem *(*serve)(struct request *r));
/* Tells that the answer is from memory, unless it comes after a fresh read, which told so (HT-28). */
void fresh_tell_source(struct request *r);
/* Tells how old the answer is; what Cleura has said just now, or never, is 0 s old (HT-24). */
void fresh_tell_age(struct request *r, wall_us observed_at);

#endif
