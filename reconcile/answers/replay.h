/* Requests with an Idempotency-Key. Loop thread. */
#ifndef RECONCILE_ANSWERS_REPLAY_H
#define RECONCILE_ANSWERS_REPLAY_H

#include "model/command.h"
#include "reconcile/world/save.h"

/* True when the command was taken: it was answered before, its key is in use, or it is looked up first. */
bool replay_take(struct reconcile *r, struct command *cmd);
/* The prepared answer becomes durable with the effect that the save holds. */
void replay_keep(struct save *save, const struct command *cmd);
/* The context under which a kept answer is sealed. The caller frees it. */
char *replay_context(const char *key);
void replays_free(struct reconcile *r);
/* Others may use the key again. */
void replay_let_go(struct command *cmd);

#endif
