#include "model/moves.h"

#include <assert.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/log.h"

struct move {
    int from, to;
    const char *on; /* the label of the arrow in the README beside the code */
};

static const struct move operation_moves[] = {
    {OPERATION_PENDING, OPERATION_RUNNING, "its first call comes next, or its first step needs no call"},
    {OPERATION_PENDING, OPERATION_SUCCEEDED, "nothing is left to do"},
    {OPERATION_PENDING, OPERATION_FAILED, "it became impossible"},
    {OPERATION_PENDING, OPERATION_CANCELLED, "cancelled or replaced"},
    {OPERATION_RUNNING, OPERATION_SUCCEEDED, "its last step ended"},
    {OPERATION_RUNNING, OPERATION_FAILED, "a step is refused, has no effect or fails at Cleura"},
    {OPERATION_RUNNING, OPERATION_CANCELLED, "cancelled or replaced"},
};

static const struct move step_moves[] = {
    {STEP_PENDING, STEP_SENDING, "its call is about to be made"},
    {STEP_PENDING, STEP_WAITING, "it only waits for Cleura"},
    {STEP_PENDING, STEP_DONE,
     "a read shows its effect, there is nothing to delete, or its operation succeeded"},
    {STEP_PENDING, STEP_SKIPPED, "it is not needed, or its operation ended first"},
    {STEP_PENDING, STEP_FAILED, "its operation failed or was cancelled after an attempt"},
    {STEP_SENDING, STEP_PENDING, "the call was not sent, Cleura is busy, or the call had no effect"},
    {STEP_SENDING, STEP_WAITING, "accepted, and a run begins"},
    {STEP_SENDING, STEP_DONE, "accepted, and no run follows, or its operation succeeded"},
    {STEP_SENDING, STEP_FAILED, "its operation failed or was cancelled"},
    {STEP_WAITING, STEP_DONE, "the run ended and its effect is visible"},
    {STEP_WAITING, STEP_PENDING, "no effect is visible, so it is requested again"},
    {STEP_WAITING, STEP_FAILED, "its operation failed or was cancelled"},
    {STEP_DONE, STEP_PENDING, "an accepted deletion is not visible, so it is requested again"},
};

static const struct move delivery_moves[] = {
    {DELIVERY_PENDING, DELIVERY_PENDING, "an attempt failed, and the next one is planned"},
    {DELIVERY_PENDING, DELIVERY_DELIVERED, "the receiver accepted it"},
    {DELIVERY_PENDING, DELIVERY_FAILED,
     "the last attempt failed, its webhook is disabled, or its event was removed"},
};

static bool knows(const struct move *moves, size_t count, int from, int to)
{
    for (size_t i = 0; i < count; i++)
        if (moves[i].from == from && moves[i].to == to)
            return true;
    return false;
}

void move_impossible(const char *what, const char *id, const char *from, const char *to)
{
    log_error("illegal state transition", "of", what, "id", id, "from", from, "to", to);
    abort();
}

bool operation_may_move(enum operation_status from, enum operation_status to)
{
    return knows(operation_moves, ARRAY_LEN(operation_moves), from, to);
}

bool step_may_move(enum step_status from, enum step_status to)
{
    return knows(step_moves, ARRAY_LEN(step_moves), from, to);
}

bool delivery_may_move(enum delivery_status from, enum delivery_status to)
{
    return knows(delivery_moves, ARRAY_LEN(delivery_moves), from, to);
}

void operation_move(struct operation *op, enum operation_status to)
{
    if (!operation_may_move(op->status, to))
        move_impossible("operation", op->id, operation_status_name(op->status), operation_status_name(to));
    op->status = to;
}

void step_move(const struct operation *op, struct operation_step *step, enum step_status to)
{
    assert(step >= op->steps && step < op->steps + op->step_count);
    if (!step_may_move(step->status, to))
        move_impossible(step_type_name(step->type), op->id, step_status_name(step->status),
                        step_status_name(to));
    step->status = to;
}

void delivery_move(struct delivery *delivery, enum delivery_status to)
{
    if (!delivery_may_move(delivery->status, to))
        move_impossible("delivery", delivery->id, delivery_status_name(delivery->status),
                        delivery_status_name(to));
    delivery->status = to;
}
