/*
 * Waits for what goes on at the server: operations, phases, deletions; several at once. A server that
 * restarts or cannot be reached ends no wait, nor does Ctrl-C end what is waited for. One thread.
 */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include "cli/shootctl.h"

enum goal { GOAL_OPERATION, GOAL_PHASE, GOAL_DELETED };

struct followed {
    enum goal goal;
    const char *project;
    char *cluster;
    char *operation;    /* id, of GOAL_OPERATION; NULL: that of the cluster, once it exists */
    char *cluster_id;   /* of the others: another cluster of that name is not the one; NULL: the one that is
                           there */
    const char *phase;  /* of GOAL_PHASE */
    bool may_be_absent; /* the cluster need not exist yet */
    /* How it ended. */
    bool ended;
    int code;
    json_t *last; /* the last operation or cluster that was read; NULL: none */
};

/*
 * Returns when all have ended, with the first code that is not END_OK; END_TIMED_OUT after `timeout_ms`.
 * Failures are said. Ends the program on Ctrl-C, after saying how to come back. At the end of a wait `ended`,
 * `code` and `last` of each are filled.
 */
int follow_all(struct cli *cli, struct followed *list, size_t count, int64_t timeout_ms);
void followed_done(struct followed *one);

#endif
