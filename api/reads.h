/* What reads of single resources have in common: each returns the problem when a precondition fails. The
 * worker of the request. */
#ifndef API_READS_H
#define API_READS_H

#include "api/request.h"
#include "view/view.h"

/* Takes a reference out of the view for as long as the request needs it; NULL when absent. */
struct view_blob *read_blob(struct request *r, enum view_section section, const char *key);
/* The cluster that the path names, the same way; PROBLEM_CLUSTER_NOT_FOUND when there is none. */
struct problem *read_cluster(struct request *r, struct view_blob **ret);
/* Answers with a blob, which it takes: ETag, Cache-Control, preconditions. */
struct problem *answer_with_blob(struct request *r, struct view_blob *blob);
/* The same with a JSON text made for this answer, which it takes; the tag is a digest of its bytes. */
struct problem *answer_with_text(struct request *r, char *text, size_t len);
/* Takes `doc`. */
struct problem *answer_with_document(struct request *r, json_t *doc);
/* The same for what is no tenant's: shared caches may keep it too. */
struct problem *answer_with_public_document(struct request *r, json_t *doc);

/* ---- fresh reads: Cache-Control: no-cache (HT-25, promise 2) ---- */

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
