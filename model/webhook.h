/* Webhooks: subscriptions and deliveries. These are stored structs, see model/cluster.h. */
#ifndef MODEL_WEBHOOK_H
#define MODEL_WEBHOOK_H

#include "base/json.h"
#include "base/trace.h"
#include "model/event.h"

/* The signature of deliveries: HMAC-SHA256 with a shared secret (WH-4), or Ed25519 (WH-5). */
enum signature_scheme { SIGNATURE_V1, SIGNATURE_V1A, SIGNATURE_SCHEME_MAX_ };
const char *signature_scheme_name(enum signature_scheme scheme);
/* Returns -1 for an unknown name, and for NULL. */
int signature_scheme_from_name(const char *name);

/* A key that signs deliveries. After a rotation the old key stays valid until expires_at (WH-6). */
struct signing_key {
    enum signature_scheme scheme;
    uint8_t *sealed; /* "whsec_..." or "whsk_..." (base/seal.h); the unsealed key is only in memory */
    size_t sealed_len;
    char *public_key; /* the "whpk_..." of an Ed25519 key, otherwise NULL */
    wall_us created_at;
    wall_us expires_at; /* 0: this is the current key */
};

/* A header field that the owner adds to each delivery. Its value may be a credential. */
struct webhook_header {
    char *name;
    uint8_t *sealed;
    size_t sealed_len;
};

enum { SUBSCRIPTION_MAX_KEYS = 3, SUBSCRIPTION_MAX_HEADERS = 10, SUBSCRIPTION_MAX_IN_FLIGHT = 10 };

/*
 * What the attempts tell about the receiver of a webhook. It begins anew when a caller changes the target or
 * enables the webhook again. A test is no attempt in this sense: it also reaches a receiver that refuses the
 * events. Stored with the webhook, but not by subscription_to_json.
 */
struct webhook_standing {
    wall_us last_at;       /* when the last attempt ended; 0: there was none */
    wall_us failing_since; /* when the first attempt ended that failed and was followed by no success; 0: the
                            * last attempt succeeded */
    int16_t last_status;   /* of the answer to the last attempt; 0: there was no answer */
    uint8_t last_result;   /* enum attempt_result */
    uint32_t pending;      /* the number of deliveries that wait or are under way; not stored */
};

enum webhook_state { WEBHOOK_ENABLED, WEBHOOK_FAILING, WEBHOOK_DISABLED, WEBHOOK_STATE_MAX_ };
const char *webhook_state_name(enum webhook_state state);
int webhook_state_from_name(const char *name);

struct subscription {
    char id[40];
    char *url;
    char **event_types; /* NULL-terminated; "*" and "cluster.*" are wildcards; an empty list means all */
    char **projects;    /* NULL-terminated; an empty list means all */
    char *description;
    struct signing_key keys[SUBSCRIPTION_MAX_KEYS]; /* the current key first */
    unsigned key_count;
    struct webhook_header headers[SUBSCRIPTION_MAX_HEADERS];
    unsigned header_count;
    int max_in_flight;        /* the limit of simultaneous deliveries, 1..SUBSCRIPTION_MAX_IN_FLIGHT */
    char *created_by;         /* the name of the token that made the webhook */
    char created_by_id[40];   /* the id of that token; "" for webhooks of earlier versions */
    wall_us token_revoked_at; /* when that token was revoked; 0: not revoked */
    bool disabled;
    char *disabled_reason;
    int64_t version;
    wall_us created_at;
    wall_us updated_at;
    wall_us enabled_at;      /* when the webhook was last enabled again, 0: never */
    bool unreadable;         /* the seal key does not open its secrets; not stored */
    int64_t target_version;  /* the version with which a caller last changed where deliveries go, with what
                              * secret, or whether they go at all; 0: not since the start. A failure of an
                              * earlier version tells nothing about this one. Not stored */
    wall_us last_success_at; /* the last success; 0: none is known. Added by the store, not by
                              * subscription_to_json */
    struct webhook_standing standing;
};

void subscription_free(struct subscription *s);
struct subscription *subscription_copy(const struct subscription *s);
json_t *subscription_to_json(const struct subscription *s);
/* Reads the stored form, also that of earlier versions with one `sealed_secret`. */
struct subscription *subscription_from_json(const json_t *doc);
enum webhook_state subscription_state(const struct subscription *s);
/* True when the subscription names no project, or "*". */
bool subscription_is_of_all_projects(const struct subscription *s);
/* Whether a caller that may see `projects` may see every project of the subscription. */
bool subscription_is_visible(const struct subscription *s, char *const *projects);
/* Whether both send the same deliveries to the same URL with the same header fields. */
bool subscription_sends_the_same(const struct subscription *s, const struct subscription *other);
/* Whether the subscription includes this event. */
bool subscription_matches(const struct subscription *s, const struct event *e);
/*
 * Takes over `key` and makes it the current key. The other keys stay valid until now + grace_us at most.
 * Expired keys are removed, and the oldest keys when there are too many.
 */
void subscription_rotate(struct subscription *s, struct signing_key *key, wall_us now, int64_t grace_us);
/* Returns when the first of the older keys expires; 0: there is no older key. */
wall_us subscription_next_end(const struct subscription *s);
/* Removes expired keys; false when there was none. The current key never expires. */
bool subscription_drop_expired(struct subscription *s, wall_us now);
/* Takes over `header`; replaces a header with the same name, ignoring case. Returns false, and does not take
 * over `header`, when there are too many headers. */
bool subscription_set_header(struct subscription *s, struct webhook_header *header);
void subscription_remove_header(struct subscription *s, const char *name);
void signing_key_done(struct signing_key *key);
void webhook_header_done(struct webhook_header *header);

enum delivery_status { DELIVERY_PENDING, DELIVERY_DELIVERED, DELIVERY_FAILED, DELIVERY_STATUS_MAX_ };
const char *delivery_status_name(enum delivery_status status);
int delivery_status_from_name(const char *name);

/* What a pending delivery waits for: the time of its next attempt; its turn, because the attempt is due and
 * others come first; the answer, because the attempt is under way. */
enum delivery_wait { WAIT_NONE, WAIT_TIME, WAIT_TURN, WAIT_ANSWER, DELIVERY_WAIT_MAX_ };
/* Returns NULL for WAIT_NONE. */
const char *delivery_wait_name(enum delivery_wait wait);

/* The results of attempts: the id, and the name that is stored in `error` and is the value of the label
 * `outcome`. This is a fixed list (WH-22). */
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
/* Returns -1 for an unknown name, and for NULL. */
int attempt_result_from_name(const char *name);

enum { DELIVERY_SNIPPET_BYTES = 257, DELIVERY_ATTEMPTS = 10 /* limit of attempts */ };

struct delivery_attempt {
    wall_us at; /* end of the attempt */
    int32_t latency_ms;
    int16_t response_status; /* 0 when there was no answer */
    uint8_t result;          /* enum attempt_result */
};

/* One event for one subscription, with all its attempts. */
struct delivery {
    char id[40];
    char event_id[40];
    char event_type[40];
    char subscription_id[40];
    char project[64], cluster[64]; /* of the event, "" when it has none; not stored with the delivery, and not
                                    * known to the engine after a restart */
    enum delivery_status status;
    int attempt;         /* the number of attempts so far */
    int response_status; /* the status in the answer to the last attempt; 0: there was no answer */
    int64_t latency_ms;
    char error[32];                       /* the name of the last failure, "" when there was none */
    char snippet[DELIVERY_SNIPPET_BYTES]; /* the beginning of the last answer in printable characters
                                           * (WH-22) */
    wall_us next_attempt_at;              /* 0: the status is final. Where a client sees the delivery, also
                                           * 0 unless it waits for this time (webhook_engine_look_up) */
    wall_us created_at;
    wall_us updated_at;
    struct delivery_attempt attempts[DELIVERY_ATTEMPTS]; /* the oldest first */
    struct trace trace;                                  /* the trace of the event's operation; never
                                                          * stored */
    uint8_t waits_for;                                   /* enum delivery_wait; never stored */
    uint8_t attempts_known; /* the number of known attempts: equal to `attempt`, or less in rows of earlier
                             * versions, because those versions stored only the last attempt */
};

/* Notes an attempt that has ended. */
void standing_note_attempt(struct webhook_standing *standing, const struct delivery_attempt *attempt);
/* Forgets the attempts: the webhook has another target. */
void standing_begin_anew(struct webhook_standing *standing);

/* Adds an attempt that has ended. Attempts beyond the limit are discarded. */
void delivery_note_attempt(struct delivery *d, const struct delivery_attempt *attempt);
/*
 * Makes the attempts as text for the store. The text is "" when the other members of the delivery contain the
 * same data, for example after a success at the first attempt. The caller frees it.
 */
char *delivery_attempts_text(const struct delivery *d);
/* Reads the stored form, after all other members are set. Any invalid text is treated as "". */
void delivery_read_attempts(struct delivery *d, const char *text, size_t len);

#endif
