/* A change set on its way to the store and back, with the action that follows when it is durable. Loop
 * thread. */
#ifndef RECONCILE_WORLD_SAVE_H
#define RECONCILE_WORLD_SAVE_H

#include "model/command.h"
#include "reconcile/world/entity.h"

struct save {
    struct loop_task task; /* after the end of the loop its `drop` frees the save, and also the command of a
                            * save that save_answer made */
    struct reconcile *r;
    struct change_set *set;
    enum store_status status;
    /* Called at the end of the turn; the view is published before a reply is given back. The status is
     * STORE_OK unless the save was droppable. */
    void (*on_saved)(struct save *save);
    void *ctx;
    struct list link;           /* in turn.returned, then in turn.committed (world.h) */
    char key[ENTITY_KEY_BYTES]; /* the key of its entity; the entity is looked up again, because it may have
                                 * been removed */
};

struct save *save_new(struct reconcile *r, void (*on_saved)(struct save *save), void *ctx);
/* Makes a save with `cmd` as its ctx; on_saved must answer `cmd`. */
struct save *save_answer(struct reconcile *r, void (*on_saved)(struct save *save), struct command *cmd);
/* Frees a save. For a `drop` function that replaces the `drop` of save_new. */
void save_free(struct save *save);
/* Adds copies of the cluster (its version raised) and of its operation, if there is one. */
void save_entity(struct save *save, struct entity *e);
void save_operation(struct save *save, struct operation *op);
/* Passes the save to the store. A droppable save may fail; any other save is tried again until it
 * succeeds. */
void save_submit(struct save *save, bool droppable);
/* Called for a save that has returned: save_show before its on_saved, save_settle after it. save_show shows
 * the content of the save, or logs that it was not stored. save_settle answers commands that wait for
 * operations that this save has ended, and passes the save to saves_publish_events. */
void save_show(struct save *save);
void save_settle(struct save *save);
/* Publishes the events of the saves that were committed in this turn. Called after the view was published, so
 * a client that gets an event finds the reported change in the view. */
void saves_publish_events(struct reconcile *r);
/* Saves an entity without a later action. */
void entity_store(struct entity *e);
/* Shows an entity that needs no change in the store. When the view has the present state already, no new blob
 * (view/view.h) is made. */
void entity_show(struct entity *e);
/* Shows until now how long the open steps of the entity's operations have waited and run, although nothing
 * has changed: a step that hangs must not look young. Returns whether there is an open operation. */
bool entity_show_progress(struct entity *e);
/* Shows the entity again if the time alone has changed its issues: a version expires, an operation hangs.
 * Returns whether it was shown. */
bool entity_show_in_time(struct entity *e);
/* Does the same as entity_show, at the start, for an entity of which nothing was shown before. */
void entity_show_stored(struct entity *e);
/* Shows the new time of observation of an entity that has not changed otherwise. */
void entity_show_seen(struct entity *e);

#endif
