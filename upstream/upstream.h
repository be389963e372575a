/*
 * Cleura's API: one interface, whatever driver the account's API has. All functions are for the loop thread,
 * unless their comment names another one.
 *
 * An account is one login. Its lane sends its calls one at a time (or max_in_flight), with a minimum
 * spacing, ordered by priority and waiting time. This folder manages the tokens: a call is sent with a valid
 * token, which is renewed once when Cleura rejects it. After a refused login, the login guard is closed for
 * a time: no login is made (upstream/account/auth.c). The caller gets only a result, which belongs to one of
 * a few classes (upstream/wire/classify.c).
 */
#ifndef UPSTREAM_UPSTREAM_H
#define UPSTREAM_UPSTREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "base/heap.h"
#include "base/json.h"
#include "base/metric.h"
#include "base/seal.h"
#include "base/trace.h"
#include "config/config.h"
#include "loop/loop.h"
#include "loop/transport.h"
#include "loop/worker.h"
#include "model/account_state.h"
#include "model/problem.h"
#include "model/shoot.h"
#include "model/upstream_abilities.h"
#include "upstream/fairness.h"

enum upstream_op {
    UPSTREAM_CATALOG,
    UPSTREAM_BOOTSTRAP,
    UPSTREAM_LIST,
    UPSTREAM_GET,
    UPSTREAM_CREATE,
    UPSTREAM_DELETE,
    UPSTREAM_KUBECONFIG,
    UPSTREAM_PATCH,       /* changes members of the cluster itself; body: only the members to change */
    UPSTREAM_POOL_CREATE, /* body: the complete pool */
    UPSTREAM_POOL_UPDATE, /* item: the pool; body: the complete pool */
    UPSTREAM_POOL_DELETE, /* item: the pool */
    UPSTREAM_HIBERNATE,
    UPSTREAM_WAKE,
    UPSTREAM_RECONCILE,
    UPSTREAM_RETRY,
    UPSTREAM_MAINTAIN,
    UPSTREAM_ENABLE_HA,
    UPSTREAM_ROTATE_CA, /* item: Prepare or Complete */
    UPSTREAM_CA_STAGE,
    UPSTREAM_MONITORING,
    UPSTREAM_NODES, /* item: the pool */
    UPSTREAM_SSH_KEY,
    UPSTREAM_UPGRADE_CHECK, /* item: the version */
    UPSTREAM_OWN_PROJECTS,  /* projects of the login, with their OpenStack domains */
    UPSTREAM_QUOTA,         /* item: the domain id */
    UPSTREAM_NAME_TAKEN,    /* whether the name is used anywhere in the cloud; name: the name to check */
    UPSTREAM_OP_MAX_,
};
const char *upstream_op_name(enum upstream_op op);
/* Whether a call with a lost answer may have had an effect. */
bool upstream_op_is_write(enum upstream_op op);

/* How a call ended. Only the table in classify.c maps statuses to classes. */
enum upstream_class {
    UPSTREAM_OK,
    UPSTREAM_ABSENT,       /* 404 */
    UPSTREAM_CONFLICT,     /* 409 */
    UPSTREAM_REFUSED,      /* 400, 422: the request itself is wrong; message gives the reason */
    UPSTREAM_FORBIDDEN,    /* a privilege is missing */
    UPSTREAM_LOGIN_FAILED, /* there is no usable login; retry_after_s: until the login guard opens */
    UPSTREAM_THROTTLED,    /* 429, or the IP address is not allowed: the call had no effect, try later */
    UPSTREAM_UNREACHABLE,  /* nothing was sent, or a read failed: try later */
    UPSTREAM_UNCERTAIN,    /* a write whose effect is unknown: the shoot must be read */
    UPSTREAM_GARBLED,      /* a read whose answer is not understood */
    UPSTREAM_OVERSIZED,    /* a read whose answer is larger than allowed for its kind */
    UPSTREAM_EXPIRED,      /* the deadline passed: nothing was sent, or a read was cut off */
    UPSTREAM_OVERLOADED,   /* the queue is full: nothing was sent */
    UPSTREAM_CLASS_MAX_,
};
const char *upstream_class_name(enum upstream_class class);

/* Members of an answer that could not be read. They are treated as unknown; all other members are used. */
enum { UNREAD_TOLD = 8, UNREAD_PATH_BYTES = 96 };
struct unread {
    unsigned count;
    char paths[UNREAD_TOLD][UNREAD_PATH_BYTES]; /* JSON pointers to the first unread members; longer pointers
                                                 * are cut */
};

struct upstream_result {
    enum upstream_class class;
    int status;               /* the HTTP status; 0: there was no answer */
    char *message;            /* a text for people, without secrets; or NULL */
    int retry_after_s;        /* 0: not known */
    const char *not_believed; /* GET: why the shoot in the answer is not accepted (static text), or NULL */
    bool unexplained; /* refused without a message of Cleura, although other calls succeeded shortly before */
    struct unread unread; /* the unread members of the answer; for lists see
                           * upstream/account/refused_rows.c */
    /* ---- payloads by operation; NULL or 0 when not applicable ---- */
    struct shoot *shoot;   /* GET; CREATE, PATCH and pools if the API returns it */
    uuid_t created_uid;    /* CREATE, if the API returns the uid but no shoot; null: not known */
    size_t shoot_count;    /* LIST: number of shoots passed to on_shoots and on_known */
    size_t shoots_refused; /* LIST: rows that were not accepted; all other rows are used */
    json_t *catalog;       /* CATALOG, in shootd's format, for the project's region */
    json_t
        *document; /* CA_STAGE, MONITORING (secret), NODES, UPGRADE_CHECK, OWN_PROJECTS, QUOTA, NAME_TAKEN */
    char *text;    /* SSH_KEY; secret */
    char *kubeconfig;   /* secret */
    char *server;       /* KUBECONFIG: URL of the cluster's API in the kubeconfig; or NULL */
    wall_us expires_at; /* KUBECONFIG; 0 when neither the answer nor the certificate contains it */
};

/* In order of urgency: calls for which a user waits come first. */
enum lane_priority {
    LANE_USER_WRITE,
    LANE_USER_WAITING,
    LANE_OPERATION,
    LANE_IDLE_POLL,
    LANE_DISCOVERY,
    LANE_PRIORITY_MAX_,
};

struct upstream_account;
struct exchange;

enum { UPSTREAM_REQUEST_ID_BYTES = 129 };

/* The states of a call; lane.c contains the allowed transitions. */
enum call_state {
    CALL_IDLE,    /* the call is not in the lane */
    CALL_WAITING, /* the call waits in the lane for its turn */
    CALL_SENT,    /* sent, and not answered yet */
    CALL_REFUSED, /* the call is refused; on_done reports that in a separate turn */
};

/* A row of a list that shootd has decoded before. When a new list contains a row with the same bytes, the
 * row is not decoded again. The caller passes a set of such rows with the call. */
struct known_row {
    uint8_t digest[ROW_DIGEST_BYTES]; /* as in struct shoot */
    char name[64];                    /* name of the shoot */
};
struct known_rows; /* one block of memory, which is released with free() */

struct known_rows *known_rows_new(size_t most);
/* Adds a row; called at most `most` times. A row with a longer name is left out, so it is decoded each time.
 * Any thread. */
void known_rows_add(struct known_rows *known, const uint8_t digest[static ROW_DIGEST_BYTES],
                    const char *name);

/* One call. It is a member of its user's struct. The strings are borrowed and must be valid until on_done. */
struct upstream_call {
    enum upstream_op op;
    const char *region;
    const char *project_id;
    const char *name;   /* name of the shoot, if the operation has one */
    const char *item;   /* the second argument of the operation, see enum upstream_op */
    const json_t *body; /* CREATE: the resolved spec with `name`; others: see enum upstream_op */
    int ttl_seconds;    /* KUBECONFIG */
    enum lane_priority priority;
    mono_us deadline;   /* the time by which the call must be sent; for a read of LANE_USER_WAITING, the time
                         * by which it must be answered (UP-19) */
    struct trace trace; /* the trace of the call; a call that no client requested has none (HT-51) */
    char request_id[UPSTREAM_REQUEST_ID_BYTES]; /* request id of the client, or "" (HT-50) */
    bool retry; /* the call repeats a failed call, and needs a token of the budget (UP-12) */
    bool next;  /* the call is sent before all waiting calls, because the read that it is based on has just
                 * ended */

    /*
     * LIST: called with a few shoots at a time, in separate turns, before on_done. Not called when the list
     * as a whole is refused. May take shoots out of the array (leaving NULL), and may cancel the call.
     */
    void (*on_shoots)(struct upstream_call *call, struct shoot **shoots, size_t count);
    /* LIST, in the same turns: called for rows that are in `known`. */
    void (*on_known)(struct upstream_call *call, const struct known_row *const *rows, size_t count);
    struct known_rows *known; /* for LIST: rows that need not be decoded, or NULL. The call owns these rows
                               * until it is sent; this member is NULL afterwards */
    /* LIST, in the same turns: called for a row that is not accepted. This function must not cancel the call.
     * May be NULL. */
    void (*on_refused)(struct upstream_call *call, const char *name);
    /* Runs once, on the loop thread, never inside upstream_submit. The result is valid only until this
     * function returns; it may take shoots out of the result. */
    void (*on_done)(struct upstream_call *call, struct upstream_result *result);

    /* ---- used only by the lane ---- */
    struct heap *queue; /* the heap that contains queue_item, or NULL */
    struct heap_item queue_item;
    struct fair_ticket ticket;
    struct list link;
    struct loop_timer expiry;
    struct upstream_account *account;
    struct exchange *exchange; /* the running exchange, while the call is sent and its answer is read */
    mono_us queued_at;
    mono_us started_at;          /* when the call was last sent; 0: never. `on_done` may read this member */
    char span[TRACE_SPAN_BYTES]; /* span of the request */
    const char *method;          /* method of the request; static */
    int64_t timeout_us;          /* time limit of the transfer */
    uint64_t token_generation;
    int variant; /* the index of the endpoint that is tried (for kubeconfigs v3, then v2) */
    bool auth_retried;
    enum call_state state;
};

/* True between upstream_submit and on_done or upstream_cancel. Loop thread. */
static inline bool upstream_call_is_active(const struct upstream_call *call)
{
    return call->state != CALL_IDLE;
}

enum login_state {
    LOGIN_UNKNOWN, /* there was no attempt yet */
    LOGIN_OK,
    LOGIN_REJECTED,   /* wrong password: the guard limits attempts */
    LOGIN_TWO_FACTOR, /* a second factor is required: only upstream_login or a token file gives a new token */
    LOGIN_UNREACHABLE,
    LOGIN_NO_PASSWORD, /* no password, and no usable token */
};
const char *login_state_name(enum login_state state);

struct upstream_account_events {
    void *ctx;
    /* Called when the account's stored state must be updated: there is a new sealed token, or the login
     * guard opens at another time. The state is borrowed. */
    void (*remember)(void *ctx, const struct account_state *state);
    /* Called when the login state has changed. */
    void (*login_changed)(void *ctx, struct upstream_account *account, enum login_state state,
                          const char *message);
};

/* Returns what the account's API can do. Any thread. */
const struct upstream_abilities *upstream_abilities_of(const struct config_account *account);

/* Returns the context with which the token of an account is sealed. The caller frees it. Any thread. */
char *upstream_token_context(const struct config_account *account);

/* Borrows loop, transport, worker (reads the answers), config and key. `remembered` may be NULL. */
struct upstream_account *upstream_account_new(struct loop *loop, struct transport *transport,
                                              struct worker *worker, const struct config_account *config,
                                              const struct seal_key *key,
                                              const struct account_state *remembered, int queue_length,
                                              const struct upstream_account_events *events);
/*
 * Changes the configuration of the account. New limits apply from the next call on. When login, password or
 * token file differ, earlier refusals are forgotten, and the next login uses the new values; calls that wait
 * use this login, too. A token is discarded only when the login differs. URL and API must be the same.
 * The old configuration may be freed after this function. Returns whether login, password or token file
 * differ.
 */
bool upstream_account_configure(struct upstream_account *a, const struct config_account *config,
                                int queue_length);
/* Discards all queued and running calls without on_done. */
void upstream_account_free(struct upstream_account *a);

/* Whether the account's API has this call. */
bool upstream_supports(const struct upstream_account *a, enum upstream_op op);
/* Sets the trace and the id of the client's request for which the call is made. Both are copied; NULL: none.
 * Called before upstream_submit. */
void upstream_call_for(struct upstream_call *call, const struct trace *trace, const char *request_id);
void upstream_submit(struct upstream_account *a, struct upstream_call *call);
/* Cancels a call; on_done does not run. Does nothing when the call is not active. A write that was sent may
 * have had an effect. A call that is cancelled at its deadline counts as UPSTREAM_EXPIRED. */
void upstream_cancel(struct upstream_call *call);

/*
 * Keeps the lane for a write that follows this read and is based on it. Called in on_done of the read. Until
 * the call is submitted again, and for at most some seconds, the lane starts no other calls, except those
 * with `next`.
 */
void upstream_hold(struct upstream_call *call);
/* Ends the hold of the call, because no write follows. Does nothing when the lane is not kept for this call.
 */
void upstream_release(struct upstream_account *a, const struct upstream_call *call);

enum { UPSTREAM_CODE_GOOD_S = 600 }; /* how long a code from an SMS is valid */

/* How a manual login, or the check of its code, ended. */
enum login_outcome {
    LOGIN_OUTCOME_OK,         /* the account has a token */
    LOGIN_OUTCOME_CODE_SENT,  /* Cleura sent a code by SMS: call upstream_verify while it is valid */
    LOGIN_OUTCOME_BUSY,       /* another manual login is in progress */
    LOGIN_OUTCOME_GUARDED,    /* the login guard is closed: see retry_after_s */
    LOGIN_OUTCOME_REFUSED,    /* Cleura refused login and password, or refused to send a code */
    LOGIN_OUTCOME_NO_SMS,     /* the account has only WebAuthn, which the API does not support (CL-5) */
    LOGIN_OUTCOME_NOTHING,    /* there is no password, and no new token in token_file */
    LOGIN_OUTCOME_WRONG_CODE, /* the code may be entered again */
    LOGIN_OUTCOME_NO_CODE,    /* no code was sent, the code has expired, or shootd was restarted after it was
                               * sent */
    LOGIN_OUTCOME_UNREACHABLE,
    LOGIN_OUTCOME_MAX_,
};

struct upstream_login_end {
    enum login_outcome outcome;
    const char *message; /* for people, without secrets; borrowed */
    int retry_after_s;   /* 0: not known */
};

/* Runs once, on the loop thread, perhaps inside the function that begins the login. */
typedef void (*upstream_login_done)(void *ctx, const struct upstream_login_end *end);

/*
 * Begins a manual login. Cleura sends an SMS only for manual logins (CL-5, CL-6). A manual login also
 * replaces a valid token, unless the token is younger than a minute. Each SMS and each refusal closes the
 * login guard. No step begins after the deadline. (An automatic login never goes on to the second factor: it
 * ends with LOGIN_TWO_FACTOR.)
 */
void upstream_login(struct upstream_account *a, mono_us deadline, upstream_login_done on_done, void *ctx);
/* Sends the code of the SMS to Cleura. A refused code closes the guard for the next code. */
void upstream_verify(struct upstream_account *a, int64_t code, mono_us deadline, upstream_login_done on_done,
                     void *ctx);

struct upstream_account_status {
    enum login_state login;
    const char *login_message; /* the message of the last login, or NULL */
    bool sms, webauthn;        /* second factors that Cleura offers */
    bool verification_pending; /* a code was sent and can be entered */
    const char *token_source;  /* password, sms_code, token_file; NULL: no token */
    wall_us token_at;          /* 0: no token */
    unsigned queue_depth;
    unsigned in_flight;
    wall_us last_contact_at; /* the time of the last complete answer; 0: there was none */
    mono_us heard_at;        /* the same time on the monotonic clock, from which its age is computed */
    wall_us next_login_at;   /* when the guard opens; 0: open */
    wall_us away_since;      /* the time when Cleura stopped answering; 0: Cleura answers */
    const char *breaker;     /* "closed", "open", "half_open" */
    wall_us breaker_until;   /* earliest time of the next probe; 0 when closed */
};
void upstream_account_status(const struct upstream_account *a, struct upstream_account_status *ret);
/* Returns a sentence for people that says which host does not answer, when that began, and why. Called only
 * while Cleura does not answer. The caller owns it. */
char *upstream_why_away(const struct upstream_account *a);

/* Returns the number of ended calls by operation and class, for /metrics. Any thread. */
uint64_t upstream_calls_total(enum upstream_op op, enum upstream_class class);
/* Durations of the calls that were sent, from the request to the end of the answer. When a call was sent
 * several times, only its last request is measured. */
extern const struct histogram_edges upstream_edges;
const struct histogram *upstream_durations(enum upstream_op op, enum upstream_class class);
uint64_t upstream_logins_total(bool ok);
/* Returns how often a breaker opened; this includes openings after failed probes. Any thread. */
uint64_t upstream_breaker_opened_total(void);
/* Return numbers of rows in lists: rows that were refused, and rows that were not decoded again because they
 * were known. Any thread. */
uint64_t upstream_rows_refused_total(void);
uint64_t upstream_rows_known_total(void);
/* Returns the number of unreadable members of answers. Any thread. */
uint64_t upstream_members_unread_total(void);
/* Returns the number of retries that found no token of the budget when they were submitted. Any thread. */
uint64_t upstream_retries_delayed_total(void);
/* Returns the number of accounts whose breaker is open or half open. Any thread. */
int upstream_breakers_open(void);

/* Returns the problem that reports this result to a client. The caller owns it. */
struct problem *upstream_problem(const struct upstream_result *result);

#endif
