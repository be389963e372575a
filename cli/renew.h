/* Tokens of single sign-on end soon: they are replaced before that, by the refresh token of their context.
 * One thread; blocking. */
#ifndef CLI_RENEW_H
#define CLI_RENEW_H

#include "cli/issuer.h"

/*
 * The token to send now, lent; NULL: none. `ctx` is the struct cli. One that is about to end is renewed
 * first, under the lock of the file of contexts, so that of many shootctl at once one does it. A failure is
 * said, and the old token is sent.
 */
const char *renew_token(void *ctx);

/* The part of a login that a context keeps beside its token; NULL when nothing can be renewed. The caller
 * owns it. */
json_t *renew_kept(const struct issuer *issuer, const struct issued *issued);

#endif
