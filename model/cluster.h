/*
 * The stored structs of the domain: clusters, operations, events, subscriptions, deliveries, API tokens,
 * accounts and projects. Plain structs without logic. Each instance has one owner and is passed to another
 * thread as a whole. A JSON member is never changed after it was set; it is replaced. x_copy shares nothing
 * with its source, not even JSON, because several threads must not use jansson's reference counts.
 *
 * x_to_json and x_from_json convert a struct to and from its stored form. The form is complete, only gains
 * members over versions, and contains no secrets in clear.
 */
#ifndef MODEL_CLUSTER_H
#define MODEL_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>
#include <uuid/uuid.h>

#include "base/attrs.h"
#include "base/env.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/json_doc.h"
#include "base/trace.h"
#include "model/names.h"

/* Size of the digest of the list row that Cleura sends for a shoot. */
enum { ROW_DIGEST_BYTES = 16 };

enum { SHOOT_PROGRESS_UNKNOWN = -1 };

/* One shoot as one answer of Cleura describes it, decoded and independent of the generation (upstream fills
 * it). */
struct shoot {
    char *name;
    uint8_t row[ROW_DIGEST_BYTES]; /* digest of the list row; zeros: not from a list. Not stored */
    struct json_doc *observed;     /* the complete shoot in shootd's format */
    /* Copies of often used values of `observed`, readable without parsing (shoot_set_observed). */
    uuid_t uid; /* identifies the shoot, because names are reused; null: Cleura has not reported it */
    char *kubernetes_version; /* or NULL */
    int pool_count;
    char **images; /* name, version, name, version, ... of the pools; each pair once; NULL-terminated */

    bool has_operation;
    char *operation_type;                /* Create, Reconcile, Delete, ... or NULL */
    char *operation_state;               /* Processing, Succeeded, ... or NULL; see shoot_run */
    int progress;                        /* SHOOT_PROGRESS_UNKNOWN: Cleura does not report it */
    char *description;                   /* capped at 1 KiB */
    wall_us operation_at;                /* last_update_time; 0 when the generation does not report it (v1) */
    bool hibernated, hibernated_unknown; /* unknown: the flag cannot be read; `hibernated` is then false */
    /* Arrays of {type, status, reason?, message?, codes?}; NULL: the array cannot be read. */
    struct json_doc *conditions;
    struct json_doc *constraints;
    struct json_doc *last_errors; /* array of {description, codes, task_id?, updated_at?} */
    char *api_server_url;         /* v1 only, else NULL */
};

void shoot_free(struct shoot *s);
struct shoot *shoot_copy(const struct shoot *s);
/* Whether Gardener can have a shoot of this name: a DNS label without two hyphens in a row (GA-7).
 */
bool shoot_name_is_possible(const char *name);
/* Whether Gardener can have a node pool of this name: a DNS label that fits into operation_step.target
 * (GA-9). */
bool pool_name_is_possible(const char *name);
/* The state of Cleura's last operation, as an enum. */
enum shoot_run {
    RUN_NONE,    /* there is no operation */
    RUN_UNKNOWN, /* an operation exists, but its state cannot be read */
    RUN_PENDING,
    RUN_PROCESSING,
    RUN_RETRYING, /* state Error: Gardener tries again by itself */
    RUN_SUCCEEDED,
    RUN_FAILED,
    RUN_ABORTED,
    RUN_UNHEARD, /* a word that is not in the table; treated as in progress until the state changes */
};
enum shoot_run shoot_run(const struct shoot *s);
/* Whether Cleura's operation is in progress or about to begin. */
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
/* The tree of `observed`, valid as json_doc_tree says; NULL for NULL. */
json_t *shoot_observed(const struct shoot *s);
/* Whether Cleura reported the uid. False for a NULL shoot. */
bool shoot_has_uid(const struct shoot *s);
/* Whether both have a uid, and the two uids differ. */
bool shoot_is_another(const struct shoot *a, const struct shoot *b);
/* Whether the state of Cleura's last operation is this word. */
bool shoot_state_is(const struct shoot *s, const char *state);

/* Size of "project/name" with its NUL; Cleura's names are far shorter. */
enum { CLUSTER_KEY_BYTES = 256 };

struct cluster {
    char id[40];
    char *project;
    char *name;
    bool managed;
    json_t *labels;    /* object of strings, never NULL */
    char *description; /* or NULL */
    bool deletion_protection;
    struct json_doc *spec; /* as the caller sent it; NULL while unmanaged */
    struct shoot *shoot;   /* last observation; NULL before the first one */
    wall_us observed_at;   /* 0: never */
    mono_us heard_at;      /* the same moment on the monotonic clock, which gives the age. Not stored */
    bool stale;

    enum phase phase;
    enum health health;
    bool settling;
    char *message;

    /* The guard against an outdated Succeeded (GA-6): set when Cleura accepted a write. */
    wall_us guard_since;   /* 0: no guard */
    wall_us guard_seen_at; /* last_update_time that was visible when the write was accepted */
    wall_us guard_until;   /* end of the guard, since a write that changes nothing starts no run */
    json_t *drift;         /* array of {path, wanted, found} while managed and no operation runs; or NULL */
    json_t *expiry_announced; /* {"kubernetes 1.33.6": days}: the last warning given for a version; or NULL */
    wall_us expires_at;       /* when the first version in use expires, 0: none known; derived from shoot and
                                 catalog, so not stored */
    bool slept;               /* the cluster was last reported as hibernated, not as ready or degraded */
    bool wants_hibernated;    /* the state last requested, to distinguish hibernating from updating */

    char operation_id[40]; /* the open operation, "" when there is none */
    int64_t version;       /* grows with every stored change: ETag and event order */
    int64_t generation;    /* grows with every change by a caller: the value that If-Match protects */
    wall_us created_at;
    wall_us updated_at;
    char *api_server_url; /* from a kubeconfig, when Cleura's API does not report it (v2); or NULL */
    wall_us absent_since; /* time from which Cleura has not shown the shoot, although nobody deleted it; 0: it
                             is shown */
    wall_us departed_at;  /* when the record ended; it is kept in case the uid returns; 0: not ended */
    char *
        retrying_announced; /* the error codes that the last cluster.retrying of this run reported; or NULL */
    bool upstream_exists;   /* an answer or a read-back proved that the shoot was made */
    bool deleted;           /* the row is to be removed; its events stay */
};

struct cluster *cluster_new(void);
void cluster_free(struct cluster *c);
struct cluster *cluster_copy(const struct cluster *c);
/* Sets the time of observation to now: Cleura has just reported the cluster. */
void cluster_observed_now(struct cluster *c, const struct env *env);
/* Sets the age of an observation from before the start, made at observed_at, by the current wall clock. Also
 * called when there was no observation. */
void cluster_observed_before(struct cluster *c, const struct env *env);
/* Frees the parsed trees of all documents. Values that were read from these trees are then invalid. */
void cluster_rest(struct cluster *c);
DEFINE_CLEANUP(cluster_freep, struct cluster *, cluster_free)
#define CLEANUP_CLUSTER CLEANUP(cluster_freep)
json_t *cluster_to_json(const struct cluster *c);
/* NULL when the document is not a stored cluster. */
struct cluster *cluster_from_json(const json_t *doc);

/*
 * As cluster_from_json, but faster. `text` must be the exact output of json_text(cluster_to_json(...)). The
 * documents are copied as text and not parsed. Returns NULL also for text of an earlier version, which
 * cluster_from_json reads.
 */
struct cluster *cluster_from_text(const char *text, size_t len);

/* At most one step for the cluster's own members, then 50 pools updated, 50 created and 50 removed. */
enum { OPERATION_MAX_STEPS = 160 };

/* One call of an operation that has an effect at Cleura. The status `sending` is committed before the call is
 * sent. */
struct operation_step {
    enum step_type type;
    char target[40]; /* pool name, stage of a rotation, or "" */
    enum step_status status;
    int attempts;   /* how often the call was sent */
    bool uncertain; /* the last answer was lost: the shoot is read before any other call */
    wall_us started_at;
    wall_us sent_at;     /* when the first call left the lane; 0: no call left it, or its answer was lost */
    wall_us accepted_at; /* when Cleura accepted the call; 0: not yet, or the step does not wait for a run */
    wall_us finished_at;
};

/* How many messages an operation keeps (the newest), and the size of each. */
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
    char *requested_by; /* token name */
    char *request_id;
    char *cancelled_by; /* name of the token that requested the cancellation, or NULL */
    struct trace trace; /* trace of the request that made the operation */
    json_t *body;       /* create: the resolved spec; update: {"spec", "steps"} of spec_plan; else NULL */
    json_t *error;      /* problem_to_error_json, or NULL */
    int progress;
    char *message;                /* the current message, see operation_says */
    struct operation_note *notes; /* its messages, the oldest first */
    unsigned note_count, notes_dropped;
    struct operation_step *steps; /* `step_count` steps, at most OPERATION_MAX_STEPS */
    unsigned step_count;
    unsigned step_index; /* the step in progress */
    int64_t version;
    wall_us created_at;
    wall_us updated_at;
    wall_us finished_at; /* 0 while open */
};

struct operation *operation_new(void);
void operation_free(struct operation *op);
struct operation *operation_copy(const struct operation *op);
json_t *operation_to_json(const struct operation *op);
struct operation *operation_from_json(const json_t *doc);
/* Appends a pending step; asserts that the array has space. The pointer is valid until the next step is
 * added. */
struct operation_step *operation_add_step(struct operation *op, enum step_type type, const char *target);
/* Sets the current message. The message is added to the notes when it differs from the last one, or is the
 * first one of a step. */
void operation_says(struct operation *op, wall_us now, const char *message);
/* Frees the notes of its messages; the current message stays. */
void operation_forget_notes(struct operation *op);
/* The trace of the operation, or of its step with this index, with a span id of its own. */
struct trace operation_trace(const struct operation *op);
struct trace operation_trace_of_step(const struct operation *op, unsigned index);
/*
 * How long a step waited and ran, from the stored times up to the operation's updated_at. waited_us: from the
 * end of the previous step, or the acceptance of the operation, until the step's first call left the lane.
 * running_us: from there to the end of the step, or until now. Negative: not known, or not begun.
 */
struct step_times {
    int64_t waited_us, running_us;
};
struct step_times operation_step_times(const struct operation *op, unsigned index);
/* Removes all steps before a new plan is made. */
void operation_clear_steps(struct operation *op);
/* Frees the parts of the body that only planning needs and that are not shown. */
void operation_trim(struct operation *op);

/* A query for operations, the newest first. A NULL list matches all; lists are NULL-terminated. */
struct operation_query {
    char id[40];     /* only this operation, when it is in these projects; or "" */
    char before[40]; /* only operations older than this id; "": from the newest */
    int limit;       /* 1..1000 */
    char **projects;
    char **clusters;   /* names */
    unsigned statuses; /* bits; 0: all */
    unsigned types;    /* bits; 0: all */
    wall_us since;     /* only operations accepted at this time or later, to the millisecond */
};
/* The caller owns the lists in the copy. */
struct operation_query operation_query_copy(const struct operation_query *q);
void operation_query_done(struct operation_query *q);

struct operation_page {
    struct operation **operations; /* array; the page owns each item; trimmed */
    size_t count;
    char next[40]; /* id for the next page's `before`; "": this is the last page */
};
/* NULL is allowed. */
void operation_page_free(struct operation_page *page);

/* One event. The store assigns `sequence`: it begins at 1 and has gaps only after a restore. `body` is the
 * exact text that webhooks send. */
struct event {
    int64_t sequence;
    char id[40];
    enum event_type type;
    char *project; /* or NULL for account events */
    char *cluster; /* or NULL */
    wall_us at;
    char *body;
};

void event_free(struct event *e);
struct event *event_copy(const struct event *e);

struct api_token {
    char id[40];
    char *name;
    enum role role;
    char **projects;    /* NULL-terminated; {"*"} means all projects */
    uint8_t digest[32]; /* SHA-256 of the token (AU-3) */
    char last4[5];
    char *description; /* or NULL */
    char *created_by;
    wall_us created_at;
    wall_us expires_at; /* 0: never */
    wall_us revoked_at; /* 0: not revoked */
    wall_us rotated_at; /* 0: never */
    /* The secret before the last rotation, which stays valid until old_ends_at (AU-5). */
    uint8_t old_digest[32];
    wall_us old_ends_at;     /* 0: there is no old secret */
    _Atomic wall_us used_at; /* last use, to the minute; 0: none. Workers set it in the view's copies */
    int announced_days;      /* days before expiry at the last token.expiring event; 0: no event yet */
    bool is_old;             /* set in copies of the view: the caller used the old secret */
    /* The owner of a JWT or a client certificate (api/caller.h), else NULL; never stored. */
    char *issuer;
    char *subject;
    bool is_certificate;
    uint64_t found_by_generation;
};

/* Makes a token and its secret, which the caller overwrites after use. The token never expires while
 * expires_at is 0. */
struct api_token *api_token_new(const struct env *env, const char *name, enum role role, char **projects,
                                const char *created_by, char secret[static TOKEN_BYTES]);
/* Makes a new secret for the token; the caller overwrites it after use. */
void api_token_set_secret(struct api_token *t, const struct env *env, char secret[static TOKEN_BYTES]);
void api_token_free(struct api_token *t);
struct api_token *api_token_copy(const struct api_token *t);
json_t *api_token_to_json(const struct api_token *t);
struct api_token *api_token_from_json(const json_t *doc);
/* The value that last_used_at gets for a use at `now`: the full minute. */
wall_us token_minute(wall_us now);
/* Whether the token is neither expired nor revoked. */
bool api_token_is_live(const struct api_token *t, wall_us now);
bool api_token_sees_project(const struct api_token *t, const char *project);
/* Whether a NULL-terminated list contains a project, or "*". The project "*" asks for all projects. */
bool projects_include(char *const *list, const char *project);
/* Whether a caller with the projects `mine` may see all projects in `theirs`; "*" means all. NULL-terminated
 * lists. */
bool projects_cover(char *const *mine, char *const *theirs);

/* The state of a Cleura account that survives a restart. */
struct account_state {
    char *name;
    uint8_t *sealed_token; /* or NULL; the seal's context binds it to base URL and login */
    size_t sealed_token_len;
    wall_us token_at;
    char *token_source; /* how shootd got the token, a word of upstream/; or NULL */
    int login_failures; /* failures in a row; stored so that the limit on logins survives restarts */
    wall_us next_login_at;
    char *credentials_mark; /* keyed digest of refused credentials: a corrected password is tried at once */
    bool two_factor;        /* the last refusal demanded a second factor */
    bool failure_announced; /* account.login_failed was emitted, and account.recovered not yet */
};

void account_state_free(struct account_state *a);
json_t *account_state_to_json(const struct account_state *a);
struct account_state *account_state_from_json(const json_t *doc);

/* The state of a project that survives a restart. */
struct project_state {
    char *name;
    wall_us bootstrapped_at; /* 0: not known to be bootstrapped */
    json_t *location;        /* strings that identify the clusters' place at Cleura; NULL: not known */
    json_t *catalog;         /* the last catalog in shootd's format, or NULL */
    wall_us catalog_at;
    wall_us discovered_at; /* time of the last complete list */
    wall_us settled_at;    /* only for PROJECT_ALL: base/settled_clock.h at the last purge; 0: no purge yet */
    json_t *freeze; /* an active freeze: reason, by, since, until (times as numbers; until 0: no end); NULL:
                       no freeze */
};
/* The name for all projects together, including later ones. No project has this name. */
#define PROJECT_ALL "*"

void project_state_free(struct project_state *p);
struct project_state *project_state_copy(const struct project_state *p);
json_t *project_state_to_json(const struct project_state *p);
struct project_state *project_state_from_json(const json_t *doc);

/* NULL-terminated string lists. */
char **string_list_copy(char *const *list);
void string_list_free(char **list);
json_t *string_list_to_json(char *const *list);
char **string_list_from_json(const json_t *array);

#endif
