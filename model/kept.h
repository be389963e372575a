/*
 * The records that a command stores together with its effect: its entry in the audit log, and its answer for
 * repeated requests. Both are written in the transaction of the change that they describe. The records are
 * plain structs with one owner.
 */
#ifndef MODEL_KEPT_H
#define MODEL_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/etag.h"
#include "base/json.h"
#include "model/names.h"

/*
 * The audit log (AU-18, AU-19): the caller, the request and the outcome. Entries are only appended, never
 * changed, and expire by age.
 */
enum audit_outcome {
    AUDIT_SUCCESS,
    AUDIT_DENIED, /* the caller has no right to the request */
    AUDIT_ERROR,  /* the request was refused for another reason, or failed */
    AUDIT_OUTCOME_MAX_,
};
const char *audit_outcome_name(int outcome);
/* Returns -1 for an unknown name. */
int audit_outcome_from_name(const char *name);

/* The actions of shootd itself. All other actions are operations of the API. */
#define OWN_ACTIONS(ROW)                           \
    ROW(ACTION_STARTED, "daemon.started")          \
    ROW(ACTION_STOPPED, "daemon.stopped")          \
    ROW(ACTION_RELOADED, "configuration.reloaded") \
    ROW(ACTION_LEFT_OUT, "audit.left_out")
enum own_action { OWN_ACTIONS(NAMES_MEMBER) OWN_ACTION_MAX_ };
const char *own_action_name(enum own_action action);

struct audit_entry {
    int64_t sequence; /* assigned by the store; it grows, and is never assigned twice */
    wall_us at;
    char *token_id; /* NULL: shootd itself */
    char *action;   /* the operationId of the contract, or own_action_name */
    char *project;  /* or NULL */
    char *cluster;  /* or NULL */
    enum audit_outcome outcome;
    char *body; /* the entry as JSON in the form of GET /v1/audit, without the sequence */
};
/* NULL is allowed. */
void audit_entry_free(struct audit_entry *e);

/* A search of the audit log. A NULL list matches all; lists are NULL-terminated. */
struct audit_query {
    int64_t place; /* the page begins after the entry with this sequence; 0: it begins with the first entry */
    bool oldest_first;
    int limit; /* 1..1000 */
    char **projects;
    char **clusters;
    char **actions;
    char **tokens;     /* ids of tokens */
    char **actors;     /* ids or names of tokens */
    char **targets;    /* the objects: `target` of the entry, or its cluster */
    unsigned outcomes; /* a set of bits; 0: all */
    wall_us since;     /* the start of the period, inclusive */
    wall_us until;     /* the end of the period, exclusive; 0: no end */
    /* The id of a token, or NULL. When `projects` is given, the entries of this token without a project
     * match, too. Its entries about other projects do not match, because they would reveal that these
     * projects exist: a project that does not exist gets no entry. */
    char *own;
};
/* Copies the query. The caller owns the lists in the copy. */
struct audit_query audit_query_copy(const struct audit_query *q);
void audit_query_done(struct audit_query *q);

struct audit_page {
    struct audit_entry *entries; /* an array of entries, in which only sequence and body are set */
    size_t count;
    int64_t next; /* the place of the next page; 0: this is the last page. A page may have fewer entries than
                   * `limit`, or none, although `next` is not 0, because the search for one page stops after
                   * a limited number of entries */
};
/* NULL is allowed. */
void audit_page_free(struct audit_page *page);

/*
 * The answer to a request with an Idempotency-Key, stored for repeated requests (HT-46 to HT-49). A row and
 * the effect of its request are always stored together.
 */

/* The size of a SHA-256 digest in lower-case hex, with its NUL. */
enum { REPLAY_DIGEST_BYTES = 65 };

/* The time for which an answer is kept (HT-48). */
#define REPLAY_KEPT_US (24 * 3600 * US_PER_S)

struct replay {
    char key[REPLAY_DIGEST_BYTES];         /* the digest of token, operation and Idempotency-Key */
    char fingerprint[REPLAY_DIGEST_BYTES]; /* the digest of the request; a retry of the request has the same
                                            * digest */
    int status;
    char etag[ETAG_BYTES];
    char *location;        /* or NULL */
    int retry_after_s;     /* 0: none */
    char operation_id[40]; /* the accepted operation, or "" */
    bool secret;           /* the body contains a secret that is shown only once */
    uint8_t *sealed_body;  /* sealed by base/seal.h */
    size_t sealed_body_len;
    wall_us created_at;
};

/* NULL is allowed. */
void replay_free(struct replay *p);
/* Makes the stored form; the caller owns it. */
json_t *replay_to_json(const struct replay *p);
/* Returns NULL when the document is not a stored answer. The caller owns the result. */
struct replay *replay_from_json(const json_t *doc);

#endif
