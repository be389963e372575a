/*
 * Verification of a JWT that is not cached: the request is suspended, and continues with the result of the
 * verifier's thread. The worker of the request, between config_current_enter and leave.
 */
#ifndef API_JWT_H
#define API_JWT_H

#include <stdint.h>

#include "base/ids.h"

struct jwt_verification;
struct problem;
struct request;
struct view_blob;

/*
 * Suspends the request until the JWT is verified; `token` has the form of a JWT (oidc_has_form), `digest` is
 * its digest, and `client` is the key of the client's address. Returns a problem when too many JWTs wait, or
 * the server stops. While the first read of the issuer's keys has not ended, the verifier waits for it, for
 * at most five seconds.
 */
struct problem *jwt_verify(struct request *r, const char *token,
                           const uint8_t digest[static TOKEN_DIGEST_BYTES], uint64_t client);
/*
 * Continues the request. Takes over the result; NULL: the result did not come in time. *ret_caller gets the
 * identity that the JWT proves, with a reference that the calling function owns; NULL when the JWT is not
 * valid. Returns a problem when the keys of the issuer could not be read. When issuers changed in the
 * meantime, the request is suspended once more, and *ret_caller is NULL.
 */
struct problem *jwt_verified(struct request *r, struct jwt_verification *v, struct view_blob **ret_caller);

#endif
