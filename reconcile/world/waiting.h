/* Commands that wait, each with its own deadline. Loop thread. */
#ifndef RECONCILE_WORLD_WAITING_H
#define RECONCILE_WORLD_WAITING_H

#include "base/list.h"
#include "loop/loop.h"
#include "model/command.h"
#include "upstream/upstream.h"

struct reconcile;

struct waiting;

/* Called when the wait has ended. Returns the problem with which the command is answered; NULL: the command
 * was taken (wait_take). */
typedef struct problem *wait_end(struct waiting *w);

/* A waiting command. */
struct waiting {
    struct list link;
    struct command *cmd;
    struct reconcile *r;
    struct loop_timer deadline;
    wait_end *on_deadline; /* called at the end of the turn */
    struct list late;      /* in turn.late (world.h), from the deadline to the end of that turn */
    void *owner;           /* owner of the list, for on_deadline; or NULL */
};

/* Waits until the command's deadline. */
struct waiting *wait_new(struct reconcile *r, struct command *cmd, struct list *where, wait_end *on_deadline);
/* Does the same as wait_new, but with the given deadline. */
struct waiting *wait_until(struct reconcile *r, struct command *cmd, mono_us until, struct list *where,
                           wait_end *on_deadline);
/* Gives a call the trace and the request id of the first waiting command, if a command waits. */
void call_for_waiters(struct upstream_call *call, const struct list *waiters);
/* Called when the command need not wait any longer: it is decided again at the end of the turn. */
void command_is_ready(struct command *cmd);
/* Does the same when the fact for which the command waited is in the command. */
void need_is_met(struct command *cmd, enum command_need need);
/* Removes and frees the entry; returns the command. */
struct command *wait_take(struct waiting *w);
/* Ends the wait of all commands: each is answered at the end of the turn, by its own on_deadline. */
void waiters_answer(struct list *waiters);

#endif
