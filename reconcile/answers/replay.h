/* Requests with an Idempotency-Key. Loop thread. */
#ifndef RECONCILE_ANSWERS_REPLAY_H
#define RECONCILE_ANSWERS_REPLAY_H

#include "model/command.h"
#include "reconcile/world/save.h"

/* True when the command was taken over. Then it got the stored answer, its key is in use, or the key is
 * looked up first. */
bool replay_take(struct reconcile *r, struct command *cmd);
/* Adds the prepared answer to the save, so it becomes durable together with the effect. */
void replay_keep(struct save *save, const struct command *cmd);
/* Returns the context with which a stored answer is sealed. The caller frees it. */
char *replay_context(const char *key);
void replays_free(struct reconcile *r);
/* Releases the key of the command. */
void replay_let_go(struct command *cmd);

#endif
