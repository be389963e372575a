/*
 * Requests from the HTTP threads to the decider, which is the reconciler on the loop thread. An HTTP thread
 * makes and fills a command and posts it. The decider decides the command and calls `give_back` exactly once.
 * After that call the command belongs to the HTTP side again. Neither side includes the other: `daemon`
 * connects them.
 */
#ifndef MODEL_COMMAND_H
#define MODEL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/env.h"
#include "base/etag.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/trace.h"
#include "model/kept.h"
#include "model/operation.h"
#include "model/problem.h"

enum command_type {
#define COMMAND(name, ...) COMMAND_##name,
#include "model/commands.def"
#undef COMMAND
    COMMAND_TYPE_MAX_,
    COMMAND_NONE = COMMAND_TYPE_MAX_, /* no command */
};

/* What is said about all commands of a type. */
enum command_trait {
    COMMAND_STORES = 1 << 0,       /* changes the stored state */
    COMMAND_ACTS_OUTSIDE = 1 << 1, /* has an effect outside of the store: a login at Cleura, a file, a changed
                                    * process. Each one is in the audit log */
    COMMAND_NOTES = 1 << 2,        /* only reports something about a request; no caller waits for it */
    COMMAND_READS_CLEURA = 1 << 3, /* reads from Cleura when the last answer is not recent enough */
    COMMAND_TELLS_SECRET = 1 << 4, /* the answer is a secret, so it is in the audit log */
    COMMAND_SPENDS_EVENTS = 1 << 5, /* makes events, of which each project has a share
                                     * (reconcile/world/event_share.h) */
};

enum command_payload {
    PAYLOAD_NONE,
    PAYLOAD_WRITE,
    PAYLOAD_KUBECONFIG,
    PAYLOAD_FRESH,
    PAYLOAD_WEBHOOK,
    PAYLOAD_EVENTS,
    PAYLOAD_AUDIT,
    PAYLOAD_OPERATIONS,
    PAYLOAD_DURATIONS,
    PAYLOAD_TOKEN,
    PAYLOAD_RELOAD,
};

/* A row of commands.def. */
struct command_kind {
    enum command_payload payload;
    unsigned traits;
    int longest_s;
};

enum pool_write { POOL_ADD, POOL_REPLACE, POOL_MERGE, POOL_REMOVE };

/* ---- payloads ---- */

/* A write of a cluster. */
struct command_write {
    enum operation_type action; /* COMMAND_CLUSTER_ACTION */
    enum pool_write pool;       /* COMMAND_NODE_POOL */
    char *pool_name;            /* from the path; NULL for POOL_ADD, whose body contains the name */
    char *fault_pointer; /* JSON pointer to the caller's body inside the cluster's body; the pointers in
                          * faults are shown without this beginning. NULL: both bodies are the same */
    bool dry_run;        /* only the effects are reported */
    bool waits;          /* the caller asked to wait for the end of the operation, and may wait */
    bool pool_exists;    /* set by the decider: a node pool with this name exists; for preconditions */
};

struct command_kubeconfig {
    int ttl_seconds;
    int min_remaining_seconds;
};

enum fresh_outcome {
    FRESH_READ,    /* Cleura was read after the command was posted */
    FRESH_RECENT,  /* Cleura was read very recently, and that result is the answer */
    FRESH_FAILED,  /* Cleura could not be read: the stored state is the answer, marked stale */
    FRESH_REFUSED, /* the project or shootd stops; used only by the decider */
};

struct command_fresh {
    enum fresh_outcome outcome;
};

struct command_webhook {
    char *delivery;      /* id, or NULL */
    struct {             /* the page of the delivery log */
        char before[40]; /* only deliveries before this id, or "" */
        int limit;
        int status;    /* an enum delivery_status; negative: all */
        char next[40]; /* set by the answer: `before` of the next page, or "" */
    } page;
};

struct command_events {
    int64_t after;
    int64_t before; /* this and the members until `limit`: as in struct event_query */
    bool newest_first;
    wall_us since, until;
    int limit;
    char **types;    /* NULL-terminated or NULL */
    char **projects; /* the projects that the caller asked for and may see; NULL: all */
    char *cluster;   /* or NULL */
    char **actors;   /* this and `targets`: as in struct event_query */
    char **targets;
    bool as_stream; /* the answer is the text of a stream (view/render.h); otherwise an array */
    /* ---- answer ---- */
    size_t count;   /* events in the answer */
    int64_t last;   /* the number of the last event that was searched */
    int64_t next;   /* the event after which the next page begins; 0: this is the last page */
    int64_t oldest; /* as in struct event_page */
    int64_t newest, base;
};

struct command_audit {
    struct audit_query query;
    bool as_lines; /* the answer has one entry per line */
    int64_t next;  /* set by the answer: query.place for the next page; 0: this is the last page */
};

struct command_operations {
    struct operation_query query;
    /* ---- answer ---- */
    char *items;   /* JSON objects separated by commas; "": none */
    char *tags;    /* the concatenated entity tags of all items */
    char next[40]; /* as in struct operation_page */
};

struct expectation; /* model/expectation.h */

/* Used only by the decider. */
struct command_durations {
    struct operation_query query; /* the query for the next page */
    struct expectation *so_far;
};

/* ---- the envelope ---- */

struct command_caller {
    char token_id[40];                  /* "": shootd itself */
    uint8_t digest[TOKEN_DIGEST_BYTES]; /* the digest of the secret that was used, because a rotated token has
                                         * two secrets */
    char *token_name;
    char *issuer; /* issuer, subject and expiry of a JWT or client certificate; for a token of shootd NULL,
                   * NULL and 0 */
    char *subject;
    wall_us expires_at;
    enum role role;
    char **projects;  /* copy of the token's list */
    char address[48]; /* address of the peer, or "" */
    /* Returns whether the check that accepted this caller would still accept it. NULL for API tokens of
     * shootd. The HTTP side owns the function and its data. Any thread. */
    bool (*holds)(const struct command_caller *caller);
    const void *holds_ctx;
    bool is_certificate;
    uint64_t found_by_generation;
};

/* For a request with an Idempotency-Key (HT-46, HT-47). */
struct command_idempotency {
    char key[REPLAY_DIGEST_BYTES]; /* digest of token, operation and key; "": no key */
    char fingerprint[REPLAY_DIGEST_BYTES];
};

/* Either a problem, or a status with a body. */
struct command_reply {
    struct problem *problem;
    int status;
    char *text;            /* JSON, or NULL */
    bool is_secret;        /* the text is a secret, for example a kubeconfig; it is overwritten before it is
                            * freed */
    bool replayed;         /* this is the answer to an earlier request with the same key */
    char etag[ETAG_BYTES]; /* quoted, or "" */
    char *location;        /* or NULL */
    int retry_after_s;     /* 0: none */
    char operation_id[40]; /* id of the accepted operation, or "" */
};

/* Facts that only Cleura knows, and that a decision may need (reconcile/lookups/need.h). */
enum command_need {
    NEED_CATALOG = 1 << 0, /* the catalog of the project; it is in the project, not in the command */
    NEED_NAME = 1 << 1,    /* whether the name of a new cluster is free in the whole cloud */
    NEED_FRESH = 1 << 2,   /* a read of all clusters of the project */
    NEED_STAGE = 1 << 3,   /* the stage of the CA rotation */
    NEED_QUOTA = 1 << 4,   /* the limits of the project */
    /* those that a change of the cluster makes old */
    NEEDS_OF_STATE = NEED_STAGE,
};

/* What Cleura said for the decision. A command that waited is decided again from the start, because the state
 * may have changed; it does not wait twice for the same fact. */
struct command_facts {
    unsigned known;     /* the needs that were asked for; Cleura may have given no answer */
    bool name_is_free;  /* Cleura confirmed that the name is free */
    bool name_is_taken; /* Cleura reports that the name is taken */
    bool was_read;      /* the fresh read succeeded, and its changes are durable */
    char *ca_stage;
    json_t *quota; /* the limits, or NULL */
};

struct command {
    enum command_type type;
    struct command_caller caller;
    enum role least_role;    /* the lowest role that may issue the command */
    bool needs_all_projects; /* a caller with only some projects may not issue this command */
    char *request_id;
    const char *action_name; /* operationId of the contract, static; NULL: not requested by a caller */
    struct trace trace;      /* the trace of the calls for this command */
    mono_us deadline;   /* the decider answers the command at this time at the latest, also when the work has
                         * not ended */
    mono_us wait_until; /* until when the answer waits for the end of the accepted operation; 0: the answer
                         * does not wait */
    struct command_idempotency idempotency;
    char *project; /* project, name and id of the command's object; each may be NULL or "" */
    char *name;
    char id[40];
    json_t *body;                        /* parsed request body, or NULL */
    struct preconditions *preconditions; /* of a write; NULL: none (base/etag.h) */
    union {                              /* the payload */
        struct command_write write;
        struct command_kubeconfig kubeconfig;
        struct command_fresh fresh;
        struct command_webhook webhook;
        struct command_events events;
        struct command_audit audit;
        struct command_operations operations;
        struct command_durations durations;
        struct {
            bool disables_webhooks; /* the revoked token's webhooks are also disabled */
        } token;
        uint64_t reload_number; /* used only by the decider */
    };
    struct command_reply reply;
    void (*give_back)(struct command *cmd); /* gives the command back to the HTTP side; called on the loop
                                             * thread; must not block */
    void *ctx;                              /* owned by the HTTP side */
    /* Used only by the decider. */
    bool key_is_new; /* the store has no earlier answer for the Idempotency-Key */
    struct command_facts facts;
    void *key_held;       /* reserves the idempotency key while the command is decided */
    bool audited;         /* the audit log has an entry for this command */
    bool denied;          /* the caller has no right to the command, or has lost it */
    void *decided_by;     /* set when the decider took the command */
    struct list answered; /* in the decider's list of answered commands, or of commands to decide again, until
                           * the end of the turn */
};

/* Returns the row of a type; it is constant. Any thread. */
const struct command_kind *command_kind(enum command_type type);
/* Whether the command has one of these traits. Any thread. */
bool command_is(const struct command *cmd, unsigned traits);
/* Whether commands of this type have no effect except their answer. Any thread. */
bool command_only_reads(const struct command *cmd);
/* Returns the payload of a write of a cluster; NULL for other types. Any thread. */
const struct command_write *command_write_of(const struct command *cmd);
/* Returns the name of the cluster that a create makes: of the path, else of the body; "" without a name. Any
 * thread. */
const char *command_new_name(const struct command *cmd);
struct command *command_new(enum command_type type);
/*
 * Answers a command with `shutting_down` when its decider has ended. In this way each command is answered
 * exactly once, also when the process stops. Any thread; the command belongs to its sender again.
 */
void command_drop(struct command *cmd);
/* NULL is allowed. */
void command_free(struct command *cmd);

#endif
