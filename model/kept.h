/*
 * The records that a command leaves beside its effect: its entry in the audit log, and its answer for those
 * who repeat it. Both are written in the transaction of the change that they describe. Plain structs with one
 * owner.
 */
#ifndef MODEL_KEPT_H
#define MODEL_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/json.h"

/*
 * The audit log (AU-18, AU-19): who asked for what, and what came of it. Entries are appended, never changed,
 * and end by age.
 */
enum audit_outcome {
    AUDIT_SUCCESS,
    AUDIT_DENIED, /* the caller may not */
    AUDIT_ERROR,  /* refused for another reason, or failed */
    AUDIT_OUTCOME_MAX_,
};
const char *audit_outcome_name(int outcome);
/* -1 for an unknown name. */
int audit_outcome_from_name(const char *name);

struct audit_entry {
    int64_t sequence; /* given by the store: grows, never given twice */
    wall_us at;
    char *token_id; /* NULL: the daemon itself */
    char *action;   /* operationId of the contract, or what the daemon did */
    char *project;  /* or NULL */
    char *cluster;  /* or NULL */
    enum audit_outcome outcome;
    char *body; /* JSON, as GET /v1/audit shows it but for the sequence */
};
/* NULL is allowed. */
void audit_entry_free(struct audit_entry *e);

/* A NULL list wants everything; lists are NULL-terminated. */
struct audit_query {
    int64_t place; /* sequence, exclusive: the page goes on behind it; 0: from the first one on */
    bool oldest_first;
    int limit; /* 1..1000 */
    char **projects;
    char **clusters;
    char **actions;
    char **tokens;     /* ids */
    char **actors;     /* ids or names of tokens */
    char **targets;    /* what it was about: `target` of the entry, or the cluster */
    unsigned outcomes; /* bits; 0: all */
    wall_us since;     /* inclusive */
    wall_us until;     /* exclusive; 0: until now */
    /* Id of a token: its entries without a project are wanted also when `projects` is given. Its entries
     * about other projects are not: a project that does not exist gets no entry, so an entry would reveal
     * that the project exists. */
    char *own;
};
/* The caller owns what is in the copy. */
struct audit_query audit_query_copy(const struct audit_query *q);
void audit_query_done(struct audit_query *q);

struct audit_page {
    struct audit_entry *entries; /* array: sequence and body only */
    size_t count;
    int64_t next; /* the place of the next page, 0: there is none; one page looks at so many entries only */
};
/* NULL is allowed. */
void audit_page_free(struct audit_page *page);

/*
 * The answer to a request with an Idempotency-Key, as kept for its repetitions (HT-46 to HT-49): there is
 * never a row without an effect, nor an effect of a keyed request without its row.
 */

/* Lower-case hex of a SHA-256, with its NUL. */
enum { REPLAY_DIGEST_BYTES = 65 };

/* How long an answer is kept (HT-48). */
#define REPLAY_KEPT_US (24 * 3600 * US_PER_S)

struct replay {
    char key[REPLAY_DIGEST_BYTES];         /* of token, operation and Idempotency-Key */
    char fingerprint[REPLAY_DIGEST_BYTES]; /* of the request: who repeats it sends the same */
    int status;
    char etag[64];
    char *location;        /* or NULL */
    int retry_after_s;     /* 0: none */
    char operation_id[40]; /* the one that was accepted, or "" */
    bool secret;           /* the body holds what is shown once */
    uint8_t *sealed_body;  /* base/seal.h */
    size_t sealed_body_len;
    wall_us created_at;
};

/* NULL is allowed. */
void replay_free(struct replay *p);
/* The stored form; the caller owns it. */
json_t *replay_to_json(const struct replay *p);
/* NULL when the document is not one. The caller owns the result. */
struct replay *replay_from_json(const json_t *doc);

#endif
