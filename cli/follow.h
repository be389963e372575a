/*
 * Waits for operations, phases and deletions at the server, several at once. The wait continues while the
 * server restarts or cannot be reached. Ctrl-C ends the wait and cancels nothing at the server. One thread.
 */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include "cli/shootctl.h"

enum goal { GOAL_OPERATION, GOAL_PHASE, GOAL_DELETED };

struct followed {
    enum goal goal;
    const char *project;
    char *cluster;
    char *operation;  /* for GOAL_OPERATION: the id of the operation; NULL: the operation of the cluster, when
                       * the cluster exists */
    char *cluster_id; /* for the other goals: the id of the cluster, because another cluster may get the same
                       * name; NULL: the cluster of the first answer */
    const char *phase;  /* for GOAL_PHASE: the phase */
    bool may_be_absent; /* the cluster need not exist yet */
    /* The result, filled by follow_all. */
    bool ended;
    int code;
    json_t *last; /* the operation or cluster that was read last; NULL: no read has succeeded */
};

/*
 * Waits for everything in the list, and returns the first code that is not END_OK; after `timeout_ms` returns
 * END_TIMED_OUT. Reports failures. On Ctrl-C this function prints the command that continues the wait, and
 * ends the program. When a wait has ended, its `ended`, `code` and `last` are filled.
 */
int follow_all(struct cli *cli, struct followed *list, size_t count, int64_t timeout_ms);
void followed_done(struct followed *one);

#endif
