/*
 * Epoch-based reclamation: many threads read data that one thread replaces. The old data is freed when no
 * thread reads it any more. A reader stores the current epoch in its own slot when it begins. The writer
 * frees a retired object when no slot contains an epoch in which a reader could still see the object.
 * Readers: any thread, wait-free after their first entry. Writer: one thread. Reads do not nest.
 *
 * Why not a lock or a count of references: each would be written by every read, so the processors would fight
 * for its cache line, and a reader could hold up the loop. Here a reader writes only into its own slot. The
 * price is that old data stays a little longer, and that a reader must not sleep between enter and leave.
 */
#ifndef BASE_EPOCH_H
#define BASE_EPOCH_H

struct epoch;

struct epoch *epoch_new(void);
/* Frees all retired objects. No reader may be between enter and leave. NULL is allowed. */
void epoch_free(struct epoch *e);

/* Reader: pointers that were loaded between enter and leave stay valid until leave. */
void epoch_enter(struct epoch *e);
void epoch_leave(struct epoch *e);

/* Writer: called after the pointer to `object` was replaced. Calls release(object) when no reader can use the
 * object any more. */
void epoch_retire(struct epoch *e, void *object, void (*release)(void *object));
/* Writer: releases the retired objects that no reader can use any more. The writer calls it from time to
 * time. */
void epoch_collect(struct epoch *e);

#endif
