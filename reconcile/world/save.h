/* A change set on its way to the store and back, with the action that follows when it is durable. Loop
 * thread. */
#ifndef RECONCILE_WORLD_SAVE_H
#define RECONCILE_WORLD_SAVE_H

#include "model/command.h"
#include "reconcile/world/entity.h"

struct save {
    struct loop_task
        task; /* its drop, when the loop has ended, frees the save; with save_answer also the command */
    struct reconcile *r;
    struct change_set *set;
    enum store_status status;
    /* Called at the end of the turn; the view is published before a reply is given back. The status is
     * STORE_OK unless the save was droppable. */
    void (*on_saved)(struct save *save);
    void *ctx;
    struct list link;           /* in the reconciler's lists: returned, then committed */
    char key[ENTITY_KEY_BYTES]; /* of its entity, which is looked up again because it may have been removed */
};

struct save *save_new(struct reconcile *r, void (*on_saved)(struct save *save), void *ctx);
/* Makes a save whose on_saved answers `cmd`, its ctx. */
struct save *save_answer(struct reconcile *r, void (*on_saved)(struct save *save), struct command *cmd);
/* For a drop of a task, instead of the one of save_new. */
void save_free(struct save *save);
/* Adds copies of the cluster (its version raised) and of its operation, if there is one. */
void save_entity(struct save *save, struct entity *e);
void save_operation(struct save *save, struct operation *op);
/* Droppable saves may fail; storage retries others until they succeed. */
void save_submit(struct save *save, bool droppable);
/* The two halves of the end of a save that returned, around its on_saved: shows its content, or logs that it
 * is not stored; then answers those that wait for operations that it ended, and leaves the save to
 * saves_publish_events. */
void save_show(struct save *save);
void save_settle(struct save *save);
/* Publishes the events of the saves that were committed in this turn. Called after the view was published, so
 * a client that gets an event finds its effect in the view. */
void saves_publish_events(struct reconcile *r);
/* Saves an entity without a later action. */
void entity_store(struct entity *e);
/* Shows an entity without a change in the store. A blob that readers have already is not made again. */
void entity_show(struct entity *e);
/* As entity_show, at the start: nothing else of the entity may be shown before. */
void entity_show_stored(struct entity *e);
/* Shows that only the time of observation has changed. */
void entity_show_seen(struct entity *e);
/* Shows the stored token under its digest, and under the old one while that is valid. Hides a revoked
 * token. */
void token_show(struct reconcile *r, const struct api_token *t);
/* Adds a stored token to memory, and takes it over. */
void token_add(struct reconcile *r, struct api_token *t);
/* Removes the entry from memory. */
void token_entry_free(struct reconcile *r, struct token_entry *entry);

#endif
