/*
 * Cleura's API: both generations behind one model. Everything here lives on the loop thread.
 *
 * An account is one login; its lane sends its calls one at a time (max_in_flight), spaced, by priority with
 * aging. Tokens are this folder's business: a call is sent with a valid token, renewed once when Cleura
 * rejects it, and its caller only learns how it ended, in one of a few classes (upstream/wire/classify.c).
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
#include "model/cluster.h"
#include "model/problem.h"
#include "upstream/fairness.h"

enum upstream_op {
    UPSTREAM_CATALOG,
    UPSTREAM_BOOTSTRAP,
    UPSTREAM_LIST,
    UPSTREAM_GET,
    UPSTREAM_CREATE,
    UPSTREAM_DELETE,
    UPSTREAM_KUBECONFIG,
    UPSTREAM_PATCH,       /* members of the cluster itself; body: only those to change */
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
    UPSTREAM_OWN_PROJECTS,  /* of the login, with their OpenStack domains */
    UPSTREAM_QUOTA,         /* item: the domain id */
    UPSTREAM_NAME_TAKEN,    /* in the whole cloud; name */
    UPSTREAM_OP_MAX_,
};
const char *upstream_op_name(enum upstream_op op);
/* Whether a lost answer may have had effect. */
bool upstream_op_is_write(enum upstream_op op);

/* How a call ended. One table in classify.c decides; nobody else looks at statuses. */
enum upstream_class {
    UPSTREAM_OK,
    UPSTREAM_ABSENT,       /* 404 */
    UPSTREAM_CONFLICT,     /* 409 */
    UPSTREAM_REFUSED,      /* 400, 422: the request itself is wrong; message says why */
    UPSTREAM_FORBIDDEN,    /* missing privilege */
    UPSTREAM_LOGIN_FAILED, /* no usable login; retry_after_s says when the guard opens */
    UPSTREAM_THROTTLED,    /* 429, forbidden IP: nothing happened, try later */
    UPSTREAM_UNREACHABLE,  /* nothing was sent, or a read failed: try later */
    UPSTREAM_UNCERTAIN,    /* a write whose effect is unknown: read back */
    UPSTREAM_GARBLED,      /* a read whose answer cannot be understood */
    UPSTREAM_OVERSIZED,    /* a read whose answer has more in it than one of its kind may have */
    UPSTREAM_EXPIRED,      /* the deadline passed: nothing was sent, or a read was cut off */
    UPSTREAM_OVERLOADED,   /* the queue is full: nothing was sent */
    UPSTREAM_CLASS_MAX_,
};
const char *upstream_class_name(enum upstream_class class);

/* Members of an answer that could not be read: they count as unknown, the rest is used. */
enum { UNREAD_TOLD = 8, UNREAD_PATH_BYTES = 96 };
struct unread {
    unsigned count;
    char paths[UNREAD_TOLD][UNREAD_PATH_BYTES]; /* of the first of them: JSON pointers, cut */
};

struct upstream_result {
    enum upstream_class class;
    int status;               /* HTTP status, 0 when there was none */
    char *message;            /* for people, without secrets; or NULL */
    int retry_after_s;        /* 0: not known */
    const char *not_believed; /* GET: the shoot of the answer is refused, and why; static, or NULL */
    bool unexplained;     /* refused without Cleura's own words, though other calls were answered just now */
    struct unread unread; /* of the answer; of lists see upstream/account/refused_rows.c */
    /* payloads, by operation; NULL or 0 when not applicable */
    struct shoot *shoot;   /* GET; CREATE, PATCH and pools when the generation returns it */
    size_t shoot_count;    /* LIST: how many on_shoots and on_known were given */
    size_t shoots_refused; /* LIST: rows that were not believed; the others count all the same */
    json_t *catalog;       /* CATALOG, in our words, for the project's region */
    json_t
        *document; /* CA_STAGE, MONITORING (secret), NODES, UPGRADE_CHECK, OWN_PROJECTS, QUOTA, NAME_TAKEN */
    char *text;    /* SSH_KEY; secret */
    char *kubeconfig;   /* secret */
    char *server;       /* KUBECONFIG: the URL of the cluster's API in it; or NULL */
    wall_us expires_at; /* KUBECONFIG; 0 when neither the answer nor the certificate says it */
};

/* In order of urgency: what a user waits for comes first. */
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

/* The state of a call; lane.c has the moves. */
enum call_state {
    CALL_IDLE,    /* nobody's but its user's */
    CALL_WAITING, /* for its turn */
    CALL_SENT,    /* and not answered yet */
    CALL_REFUSED, /* its user hears so in a turn of its own */
};

/*
 * Rows of a list that bring nothing new: when the same bytes come again, they are not decoded. Given to a
 * call, which passes them on to the reading of its answer.
 */
struct known_row {
    uint8_t digest[ROW_DIGEST_BYTES]; /* struct shoot's */
    char name[64];                    /* of the shoot */
};
struct known_rows; /* one piece of memory: free() */

struct known_rows *known_rows_new(size_t most);
/* Not more than `most` times. A row with a longer name is left out: it is decoded each time. Any thread. */
void known_rows_add(struct known_rows *known, const uint8_t digest[static ROW_DIGEST_BYTES],
                    const char *name);

/* One call. Embedded in its user; the strings are borrowed and must live until on_done. */
struct upstream_call {
    enum upstream_op op;
    const char *region;
    const char *project_id;
    const char *name;   /* shoot, where the operation has one */
    const char *item;   /* what the operation is about beside the shoot, see enum upstream_op */
    const json_t *body; /* CREATE: the resolved spec in our words plus `name`; others: see enum upstream_op */
    int ttl_seconds;    /* KUBECONFIG */
    enum lane_priority priority;
    mono_us deadline;   /* to be sent by then; a read of LANE_USER_WAITING: to be answered by then (UP-19) */
    struct trace trace; /* the call is part of; none: nobody asked for it (HT-51) */
    char request_id[UPSTREAM_REQUEST_ID_BYTES]; /* of whoever asked, or "" (HT-50) */
    bool retry; /* repeats a call that failed before: it needs a token of the budget (UP-12) */
    bool next;  /* what it is based on was read just now: it goes before all that wait */

    /*
     * LIST, a few at a time in turns of their own, before on_done; none when the list as a whole is refused.
     * May take shoots out of the array (leaving NULL), and may cancel the call.
     */
    void (*on_shoots)(struct upstream_call *call, struct shoot **shoots, size_t count);
    /* LIST, in the same turns: so for rows that came again, as they were given in `known`. */
    void (*on_known)(struct upstream_call *call, const struct known_row *const *rows, size_t count);
    struct known_rows *known; /* LIST: owned by the call until it is sent (then NULL); or NULL */
    /* LIST, in the same turns: a row of this name that is not believed. Must not cancel the call.
     * Or NULL. */
    void (*on_refused)(struct upstream_call *call, const char *name);
    /* Runs once, on the loop thread, never from within upstream_submit. The result is borrowed. */
    void (*on_done)(struct upstream_call *call, const struct upstream_result *result);

    /* the lane's own */
    struct heap *queue; /* holds queue_item when that is in a heap */
    struct heap_item queue_item;
    struct fair_ticket ticket;
    struct list link;
    struct loop_timer expiry;
    struct upstream_account *account;
    struct exchange *exchange; /* while it is sent and its answer is read */
    mono_us queued_at;
    mono_us started_at;          /* also for on_done: when it was sent, of several times the last; 0: never */
    char span[TRACE_SPAN_BYTES]; /* of what is sent */
    const char *method;          /* so; static */
    int64_t timeout_us;          /* of the transfer */
    uint64_t token_generation;
    int variant; /* which endpoint of several is being tried (kubeconfig v3, then v2) */
    bool auth_retried;
    enum call_state state;
};

/* Between upstream_submit and on_done or upstream_cancel. Loop thread. */
static inline bool upstream_call_is_active(const struct upstream_call *call)
{
    return call->state != CALL_IDLE;
}

enum login_state {
    LOGIN_UNKNOWN, /* nothing tried yet */
    LOGIN_OK,
    LOGIN_REJECTED,   /* wrong password: guarded */
    LOGIN_TWO_FACTOR, /* a second factor is wanted: only upstream_login or a token file helps */
    LOGIN_UNREACHABLE,
    LOGIN_NO_PASSWORD, /* and no token that could be used */
};
const char *login_state_name(enum login_state state);

struct upstream_account_events {
    void *ctx;
    /* Something worth remembering changed: token sealed anew, guard moved. The state is borrowed. */
    void (*remember)(void *ctx, const struct account_state *state);
    /* The login state changed. */
    void (*login_changed)(void *ctx, struct upstream_account *account, enum login_state state,
                          const char *message);
};

/* The context under which the token of an account is sealed. The caller frees it. Any thread. */
char *upstream_token_context(const struct config_account *account);

/* Borrowed: loop, transport, worker (reads the answers), config, key. `remembered` may be NULL. */
struct upstream_account *upstream_account_new(struct loop *loop, struct transport *transport,
                                              struct worker *worker, const struct config_account *config,
                                              const struct seal_key *key,
                                              const struct account_state *remembered, int queue_length,
                                              const struct upstream_account_events *events);
/*
 * The same account with other values: limits count from the next call on; with another login, password or
 * token file Cleura is asked anew, calls that wait with them. Its URL and generation are what they were. The
 * one before may be freed then.
 */
void upstream_account_configure(struct upstream_account *a, const struct config_account *config,
                                int queue_length);
/* Drops every queued and running call without calling on_done. */
void upstream_account_free(struct upstream_account *a);

/* Whether the account's generation has this call at all. Loop thread. */
bool upstream_supports(const struct upstream_account *a, enum upstream_op op);
/* Says what the call is made for: copies; NULL for nothing. Before upstream_submit. */
void upstream_call_for(struct upstream_call *call, const struct trace *trace, const char *request_id);
void upstream_submit(struct upstream_account *a, struct upstream_call *call);
/* on_done does not run; harmless when the call is not active. A write that was sent may have had effect. */
void upstream_cancel(struct upstream_call *call);

enum { UPSTREAM_CODE_GOOD_S = 600 }; /* how long a code by SMS can be given */

/* How a login by hand, or the check of its code, ended. */
enum login_outcome {
    LOGIN_OUTCOME_OK,         /* there is a token */
    LOGIN_OUTCOME_CODE_SENT,  /* Cleura sent a code by SMS: upstream_verify while it is good */
    LOGIN_OUTCOME_BUSY,       /* another one is under way */
    LOGIN_OUTCOME_GUARDED,    /* the login guard is closed: see retry_after_s */
    LOGIN_OUTCOME_REFUSED,    /* Cleura refused login and password, or to send a code */
    LOGIN_OUTCOME_NO_SMS,     /* only WebAuthn: cannot be done over the API (CL-5) */
    LOGIN_OUTCOME_NOTHING,    /* no password, and no new token in token_file */
    LOGIN_OUTCOME_WRONG_CODE, /* the code may be given again */
    LOGIN_OUTCOME_NO_CODE,    /* no code was sent, or it is too old; a restart forgets that one was sent */
    LOGIN_OUTCOME_UNREACHABLE,
    LOGIN_OUTCOME_MAX_,
};

struct upstream_login_end {
    enum login_outcome outcome;
    const char *message; /* for people, without secrets; borrowed */
    int retry_after_s;   /* 0: not known */
};

/* Loop thread; runs once, perhaps from within the call that begins. */
typedef void (*upstream_login_done)(void *ctx, const struct upstream_login_end *end);

/*
 * A login by hand, the only one that makes Cleura send an SMS (CL-5, CL-6). Also replaces a token
 * that is still good, unless that is younger than a minute. Each SMS and each refusal closes the login guard.
 * Nothing is begun after the deadline. The automatic login never goes further than LOGIN_TWO_FACTOR.
 */
void upstream_login(struct upstream_account *a, mono_us deadline, upstream_login_done on_done, void *ctx);
/* Gives the code of the SMS. A refused one closes the guard for the next. */
void upstream_verify(struct upstream_account *a, int64_t code, mono_us deadline, upstream_login_done on_done,
                     void *ctx);

struct upstream_account_status {
    enum login_state login;
    const char *login_message; /* or NULL */
    bool sms, webauthn;        /* second factors that Cleura named */
    bool verification_pending; /* a code was sent and can be given */
    const char *token_source;  /* password, sms_code, token_file; NULL: no token */
    wall_us token_at;          /* 0: no token */
    unsigned queue_depth;
    unsigned in_flight;
    wall_us last_contact_at; /* last complete answer; 0: none yet */
    mono_us heard_at;        /* the same moment, for its age */
    wall_us next_login_at;   /* guard; 0 when open */
    wall_us away_since;      /* Cleura has not answered since then; 0: it answers */
    const char *breaker;     /* "closed", "open", "half_open" */
    wall_us breaker_until;   /* when the next probe may go; 0 when closed */
};
void upstream_account_status(const struct upstream_account *a, struct upstream_account_status *ret);
/* While Cleura does not answer: which host, since when and why, for people. The caller owns it. */
char *upstream_why_away(const struct upstream_account *a);

/* Counters for /metrics: calls ended, by operation and class. Any thread. */
uint64_t upstream_calls_total(enum upstream_op op, enum upstream_class class);
/* How long those took that were sent, from the request to the whole answer; of several attempts the last. */
extern const struct histogram_edges upstream_edges;
const struct histogram *upstream_durations(enum upstream_op op, enum upstream_class class);
uint64_t upstream_logins_total(bool ok);
/* How often a breaker opened, reopening after a failed probe included. Any thread. */
uint64_t upstream_breaker_opened_total(void);
/* Rows of lists that were refused. Any thread. */
uint64_t upstream_rows_refused_total(void);
uint64_t upstream_rows_known_total(void);
/* Members of answers that could not be read, and counted as unknown. Any thread. */
uint64_t upstream_members_unread_total(void);
/* Retries that found no token of their budget when they were submitted. Any thread. */
uint64_t upstream_retries_delayed_total(void);
/* Gauge: accounts whose breaker is open or half open. Any thread. */
int upstream_breakers_open(void);

/* The problem that reports a class to a caller. The caller owns it. */
struct problem *upstream_problem(const struct upstream_result *result);

#endif
