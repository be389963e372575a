/*
 * A caller that shows no token of ours, but a JWT of an issuer (oidc/oidc.h) or a client certificate
 * (http/connection/tls.h): to the rest of the API a token that stands in no store. Its id, its digest and
 * with them its limits, its idempotency keys and its entries in the audit log are those of issuer and
 * subject, whichever JWT or certificate is shown. The result of checking a JWT is kept for a minute, and not
 * past its end, by its SHA-256 (AU-16).
 */
#ifndef API_CALLER_H
#define API_CALLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/env.h"

struct api;
struct api_token;
struct command_caller;
struct tls_client;
struct view_blob;

enum { JWT_KEPT_S = 60, JWT_KEPT_MAX = 4096, JWT_CACHE_LOCKS = 64 };

struct jwt_cache {
    pthread_mutex_t locks[JWT_CACHE_LOCKS]; /* guard entries by digest; held for a few instructions */
    struct jwt_entry *entries;
};

void jwt_cache_init(struct jwt_cache *cache);
void jwt_cache_done(struct jwt_cache *cache);

/*
 * Whether the text of a bearer token has the form of a JWT, which no token of our own has. Pure.
 */
bool jwt_is_one(const char *token);
/*
 * A reference to who shows it, whose subject is a struct api_token: without projects when no rule fits. NULL
 * when the token is not good (oidc_check counts why). A worker inside the configuration.
 */
struct view_blob *jwt_caller(struct api *api, const char *token);
/* A reference to who shows a client certificate that has a name: like jwt_caller. */
struct view_blob *certificate_caller(const struct api *api, const struct tls_client *client);
/* Whether what the caller was found by holds still: not expired; issuers, or rules and authorities of
 * certificates, as they were. Any thread. */
bool caller_holds(const struct api *api, const struct api_token *caller);
/* The caller of a command: the one that shows this token, of whatever kind. Fills what is zero. */
void caller_of_token(const struct api *api, const struct api_token *token, struct command_caller *ret);

#endif
