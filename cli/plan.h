/* The plan of a write, which is the answer to its dry run, printed for people. One thread. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "cli/api.h"

/* The numbers of steps in a plan. */
struct plan_counts {
    size_t changes;
    size_t rolls; /* the number of steps that replace nodes */
    bool destructive;
};

/* Sends the write with dry_run. Prints the plan and its counts, or with -o the plan as a document. `name`
 * names the cluster. Returns END_OK when the server would accept the write; reports a failure. */
int plan_show(struct cli *cli, const struct api_target *target, const struct cli_request *request,
              const char *name);

/* Requests the plan; the caller owns *ret_plan. */
int plan_get(struct cli *cli, const struct api_target *target, const struct cli_request *request,
             json_t **ret_plan);
/* Returns the question to ask before a write whose plan removes a pool, replaces nodes or ends the deletion
 * protection; NULL for any other plan. The caller frees it. */
char *plan_question(const json_t *plan);
/* Prints changes, steps and warnings, one per line, and adds their numbers to `counts`. */
void plan_print(const struct terminal *to, const char *name, const json_t *plan, struct plan_counts *counts);
/* Prints the counts as the end of a line, followed by `end`. */
void plan_print_counts(const struct terminal *to, const struct plan_counts *counts, const char *end);

#endif
