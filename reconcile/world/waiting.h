/* Commands that wait, each with its own deadline. Loop thread. */
#ifndef RECONCILE_WORLD_WAITING_H
#define RECONCILE_WORLD_WAITING_H

#include "base/list.h"
#include "loop/loop.h"
#include "model/command.h"
#include "upstream/upstream.h"

struct reconcile;

/* A waiting command. */
struct waiting {
    struct list link;
    struct command *cmd;
    struct reconcile *r;
    struct loop_timer deadline;
    void (*on_deadline)(struct waiting *w); /* called at the end of the turn; must take the command */
    struct list late;                       /* in the reconciler's list, from the deadline to the end of the
                                             * turn */
    void *owner;                            /* the owner of the list of waiting commands, for on_deadline; or
                                             * NULL */
};

/* Waits until the command's deadline. */
struct waiting *wait_new(struct reconcile *r, struct command *cmd, struct list *where,
                         void (*on_deadline)(struct waiting *w));
/* Does the same, with another deadline than the command's. */
struct waiting *wait_until(struct reconcile *r, struct command *cmd, mono_us until, struct list *where,
                           void (*on_deadline)(struct waiting *w));
/* Sets trace and request of a call to those of the first waiting command; when no command waits, the call has
 * neither. */
void call_for_waiters(struct upstream_call *call, const struct list *waiters);
/* Called when the command need not wait any longer: it is decided again at the end of the turn. */
void command_is_ready(struct command *cmd);
/* Removes and frees the entry; returns the command. */
struct command *wait_take(struct waiting *w);
/* Ends the wait of all commands: each is answered at the end of the turn, by its own on_deadline. */
void waiters_answer(struct list *waiters);

#endif
