/* A shoot with the values that Cleura reports. This is a stored struct, see model/cluster.h. */
#ifndef MODEL_SHOOT_H
#define MODEL_SHOOT_H

#include <stdbool.h>
#include <stdint.h>
#include <uuid/uuid.h>

#include "base/env.h"
#include "base/json.h"
#include "base/json_doc.h"

/* The size of the digest of a shoot's row in a list of Cleura. */
enum { ROW_DIGEST_BYTES = 16 };

enum { SHOOT_PROGRESS_UNKNOWN = -1 };

/* One shoot, decoded from one answer of Cleura. The struct is the same for all APIs; upstream/ fills it. */
struct shoot {
    char *name;
    uint8_t row[ROW_DIGEST_BYTES]; /* the digest of the row in a list; zeros: the shoot is not from a list.
                                    * Not stored */
    struct json_doc *observed;     /* the complete shoot in shootd's format */
    /* Copies of often used values of `observed`, readable without parsing (shoot_set_observed). */
    uuid_t uid; /* identifies the shoot, because names are reused; null: Cleura has not reported it */
    char *kubernetes_version; /* or NULL */
    int pool_count;
    char **images; /* the images of the pools: name, version, name, version, ...; each pair once;
                    * NULL-terminated */

    bool has_operation;
    char *operation_type;                /* Create, Reconcile, Delete, ... or NULL */
    char *operation_state;               /* Processing, Succeeded, ... or NULL; see shoot_run */
    int progress;                        /* SHOOT_PROGRESS_UNKNOWN: Cleura does not report it */
    char *description;                   /* at most 1 KiB */
    wall_us operation_at;                /* last_update_time; 0: not reported */
    bool hibernated, hibernated_unknown; /* hibernated_unknown: the flag cannot be read, and `hibernated` is
                                          * false */
    /* Arrays of {type, status, reason?, message?, codes?}; NULL: the array cannot be read. */
    struct json_doc *conditions;
    struct json_doc *constraints;
    struct json_doc *last_errors; /* an array of {description, codes, task_id?, updated_at?} */
    char *api_server_url;         /* NULL: not reported */
};

void shoot_free(struct shoot *s);
struct shoot *shoot_copy(const struct shoot *s);
/* Whether Gardener can have a shoot of this name: a DNS label without two hyphens in a row (GA-7).
 */
bool shoot_name_is_possible(const char *name);
/* Whether Gardener can have a node pool of this name: a DNS label that fits into operation_step.target
 * (GA-9). */
bool pool_name_is_possible(const char *name);
/* The state of Cleura's last operation on the shoot, as an enum. Other comments call this operation the run.
 */
enum shoot_run {
    RUN_NONE,    /* there is no operation */
    RUN_UNKNOWN, /* an operation exists, but its state cannot be read */
    RUN_PENDING,
    RUN_PROCESSING,
    RUN_RETRYING, /* state Error: Gardener tries again by itself */
    RUN_SUCCEEDED,
    RUN_FAILED,
    RUN_ABORTED,
    RUN_UNHEARD, /* an enum value that is not in the table; it is treated as "in progress" until the state
                  * changes */
};
enum shoot_run shoot_run(const struct shoot *s);
/* Whether Cleura's operation is in progress or will begin soon. */
bool shoot_is_in_progress(const struct shoot *s);
/* Whether a deletion may be in progress. False only when the type or the state of the operation excludes
 * it. */
bool shoot_may_be_deleting(const struct shoot *s);
/* Whether Cleura's last operation is a deletion, in progress or ended in any way. False for NULL. */
bool shoot_is_deletion(const struct shoot *s);
/* Whether the last operation is a deletion that can still succeed. */
bool shoot_is_being_deleted(const struct shoot *s);
/* Takes over `observed` and extracts the values that are read often. A uid that is no UUID is treated as
 * absent. */
void shoot_set_observed(struct shoot *s, json_t *observed);
/* Returns the tree of `observed`; json_doc_tree states how long it is valid. NULL for NULL. */
json_t *shoot_observed(const struct shoot *s);
/* Whether Cleura reported the uid. False for a NULL shoot. */
bool shoot_has_uid(const struct shoot *s);
/* Whether both shoots have a uid, and the two uids differ. */
bool shoot_is_another(const struct shoot *a, const struct shoot *b);
/* Whether the state of Cleura's last operation is this word. */
bool shoot_state_is(const struct shoot *s, const char *state);

#endif
