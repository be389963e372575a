/*
 * The inside of an account, shared by lane.c (which call is next), health.c (whether a request may be sent
 * now), auth.c (with which token), by_hand.c (manual logins) and token_file.c (tokens from a file). Loop
 * thread.
 */
#ifndef UPSTREAM_ACCOUNT_ACCOUNT_PRIVATE_H
#define UPSTREAM_ACCOUNT_ACCOUNT_PRIVATE_H

#include "base/list.h"
#include "upstream/account/breaker.h"
#include "upstream/account/budget.h"
#include "upstream/fairness.h"
#include "upstream/wire/generation_private.h"
#include "upstream/upstream.h"

enum auth_phase { AUTH_IDLE, AUTH_VALIDATING, AUTH_LOGGING_IN, AUTH_ASKING_CODE, AUTH_CHECKING_CODE };

enum { CREDENTIAL_MARK_BYTES = 65 };

/* The step of a manual login that is next or in progress. */
enum by_hand_step { BY_HAND_NONE, BY_HAND_LOGIN, BY_HAND_LOGIN_BY_SMS, BY_HAND_ASK_CODE, BY_HAND_CHECK_CODE };

/* One manual login at a time; see by_hand.c. */
struct by_hand {
    enum by_hand_step step;
    int64_t code;
    mono_us deadline;
    upstream_login_done on_done;
    void *ctx;
    /* ---- the code that was sent, valid for more than one request ---- */
    char *verification; /* secret; NULL: none */
    mono_us verification_until;
    wall_us next_check_at; /* a wrong code also closes the guard for the next one */
};

/* The calls that wait or are under way (lane.c). */
struct account_lane {
    struct heap queue;
    struct heap retries; /* calls that also wait for the budget and delay no other call */
    struct budget budget;
    struct fairness fairness;
    struct list running;
    struct list overloaded;  /* refused because the queue is full; reported in the next turn */
    struct list unreachable; /* refused because the breaker is open; reported in the next turn */
    unsigned in_flight;
    int length;
    struct loop_timer kick;
    int first_variant[UPSTREAM_OP_MAX_]; /* endpoints below this index are missing at Cleura */
};

/* Whether a request may be sent now (health.c). */
struct account_health {
    struct breaker breaker;
    mono_us next_start;      /* minimum spacing */
    mono_us paused_until;    /* back-off and Retry-After, for the whole account */
    wall_us away_since;      /* time from which no request was answered; 0: the last request was answered */
    const char *away_reason; /* static text */
    int unwell;              /* consecutive answers that required a back-off */
    wall_us last_contact_at;
    mono_us heard_at; /* the same moment on the monotonic clock */
};

/* The token with which requests are sent (auth.c, by_hand.c, token_file.c). */
struct account_session {
    enum auth_phase phase;
    struct exchange *call;
    char *token; /* secret; NULL: none */
    bool token_checked;
    uint64_t token_generation;
    int useless_logins; /* consecutive logins whose token was rejected at once */
    mono_us no_relogin_until;
    mono_us last_ok_at; /* when a call last succeeded; 0: never */
    struct account_state *remembered;
    bool needs_person; /* Cleura required a second factor: no more logins with only the password */
    bool sms, webauthn;
    struct by_hand by_hand;
    const char *file_error; /* why the token file is not usable, or NULL */
    mono_us next_file_check;
    char file_mark[CREDENTIAL_MARK_BYTES];     /* of the last token taken from the file */
    char rejected_mark[CREDENTIAL_MARK_BYTES]; /* of the last token that Cleura rejected */
    enum login_state login;
    char *login_message;
};

struct upstream_account {
    struct loop *loop;
    const struct env *env;
    struct transport *transport;
    struct worker *worker; /* reads the answers */
    const struct config_account *config;
    const struct generation *generation;
    const struct seal_key *key;
    struct upstream_account_events events;
    struct account_lane lane;
    struct account_health health;
    struct account_session session;
    struct refused_name *refused_rows, *unread_members; /* see refused_rows.c */
};

/* ---- exchange.c: one request, its answer, and reading it on the worker ---- */
struct exchange_end {
    struct http_answer http; /* owned_body is NULL */
    mono_us answered_at;
    bool token_rejected;           /* a new login may help */
    enum read_end read;            /* for a 2xx */
    const char *why;               /* static text, unless `read` is OK */
    struct upstream_result result; /* class and message; payload if the body was read */
    struct login_answer login;     /* for logins; GARBLED if not understood */
};
struct exchange_handlers {
    /* Called for each part of a list, in separate turns. May take ownership of shoots. */
    void (*rows)(void *ctx, struct list_part *part);
    /* Called once, at the end. May take ownership of members. */
    void (*done)(void *ctx, struct exchange_end *end);
};
struct sending {
    bool with_token; /* false for logins */
    bool fresh_connection;
    int64_t timeout_us;
    const struct upstream_call *made_for; /* trace and request; NULL for logins. Borrowed during the call */
    struct known_rows *known;             /* taken over; or NULL */
};
/* Sends `draft` with the account's headers. */
struct exchange *exchange_send(struct upstream_account *a, const struct request_draft *draft,
                               const struct sending *how, const struct exchange_handlers *on, void *ctx);
/* Cancels the request; no handler runs after this call. */
void exchange_cancel(struct exchange *x);

/* ---- call_spans.c: the spans of a call that belongs to a recorded trace ---- */
/* The call no longer waits: it is sent, or ends with this error. */
void call_waited(struct upstream_call *call, const char *error);
/* A request has ended. `why` is the reason when the shoot in the answer is not accepted, or NULL. */
void call_answered(const struct upstream_call *call, const struct exchange_end *end, const char *why);
/* Called before the call's user removes it from the lane. */
void call_cancelled(struct upstream_call *call);

/* ---- refused_rows.c: unusable parts of answers ---- */
/* Logs a refused shoot, once for each name and reason in a project. */
void refused_rows_log(struct upstream_account *a, const char *project_id, const char *name, const char *why);
/* Counts and logs the refused rows of a part. */
void refused_rows_note(struct upstream_account *a, const char *project_id, const struct list_part *part);
/*
 * For one answer, or one row of a list: counts the unread members and logs new ones. `name`: the shoot, or
 * NULL.
 */
void unread_members_note(struct upstream_account *a, const char *project_id, enum upstream_op op,
                         const char *name, const struct unread *unread);
void refused_rows_done(struct upstream_account *a);

/* ---- lane.c ---- */
void lane_kick(struct upstream_account *a);
/* Ends every waiting call. */
void lane_fail_waiting(struct upstream_account *a, const struct upstream_result *result);
/* The breaker opened: waiting users get their answer in the next turn. */
void lane_breaker_opened(struct upstream_account *a);

/* ---- health.c ---- */
/* The earliest time at which Cleura's health and the spacing allow the next request. */
mono_us health_next_start(const struct upstream_account *a);
/* How many requests may be in flight. */
unsigned health_max_in_flight(const struct upstream_account *a);
bool health_breaker_is_open(const struct upstream_account *a);
/* Earliest time of the next probe; 0 when the breaker is closed. */
wall_us health_breaker_until(const struct upstream_account *a);
/* Seconds until the next probe is possible, at least 1. */
int health_retry_after_s(const struct upstream_account *a);
void health_started(struct upstream_account *a);
/* Called once for each answer, of calls and logins. */
void health_note(struct upstream_account *a, const struct http_answer *answer, enum upstream_class class);
/* Called when a request ended without information about Cleura. */
void health_abandoned(struct upstream_account *a);
void health_done(struct upstream_account *a);
/* A sentence for people: host, time and reason. The caller owns it. */
char *health_why_away(const struct upstream_account *a);
/* Retry-After in seconds, clamped to [0, 300] (UP-14); 0 when there is none. */
int answer_retry_after_s(const struct upstream_account *a, const struct http_answer *answer);

/* ---- auth.c ---- */
enum auth_answer { AUTH_READY, AUTH_STARTED, AUTH_REFUSED };
/* Makes sure that the account has a token. AUTH_STARTED: lane_kick is called when the result is known. */
enum auth_answer auth_prepare(struct upstream_account *a, struct upstream_result *ret_refusal);
/* Cleura rejected the token of this generation. A newer token is not changed (UP-18). */
void auth_token_rejected(struct upstream_account *a, uint64_t generation);
void auth_init(struct upstream_account *a, const struct account_state *remembered);
/* Replaces the account's configuration; other credentials cause a new login. */
void auth_configure(struct upstream_account *a, const struct config_account *config);
void auth_done(struct upstream_account *a);
/* Uses a token from token_file that was not tried before; false when there is none. */
bool auth_take_file_token(struct upstream_account *a);
/* Takes over a token. When it is not `checked`, Cleura must still confirm it. */
void auth_accept_token(struct upstream_account *a, char *token, const char *source, bool checked);
void auth_log_in(struct upstream_account *a, bool by_sms);
void auth_validate(struct upstream_account *a);
/* The auth call in progress ended. OK: the caller checks the content and calls health_note. REFUSED or an
 * outage: health_note was already called. */
enum upstream_class auth_answered(struct upstream_account *a, const struct exchange_end *end);
/* Called after a 2xx to a login. An answer that is not understood counts as an outage. */
void auth_note_login(struct upstream_account *a, const struct exchange_end *end);
/* Closes the guard, each time for longer until a login succeeds. */
void auth_close_guard(struct upstream_account *a);
/* Counts a refusal and closes the guard. The state changes only when there is no working token. */
void auth_refuse(struct upstream_account *a, enum login_state state, const char *message);
/* Changes the state, unless there is a working token. */
void auth_report(struct upstream_account *a, enum login_state state, const char *message);

/* ---- by_hand.c ---- */
/* Sends the current step, or ends it. */
void by_hand_start(struct upstream_account *a);
/* Whether a manual login waits or runs; an automatic login then also serves it. */
bool by_hand_is_login(const struct upstream_account *a);
/* Cleura requires a second factor: decides the next step. May take members out of the answer. */
void by_hand_second_factor(struct upstream_account *a, struct login_answer *answer);
/* Ends the manual login or check, because the credentials changed. */
void by_hand_interrupt(struct upstream_account *a);
/* Ends the manual login, if there is one. */
void by_hand_end_login(struct upstream_account *a, enum login_outcome outcome, const char *message);
bool by_hand_is_pending(const struct upstream_account *a);
void by_hand_done(struct upstream_account *a);

/* ---- token_file.c ---- */
/* A token from the file that was not tried before, or NULL. The caller owns it. */
char *token_file_take(struct upstream_account *a);

/* ---- credential_mark.c ---- */
/* Writes a keyed digest of a secret. It distinguishes secrets but gives no data for guessing them offline. */
void credential_mark(const struct upstream_account *a, const char *secret,
                     char mark[static CREDENTIAL_MARK_BYTES]);

#endif
