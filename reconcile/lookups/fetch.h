/*
 * Documents that are fetched from Cleura when somebody asks: one fetch for all who wait (UP-17), given up
 * when the last of them has left (UP-19), kept as long as its kind says, never stored, never logged. Loop
 * thread.
 */
#ifndef RECONCILE_LOOKUPS_FETCH_H
#define RECONCILE_LOOKUPS_FETCH_H

#include "model/command.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/world.h"

enum { FETCH_KEY_BYTES = 384 };

struct fetch;

struct fetch_kind {
    size_t size;      /* of the struct that begins with the fetch */
    const char *late; /* for people: Cleura did not answer in time */
    /* Whether what was fetched may still answer. */
    bool (*is_kept)(struct fetch *f);
    /* Gives back what the kind's own members hold. */
    void (*done)(struct fetch *f);
};

/* First member of a kind's struct. */
struct fetch {
    UT_hash_handle hh;
    char key[FETCH_KEY_BYTES];
    const struct fetch_kind *kind;
    struct reconcile *r;
    struct project *project;
    char entity_key[ENTITY_KEY_BYTES]; /* "": it is about the project */
    char *shoot;                       /* its name, for the calls; or NULL */
    struct upstream_call call;
    struct list waiters;
};

struct fetches *fetches_new(struct reconcile *r);
/* Everybody who waits is answered: shootd is stopping. */
void fetches_stop(struct fetches *all);
void fetches_free(struct fetches *all);
/* The cluster is gone: who waits is answered so. */
void fetches_forget(struct fetches *all, const char *entity_key);
/* The project is put to rest: who waits is answered with a copy. */
void fetches_forget_project(struct project *p, const struct problem *problem);
/* Calls `visit` for each fetch of a kind about a cluster. */
void fetches_each(struct fetches *all, const struct fetch_kind *kind, const char *entity_key,
                  void (*visit)(struct fetch *f));

/* `key` is unique among all kinds. A new one is zeroed but for what stands above; `e` may be NULL. */
struct fetch *fetch_find_or_add(struct project *p, const struct fetch_kind *kind, const struct entity *e,
                                const char *key);
/* The command waits. True: nobody did before, and nothing is under way; the caller begins. */
bool fetch_wait(struct fetch *f, struct command *cmd);
/* Calls Cleura for those who wait. `item` is borrowed until `on_done`. */
void fetch_call(struct fetch *f, enum upstream_op op, const char *item, int deadline_s,
                void (*on_done)(struct upstream_call *call, const struct upstream_result *result));
/* Answers everybody who waits with a copy. */
void fetch_fail(struct fetch *f, const struct problem *problem);
/* The cluster that it is about; NULL: none. */
struct entity *fetch_entity(const struct fetch *f);

#endif
