/*
 * A change set on its way to the store and back, with what to do when it is durable. Loop thread.
 */
#ifndef RECONCILE_WORLD_SAVE_H
#define RECONCILE_WORLD_SAVE_H

#include "model/command.h"
#include "reconcile/world/entity.h"

struct save {
    struct loop_task task;
    struct reconcile *r;
    struct change_set *set;
    enum store_status status;
    /* Loop thread, after the view was updated; status is STORE_OK unless the save was droppable. */
    void (*on_saved)(struct save *save);
    void *ctx;
    bool answers;               /* ctx is a command, which on_saved answers */
    char key[ENTITY_KEY_BYTES]; /* of the entity it is about: looked up again, it may be gone */
};

struct save *save_new(struct reconcile *r, void (*on_saved)(struct save *save), void *ctx);
/* One whose on_saved answers `cmd`, its ctx. */
struct save *save_answer(struct reconcile *r, void (*on_saved)(struct save *save), struct command *cmd);
/* Adds copies of the cluster (its version raised) and of its operation, when there is one. */
void save_entity(struct save *save, struct entity *e);
void save_operation(struct save *save, struct operation *op);
/* Droppable saves may fail; the others are retried by storage until they succeed. */
void save_submit(struct save *save, bool droppable);
/* Saves an entity with nothing to do afterwards. */
void entity_store(struct entity *e);
/* Shows an entity as it is without a change in the store; what readers have already is not made again. */
void entity_show(struct entity *e);
/* The same at the start, before anything else of it is shown. */
void entity_show_stored(struct entity *e);
/* Only the time of observation has moved. */
void entity_show_seen(struct entity *e);
/* Shows the token as it is stored, under its digest and the one before while that is good; one that is
 * revoked is shown no more. */
void token_show(struct reconcile *r, const struct api_token *t);
/* Takes a token that is stored into the memory. */
void token_add(struct reconcile *r, struct api_token *t);
/* Takes the entry out of the memory. */
void token_entry_free(struct reconcile *r, struct token_entry *entry);

#endif
