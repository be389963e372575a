/* Operations as callers ask for them: from memory, or from the store. Loop thread. */
#ifndef RECONCILE_ANSWERS_OPERATIONS_H
#define RECONCILE_ANSWERS_OPERATIONS_H

#include "model/command.h"
#include "reconcile/answers/store_query.h"

struct reconcile;

/* Each decides one type of command, and takes it. */
void command_operations(struct reconcile *r, struct command *cmd);
void command_operation_wait(struct reconcile *r, struct command *cmd);

/* Asks the store for an operation that is not in memory, but may be stored: on_found runs when it was asked.
 */
void operation_recall(struct reconcile *r, struct command *cmd, const char *id,
                      void (*on_found)(struct store_query *s));
/* For on_found: the operation, which has ended, lent by `s`; NULL: the command was answered, for there is
 * none or it cannot be read. */
const struct operation *operation_recalled(const struct store_query *s);
/* 404. */
void reply_no_operation(struct command *cmd);

#endif
