/* Renews tokens of single sign-on before they expire, with the refresh token of their context. One thread;
 * blocking. */
#ifndef CLI_RENEW_H
#define CLI_RENEW_H

#include "cli/issuer.h"

/*
 * Returns the token to send now, borrowed until the next call; NULL: there is no token. A token that expires
 * soon is renewed first. The file of contexts is locked during the renewal, so that only one of several
 * processes of shootctl renews the token. After a failed renewal, the failure is reported and the old token
 * is sent.
 */
const char *renew_token(struct cli *cli);

/* Returns the login data that a context stores together with its token; NULL when the token cannot be
 * renewed. The caller owns it. */
json_t *renew_kept(const struct cli_issuer *issuer, const struct issued *issued);

#endif
