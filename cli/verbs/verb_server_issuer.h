/* The issuer of single sign-on that the server names. One thread; blocking. */
#ifndef CLI_VERBS_VERB_SERVER_ISSUER_H
#define CLI_VERBS_VERB_SERVER_ISSUER_H

#include "cli/issuer.h"

/*
 * Asks the server (GET /v1/auth) for the issuer with the address `wanted`, or with NULL for the first issuer
 * that has a client id. Returns END_OK; when there is no such issuer, reports why and returns an exit code.
 * With `quiet` the function reports nothing, repeats no request, and takes a few seconds at most.
 */
int issuer_of_server(struct cli *cli, const char *wanted, bool quiet, struct cli_issuer *ret);

#endif
