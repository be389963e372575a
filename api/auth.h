/*
 * Who asks, what they may do, and how often. Each check returns NULL to go on, or the problem. The worker of
 * the request.
 */
#ifndef API_AUTH_H
#define API_AUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ids.h"
#include "model/problem.h"

struct api;
struct api_token;
struct request;

enum { TOKEN_PRINT_BYTES = 16, TOKEN_PRINT_KEY_BYTES = 16 };

/* The bearer token, or a ticket in its place (AU-1 to AU-8). */
struct problem *check_token(struct request *r);
/* The requests that a token may make (docs/rules.md, the order of checks). */
struct problem *check_rate_limit(struct request *r);
/* Role and project. */
struct problem *check_permission(struct request *r);
/* The token has asked Cleura often enough within a minute. */
bool throttle_fresh(struct request *r);
/* The audit log hears of what the token may not do; the problem is returned besides. */
void report_denied(struct request *r, enum problem_code code);
/* Neither expired nor revoked. Any thread. */
bool token_is_live(const struct api *api, const struct api_token *token);
/* The header fields that a problem of this code has besides: challenges (AU-7). */
void auth_add_fields(struct request *r, enum problem_code code);

#endif
