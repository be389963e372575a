/*
 * Stream tickets: what a browser's EventSource shows in place of a token, which it cannot send. A ticket
 * stands for the token that asked for it, for one stream, for a minute. Kept in memory only, by digest. Any
 * HTTP thread; one short lock.
 */
#ifndef API_TICKETS_H
#define API_TICKETS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/ids.h"

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
