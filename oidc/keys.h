/*
 * The public keys of an issuer (JWKS, RFC 7517), and the check of signatures with these keys. A set of
 * keys is never changed after it was read, so any thread may use it; for ref and free see below. libcjose
 * checks RSA and ECDSA; libsodium checks Ed25519, which libcjose does not support.
 */
#ifndef OIDC_KEYS_H
#define OIDC_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum oidc_algorithm { OIDC_RS256, OIDC_PS256, OIDC_ES256, OIDC_EDDSA, OIDC_ALGORITHM_MAX_ };
/* Returns the name of the algorithm, as in `alg`. */
const char *oidc_algorithm_name(enum oidc_algorithm algorithm);
/* Returns the algorithm with this name; -1 for any other name, also for NULL, "none" and every HS*. */
int oidc_algorithm_from_name(const char *name);

enum {
    OIDC_JWKS_BYTES = 256 * 1024, /* the limit of the size of the text */
    OIDC_KEYS_MAX = 64,
    OIDC_KEY_ID_MAX = 256,
    OIDC_RSA_BITS_MIN = 2048, /* AU-14 */
    OIDC_RSA_BITS_MAX = 8192,
};

struct oidc_keys;

/*
 * Reads a set of keys. Accepts only public keys for signatures, for one of the supported algorithms, with
 * parameters within their limits, and at most OIDC_KEYS_MAX of them. Returns NULL when the text is not a set
 * of keys, or has no usable key; *ret_why is then the reason, a static text. The caller frees the result.
 */
struct oidc_keys *oidc_keys_read(const char *text, size_t len, const char **ret_why);
/* Adds an owner, who must also free the keys. Loop thread. */
struct oidc_keys *oidc_keys_ref(struct oidc_keys *keys);
/* Removes an owner; the call for the last owner frees the keys. NULL is allowed. Loop thread. */
void oidc_keys_free(struct oidc_keys *keys);
size_t oidc_keys_count(const struct oidc_keys *keys);

enum oidc_signer { OIDC_NO_KEY_FITS, OIDC_SIGNED_BY_NONE, OIDC_SIGNED_BY_KEY };
/*
 * Whether one of the keys signed `token`: a JWS in compact form with three well-formed parts, whose `alg` is
 * `algorithm`. Tries all keys for the algorithm that have this id; with NULL, all keys for the algorithm.
 */
enum oidc_signer oidc_keys_signed(const struct oidc_keys *keys, const char *id, enum oidc_algorithm algorithm,
                                  const char *token, size_t len);

#endif
