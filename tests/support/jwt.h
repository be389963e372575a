/*
 * JWTs of an invented issuer, and its keys. OpenSSL signs them; the daemon checks them with other libraries.
 * A fault ends the test.
 */
#ifndef TESTS_SUPPORT_JWT_H
#define TESTS_SUPPORT_JWT_H

#include <openssl/evp.h>
#include <stddef.h>

#include "base/json.h"
#include "oidc/keys.h"

EVP_PKEY *jwt_new_key(int algorithm);
/* Returns the public key as a JWK, with use, alg and the kid "key-<alg>". */
json_t *jwt_public_key(const EVP_PKEY *key, int algorithm);

/* Returns the bytes in base64url. The caller frees the text. */
char *jwt_base64(const void *bytes, size_t len);
/* Returns the first two parts of a JWT, separated by a dot. The caller frees the text. */
char *jwt_unsigned(const char *header, const char *claims);
/* Makes the signature; returns its length. */
size_t jwt_signature(EVP_PKEY *key, int algorithm, const char *text, unsigned char out[static 2048]);
char *jwt_with_signature(const char *text, const void *bytes, size_t len);
char *jwt_sign(EVP_PKEY *key, int algorithm, const char *header, const char *claims);

#endif
