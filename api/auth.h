/*
 * Who asks, what they may do, and how often. Each check returns NULL to go on, or the problem. The worker of
 * the request.
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
 * Makes a ticket for the token with this digest; the caller overwrites it after use. False when too many are
 * unused.
 */
bool tickets_issue(struct tickets *t, const struct env *env, const uint8_t token[static TOKEN_DIGEST_BYTES],
                   char ticket[static TICKET_BYTES]);
/* Uses a ticket up: the digest of its token. False for one that is not known, expired, or used before. */
bool tickets_use(struct tickets *t, const struct env *env, const char *ticket,
                 uint8_t token[static TOKEN_DIGEST_BYTES]);

#endif
