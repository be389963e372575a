/*
 * `shootd admin-token`: makes a token for a user who may write the state directory, whether shootd runs or
 * not. The command writes the token in its stored form, without the secret, to a file in the state directory.
 * The daemon reads the file, stores the token, writes an answer and removes the file. The answer has the id
 * of the token, and says that the token is stored or why it is refused.
 */
#ifndef DAEMON_ADMIN_TOKEN_H
#define DAEMON_ADMIN_TOKEN_H

#include <stdatomic.h>

#include "config/config.h"

struct command;

/*
 * Runs the command. Prints the secret on stdout and messages on stderr. Waits some seconds for the daemon.
 * Returns an exit code. The function blocks; nothing else runs in this process.
 */
int admin_token_make(const struct config *config);

/* ---- the daemon. Main thread ---- */

struct admin_token_box {
    int state_dir;                                     /* descriptor of the state directory */
    void (*post)(void *post_ctx, struct command *cmd); /* posts a command to the loop thread */
    void *post_ctx;
    _Atomic int asked; /* a value of the enum in admin_token.c; the loop thread sets the result */
    char id[40];       /* the id of the posted token, or "" */
    char refusal[200]; /* why the token was not stored, or ""; written before `asked` */
};

/* Checks for a new token file, and posts the token until it is stored. Called every second. */
void admin_token_poll(struct admin_token_box *box);

#endif
