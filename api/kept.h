/*
 * The response of a connection's last answer from the view, kept for its next one. Who polls a resource gets
 * the same bytes again with another request id and age: only fields that differ are replaced, which costs a
 * fraction of a new response. Belongs to the connection; only its worker touches it, between two answers.
 */
#ifndef API_KEPT_H
#define API_KEPT_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/answer.h"

enum { FIELDS_MAX = ANSWER_MAX_HEADERS + 7, VARY_BYTES = 512, RATE_LIMIT_BYTES = 96 };

/* All header fields of one answer, in order. */
struct fields {
    unsigned count;
    struct {
        const char *name; /* a literal */
        const char *value;
    } items[FIELDS_MAX];
    char vary[VARY_BYTES];
    char rate_limit[RATE_LIMIT_BYTES];
    char rate_limit_policy[RATE_LIMIT_BYTES];
};

struct kept_response;

/*
 * The response with this body and exactly these fields, or NULL when the kept one is of another body or
 * has other fields. Borrowed until the next call.
 */
struct MHD_Response *kept_take(struct kept_response *kept, const char *body, const struct fields *fields);
/* Takes over a response that was made of `body` with these fields, in place of the last one. The response
 * keeps `body` alive. False when it is not to be kept: it stays the caller's. */
bool kept_put(struct kept_response **place, struct MHD_Response *response, const char *body,
              const struct fields *fields);
void kept_free(struct kept_response *kept);

#endif
