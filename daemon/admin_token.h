/*
 * `shootd admin-token`: a new token for who may write the state directory, whether shootd runs or not. The
 * command leaves the token as it is to be stored, without its secret, as a file in the state directory; the
 * daemon takes it from there, stores it, leaves an answer (by the token's id: stored, or refused and why) and
 * removes the file.
 */
#ifndef DAEMON_ADMIN_TOKEN_H
#define DAEMON_ADMIN_TOKEN_H

#include <stdatomic.h>

#include "config/config.h"

struct command;

/*
 * The command. Prints the secret on stdout, and what becomes of it on stderr. Waits some seconds for the
 * daemon. An exit code. Blocking; nothing else runs in this process.
 */
int admin_token_make(const struct config *config);

/* ---- the daemon's side. Main thread ---- */

struct admin_token_box {
    int state_dir;                                     /* descriptor */
    void (*post)(void *post_ctx, struct command *cmd); /* to the deciding side */
    void *post_ctx;
    _Atomic int asked; /* enum in admin_token.c; the loop thread answers */
    char id[40];       /* of the token that was handed over, or "" */
    char refusal[200]; /* why it was not stored, or "". Written before `asked` says so */
};

/* Looks for a token that was left, and hands it over; looks again until it is stored. Called every second. */
void admin_token_poll(struct admin_token_box *box);

#endif
