/*
 * What the HTTP side asks of the deciding side. A command is made and filled on an HTTP thread, posted whole,
 * decided on the loop thread, answered exactly once by calling `reply` there, and then belongs to the HTTP
 * side again. Neither side includes the other: `daemon` joins them.
 */
#ifndef MODEL_COMMAND_H
#define MODEL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/env.h"
#include "model/audit.h"
#include "model/cluster.h"
#include "model/problem.h"
#include "model/replay.h"
#include "model/trace.h"

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
    COMMAND_CLUSTER_CREATE,   /* project, body {name, labels?, description?, deletion_protection?, spec?} */
    COMMAND_CLUSTER_PUT,      /* project, name, body {labels?, description?, deletion_protection?, spec?} */
    COMMAND_CLUSTER_PATCH,    /* project, name, body: merge patch of the above (RFC 7396) */
    COMMAND_CLUSTER_DELETE,   /* project, name */
    COMMAND_NODE_POOL,        /* project, name, pool, item (the pool; POOL_ADD: in the body), body */
    COMMAND_CLUSTER_ACTION,   /* project, name, action */
    COMMAND_KUBECONFIG,       /* project, name, ttl_seconds, min_remaining_seconds */
    COMMAND_LOOKUP,           /* project, name, lookup */
    COMMAND_FRESH,            /* project, name or NULL: answer after a new read of Cleura; see fresh_failed */
    COMMAND_CATALOG_REFRESH,  /* project: answer when a catalog is there (first use) */
    COMMAND_OPERATION_WAIT,   /* id: answer when it ends or at the deadline, with the operation */
    COMMAND_OPERATION_CANCEL, /* id */
    COMMAND_WEBHOOK_CREATE,   /* body {url, event_types?, projects?, description?, headers?, ...} */
    COMMAND_WEBHOOK_PATCH,    /* id, body: merge patch of the above */
    COMMAND_WEBHOOK_DELETE,   /* id */
    COMMAND_WEBHOOK_ENABLE,   /* id */
    COMMAND_WEBHOOK_ROTATE,   /* id, body {signature?, secret?, grace_seconds?} or none */
    COMMAND_WEBHOOK_TEST,     /* id */
    COMMAND_WEBHOOK_RECOVER,  /* id, body {since} */
    COMMAND_DELIVERIES,       /* id, deliveries: a page; the answer is an array, and next_id */
    COMMAND_DELIVERY,         /* id, item: of the delivery */
    COMMAND_REDELIVER,        /* id, item: of the delivery */
    COMMAND_EVENTS,           /* events: a page of stored events */
    COMMAND_AUDIT,            /* audit: a page of the audit log; the answer is an array, and `next` */
    COMMAND_AUDIT_DENIED,     /* tells that the caller may not do what it asked for; nobody waits */
    COMMAND_TOKEN_CREATE,     /* body {name, role, projects, expires_in_days?} */
    COMMAND_TOKEN_DELETE,     /* id */
    COMMAND_LOCATION_CONFIRM, /* project, body {clusters} */
    COMMAND_ACCOUNT_LOGIN,    /* name: of the account */
    COMMAND_ACCOUNT_VERIFY,   /* name, body {code} */
    COMMAND_TYPE_MAX_,
};

struct command_events {
    int64_t after;
    int limit;
    char **types;    /* NULL-terminated or NULL */
    char **projects; /* what the caller may see and asked for; NULL: all */
    char *cluster;   /* or NULL */
    bool as_stream;  /* the answer is the text of a stream (view/render.h), and what follows is filled in */
    size_t count;    /* events in the answer */
    int64_t last;    /* everything up to here was looked at */
    int64_t oldest;  /* as in struct event_page */
    int64_t newest;
};

/* A page of a webhook's delivery log. */
struct command_deliveries {
    char before[40]; /* an id, or "" */
    int limit;
    int status; /* an enum delivery_status; negative: all */
};

/* A request with an Idempotency-Key (HT-46, HT-47). */
struct command_idempotency {
    char key[REPLAY_DIGEST_BYTES]; /* of token, operation and key; "": none was given */
    char fingerprint[REPLAY_DIGEST_BYTES];
};

struct command {
    enum command_type type;
    /* who asks */
    char token_id[40];
    char *token_name;
    enum role role;
    char **token_projects; /* copy of the token's list */
    char *request_id;
    const char *action_name; /* operationId of the contract, static; NULL: not asked for by a caller */
    char address[48];        /* of the peer, or "" */
    struct trace trace;      /* that calls for this command belong to */
    mono_us deadline;        /* the answer is due by then; the decider answers a timeout itself */
    /* what is asked */
    char *project;
    char *name;
    char id[40];
    enum operation_type action;
    enum lookup_kind lookup;
    enum pool_write pool;
    bool disables_webhooks; /* of a token that is revoked */
    char *item;             /* a node pool or a delivery, or NULL */
    char *fault_pointer; /* what faults say of the cluster's body begins with this for what the caller sent */
    json_t *body;        /* parsed request body, or NULL */
    char *if_match;      /* raw header values, or NULL */
    char *if_none_match;
    int64_t expected_version; /* of a webhook that If-Match names; 0: any */
    bool dry_run;             /* tell what would happen; writes of clusters only */
    bool waits;               /* the caller asked to wait, and may */
    mono_us wait_until; /* writes of clusters: until then their operation is waited for; 0: not at all */
    struct command_idempotency idempotency;
    int ttl_seconds;
    int min_remaining_seconds;
    struct command_events events;
    struct command_deliveries deliveries;
    struct audit_query audit;
    /* the answer: either a problem, or a status with a body */
    struct problem *problem;
    int status;
    bool fresh_now;    /* what was read before does not count, however young */
    bool fresh_recent; /* Cleura was read moments ago: that answers */
    bool fresh_failed; /* Cleura could not be read: what is stored answers, marked stale */
    char *answer;      /* JSON text; secret answers (kubeconfig) are overwritten before they are freed */
    bool answer_is_secret;
    char etag[64];                      /* quoted, or "" */
    char *location;                     /* or NULL */
    int retry_after_s;                  /* 0: none */
    char operation_id[40];              /* what was accepted, or "" */
    int64_t next;                       /* pages: the place where the next one begins, 0: there is none */
    char next_id[40];                   /* so for pages whose places are ids; "" */
    bool replayed;                      /* the answer is that of an earlier request of the same key */
    void (*reply)(struct command *cmd); /* loop thread; must not block */
    void *ctx;                          /* the HTTP side's */
    /* the decider's own */
    bool name_checked; /* Cleura was asked whether the name is free, or could not be asked in time */
    bool name_is_free; /* Cleura said so */
    bool key_known;    /* its key was looked up: nothing was answered to it before */
    void *key_held;    /* nobody else may use its key meanwhile */
    bool pool_exists;  /* there is a node pool of this name; for its preconditions */
    bool audited;      /* the audit log tells of it */
    void *decided_by;  /* once it was taken up */
};

/* Whether commands of this type change something. Any thread. */
bool command_writes(enum command_type type);
struct command *command_new(enum command_type type);
/*
 * Answers a command whose decider has ended (`shutting_down`): each command is answered exactly once, also
 * when the process stops. Any thread; the command is its sender's again.
 */
void command_drop(struct command *cmd);
/* NULL is allowed. */
void command_free(struct command *cmd);

#endif
