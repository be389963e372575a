/*
 * Sends writes, waits for their operations unless --no-wait is given, and prints the results, one line each
 * or as documents. One thread.
 */
#ifndef CLI_VERBS_VERB_CHANGE_H
#define CLI_VERBS_VERB_CHANGE_H

#include "cli/api.h"

struct cli_change {
    char *cluster;
    char *operation;  /* the id of the operation; NULL: no operation is open */
    char *type;       /* the type of the operation */
    const char *done; /* the text that is printed when no operation is open: "unchanged", "already
                       * hibernated" */
    json_t *document; /* the cluster in the answer, or NULL */
};

struct changes {
    const char *project;
    struct cli_change *items;
    size_t count;
};

/*
 * Sends a write for one cluster and adds its answer to `changes`. For a 200 the text `done` is printed.
 * Reports a failure; returns END_OK or an exit code. When a repeated DELETE finds no cluster, the first
 * attempt has succeeded and its answer was lost; this is a success.
 */
int change_send(struct cli *cli, struct changes *changes, const char *cluster,
                const struct api_target *target, const struct cli_request *request, const char *done);
/* Waits, prints the results and frees them. `code` is the exit code so far; the first failure is the exit
 * code. */
int changes_finish(struct cli *cli, struct changes *changes, int code);

/* Makes an Idempotency-Key of 32 hex digits, which is the same for every retry of one write. */
enum { KEY_BYTES = 33 };
const char *change_key(char key[static KEY_BYTES]);
/* Asks "question [y/N]", unless --yes is given. When the user cannot be asked, reports that --yes is missing
 * and returns false. */
bool change_confirmed(const struct cli *cli, const char *question);
/* Returns the exit code for the case that change_confirmed returned false: --yes is missing, or the user
 * refused. */
int change_refusal(const struct cli *cli);

#endif
