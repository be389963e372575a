/*
 * The answer to a request with an Idempotency-Key, as kept for its repetitions (HT-46 to HT-49). A plain
 * struct with one owner. The row is written in the transaction that makes the request's effect durable, so
 * there is never a row without an effect, nor an effect of a keyed request without its row.
 */
#ifndef MODEL_REPLAY_H
#define MODEL_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/json.h"

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
