/* What reads of single resources have in common: each returns the problem when a precondition fails. The
 * worker of the request. */
#ifndef API_READS_H
#define API_READS_H

#include "api/request.h"
#include "view/view.h"

/* Takes a reference out of the view for as long as the request needs it; NULL when absent. */
struct view_blob *read_blob(struct request *r, enum view_section section, const char *key);
/* Answers with a blob, which it takes: ETag, Cache-Control, preconditions. */
struct problem *reply_blob(struct request *r, struct view_blob *blob);
/* The same with a JSON text made for this answer, which it takes; the tag is a digest of its bytes. */
struct problem *reply_text(struct request *r, char *text, size_t len);
/* Takes `doc`. */
struct problem *reply_document(struct request *r, json_t *doc);
/* The same for what is no tenant's: shared caches may keep it too. */
struct problem *reply_public(struct request *r, json_t *doc);

#endif
