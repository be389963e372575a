/* Operations: accepted writes and their steps. These are stored structs, see model/cluster.h. */
#ifndef MODEL_OPERATION_H
#define MODEL_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/json.h"
#include "base/trace.h"
#include "model/names.h"

/* The limit of steps. A change needs at most one step for the cluster's own members, and 50 steps each to
 * update, to create and to remove pools. */
enum { OPERATION_MAX_STEPS = 160 };

/* One call of an operation that has an effect at Cleura. The status `sending` is committed before the call is
 * sent. */
struct operation_step {
    enum step_type type;
    char target[40]; /* the name of a pool, the stage of a rotation, or "" */
    enum step_status status;
    int attempts;   /* how often the call was sent */
    bool uncertain; /* the last answer was lost: the shoot is read before any other call */
    wall_us started_at;
    wall_us sent_at;     /* when the first call left the account's lane (upstream/upstream.h); 0: no call left
                          * the lane, or the answer to the call was lost */
    wall_us accepted_at; /* when Cleura accepted the call; 0: not yet, or the step does not wait for a run */
    wall_us finished_at;
};

/* How many of its newest messages an operation keeps, and the size of each. */
enum { OPERATION_MAX_NOTES = 64, OPERATION_NOTE_BYTES = 255 };

/* A message of an operation, its time, and the step that was in progress. */
struct operation_note {
    wall_us at;
    unsigned step;
    char *text;
};

struct operation {
    char id[40];
    enum operation_type type;
    enum operation_status status;
    char *project;
    char *cluster;
    char cluster_id[40];
    char *requested_by; /* the name of the token that requested the operation */
    char *request_id;
    char *cancelled_by; /* name of the token that requested the cancellation, or NULL */
    bool restored;      /* the operation was open in a backup that was restored: it makes no more calls */
    struct trace trace; /* the trace of the request that made the operation */
    json_t *body;  /* for a create the resolved spec; for an update {"spec", "before"?, "steps"}: the wanted
                    * spec, the spec requested before, and the result of spec_plan; otherwise NULL */
    json_t *error; /* the result of problem_to_error_json, or NULL */
    int progress;
    char *message;                /* the current message, see operation_says */
    struct operation_note *notes; /* the messages of the operation, the oldest first */
    unsigned note_count, notes_dropped;
    struct operation_step *steps; /* `step_count` steps, at most OPERATION_MAX_STEPS */
    unsigned step_count;
    unsigned step_index; /* the step in progress */
    int64_t version;
    wall_us created_at;
    wall_us updated_at;
    wall_us finished_at; /* 0 while open */
    wall_us counted_to; /* until when the times of open steps are counted, if it is later than updated_at; not
                         * stored */
};

struct operation *operation_new(void);
void operation_free(struct operation *op);
struct operation *operation_copy(const struct operation *op);
json_t *operation_to_json(const struct operation *op);
struct operation *operation_from_json(const json_t *doc);
/* Returns the step of a delete that calls Cleura; the delete has steps. */
struct operation_step *operation_delete_call(struct operation *op);
/* Whether the step is done, or was not needed. */
bool step_is_over(const struct operation_step *step);
/* Appends a pending step; asserts that the array has space. The pointer is valid until the next step is
 * added. */
struct operation_step *operation_add_step(struct operation *op, enum step_type type, const char *target);
/* Sets the current message. The message is added to the notes when it differs from the last message, or when
 * it is the first message of a step. */
void operation_says(struct operation *op, wall_us now, const char *message);
/* Frees the notes of the operation's messages; the current message stays. */
void operation_forget_notes(struct operation *op);
/* Return the trace of the operation, or of its step with this index, each with its own span id. */
struct trace operation_trace(const struct operation *op);
struct trace operation_trace_of_step(const struct operation *op, unsigned index);
/*
 * How long a step waited and ran, computed from stored times; an open step counts up to
 * operation_counted_to. waited_us is the time from the end of the previous step, or the acceptance of the
 * operation, until the step's first call left the lane. running_us is the time from that call to the end of
 * the step. A negative value means that the time is not known or has not begun.
 */
struct step_times {
    int64_t waited_us, running_us;
};
/* Returns the later one of updated_at and counted_to. */
wall_us operation_counted_to(const struct operation *op);
struct step_times operation_step_times(const struct operation *op, unsigned index);
/* Removes all steps before a new plan is made. */
void operation_clear_steps(struct operation *op);
/* Frees the parts of the body that are used only for planning. The parts that are shown to clients stay. */
void operation_trim(struct operation *op);

/* A query for operations, the newest first. A NULL list matches all; lists are NULL-terminated. */
struct operation_query {
    char id[40];     /* selects only this operation, if it is in `projects`; "": all */
    char before[40]; /* selects only operations older than this id; "": from the newest on */
    int limit;       /* 1..1000 */
    char **projects;
    char **clusters;      /* names of clusters */
    char **cluster_parts; /* parts of names of clusters, in lower case */
    unsigned statuses;    /* a set of bits; 0: all */
    unsigned types;       /* bits; 0: all */
    wall_us since;        /* selects only operations that were accepted at this time or later, to the
                           * millisecond */
};
/* Copies the query. The caller owns the lists in the copy. */
struct operation_query operation_query_copy(const struct operation_query *q);
void operation_query_done(struct operation_query *q);

struct operation_page {
    struct operation **operations; /* the operations, trimmed; the page owns each of them */
    size_t count;
    char next[40]; /* the id for `before` of the next page; "": this is the last page */
};
/* NULL is allowed. */
void operation_page_free(struct operation_page *page);

#endif
