/*
 * Sends writes, waits for their operations unless --no-wait is given, and prints the results, one line each
 * or as documents. One thread.
 */
#ifndef CLI_VERBS_CHANGE_H
#define CLI_VERBS_CHANGE_H

#include "cli/api.h"

struct change {
    char *cluster;
    char *operation;  /* id; NULL: no operation is open */
    char *type;       /* of the operation */
    const char *done; /* printed when no operation is open: "unchanged", "already hibernated" */
    json_t *document; /* the cluster in the answer, or NULL */
};

struct changes {
    const char *project;
    struct change *items;
    size_t count;
};

/*
 * Sends a write for one cluster and adds its answer to `changes`. A 200 is printed as `done`. Reports a
 * failure; END_OK or an exit code. A repeated DELETE that finds no cluster has succeeded: the first answer
 * was lost.
 */
int change_send(struct cli *cli, struct changes *changes, const char *cluster,
                const struct api_target *target, const struct http_request *request, const char *done);
/* Waits, prints the results and frees them. `code` is the exit code so far; the first failure is the exit
 * code. */
int changes_finish(struct cli *cli, struct changes *changes, int code);

/* 32 hex digits for an Idempotency-Key, the same for every repetition of one write. */
enum { KEY_BYTES = 33 };
const char *change_key(char key[static KEY_BYTES]);
/* Asks "question [y/N]"; --yes answers it. When the user cannot be asked: false, after reporting that --yes
 * is missing. */
bool change_confirmed(const struct cli *cli, const char *question);
/* The exit code when change_confirmed returned false: --yes is missing, or the user refused. */
int change_refusal(const struct cli *cli);

#endif
