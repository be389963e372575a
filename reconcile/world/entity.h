/* A cluster with everything that drives it. Loop thread. */
#ifndef RECONCILE_WORLD_ENTITY_H
#define RECONCILE_WORLD_ENTITY_H

#include "base/heap.h"
#include "model/decide.h"
#include "reconcile/world/world.h"
#include "upstream/upstream.h"
#include "view/view.h"

enum {
    ENTITY_KEY_BYTES = VIEW_CLUSTER_KEY_BYTES,
    ABSENT_READS = 2,    /* how often a shoot must be missing before it is believed */
    LOOK_AGAIN_S = 3,    /* between two such reads: an effect may become visible a little late */
    OBSERVE_LAG_S = 300, /* how long an answer may show what was before */
};

/* The tries and findings since the current step began. */
struct step_tries {
    int retries;         /* failures of the step in a row, for the back-off */
    int conflicts;       /* 409 answers in a row to the current step, of a cluster that seems idle */
    int unexplained;     /* refusals in a row of its calls without Cleura's words */
    int absent_reads;    /* reads back in a row that found nothing */
    mono_us unmet_since; /* Cleura is done since then, but the step's effect does not show; 0: no */
    mono_us lost_at;     /* first read back of the current step; 0: none yet */
    char unheard[48];    /* the last word about its run that is not in our table; or "" */
};

/* The current step: its call, or the read-back of one whose answer was lost. */
struct step_run {
    struct upstream_call call;
    json_t *body;            /* what the running call sends, when it was made for it */
    struct loop_timer retry; /* when the step is to be taken up again */
    struct step_tries tries;
    mono_us begun_at;    /* the current step was; 0: before the start, if at all */
    bool storing_intent; /* that its call is about to be made: nothing else begins meanwhile */
    bool reading_back;
    bool unread;       /* of a step of the operation that ended nobody could read whether it took effect */
    mono_us looked_at; /* the shoot was read for it, and is the one meant; 0: it is to be read */
    struct problem *refusal; /* a definite answer after a lost one: given when the read-back finds nothing */
};

/* Facts from Cleura's answers, beside the shoot itself. */
struct sightings {
    wall_us newest_at;        /* newest time of an operation in Cleura's answers, by its clock */
    mono_us newest_since;     /* when an answer had that last */
    mono_us passed_over_at;   /* last answer about it that did not count; 0: none */
    int other_uid_reads;      /* consecutive reads that found another uid */
    unsigned unchanged_polls; /* in a row: the idle interval grows with them */
    int64_t settled_version;  /* the cluster's, in which the same answer again means nothing new; 0: none */
    unsigned listed_in;       /* the last list of the project that held it */
    unsigned refused_in;      /* the last one that had a row of its name that was not believed */
};

/* That Cleura does not show it. */
struct absence {
    int reads;            /* of it alone, in a row, that did not find it */
    bool missing_in_list; /* the last list did not hold it */
    bool read_alone;      /* a list or a read did not find it: read it alone before believing that */
    mono_us read_at;      /* last read that confirmed the absence; 0: Cleura could not be read since */
    int64_t confirmed_us; /* for so long reads have confirmed it, one after the other */
};

/* Its change sets on their way to the store. */
struct entity_saves {
    unsigned under_way;
    unsigned asked_for;   /* changes that callers asked for and that are not durable yet */
    bool first;           /* the record itself: nothing is sent before the answer's promise is durable */
    bool last;            /* the record's end: nothing more happens to it */
    bool operation_ended; /* the final state of `op` is on its way, or there */
};

struct entity {
    UT_hash_handle hh;
    char key[ENTITY_KEY_BYTES]; /* project/name */
    struct reconcile *r;
    struct project *project;
    struct list in_project;
    struct cluster *cluster;
    struct view_blob *shown;  /* what readers have of it, or get with the next snapshot; NULL: nothing yet */
    struct operation *op;     /* the open one, or the last one until the next; may be NULL */
    struct operation **queue; /* accepted, waiting for their turn; first come first */
    size_t queued;
    struct heap_item due; /* in the project's heap */
    struct step_run step;
    struct sightings seen;
    struct absence absence;
    struct entity_saves saves;
};

struct entity *entity_find(struct reconcile *r, const char *project, const char *name);
/* Takes the cluster. */
struct entity *entity_add(struct reconcile *r, struct project *p, struct cluster *c);
/* Removes from memory and view; frees. No call may be active. */
void entity_remove(struct entity *e);
/* Readers have it no more; it stays in memory. */
void entity_hide(struct entity *e);
/* Forgets the tries and findings since the start: as after a restart only the stored state counts. No call
 * may be active. */
void entity_forget_tries(struct entity *e);
/* The current step of its operation begins. */
void entity_note_begin(struct entity *e, struct operation_step *step);
/* Its call was answered: notes when the first one left, if it did. Stored with what the answer changes. */
void entity_note_sent(struct entity *e, struct operation_step *step);
/* The microseconds since the call of that step was first read back, which is now at the first call. */
int64_t entity_doubt_us(struct entity *e);
/* That step has begun more than so many seconds ago; the time before this start of shootd does not count. */
bool entity_is_at_step_for(const struct entity *e, int64_t seconds);
/* Makes `op` (taken) the entity's operation; the old one is freed. */
void entity_set_operation(struct entity *e, struct operation *op);
/* Frees what can be made again (cluster_rest), and what only the planning of an operation that ended needed.
 */
void entity_rest(struct entity *e);
/* Forgets its last operation when that ended before `before`; false: it did not, or is needed. */
bool entity_forget_operation(struct entity *e, wall_us before);
bool entity_has_open_operation(const struct entity *e);
/* The type of the open operation, or -1. */
int entity_open_type(const struct entity *e);
/* Its first or last change set, or a step's intent, is on its way to the store: nothing is begun, nothing is
 * believed of what Cleura shows. */
bool entity_is_committing(const struct entity *e);
/* The project's last list had a row of its name that was not believed, and no other. */
bool entity_row_was_refused(const struct entity *e);
/* The last operation is a change that ended without success: whether its spec was brought about is unknown.
 */
bool entity_change_was_in_vain(const struct entity *e);
/* Something moves: it is read often. */
bool entity_is_active(const struct entity *e);
/* It is deleted, or a deletion is under way or waits. */
bool entity_is_leaving(const struct entity *e);
/* Cleura's last operation is a deletion, also one that failed. */
bool entity_is_deleted_at_cleura(const struct entity *e);
/* Notes the time of an answer about the shoot: older answers are not believed for OBSERVE_LAG_S. */
void entity_note_newest(struct entity *e, const struct shoot *shoot);
/* Notes when the first version that the cluster uses runs out: before it is shown. */
void entity_note_expiry(struct entity *e);

/* Operations that wait their turn, first come first. The queue owns them. */
void entity_queue_push(struct entity *e, struct operation *op);
/* Removes one without ending it; the caller owns it. */
struct operation *entity_queue_take(struct entity *e, size_t index);
/* The waiting operation of this type, or NULL. */
struct operation *entity_queue_find(const struct entity *e, enum operation_type type);

#endif
