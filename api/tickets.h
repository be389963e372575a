/*
 * Stream tickets: a browser's EventSource cannot send a token, so it sends a ticket. A ticket is valid in
 * place of the token that requested it, for one stream, for a minute. Tickets are only in memory, by digest.
 * Any HTTP thread; one lock, which is held only for a short time.
 */
#ifndef API_TICKETS_H
#define API_TICKETS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/ids.h"

struct ticket;
struct view_blob;

enum {
    TICKET_LIFETIME_S = 60,
    TICKET_BYTES = 64, /* "ticket_", 32 random characters of base64url, NUL */
    TICKETS_MAX = 10000,
    TICKETS_PER_TOKEN_MAX = 256,
};

struct tickets {
    pthread_mutex_t lock; /* protects all members below */
    struct ticket *items; /* unused tickets, the oldest first */
    size_t count;
    size_t capacity;
};

void tickets_init(struct tickets *t);
void tickets_done(struct tickets *t);
/*
 * Makes a ticket for the token with this digest; the calling function overwrites the ticket after use.
 * `caller`: the identity behind a JWT or a client certificate (api/caller.h), or NULL for a token of shootd;
 * the ticket takes a reference to this identity. False when too many tickets are unused.
 */
bool tickets_issue(struct tickets *t, const struct env *env, const uint8_t token[static TOKEN_DIGEST_BYTES],
                   struct view_blob *caller, char ticket[static TICKET_BYTES]);
/*
 * Uses a ticket and writes the digest of its token to `token`. *ret_caller is the identity behind a JWT or a
 * client certificate, or NULL for a token of the store; the calling function owns one reference. False for an
 * unknown, expired or used ticket.
 */
bool tickets_use(struct tickets *t, const struct env *env, const char *ticket,
                 uint8_t token[static TOKEN_DIGEST_BYTES], struct view_blob **ret_caller);

#endif
