/* A cluster with its whole working state. Loop thread. */
#ifndef RECONCILE_WORLD_ENTITY_H
#define RECONCILE_WORLD_ENTITY_H

#include "base/heap.h"
#include "model/decide.h"
#include "reconcile/world/step_life.h"
#include "reconcile/world/world.h"
#include "upstream/upstream.h"
#include "view/view.h"

enum {
    ENTITY_KEY_BYTES = VIEW_CLUSTER_KEY_BYTES,
    ABSENT_READS = 2,    /* this many reads must miss a shoot before its absence is accepted */
    LOOK_AGAIN_S = 3,    /* seconds between two such reads, because an effect may become visible a little
                          * late */
    OBSERVE_LAG_S = 300, /* for this time after a change, an answer may show an earlier state */
};

/* Counters and findings since the current step began. */
struct step_tries {
    int retries;         /* consecutive failures of the step, for the back-off */
    int conflicts;       /* consecutive 409 answers to the current step that count (CONFLICTS_MAX) */
    int unexplained;     /* consecutive refusals of the step's calls for which Cleura gave no reason */
    int absent_reads;    /* consecutive reads after a lost answer that found no shoot */
    mono_us unmet_since; /* when Cleura was first seen idle without a visible effect of the step; 0: Cleura is
                          * not idle, or the effect is visible */
    mono_us
        slow_since;   /* when an answer of Cleura first came too late for a change; 0: the last one did not */
    mono_us lost_at;  /* the time of the first read after a lost answer of the current step; 0: there was no
                       * such read */
    char unheard[48]; /* the last unknown enum value of Cleura for the step's run; or "" */
};

/* The current step in memory. */
struct step_run {
    enum step_life life;
    struct upstream_call call;
    json_t *body;            /* the body of the running call, if step_kind.body made it; or NULL */
    struct loop_timer retry; /* when the step continues */
    struct step_tries tries;
    mono_us begun_at;  /* when the current step began; 0: it began before shootd started, or has not begun */
    bool unread;       /* the last operation failed because no read could show whether a step had an effect */
    mono_us looked_at; /* when the shoot was read for the step, with the right uid; 0: it must be read */
    int vain_deletions;      /* how often an accepted deletion of the operation was not visible, since the
                              * start of shootd */
    struct problem *refusal; /* the refusal of a repeated call whose earlier answer was lost; the operation
                              * fails with it if no read finds an effect of the earlier call */
};

/* Facts from Cleura's answers, in addition to the shoot. */
struct sightings {
    wall_us newest_at;        /* newest time of an operation in Cleura's answers, by Cleura's clock */
    mono_us newest_since;     /* when an answer last contained the time `newest_at` */
    mono_us passed_over_at;   /* when an answer about the cluster was last ignored; 0: never */
    int other_uid_reads;      /* consecutive reads that found another uid */
    unsigned unchanged_polls; /* consecutive polls without a change; the interval grows with them */
    int64_t settled_version;  /* while the cluster has this version, an answer equal to the last one needs no
                               * processing; 0: there is no such version */
    unsigned listed_in;       /* the number of the last list of the project that contained the cluster */
    unsigned refused_in;      /* number of the last list in which shootd refused a row with this name */
};

/* The state of a cluster that is missing in Cleura's answers. */
struct absence {
    int reads;            /* consecutive single reads that did not find the cluster */
    bool missing_in_list; /* the last list did not contain the cluster */
    bool read_alone;      /* a list or a read did not find the cluster: it is read alone before its absence is
                           * accepted */
    mono_us read_at; /* when a read last confirmed the absence; 0: no read has, or Cleura could not be read
                      * after that */
    int64_t confirmed_us; /* how long consecutive reads have confirmed the absence */
};

/* The entity's change sets that are being stored. */
struct entity_saves {
    unsigned under_way;
    unsigned asked_for;   /* the number of callers' changes that are not durable yet */
    bool first;           /* the new record is being stored: nothing is sent to Cleura before it is durable */
    bool last;            /* the end of the record is being stored; the record does not change any more */
    bool operation_ended; /* the final state of `op` is being stored, or is stored */
};

struct entity {
    UT_hash_handle hh;
    char key[ENTITY_KEY_BYTES]; /* the key has the form project/name */
    struct reconcile *r;
    struct project *project;
    struct list in_project;
    struct list touched; /* in turn.touched (world.h), until the end of the turn */
    struct list sighted; /* in turn.sighted, until `sighting` is handled at the end of the turn */
    struct shoot *sighting;
    bool credentials_are_old; /* at the end of the turn, kubeconfigs that were read before are discarded */
    struct cluster *cluster;
    struct view_blob *shown; /* the blob in the view, or in the next snapshot; NULL: there is no blob */
    struct operation *op; /* the open operation, or the last operation until the next begins; may be NULL */
    struct operation **queue; /* accepted operations that wait for their turn, in order */
    size_t queued;
    struct heap_item due; /* the place of the entity in the project's heap of due times */
    struct step_run step;
    struct sightings seen;
    struct absence absence;
    struct wall_mark guard_since, deletion_began, step_done, step_accepted; /* for running waits */
    struct entity_saves saves;
};

struct entity *entity_find(struct reconcile *r, const char *project, const char *name);
/* Returns the entity with this key (`project/name`), or NULL. */
struct entity *entity_by_key(struct reconcile *r, const char *key);
/* Takes over the cluster. */
struct entity *entity_add(struct reconcile *r, struct project *p, struct cluster *c);
/* Returns the time for the guard after a write (model/decide.h): guard_since plus the time that has passed.
 */
wall_us entity_guard_now(struct entity *e);
/* Removes the cluster from memory and view, and frees it. No call may be active. */
void entity_remove(struct entity *e);
/* Called when something happened to the cluster. At the end of this turn its open operation continues, or its
 * next operation begins, if possible (turn.c). */
void entity_touch(struct entity *e);
/* Called when a read for the step has shown the shoot, which is taken over. At the end of this turn
 * observe() processes the shoot, and steps_looked is called with the result. */
void entity_sight(struct entity *e, struct shoot *shoot);
/* Removes the cluster from the view; it stays in memory. */
void entity_hide(struct entity *e);
/* Resets the tries and findings of the current step: from this call on, only the stored state counts, like
 * after a restart. No call may be active. */
void entity_forget_tries(struct entity *e);
/* Called when the current step of the operation begins. */
void entity_note_begin(struct entity *e, struct operation_step *step);
/* Called when the call of the step was answered. Stores the time when the first call left the account's lane
 * (upstream/upstream.h), if a call left the lane. The time is saved together with the changes of the answer.
 */
void entity_note_sent(struct entity *e, struct operation_step *step);
/* Returns the microseconds since the first read-back of the step's call; the first call of this function sets
 * that time. */
int64_t entity_doubt_us(struct entity *e);
/* Whether the step began more than `seconds` ago; the time before shootd's start does not count. */
bool entity_is_at_step_for(const struct entity *e, int64_t seconds);
/* Makes `op` (taken over) the entity's operation; the previous operation is freed. */
void entity_set_operation(struct entity *e, struct operation *op);
/* Frees data that can be made again (cluster_rest). When the operation has ended, also frees its notes, and
 * the parts of its body that only planning uses, unless a later plan or check may need these parts. */
void entity_rest(struct entity *e);
/* Removes the last operation from memory if it ended before `before` and is not needed any more; otherwise
 * returns false. */
bool entity_forget_operation(struct entity *e, wall_us before);
bool entity_has_open_operation(const struct entity *e);
/* Returns the type of the open operation, or -1. */
int entity_open_type(const struct entity *e);
/* Whether the first or last change set, or the intent of a step, is being stored. During this time nothing is
 * begun, and answers of Cleura are ignored. */
bool entity_is_committing(const struct entity *e);
/* Whether the project's last list had rows with the cluster's name, but shootd refused all of them. */
bool entity_row_was_refused(const struct entity *e);
/* Whether the last operation is a change that ended without success, so it is unknown whether its spec took
 * effect. */
bool entity_change_was_in_vain(const struct entity *e);
/* Whether something is in progress, so the cluster is read often. */
bool entity_is_active(const struct entity *e);
/* Whether the cluster is deleted, or a deletion is in progress or waits. */
bool entity_is_leaving(const struct entity *e);
/* Whether the last operation that Cleura shows is a deletion, also a deletion that failed. */
bool entity_is_deleted_at_cleura(const struct entity *e);
/* Stores the time of an answer about the shoot: older answers are ignored for OBSERVE_LAG_S. */
void entity_note_newest(struct entity *e, const struct shoot *shoot);
/* Stores when the first version that the cluster uses expires. Called before the cluster is shown. */
void entity_note_expiry(struct entity *e);

/* Adds an operation to the end of the queue, which owns it. */
void entity_queue_push(struct entity *e, struct operation *op);
/* Removes an operation from the queue without ending it; the caller owns it. */
struct operation *entity_queue_take(struct entity *e, size_t index);
/* Returns the waiting operation of this type, or NULL. */
struct operation *entity_queue_find(const struct entity *e, enum operation_type type);

#endif
