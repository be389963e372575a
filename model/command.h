/*
 * Requests of the HTTP side to the deciding side. A command is made and filled on an HTTP thread, posted
 * whole, decided on the loop thread, answered exactly once by calling `give_back` there, and then belongs to
 * the HTTP side again. Neither side includes the other: `daemon` joins them.
 */
#ifndef MODEL_COMMAND_H
#define MODEL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/env.h"
#include "base/ids.h"
#include "base/trace.h"
#include "model/cluster.h"
#include "model/kept.h"
#include "model/problem.h"

/* Sub-resources that only Cleura knows. */
enum lookup_kind {
    LOOKUP_MONITORING, /* secret */
    LOOKUP_NODES,
    LOOKUP_SSH_KEY, /* secret */
    LOOKUP_UPGRADES,
    LOOKUP_QUOTA, /* of the project */
    LOOKUP_CA_STAGE,
    LOOKUP_KIND_MAX_,
};

enum pool_write { POOL_ADD, POOL_REPLACE, POOL_MERGE, POOL_REMOVE };

enum command_type {
    COMMAND_CLUSTER_CREATE, /* write; project, body {name, labels?, description?, deletion_protection?, spec?}
                             */
    COMMAND_CLUSTER_PUT, /* write; project, name, body {labels?, description?, deletion_protection?, spec?} */
    COMMAND_CLUSTER_PATCH,    /* write; project, name, body: merge patch of the above (RFC 7396) */
    COMMAND_CLUSTER_DELETE,   /* write; project, name */
    COMMAND_NODE_POOL,        /* write; project, name, body */
    COMMAND_CLUSTER_ACTION,   /* write; project, name */
    COMMAND_KUBECONFIG,       /* kubeconfig; project, name */
    COMMAND_LOOKUP,           /* lookup; project, name */
    COMMAND_FRESH,            /* fresh; project, name or NULL: answer after a new read of Cleura */
    COMMAND_CATALOG_REFRESH,  /* project: answer when a catalog is there (first use) */
    COMMAND_OPERATIONS,       /* operations: a page of those in the store */
    COMMAND_DURATIONS,        /* durations; project: how long its operations usually take */
    COMMAND_OPERATION_WAIT,   /* id: answer when it ends or at the deadline, with the operation */
    COMMAND_OPERATION_CANCEL, /* id */
    COMMAND_WEBHOOK_CREATE,   /* webhook; body {url, event_types?, projects?, description?, headers?, ...} */
    COMMAND_WEBHOOK_PATCH,    /* webhook; id, body: merge patch of the above */
    COMMAND_WEBHOOK_DELETE,   /* webhook; id */
    COMMAND_WEBHOOK_ENABLE,   /* webhook; id */
    COMMAND_WEBHOOK_ROTATE,   /* webhook; id, body {signature?, secret?, grace_seconds?} or none */
    COMMAND_WEBHOOK_TEST,     /* webhook; id */
    COMMAND_WEBHOOK_RECOVER,  /* webhook; id, body {since} */
    COMMAND_DELIVERIES,       /* webhook; id: a page of its deliveries, an array */
    COMMAND_DELIVERY,         /* webhook; id */
    COMMAND_REDELIVER,        /* webhook; id */
    COMMAND_EVENTS,           /* events: a page of stored events */
    COMMAND_AUDIT,            /* audit: a page of the audit log, an array */
    COMMAND_AUDIT_DENIED,     /* notes that the caller may not do what it asked for; nobody waits */
    COMMAND_TOKEN_HAND_IN,    /* body: a token as it is stored, of who may write the state directory */
    COMMAND_TOKEN_USED,       /* notes that the caller's token is in use, once a minute; nobody waits */
    COMMAND_TOKEN_CREATE,     /* body {name, role, projects, description?, expires_in_days?} */
    COMMAND_TOKEN_PATCH,      /* id; body {name?, projects?, description?} */
    COMMAND_TOKEN_ROTATE,     /* id; body {grace_seconds?, expires_in_days?} or none */
    COMMAND_TOKEN_DELETE,     /* token; id */
    COMMAND_LOCATION_CONFIRM, /* project, body {clusters} */
    COMMAND_FREEZES,          /* what is frozen, of what the caller sees */
    COMMAND_FREEZE,           /* body {scope, reason, until?} */
    COMMAND_UNFREEZE,         /* name: the scope */
    COMMAND_BACKUPS,          /* those in the directory of backups */
    COMMAND_BACKUP,           /* makes a copy of the store; answered when it is checked */
    COMMAND_LAST_RELOAD,      /* the outcome of the last one */
    COMMAND_RELOAD,         /* the configuration is read again; answered when it is in force, or has faults */
    COMMAND_ACCOUNT_LOGIN,  /* name: of the account */
    COMMAND_ACCOUNT_VERIFY, /* name: of the account, body {code} */
    COMMAND_TYPE_MAX_,
};

/* ---- what is asked, by type ---- */

/* A write of a cluster. */
struct command_write {
    enum operation_type action; /* COMMAND_CLUSTER_ACTION */
    enum pool_write pool;       /* COMMAND_NODE_POOL */
    char *pool_name;            /* of the path; NULL for POOL_ADD, where it stands in the body */
    char *fault_pointer;        /* to the caller's body in the cluster's, or NULL: faults leave it out */
    char *if_match;             /* raw header values, or NULL */
    char *if_none_match;
    bool dry_run; /* only report what would happen */
    bool waits;   /* the caller asked to wait for the end of the operation, and may */
    /* found out by the decider */
    bool name_is_free; /* Cleura said so */
    bool pool_exists;  /* there is a node pool of this name; for its preconditions */
};

struct command_kubeconfig {
    int ttl_seconds;
    int min_remaining_seconds;
};

enum fresh_outcome {
    FRESH_READ,   /* Cleura was read after the command was posted */
    FRESH_RECENT, /* Cleura was read moments ago: that answers */
    FRESH_FAILED, /* Cleura could not be read: what is stored answers, marked stale */
};

struct command_fresh {
    bool now; /* what was read before does not count, however young */
    enum fresh_outcome outcome;
};

struct command_webhook {
    int64_t expected_version; /* that If-Match names; 0: any */
    char *delivery;           /* id, or NULL */
    struct {                  /* of the delivery log */
        char before[40];      /* an id, or "" */
        int limit;
        int status;    /* an enum delivery_status; negative: all */
        char next[40]; /* answer: where the next page begins, or "" */
    } page;
};

struct command_events {
    int64_t after;
    int64_t before; /* as in struct event_query, and these, too */
    bool newest_first;
    wall_us since, until;
    int limit;
    char **types;    /* NULL-terminated or NULL */
    char **projects; /* what the caller may see and asked for; NULL: all */
    char *cluster;   /* or NULL */
    char **actors;   /* as in struct event_query, and these, too */
    char **targets;
    bool as_stream; /* the answer is the text of a stream (view/render.h), and what follows is filled in */
    size_t count;   /* events in the answer */
    int64_t last;   /* everything up to here was looked at */
    int64_t oldest; /* as in struct event_page */
    int64_t newest, base;
};

struct command_audit {
    struct audit_query query;
    bool as_lines; /* the answer is one entry a line */
    int64_t next;  /* answer: the place where the next page begins, 0: there is none */
};

struct command_operations {
    struct operation_query query;
    /* answer */
    char *items;   /* JSON objects with commas between them; "": none */
    char *tags;    /* the entity tag of each, one behind the other */
    char next[40]; /* as in struct operation_page */
};

struct expectation; /* model/expectation.h */

/* The decider's own. */
struct command_durations {
    struct operation_query query; /* of the next page */
    struct expectation *so_far;
};

/* ---- the envelope ---- */

struct command_caller {
    char token_id[40];                  /* "": the daemon itself */
    uint8_t digest[TOKEN_DIGEST_BYTES]; /* of the secret that was shown: a token has two for a while */
    char *token_name;
    char *issuer; /* of a JWT or a client certificate, with its subject and its end; else NULL, and 0 */
    char *subject;
    wall_us expires_at;
    enum role role;
    char **projects;  /* copy of the token's list */
    char address[48]; /* of the peer, or "" */
    /* Whether what such a caller was found by holds still; NULL: a token of ours. The HTTP side's, as is what
     * it looks at. Any thread. */
    bool (*holds)(const struct command_caller *caller);
    const void *holds_ctx;
    bool is_certificate;
    uint64_t found_by_generation;
};

/* A request with an Idempotency-Key (HT-46, HT-47). */
struct command_idempotency {
    char key[REPLAY_DIGEST_BYTES]; /* of token, operation and key; "": none was given */
    char fingerprint[REPLAY_DIGEST_BYTES];
};

/* Either a problem, or a status with a body. */
struct command_reply {
    struct problem *problem;
    int status;
    char *text;            /* JSON, or NULL */
    bool is_secret;        /* a kubeconfig, for one: overwritten before it is freed */
    bool replayed;         /* the answer to an earlier request of the same key */
    char etag[64];         /* quoted, or "" */
    char *location;        /* or NULL */
    int retry_after_s;     /* 0: none */
    char operation_id[40]; /* what was accepted, or "" */
};

/*
 * How far the decision of a command has come. A command that waited is decided anew, for the world may have
 * changed meanwhile; what it waited for is not waited for again.
 */
enum command_stage {
    COMMAND_RECEIVED,
    COMMAND_KEY_LOOKED_UP, /* nothing was answered to its Idempotency-Key before */
    COMMAND_NAME_CHECKED,  /* Cleura was asked whether the name is free, or could not be asked in time */
};

struct command {
    enum command_type type;
    struct command_caller caller;
    enum role least_role;    /* that may ask for it */
    bool needs_all_projects; /* a token of some may not */
    char *request_id;
    const char *action_name; /* operationId of the contract, static; NULL: not asked for by a caller */
    struct trace trace;      /* that calls for this command belong to */
    mono_us deadline;        /* the answer is due by then; the decider answers a timeout itself */
    mono_us wait_until;      /* until then the accepted operation is waited for; 0: not at all */
    struct command_idempotency idempotency;
    char *project; /* what it is about; each may be NULL or "" */
    char *name;
    char id[40];
    json_t *body; /* parsed request body, or NULL */
    union {       /* by type, see above */
        struct command_write write;
        struct command_kubeconfig kubeconfig;
        struct command_fresh fresh;
        struct command_webhook webhook;
        struct command_events events;
        struct command_audit audit;
        struct command_operations operations;
        struct command_durations durations;
        enum lookup_kind lookup;
        struct {
            bool disables_webhooks; /* of the token that is revoked */
        } token;
        uint64_t reload_number; /* the decider's own */
    };
    struct command_reply reply;
    void (*give_back)(struct command *cmd); /* loop thread; must not block */
    void *ctx;                              /* the HTTP side's */
    /* the decider's own */
    enum command_stage stage;
    void *key_held;   /* nobody else may use its key meanwhile */
    bool audited;     /* the audit log has an entry for it */
    bool denied;      /* the caller may not, or may no more */
    void *decided_by; /* once it was taken up */
};

/* Whether commands of this type change something that is stored. Any thread. */
bool command_writes(enum command_type type);
/* Whether they have no effect but their answer. Any thread. */
bool command_only_reads(enum command_type type);
/* Whether they are notes of the HTTP side about a request, which ask for nothing. Any thread. */
bool command_is_note(enum command_type type);
/* Whether they are reads that Cleura is asked for, unless what it said last is new enough. Any thread. */
bool command_reads_cleura(enum command_type type);
/* The payload of a write of a cluster; NULL for other types. Any thread. */
const struct command_write *command_write_of(const struct command *cmd);
struct command *command_new(enum command_type type);
/*
 * Answers a command whose decider has ended (`shutting_down`): each command is answered exactly once, also
 * when the process stops. Any thread; the command is its sender's again.
 */
void command_drop(struct command *cmd);
/* NULL is allowed. */
void command_free(struct command *cmd);

#endif
