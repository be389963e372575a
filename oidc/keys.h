/*
 * The public keys of an issuer (JWKS, RFC 7517) and signatures by them. Keys do not change once they are
 * there: any thread may check with them. RSA and ECDSA are libcjose's, Ed25519, which it lacks, libsodium's.
 */
#ifndef OIDC_KEYS_H
#define OIDC_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum oidc_algorithm { OIDC_RS256, OIDC_PS256, OIDC_ES256, OIDC_EDDSA, OIDC_ALGORITHM_MAX_ };
/* As `alg` has it. */
const char *oidc_algorithm_name(enum oidc_algorithm algorithm);
/* -1 for any other name, NULL, "none" and every HS* among them. */
int oidc_algorithm_from_name(const char *name);

enum {
    OIDC_JWKS_BYTES = 256 * 1024, /* of the text */
    OIDC_KEYS_MAX = 64,
    OIDC_KEY_ID_MAX = 256,
    OIDC_RSA_BITS_MIN = 2048, /* AU-14 */
    OIDC_RSA_BITS_MAX = 8192,
};

struct oidc_key;
struct oidc_keys;

/*
 * Reads a set of keys. Only keys that can check one of our algorithms are taken: public, for signatures, with
 * parameters in their bounds; the first OIDC_KEYS_MAX. NULL when the text is no set, or none of its keys is
 * of use; *ret_why, static, says so. The caller frees the result.
 */
struct oidc_keys *oidc_keys_read(const char *text, size_t len, const char **ret_why);
/* One more owner, who frees it, too. Loop thread. */
struct oidc_keys *oidc_keys_ref(struct oidc_keys *keys);
/* Loop thread. NULL is allowed. */
void oidc_keys_free(struct oidc_keys *keys);
size_t oidc_keys_count(const struct oidc_keys *keys);

/*
 * The key that a token names, when it is one for the algorithm. Without a name, the only one for the
 * algorithm. NULL: there is none.
 */
const struct oidc_key *oidc_key_for(const struct oidc_keys *keys, const char *id,
                                    enum oidc_algorithm algorithm);
/* Whether `token`, a JWS in its compact form of three well-formed parts whose `alg` is `algorithm`, is signed
 * by the key. */
bool oidc_key_signed(const struct oidc_key *key, enum oidc_algorithm algorithm, const char *token,
                     size_t len);

#endif
