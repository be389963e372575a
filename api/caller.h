/*
 * A caller without a token of shootd, but with a JWT of an issuer (oidc/oidc.h) or a client certificate
 * (http/connection/tls.h). The other parts of the API treat such a caller like a token, although the store
 * has no such token. Id and digest are derived from issuer and subject. Therefore all JWTs or certificates
 * of a subject share the same limits and idempotency keys, and have the same id in the audit log. The result
 * of checking a JWT is cached by its SHA-256 for a minute, but not longer than the JWT is valid (AU-16). A
 * JWT that is not cached is checked by the verifier's thread (api/jwt.h).
 */
#ifndef API_CALLER_H
#define API_CALLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/ids.h"

struct api;
struct api_token;
struct command_caller;
struct tls_client;
struct view_blob;

enum { JWT_KEPT_S = 60, JWT_KEPT_MAX = 4096, JWT_CACHE_LOCKS = 64 };

struct jwt_cache {
    pthread_mutex_t locks[JWT_CACHE_LOCKS]; /* each protects the entries of some digests; held for a few
                                             * instructions */
    struct jwt_entry *entries;
};

void jwt_cache_init(struct jwt_cache *cache);
void jwt_cache_done(struct jwt_cache *cache);

/* Whether the text of a bearer token has the form of a JWT, which no token of shootd has. Pure. */
bool jwt_is_one(const char *token);
/*
 * Returns a reference to the caller of a cached JWT. The subject of the blob is a struct api_token, which has
 * no projects when no rule matches. `digest` is that of the JWT. NULL: not cached. Any thread.
 */
struct view_blob *jwt_caller_kept(struct api *api, const uint8_t digest[static TOKEN_DIGEST_BYTES]);
enum jwt_end {
    JWT_NOT_CHECKED,
    JWT_VALID,
    JWT_NOT_VALID,    /* oidc_check counts the reason */
    JWT_KEYS_MISSING, /* nobody can say, because the keys of the issuer could not be read */
    JWT_KEYS_AWAITED, /* nobody can say yet, because the first read of the keys has not ended */
};
/*
 * Does the same as jwt_caller_kept, but also checks a JWT that is not cached. The check takes long, except
 * when oidc_has_form is false. *ret_caller is NULL unless the JWT is valid. Any thread between
 * config_current_enter and leave.
 */
enum jwt_end jwt_caller_check(struct api *api, const char *token,
                              const uint8_t digest[static TOKEN_DIGEST_BYTES], struct view_blob **ret_caller);
/* Returns a reference to the caller of a client certificate with a name. A worker between
 * config_current_enter and leave. */
struct view_blob *certificate_caller(const struct api *api, const struct tls_client *client);
/* Whether the caller is still valid: it has not expired, and the configuration by which it was accepted has
 * not changed. For a JWT, this is the configuration of its issuer. For a certificate, these are the rules for
 * certificates and their authorities. Any thread. */
bool caller_holds(const struct api *api, const struct api_token *caller);
/* Fills the caller of a command from this token, of any kind. *ret must be zero. */
void caller_of_token(const struct api *api, const struct api_token *token, struct command_caller *ret);

#endif
