/* Requests with an Idempotency-Key. Loop thread. */
#ifndef RECONCILE_ANSWERS_REPLAY_H
#define RECONCILE_ANSWERS_REPLAY_H

#include "model/command.h"
#include "reconcile/world/save.h"

/* Whether the command has an Idempotency-Key that was not looked up yet. */
bool replay_is_open(const struct command *cmd);
/* Reserves the key and looks it up. Then the command is decided, or gets the stored answer. Returns the
 * problem when another request has reserved the key. */
struct problem *replay_look_up(struct reconcile *r, struct command *cmd);
/* Adds the prepared answer to the save, so it becomes durable together with the effect. */
void replay_keep(struct save *save, const struct command *cmd);
/* Returns the context (base/seal.h) that binds a sealed answer to its key. The caller frees it. */
char *replay_context(const char *key);
void replays_free(struct reconcile *r);
/* Ends the reservation of the command's key. */
void replay_let_go(struct command *cmd);

#endif
