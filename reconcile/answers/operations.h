/* Answers commands about operations, from memory or from the store. Loop thread. */
#ifndef RECONCILE_ANSWERS_OPERATIONS_H
#define RECONCILE_ANSWERS_OPERATIONS_H

#include "model/command.h"
#include "reconcile/answers/store_query.h"

struct reconcile;

/* Each function decides one type of command, and takes over the command. */
void command_operations(struct reconcile *r, struct command *cmd);
void command_operation_wait(struct reconcile *r, struct command *cmd);

/* Requests an operation that is not in memory from the store; on_found runs with the result. */
void operation_recall(struct reconcile *r, struct command *cmd, const char *id,
                      void (*on_found)(struct store_query *s));
/* For on_found: returns the ended operation, owned by `s`. NULL: the command was answered, because the
 * operation does not exist or cannot be read. */
const struct operation *operation_recalled(const struct store_query *s);
/* Answers 404. */
void reply_no_operation(struct command *cmd);

#endif
