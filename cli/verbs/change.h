/*
 * Writes: they are sent, their operations are waited for unless --no-wait, and the result is printed, one
 * line each or as documents. One thread.
 */
#ifndef CLI_VERBS_CHANGE_H
#define CLI_VERBS_CHANGE_H

#include "cli/api.h"

struct change {
    char *cluster;
    char *operation;  /* id; NULL: nothing goes on */
    char *type;       /* of the operation */
    const char *done; /* what is said when nothing goes on: "unchanged", "already hibernated" */
    json_t *document; /* the cluster as the answer has it, or NULL */
};

struct changes {
    const char *project;
    struct change *items;
    size_t count;
};

/*
 * Sends a write about one cluster and notes its answer. `done` is what a 200 means. A failure is said; END_OK
 * or an exit code. A DELETE that is sent again after a lost answer and finds nothing has succeeded.
 */
int change_send(struct cli *cli, struct changes *changes, const char *cluster,
                const struct api_target *target, const struct http_request *request, const char *done);
/* Waits and prints; frees. `code` is what went wrong before, or END_OK: the first failure is the exit code.
 */
int changes_finish(struct cli *cli, struct changes *changes, int code);

/* 32 hex digits for an Idempotency-Key: the same for every repetition of one write. */
enum { KEY_BYTES = 33 };
const char *change_key(char key[static KEY_BYTES]);
/* Asks "question [y/N]"; --yes answers it. False, after saying that --yes is missing, when nobody can be
 * asked. */
bool change_confirmed(const struct cli *cli, const char *question);
/* The exit code of what was not confirmed: --yes is missing, or somebody said no. */
int change_refusal(const struct cli *cli);

#endif
