/*
 * The states of operations, steps and deliveries, and every allowed move between two states. The tables are
 * in moves.c; the table for calls to Cleura is in upstream/account/lane.c. The READMEs beside the code have
 * diagrams of the tables, and tests/api/test_layout.py compares them. The functions are called by the owner
 * of the struct.
 */
#ifndef MODEL_MOVES_H
#define MODEL_MOVES_H

#include "model/operation.h"
#include "model/webhook.h"

/* Changes the status. A move that is not in the table ends the process, because the state then differs from
 * the state that the code assumes. */
void operation_move(struct operation *op, enum operation_status to);
/* `step` is one of the steps of `op`. */
void step_move(const struct operation *op, struct operation_step *step, enum step_status to);
void delivery_move(struct delivery *delivery, enum delivery_status to);

/* Logs a move that is in no table, and ends the process. Any thread. */
_Noreturn void move_impossible(const char *what, const char *id, const char *from, const char *to);

/* Whether the table contains the move. */
bool operation_may_move(enum operation_status from, enum operation_status to);
bool step_may_move(enum step_status from, enum step_status to);
bool delivery_may_move(enum delivery_status from, enum delivery_status to);

#endif
