/* The written form of keys, shared by sign.c and signing_keys.c. Pure functions, any thread. */
#ifndef WEBHOOK_SIGN_PRIVATE_H
#define WEBHOOK_SIGN_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/webhook.h"

enum { SECRET_MIN_BYTES = 24, SECRET_MAX_BYTES = 64 };

/* `prefix` and the bytes in base64; the caller frees it. */
char *secret_encode(const char *prefix, const uint8_t *bytes, size_t len);
/* The bytes behind "whsec_..." or "whsk_..."; false when it is no secret of `scheme`. The caller wipes them.
 */
bool secret_decode(const char *secret, enum signature_scheme scheme, uint8_t ret_key[static SECRET_MAX_BYTES],
                   size_t *ret_len);

#endif
