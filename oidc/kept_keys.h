/*
 * The keys of an issuer as it sent them last, in a file of the state directory: tokens by them count also
 * after a start while the issuer is away. They are public; whoever can write the directory can make tokens of
 * ours as well. Blocking; worker thread.
 */
#ifndef OIDC_KEPT_KEYS_H
#define OIDC_KEPT_KEYS_H

#include <stddef.h>

#include "base/env.h"

/*
 * The text of the keys (JWKS), which the caller frees, and when they were read. NULL: there is no file, or
 * one that is of no use, which is logged. `directory` is the descriptor of the state directory.
 */
char *kept_keys_read(int directory, const char *issuer, size_t *ret_len, wall_us *ret_read_at);
/* Writes them, unless the same are there since less than KEPT_KEYS_RENEW_S. A failure is logged, and harms
 * the next start only. `text` is JSON that oidc_keys_read took. */
void kept_keys_write(int directory, const char *issuer, const char *text, size_t len, wall_us read_at);

enum { KEPT_KEYS_RENEW_S = 3600 };

#endif
