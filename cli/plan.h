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

/*
 * Sends the write with dry_run and prints the plan, as lines or as the document of -o. `name` names the
 * cluster. Adds the counts to `counts`, which may be NULL. Returns END_OK when the server would accept the
 * write. Reports a failure.
 */
int plan_show(struct cli *cli, const struct api_target *target, const struct http_request *request,
              const char *name, struct plan_counts *counts);

/* Requests the plan; the caller owns *ret_plan. */
int plan_get(struct cli *cli, const struct api_target *target, const struct http_request *request,
             json_t **ret_plan);
/* Returns the question to ask before a write whose plan removes a pool, replaces nodes or ends the deletion
 * protection; NULL for any other plan. The caller frees it. */
char *plan_question(const json_t *plan);
/* Prints changes, steps and warnings, one per line, and adds the counts. */
void plan_print(const struct terminal *to, const char *name, const json_t *plan, struct plan_counts *counts);

#endif
