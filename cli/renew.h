/* Renews tokens of single sign-on before they expire, with the refresh token of their context. One thread;
 * blocking. */
#ifndef CLI_RENEW_H
#define CLI_RENEW_H

#include "cli/issuer.h"

/*
 * The token to send now, lent until the next call; NULL: none. A token that expires soon is renewed first,
 * under the lock of the file of contexts: only one of several shootctl renews it. A failure is reported, and
 * the old token is sent.
 */
const char *renew_token(struct cli *cli);

/* The login data that a context stores beside its token; NULL when the token cannot be renewed. The caller
 * owns it. */
json_t *renew_kept(const struct issuer *issuer, const struct issued *issued);

#endif
