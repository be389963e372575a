/*
 * Epoch reclaim for data that many threads read and one thread replaces. A reader marks the epoch it entered
 * in its own slot; the writer frees what it retired once no slot shows an epoch that could still see it.
 * Readers: any thread, wait-free after their first entry. Writer: one thread. Reads do not nest.
 */
#ifndef BASE_EPOCH_H
#define BASE_EPOCH_H

struct epoch;

struct epoch *epoch_new(void);
/* Frees everything that is still retired. No reader may be inside. NULL is allowed. */
void epoch_free(struct epoch *e);

/* Reader: between the two, what was loaded stays valid. */
void epoch_enter(struct epoch *e);
void epoch_leave(struct epoch *e);

/* Writer: after the pointer to `object` was replaced: calls release(object) once no reader can hold it. */
void epoch_retire(struct epoch *e, void *object, void (*release)(void *object));
/* Writer: releases what has become free; call now and then. */
void epoch_collect(struct epoch *e);

#endif
