/*
 * The checks a request passes before its handler (appendix B), each in its own file. Each returns true to go
 * on, or has decided the answer.
 */
#ifndef API_CHECKS_H
#define API_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/problem.h"

struct api;
struct api_token;
struct request;

/* framing.c: what libmicrohttpd lets through (6.5); sets has_body. */
bool check_framing(struct request *r);
/* auth.c: the bearer token (AU-1 to AU-8) */
bool check_token(struct request *r);
/* throttle.c: the requests that a token may make (appendix B, 7) */
bool check_quota(struct request *r);
/* The token has asked Cleura often enough within a minute. */
bool throttle_fresh(struct request *r);
/* throttle.c: answers wrong or missing credentials: 401, or 429 when the address sent too many of them. */
void refuse_credentials(struct request *r, enum problem_code code, const char *detail);
/* auth.c: role and project */
bool check_permission(struct request *r);
/* auth.c: the audit log hears of what the token may not do; the answer is decided elsewhere. */
void tell_denied(struct request *r, enum problem_code code);
/* auth.c: neither expired nor revoked */
bool token_is_live(const struct api *api, const struct api_token *token);
/* content.c: whether the client prefers an event stream, and the route has one */
bool accepts_stream(const struct request *r);
/* content.c: Expect, length, type and coding of the body, Accept */
bool check_content(struct request *r);
/* idempotency.c: syntax of Idempotency-Key, where it has a meaning */
bool check_idempotency_key(struct request *r);
/* body.c: keeps a chunk. False when so much came that the connection is to be dropped (MH-3). */
bool body_append(struct request *r, const char *bytes, size_t len);
/* body.c: size and syntax; sets r->document */
bool check_body(struct request *r);

/* answer.c: preconditions of a POST that makes a member: they are about the collection (HT-18). */
bool check_collection(struct request *r);

/* accept.c: quality (0 to 1000) that an Accept value gives a media type; an absent field takes everything. */
unsigned accept_quality(const char *accept, const char *type);
/* accept.c: the weight of one list item, "gzip;q=0.5"; malformed ones count as 1 (1000). */
unsigned item_weight(const char *item, const char *end);

#endif
