/*
 * The domain: clusters, operations, events, subscriptions, deliveries, API tokens, accounts and projects as
 * kept. Plain structs without behaviour of their own; each instance has one owner, and moves
 * between threads whole. JSON members are never changed after they were set, they are replaced. x_copy shares
 * nothing with its source, JSON included: jansson's reference counts are no means of sharing between threads.
 *
 * x_to_json / x_from_json are the stored form of a struct: complete, additive over versions, no secrets in
 * clear.
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

/* Size of the digest of the text that Cleura sends for a shoot in a list. */
enum { ROW_DIGEST_BYTES = 16 };

enum { SHOOT_PROGRESS_UNKNOWN = -1 };

/* One shoot as one upstream answer describes it: the decoded, generation-free form (upstream fills it). */
struct shoot {
    char *name;
    uint8_t row[ROW_DIGEST_BYTES]; /* digest of the list row that it came from; zeros: none. Not stored */
    struct json_doc *observed;     /* our words, complete */
    /* Values of `observed` that are needed often, readable without its tree (shoot_set_observed). */
    uuid_t uid; /* which shoot it is, because names are reused; null: Cleura does not report it (yet) */
    char *kubernetes_version; /* or NULL */
    int pool_count;
    char **images; /* of the pools: name, version, name, version, ...; each pair once; NULL-terminated */

    bool has_operation;
    char *operation_type;                /* Create, Reconcile, Delete, ... or NULL */
    char *operation_state;               /* Processing, Succeeded, ... or NULL: see shoot_run */
    int progress;                        /* SHOOT_PROGRESS_UNKNOWN: Cleura does not report it */
    char *description;                   /* capped at 1 KiB */
    wall_us operation_at;                /* last_update_time; 0 when the generation does not report it (v1) */
    bool hibernated, hibernated_unknown; /* unknown: what it is cannot be read; `hibernated` is false */
    /* Arrays of {type, status, reason?, message?, codes?}; NULL: what they are cannot be read. */
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
/* The same for a node pool: a DNS label, within what a step can name (GA-9). */
bool pool_name_is_possible(const char *name);
/* The run that the state of Cleura's last operation stands for. */
enum shoot_run {
    RUN_NONE,    /* there is no operation */
    RUN_UNKNOWN, /* there is one, and its state cannot be read */
    RUN_PENDING,
    RUN_PROCESSING,
    RUN_RETRYING, /* Error: Gardener tries again by itself */
    RUN_SUCCEEDED,
    RUN_FAILED,
    RUN_ABORTED,
    RUN_UNHEARD, /* a word that is not in our table: in progress, until another is heard */
};
enum shoot_run shoot_run(const struct shoot *s);
/* Cleura is at it, or about to be. */
bool shoot_is_in_progress(const struct shoot *s);
/* A deletion may be under way: false only when the type or the state of the operation rules it out. */
bool shoot_may_be_deleting(const struct shoot *s);
/* Cleura's last operation on it is a deletion, of whatever end. NULL is not. */
bool shoot_is_deletion(const struct shoot *s);
/* The last operation is a deletion that Cleura has not given up. */
bool shoot_is_being_deleted(const struct shoot *s);
/* Takes `observed`, and notes what is asked of it often; a uid that is no UUID counts as none. */
void shoot_set_observed(struct shoot *s, json_t *observed);
/* The tree of `observed`, lent as json_doc_tree does; NULL of NULL. */
json_t *shoot_observed(const struct shoot *s);
/* Cleura reported the uid. A NULL shoot has none. */
bool shoot_has_uid(const struct shoot *s);
/* Both have a uid, and the two uids differ. */
bool shoot_is_another(const struct shoot *a, const struct shoot *b);
/* The state of that operation is this word. */
bool shoot_state_is(const struct shoot *s, const char *state);

/* "project/name" with its NUL: Cleura's names are far shorter. */
enum { CLUSTER_KEY_BYTES = 256 };

struct cluster {
    char id[40];
    char *project;
    char *name;
    bool managed;
    json_t *labels;    /* object of strings, never NULL */
    char *description; /* or NULL */
    bool deletion_protection;
    struct json_doc *spec; /* as asked, verbatim; NULL while unmanaged */
    struct shoot *shoot;   /* last observation; NULL before the first one */
    wall_us observed_at;   /* 0: never */
    mono_us heard_at;      /* the same moment, for its age: people set the wall clock. Not stored */
    bool stale;

    enum phase phase;
    enum health health;
    bool settling;
    char *message;

    /* The guard against the stale Succeeded (GA-6): set when a write was accepted upstream. */
    wall_us guard_since;   /* 0: no guard */
    wall_us guard_seen_at; /* last_update_time that was visible when the write was accepted */
    wall_us guard_until;   /* it is given up then: a write that changes nothing starts no run */
    json_t *drift; /* array of {path, wanted, found} while managed and nothing is under way; or NULL */
    json_t *expiry_announced; /* {"kubernetes 1.33.6": days}: the last warning given for a version; or NULL */
    wall_us expires_at;       /* of the first version in use to run out, 0: none known; follows from shoot and
                                 catalog, so it is not stored */
    bool slept;               /* the last lasting phase was hibernated, as cluster.hibernated reported */
    bool wants_hibernated;    /* what we last asked for, to distinguish hibernating from updating */

    char operation_id[40]; /* the open operation, "" when there is none */
    int64_t version;       /* grows with every stored change: ETag and event order */
    int64_t generation;    /* grows with every change that a caller made: what If-Match protects */
    wall_us created_at;
    wall_us updated_at;
    char *api_server_url; /* from a kubeconfig, where Cleura's API does not report it (v2); or NULL */
    wall_us absent_since; /* Cleura does not show it since then, and nobody deleted it; 0: it does */
    wall_us departed_at;  /* it ended so: the row is kept for when the same uid comes back; 0: it lives */
    char *
        retrying_announced; /* the error codes that the last cluster.retrying of this run reported; or NULL */
    bool upstream_exists;   /* an answer or a read-back proved that the shoot was made */
    bool deleted;           /* row to be removed; its events stay */
};

struct cluster *cluster_new(void);
void cluster_free(struct cluster *c);
struct cluster *cluster_copy(const struct cluster *c);
/* Cleura has just said how it is. */
void cluster_observed_now(struct cluster *c, const struct env *env);
/* Cleura last said so at observed_at, before the start, or never: its age is what the wall clock says now. */
void cluster_observed_before(struct cluster *c, const struct env *env);
/* Frees what its documents' readers had made of them: what they lent is gone. */
void cluster_rest(struct cluster *c);
DEFINE_CLEANUP(cluster_freep, struct cluster *, cluster_free)
#define CLEANUP_CLUSTER CLEANUP(cluster_freep)
json_t *cluster_to_json(const struct cluster *c);
/* NULL when the document is not a stored cluster. */
struct cluster *cluster_from_json(const json_t *doc);

/*
 * The same, faster: `text` is known to be what json_text made of cluster_to_json, byte for byte, so that what
 * rests as text is cut out of it. NULL also when an earlier version wrote it: cluster_from_json reads that.
 */
struct cluster *cluster_from_text(const char *text, size_t len);

/* A cluster's own members, then 50 pools updated, 50 made and 50 removed at the very most. */
enum { OPERATION_MAX_STEPS = 160 };

/* One upstream effect of an operation. `sending` is committed before the call goes out. */
struct operation_step {
    enum step_type type;
    char target[40]; /* pool name, stage of a rotation, or "" */
    enum step_status status;
    int attempts;   /* how often it was sent */
    bool uncertain; /* the last answer was lost: read back before anything else */
    wall_us started_at;
    wall_us sent_at;     /* its first call left the lane; 0: none did, or nobody saw its answer */
    wall_us accepted_at; /* by Cleura; 0: not yet, or it does not wait for a run */
    wall_us finished_at;
};

/* The newest messages that an operation keeps, and how much of each. */
enum { OPERATION_MAX_NOTES = 64, OPERATION_NOTE_BYTES = 255 };

/* A message of an operation: since when, and which step was under way. */
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
    char *cancelled_by; /* token name of who asked that nothing more is begun, or NULL */
    struct trace trace; /* of the request that made it */
    json_t *body;       /* create: the resolved spec; update: {"spec", "steps"} of spec_plan; else NULL */
    json_t *error;      /* problem_to_error_json, or NULL */
    int progress;
    char *message;                /* see operation_says */
    struct operation_note *notes; /* its messages so far, the oldest first */
    unsigned note_count, notes_dropped;
    struct operation_step *steps; /* `step_count` of them, at most OPERATION_MAX_STEPS */
    unsigned step_count;
    unsigned step_index; /* the step under way */
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
/* Appends a pending step; asserts that there is room. The pointer lives until the next one is added. */
struct operation_step *operation_add_step(struct operation *op, enum step_type type, const char *target);
/* Its message from now on; noted when it is news, or the first one of a step. */
void operation_says(struct operation *op, wall_us now, const char *message);
/* Frees the notes of its messages; the current message stays. */
void operation_forget_notes(struct operation *op);
/* The trace as what belongs to the operation, or to its step of this index, has it: under a span of its own.
 */
struct trace operation_trace(const struct operation *op);
struct trace operation_trace_of_step(const struct operation *op, unsigned index);
/*
 * Where the time of a step went, by what is stored, as of the operation's updated_at: from when it could
 * begin (the end of the step before it, or the acceptance of the operation) until its first call left the
 * lane; and from then to its end, or until now. Negative: not known, or not yet.
 */
struct step_times {
    int64_t waited_us, running_us;
};
struct step_times operation_step_times(const struct operation *op, unsigned index);
/* Forgets all steps: a plan is made anew. */
void operation_clear_steps(struct operation *op);
/* Frees what of its body only planning needs: it is not shown. */
void operation_trim(struct operation *op);

/* The newest first. A NULL list wants everything; lists are NULL-terminated. */
struct operation_query {
    char id[40];     /* this one only, of these projects; or "" */
    char before[40]; /* older than this id; "": from the newest on */
    int limit;       /* 1..1000 */
    char **projects;
    char **clusters;   /* names */
    unsigned statuses; /* bits; 0: all */
    unsigned types;    /* the same */
    wall_us since;     /* accepted then or later, to the millisecond */
};
/* The caller owns what is in the copy. */
struct operation_query operation_query_copy(const struct operation_query *q);
void operation_query_done(struct operation_query *q);

struct operation_page {
    struct operation **operations; /* array; each is the page's, trimmed */
    size_t count;
    char next[40]; /* the page behind this id holds more; "": there are no more */
};
/* NULL is allowed. */
void operation_page_free(struct operation_page *page);

/* One fact. `sequence` is given by the store, from 1, dense but for the jump of a restore. `body` is the
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
    char **projects;    /* NULL-terminated; {"*"} is all */
    uint8_t digest[32]; /* SHA-256 of the token (AU-3) */
    char last4[5];
    char *description; /* or NULL */
    char *created_by;
    wall_us created_at;
    wall_us expires_at; /* 0: never */
    wall_us revoked_at; /* 0: live */
    wall_us rotated_at; /* 0: never */
    /* The secret before the last rotation, which stays valid for a while (AU-5). */
    uint8_t old_digest[32];
    wall_us old_ends_at;     /* 0: there is none */
    _Atomic wall_us used_at; /* last use, to the minute; 0: none. Workers set it in the view's copies */
    int announced_days;      /* token.expiring was emitted so many days ahead; 0: not yet */
    bool is_old;             /* in the view: found by the old digest */
    /* The owner of a JWT or a client certificate (api/caller.h), else NULL; never stored. */
    char *issuer;
    char *subject;
    bool is_certificate;
    uint64_t found_by_generation;
};

/* A new one, and its secret, which the caller overwrites after use. It does not end until expires_at says so.
 */
struct api_token *api_token_new(const struct env *env, const char *name, enum role role, char **projects,
                                const char *created_by, char secret[static TOKEN_BYTES]);
/* Gives it a secret; the caller overwrites that after use. */
void api_token_set_secret(struct api_token *t, const struct env *env, char secret[static TOKEN_BYTES]);
void api_token_free(struct api_token *t);
struct api_token *api_token_copy(const struct api_token *t);
json_t *api_token_to_json(const struct api_token *t);
struct api_token *api_token_from_json(const json_t *doc);
/* The last_used_at that a use at `now` is stored with: the minute. */
wall_us token_minute(wall_us now);
/* Neither expired nor revoked. */
bool api_token_is_live(const struct api_token *t, wall_us now);
bool api_token_sees_project(const struct api_token *t, const char *project);
/* Whether a NULL-terminated list names a project, or "*"; "*" as the project asks for all of them. */
bool projects_include(char *const *list, const char *project);
/* Whether who sees `mine` sees everything in `theirs`; "*" is everything. NULL-terminated lists. */
bool projects_cover(char *const *mine, char *const *theirs);

/* The state of a Cleura account that is stored between runs. */
struct account_state {
    char *name;
    uint8_t *sealed_token; /* or NULL; bound to base URL and login by the seal's context */
    size_t sealed_token_len;
    wall_us token_at;
    char *token_source; /* how the token was had, a word of upstream/; or NULL */
    int login_failures; /* in a row; the login guard survives restarts */
    wall_us next_login_at;
    char *credentials_mark; /* keyed digest of what was refused: a corrected password is tried at once */
    bool two_factor;        /* the last refusal asked for a second factor */
    bool failure_announced; /* account.login_failed was emitted and account.recovered not yet */
};

void account_state_free(struct account_state *a);
json_t *account_state_to_json(const struct account_state *a);
struct account_state *account_state_from_json(const json_t *doc);

/* The state of a project that is stored between runs. */
struct project_state {
    char *name;
    wall_us bootstrapped_at; /* 0: not known to be */
    json_t *location; /* the place at Cleura that the clusters are known from, of strings; NULL: not known */
    json_t *catalog;  /* last catalog in our words, or NULL */
    wall_us catalog_at;
    wall_us discovered_at; /* last complete list */
    wall_us settled_at;    /* PROJECT_ALL only: base/settled_clock.h, as of the last purge; 0: none was */
    json_t *freeze;        /* changes are refused: reason, by, since, until (times as numbers; 0: until it is
                              lifted); or        NULL */
};
/* The name of what is about all projects together, also those that come later. No project has it. */
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
