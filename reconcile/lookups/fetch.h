/*
 * Documents that are read from Cleura on request. One fetch serves all waiting commands (UP-17); the fetch is
 * cancelled when no command waits for it any more (UP-19). A document stays in memory for the time that its
 * kind defines. It is never stored and never logged. Loop thread.
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
    size_t size;      /* size of the struct that begins with the fetch */
    const char *late; /* the message for people when Cleura did not answer in time */
    /* Whether the fetched data may still be returned. */
    bool (*is_kept)(struct fetch *f);
    /* Called when the fetch failed or is late: decides a command that can do without the data. Returns the
     * problem with which the command is answered; NULL: the command was taken over. When this pointer is
     * NULL, no command can do without the data. */
    struct problem *(*failed)(struct fetch *f, struct command *cmd, const struct problem *problem);
    /* Releases the kind's own members; NULL: it has none. */
    void (*release)(struct fetch *f);
};

/* First member of a kind's struct. */
struct fetch {
    UT_hash_handle hh;
    char key[FETCH_KEY_BYTES];
    const struct fetch_kind *kind;
    struct reconcile *r;
    struct project *project;
    char entity_key[ENTITY_KEY_BYTES]; /* the key of the cluster; "": the fetch concerns the project */
    char *shoot;                       /* the name of the shoot for the calls; or NULL */
    struct upstream_call call;
    struct list waiters;
};

struct fetches *fetches_new(struct reconcile *r);
/* Answers all waiting commands, because shootd is stopping. */
void fetches_stop(struct fetches *all);
void fetches_free(struct fetches *all);
/* Answers the waiting commands, because the cluster no longer exists. */
void fetches_forget(struct fetches *all, const char *entity_key);
/* Answers the waiting commands with a copy of the problem, because the project stops. */
void fetches_forget_project(struct project *p, const struct problem *problem);
/* Calls `visit` for each fetch of a kind. */
void fetches_each(struct fetches *all, const struct fetch_kind *kind,
                  void (*visit)(struct fetch *f, void *ctx), void *ctx);

/* Finds the fetch with this key (unique among all kinds), or makes a new fetch. In a new fetch, the members
 * of struct fetch are set, and the kind's own members are zero. `e` may be NULL. */
struct fetch *fetch_find_or_add(struct project *p, const struct fetch_kind *kind, const struct entity *e,
                                const char *key);
/* Adds a command that waits until `until`. Returns true when no other command waits and no call is running:
 * the caller then begins the fetch. */
bool fetch_wait(struct fetch *f, struct command *cmd, mono_us until);
/* Calls Cleura for the waiting commands; within_us: how long to wait for the answer. `item` is borrowed until
 * `on_done`. */
void fetch_call(struct fetch *f, enum upstream_op op, const char *item, int64_t within_us,
                void (*on_done)(struct upstream_call *call, struct upstream_result *result));
/* Answers all waiting commands with a copy of the problem, except those that can do without the data. */
void fetch_fail(struct fetch *f, const struct problem *problem);
/* Returns the cluster of the fetch; NULL: the fetch has no cluster. */
struct entity *fetch_entity(const struct fetch *f);

#endif
