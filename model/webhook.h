/*
 * Webhooks as kept: subscriptions and deliveries. Plain structs like those of model/cluster.h, under the same
 * rules.
 */
#ifndef MODEL_WEBHOOK_H
#define MODEL_WEBHOOK_H

#include "model/cluster.h"

/* How deliveries are signed: HMAC-SHA256 with a shared secret (WH-4), or Ed25519 (WH-5). */
enum signature_scheme { SIGNATURE_V1, SIGNATURE_V1A, SIGNATURE_SCHEME_MAX_ };
const char *signature_scheme_name(enum signature_scheme scheme);
/* -1 for an unknown name, and for NULL. */
int signature_scheme_from_name(const char *name);

/* A key that deliveries are signed with; a rotation leaves the one before it alive for a while (WH-6). */
struct signing_key {
    enum signature_scheme scheme;
    uint8_t *sealed; /* "whsec_..." or "whsk_..." (base/seal.h); the clear key never leaves memory */
    size_t sealed_len;
    char *public_key; /* "whpk_..." of an Ed25519 key, else NULL */
    wall_us created_at;
    wall_us expires_at; /* 0: the current one */
};

/* A header field that the owner wants with each delivery. Its value may be a credential. */
struct webhook_header {
    char *name;
    uint8_t *sealed;
    size_t sealed_len;
};

enum { SUBSCRIPTION_MAX_KEYS = 3, SUBSCRIPTION_MAX_HEADERS = 10, SUBSCRIPTION_MAX_IN_FLIGHT = 10 };

struct subscription {
    char id[40];
    char *url;
    char **event_types; /* NULL-terminated; "*" and "cluster.*" are wildcards; empty: all */
    char **projects;    /* NULL-terminated; empty: all */
    char *description;
    struct signing_key keys[SUBSCRIPTION_MAX_KEYS]; /* the current one first */
    unsigned key_count;
    struct webhook_header headers[SUBSCRIPTION_MAX_HEADERS];
    unsigned header_count;
    int max_in_flight;        /* deliveries under way at the same time, 1..SUBSCRIPTION_MAX_IN_FLIGHT */
    char *created_by;         /* name of the token */
    char created_by_id[40];   /* its id; "" of webhooks of earlier versions */
    wall_us token_revoked_at; /* when that token was revoked; 0: it was not */
    bool disabled;
    char *disabled_reason;
    int64_t version;
    wall_us created_at;
    wall_us updated_at;
    wall_us enabled_at;      /* when it was last switched on again, 0: never */
    bool unreadable;         /* the seal key does not open its secrets; not stored */
    wall_us last_success_at; /* 0: none known; the store adds it, subscription_to_json does not */
};

void subscription_free(struct subscription *s);
struct subscription *subscription_copy(const struct subscription *s);
json_t *subscription_to_json(const struct subscription *s);
/* Also of the form with one `sealed_secret` of earlier versions. */
struct subscription *subscription_from_json(const json_t *doc);
/* No project is named, or "*". */
bool subscription_is_of_all_projects(const struct subscription *s);
/* Whether who sees `projects` sees every project of the subscription. */
bool subscription_is_visible(const struct subscription *s, char *const *projects);
/* Whether the subscription wants this event. */
bool subscription_matches(const struct subscription *s, const struct event *e);
/*
 * Makes `key` (taken) the current one. The others live until now + grace_us at the longest; those that do not
 * live on, and the oldest of too many, are gone.
 */
void subscription_rotate(struct subscription *s, struct signing_key *key, wall_us now, int64_t grace_us);
/* When the first of the keys before the current one ends; 0: there is none. */
wall_us subscription_next_end(const struct subscription *s);
/* Forgets keys that expired; false when there was none. The current one never does. */
bool subscription_drop_expired(struct subscription *s, wall_us now);
/* Takes `header`; replaces one of the same name, ignoring case. False, and nothing taken: too many. */
bool subscription_set_header(struct subscription *s, struct webhook_header *header);
void subscription_remove_header(struct subscription *s, const char *name);
void signing_key_done(struct signing_key *key);
void webhook_header_done(struct webhook_header *header);

enum delivery_status { DELIVERY_PENDING, DELIVERY_DELIVERED, DELIVERY_FAILED, DELIVERY_STATUS_MAX_ };
const char *delivery_status_name(enum delivery_status status);
int delivery_status_from_name(const char *name);

/* How an attempt ended: id, name as stored in `error` and shown as the label `outcome`. A closed set (WH-22).
 */
#define ATTEMPT_RESULT_TABLE(X)             \
    X(DELIVERED, "delivered")               \
    X(REDIRECT, "redirect")                 \
    X(GONE, "gone")                         \
    X(THROTTLED, "throttled")               \
    X(CLIENT_ERROR, "http_4xx")             \
    X(SERVER_ERROR, "http_5xx")             \
    X(ODD_STATUS, "http_other")             \
    X(TIMEOUT, "timeout")                   \
    X(RESOLVE, "resolve")                   \
    X(CONNECT, "connect")                   \
    X(TLS, "tls")                           \
    X(CERTIFICATE, "certificate")           \
    X(ADDRESS_REFUSED, "address_refused")   \
    X(NOT_SENT, "not_sent")                 \
    X(CONNECTION_LOST, "connection_lost")   \
    X(ANSWER_TOO_LARGE, "answer_too_large") \
    X(SECRET_UNREADABLE, "secret_unreadable")

enum attempt_result {
#define X(id, name) ATTEMPT_##id,
    ATTEMPT_RESULT_TABLE(X)
#undef X
        ATTEMPT_RESULT_MAX_,
};

const char *attempt_result_name(enum attempt_result result);
/* -1 for an unknown name, and for NULL. */
int attempt_result_from_name(const char *name);

enum { DELIVERY_SNIPPET_BYTES = 257, DELIVERY_ATTEMPTS = 10 /* that one can have */ };

struct delivery_attempt {
    wall_us at; /* when it ended */
    int32_t latency_ms;
    int16_t response_status; /* 0 when there was no answer */
    uint8_t result;          /* enum attempt_result */
};

/* One event for one subscription, through all its attempts. */
struct delivery {
    char id[40];
    char event_id[40];
    char event_type[40];
    char subscription_id[40];
    enum delivery_status status;
    int attempt;         /* attempts made so far */
    int response_status; /* of the last attempt; 0 when there was no answer */
    int64_t latency_ms;
    char error[32]; /* sanitized class of the last failure, "" when none */
    char
        snippet[DELIVERY_SNIPPET_BYTES]; /* how the last answer's body began: printable, for admins (WH-22) */
    wall_us next_attempt_at;             /* 0 when final */
    wall_us created_at;
    wall_us updated_at;
    struct delivery_attempt attempts[DELIVERY_ATTEMPTS]; /* the first one first */
    struct trace trace;     /* of the operation that the event is about; never stored */
    uint8_t attempts_known; /* as `attempt`, but for rows of earlier versions, which kept the last one only */
};

/* Adds an attempt that ended. More than there can be are left out. */
void delivery_note_attempt(struct delivery *d, const struct delivery_attempt *attempt);
/*
 * The attempts as they are stored: "" when the other members hold all of them, which is so for a delivery
 * that succeeded at once. The caller frees it.
 */
char *delivery_attempts_text(const struct delivery *d);
/* The way back, after all other members are set. Any other text counts as the empty one. */
void delivery_read_attempts(struct delivery *d, const char *text, size_t len);

#endif
