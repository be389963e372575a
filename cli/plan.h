/* The plan of a write: the answer of a dry run, for people. One thread. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "cli/api.h"

/* A plan in numbers. */
struct plan_counts {
    size_t changes;
    size_t rolls; /* steps that replace nodes */
    bool destructive;
};

/*
 * Sends the write with dry_run and prints its plan, as lines or as the document of -o. `name` is that of the
 * cluster. The numbers are added to `counts`, which may be NULL. END_OK when the write would be accepted; a
 * failure is said.
 */
int plan_show(struct cli *cli, const struct api_target *target, const struct http_request *request,
              const char *name, struct plan_counts *counts);

/* Asks for the plan; the caller owns *ret_plan. */
int plan_get(struct cli *cli, const struct api_target *target, const struct http_request *request,
             json_t **ret_plan);
/* The question that comes before a write with this plan: a pool goes, nodes are replaced, or deletion
 * protection goes off. NULL when it is harmless; the caller frees it. */
char *plan_question(const json_t *plan);
/* Prints changes, steps and warnings, each a line, and adds the numbers. */
void plan_print(const struct terminal *to, const char *name, const json_t *plan, struct plan_counts *counts);

#endif
