/*
 * Authentication, permission and rate limits of callers. Each check returns NULL to continue, or a problem.
 * Runs on the worker of the request.
 */
#ifndef API_AUTH_H
#define API_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/ids.h"
#include "model/problem.h"

struct api;
struct api_token;
struct jwt_verification;
struct request;
struct view_blob;

enum { TOKEN_PRINT_BYTES = 16, TOKEN_PRINT_KEY_BYTES = 16 };

/* The reasons why credentials were refused. Only the counter uses them, never the answer (AU-8). */
enum auth_failure {
    AUTH_MISSING,
    AUTH_MALFORMED,
    AUTH_UNKNOWN, /* an unknown token, or a used or expired ticket */
    AUTH_REVOKED, /* a revoked or rotated token; only the last VIEW_FORMER_TOKENS such tokens are known */
    AUTH_EXPIRED,
    AUTH_JWT, /* an invalid JWT: shootd_oidc_tokens_total shows why */
    AUTH_FAILURE_MAX_,
};
/* Returns the label of the metric. Any thread. */
const char *auth_failure_name(enum auth_failure why);

/* Checks the bearer token, or a ticket in its place (AU-1 to AU-8). Suspends the request when a JWT must be
 * verified (api/jwt.h). */
struct problem *check_token(struct request *r);
/* Continues check_token when the JWT is verified; takes over the result. May suspend the request again. */
struct problem *check_verified_jwt(struct request *r, struct jwt_verification *result);
/* Checks the rate limit of the token. */
struct problem *check_rate_limit(struct request *r);
/* Checks role and project. */
struct problem *check_permission(struct request *r);
/* Checks token and permission again after the body, which may come long after the header section. Like
 * check_token, may suspend the request. */
struct problem *check_caller_again(struct request *r);
/* Continues check_caller_again when the JWT is verified, as check_verified_jwt continues check_token. */
struct problem *check_verified_jwt_again(struct request *r, struct jwt_verification *result);
/* Counts a fresh read of Cleura; returns true when the token has already used up its limit of fresh
 * reads. */
bool throttle_fresh(struct request *r);
/* Adds an entry to the audit log about a request that the token may not make. The caller still has to return
 * the problem. */
void report_denied(struct request *r, enum problem_code code);
/* Reports to the audit log a request that is refused for another reason, before it becomes a command. */
void report_refused(struct request *r, enum problem_code code);
/* Whether the token is neither expired nor revoked. Any thread. */
bool token_is_live(const struct api *api, const struct api_token *token);
/* Whether the token with this digest is still valid. Called again and again during a long answer. Any
 * thread. */
bool auth_still_holds(struct api *api, const uint8_t digest[static TOKEN_DIGEST_BYTES]);
/* Adds the header fields that belong to a problem with this code: WWW-Authenticate (AU-7). */
void auth_add_fields(struct request *r, enum problem_code code);

#endif
