/*
 * Authentication, permission and rate limits of callers. Each check returns NULL to go on, or the problem.
 * The worker of the request.
 */
#ifndef API_AUTH_H
#define API_AUTH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/ids.h"
#include "model/problem.h"

struct api;
struct api_token;
struct request;
struct view_blob;

enum { TOKEN_PRINT_BYTES = 16, TOKEN_PRINT_KEY_BYTES = 16 };

/* Why credentials were refused: for the counter, never for the answer (AU-8). */
enum auth_failure {
    AUTH_MISSING,
    AUTH_MALFORMED,
    AUTH_UNKNOWN, /* also a ticket that was used or has expired */
    AUTH_REVOKED, /* and rotated away: one of the last VIEW_FORMER_TOKENS; older ones are unknown */
    AUTH_EXPIRED,
    AUTH_JWT, /* one that is not good: shootd_oidc_tokens_total shows why */
    AUTH_FAILURE_MAX_,
};
/* The word of the metric. Any thread. */
const char *auth_failure_name(enum auth_failure why);

/* The bearer token, or a ticket in its place (AU-1 to AU-8). */
struct problem *check_token(struct request *r);
/* The requests that a token may make (docs/rules.md, the order of checks). */
struct problem *check_rate_limit(struct request *r);
/* Role and project. */
struct problem *check_permission(struct request *r);
/* Looks at both anew when the body has come, perhaps long after the head: requests that the view answers are
 * decided here. */
struct problem *check_caller_again(struct request *r);
/* The token has asked Cleura often enough within a minute. */
bool throttle_fresh(struct request *r);
/* The audit log hears of what the token may not do; the problem is returned besides. */
void report_denied(struct request *r, enum problem_code code);
/* Neither expired nor revoked. Any thread. */
bool token_is_live(const struct api *api, const struct api_token *token);
/* The token of this digest is looked up again, for an answer that goes on for long. Any thread. */
bool auth_still_holds(struct api *api, const uint8_t digest[static TOKEN_DIGEST_BYTES]);
/* The header fields that a problem of this code has besides: challenges (AU-7). */
void auth_add_fields(struct request *r, enum problem_code code);

/*
 * ---- stream tickets: what a browser's EventSource shows in place of a token, which it cannot send. A ticket
 * stands for the token that asked for it, for one stream, for a minute. Kept in memory only, by digest. Any
 * HTTP thread; one short lock ----
 */

enum {
    TICKET_LIFETIME_S = 60,
    TICKET_BYTES = 64, /* "ticket_", 32 random characters of base64url, NUL */
    TICKETS_MAX = 10000,
    TICKETS_PER_TOKEN_MAX = 256,
};

struct ticket;

struct tickets {
    pthread_mutex_t lock; /* guards the rest */
    struct ticket *items; /* unused ones, the oldest first */
    size_t count;
    size_t capacity;
};

void tickets_init(struct tickets *t);
void tickets_done(struct tickets *t);
/*
 * Makes a ticket for the token with this digest; the caller overwrites it after use. `jwt`: who shows a JWT
 * (api/caller.h), kept by a reference of its own; NULL for a token of ours. False when too many are unused.
 */
bool tickets_issue(struct tickets *t, const struct env *env, const uint8_t token[static TOKEN_DIGEST_BYTES],
                   struct view_blob *caller, char ticket[static TICKET_BYTES]);
/*
 * Uses a ticket up: the digest of its token, and who had shown a JWT for it, whose reference is the caller's,
 * or NULL. False for one that is not known, expired, or used before.
 */
bool tickets_use(struct tickets *t, const struct env *env, const char *ticket,
                 uint8_t token[static TOKEN_DIGEST_BYTES], struct view_blob **ret_caller);

#endif
