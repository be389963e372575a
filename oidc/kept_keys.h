/*
 * The last keys of an issuer, in a file of the state directory. With them, tokens are accepted after a start
 * even when the issuer cannot be reached. The keys are public, and a user who can write to the directory
 * could make tokens in any case. The functions block. Worker thread.
 */
#ifndef OIDC_KEPT_KEYS_H
#define OIDC_KEPT_KEYS_H

#include <stddef.h>

#include "base/env.h"

/*
 * Returns the text of the keys (JWKS), and in *ret_read_at the time when they were read. The caller frees the
 * text. Returns NULL when there is no file. When the file is not usable, logs that and returns NULL.
 * `directory` is the descriptor of the state directory.
 */
char *kept_keys_read(int directory, const char *issuer, size_t *ret_len, wall_us *ret_read_at);
/* Writes the keys, unless the file has the same keys and is younger than KEPT_KEYS_RENEW_S. A failure is
 * logged and affects only the next start. `text` is JSON that oidc_keys_read accepted. */
void kept_keys_write(int directory, const char *issuer, const char *text, size_t len, wall_us read_at);

enum { KEPT_KEYS_RENEW_S = 3600 };

#endif
