/* Answers commands about operations, from memory or from the store. Loop thread. */
#ifndef RECONCILE_ANSWERS_OPERATION_ANSWERS_H
#define RECONCILE_ANSWERS_OPERATION_ANSWERS_H

#include "model/command.h"
#include "reconcile/answers/store_query.h"

struct reconcile;

/* Requests from the store an operation that is not in memory; on_found runs with the result. */
void operation_recall(struct reconcile *r, struct command *cmd, const char *id, query_end *on_found);
/* For on_found: *ret_op is the ended operation, owned by `s`. Returns the problem when the operation does not
 * exist or cannot be read. */
struct problem *operation_recalled(const struct store_query *s, const struct operation **ret_op);
/* 404: the operation of the command is not known. */
struct problem *problem_no_operation(const struct command *cmd);
/* 503: operations cannot be read from the store now. */
struct problem *problem_unreadable_operations(void);

#endif
