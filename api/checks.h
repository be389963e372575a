/*
 * The checks that a request passes before its handler (appendix B). Each returns NULL to go on, or the
 * problem, which api/request.c answers.
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
struct problem *check_framing(struct request *r);
/* auth.c: the bearer token (AU-1 to AU-8) */
struct problem *check_token(struct request *r);
/* throttle.c: the requests that a token may make (appendix B, 7) */
struct problem *check_quota(struct request *r);
/* The token has asked Cleura often enough within a minute. */
bool throttle_fresh(struct request *r);
/* throttle.c: what wrong or missing credentials come to: 401, or 429 when the address sent too many of them.
 */
struct problem *refuse_credentials(struct request *r, enum problem_code code, const char *detail);
/* auth.c: role and project */
struct problem *check_permission(struct request *r);
/* auth.c: the audit log hears of what the token may not do; the answer is decided elsewhere. */
void tell_denied(struct request *r, enum problem_code code);
/* auth.c: neither expired nor revoked */
bool token_is_live(const struct api *api, const struct api_token *token);
/* content.c: whether the client prefers an event stream, and the route has one */
bool accepts_stream(const struct request *r);
/* content.c: Expect, length, type and coding of the body, Accept */
struct problem *check_content(struct request *r);
/* idempotency.c: syntax of Idempotency-Key, where it has a meaning */
struct problem *check_idempotency_key(struct request *r);
/* body.c: keeps a chunk. False when so much came that the connection is to be dropped (MH-3). */
bool body_append(struct request *r, const char *bytes, size_t len);
/* body.c: size and syntax; sets r->document */
struct problem *check_body(struct request *r);

/* answer.c: preconditions of a POST that makes a member: they are about the collection (HT-18). */
struct problem *check_collection(struct request *r);

/* accept.c: quality (0 to 1000) that an Accept value gives a media type; an absent field takes everything. */
unsigned accept_quality(const char *accept, const char *type);
/* accept.c: the weight of one list item, "gzip;q=0.5"; malformed ones count as 1 (1000). */
unsigned item_weight(const char *item, const char *end);

#endif
