/*
 * The members of an account, shared by lane.c (the next call), health.c (whether a request may be sent now),
 * auth.c (its token), by_hand.c (manual logins) and token_file.c (tokens from a file). Loop thread.
 */
#ifndef UPSTREAM_ACCOUNT_ACCOUNT_PRIVATE_H
#define UPSTREAM_ACCOUNT_ACCOUNT_PRIVATE_H

#include "base/list.h"
#include "upstream/account/breaker.h"
#include "upstream/account/budget.h"
#include "upstream/fairness.h"
#include "upstream/wire/driver_private.h"
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
    /* ---- the code that was sent by SMS; it stays valid for several requests ---- */
    char *verification; /* a secret; NULL: there is none */
    mono_us verification_until;
    mono_us next_check_at; /* after a wrong code, the next code is accepted only at this time or later */
};

/* The calls that wait or are in progress (lane.c). */
struct account_lane {
    struct heap queue;
    struct heap retries; /* retries; they also wait for the retry budget, but no other call waits for them */
    struct budget budget;
    struct fairness fairness;
    struct list running;
    struct list overloaded;  /* calls that were refused because the queue is full; they are reported in the
                              * next turn */
    struct list unreachable; /* calls that were refused because the breaker is open; they are reported in the
                              * next turn */
    unsigned in_flight;
    int length;
    struct loop_timer kick;
    const struct upstream_call *held_for; /* the read whose write comes next (upstream_hold), or NULL; only
                                           * compared, because its user may free it */
    mono_us held_until;
    int first_variant[UPSTREAM_OP_MAX_]; /* the first usable endpoint of each operation; Cleura does not have
                                          * the endpoints before it */
};

/* Whether a request may be sent now (health.c). */
struct account_health {
    struct breaker breaker;
    mono_us next_start;      /* no request starts before this time, because of the minimum spacing */
    mono_us paused_until;    /* no request starts before this time, because of a back-off or a Retry-After */
    wall_us away_since;      /* the time of the first request without an answer; 0: the last request was
                              * answered */
    const char *away_reason; /* the reason, a static text */
    int unwell;              /* the number of consecutive answers that required a back-off */
    wall_us last_contact_at;
    mono_us heard_at; /* the time of the last answer on the monotonic clock */
};

/* The token with which requests are sent (auth.c, by_hand.c, token_file.c). */
struct account_session {
    enum auth_phase phase;
    struct exchange *call;
    char *token; /* secret; NULL: none */
    bool token_checked;
    uint64_t token_generation;
    int useless_logins; /* the number of consecutive logins whose new token was rejected at once */
    mono_us no_relogin_until;
    mono_us last_ok_at; /* when a call last succeeded; 0: never */
    struct account_state *remembered;
    mono_us
        guard_until;   /* when the next login is allowed: remembered->next_login_at by the monotonic clock */
    bool needs_person; /* Cleura required a second factor: the account no longer logs in automatically */
    bool sms, webauthn;
    struct by_hand by_hand;
    const char *file_error; /* why the token file is not usable, or NULL */
    mono_us next_file_check;
    char file_mark[CREDENTIAL_MARK_BYTES];     /* the mark of the last token that was read from the file */
    char rejected_mark[CREDENTIAL_MARK_BYTES]; /* the mark of the last token that Cleura rejected */
    enum login_state login;
    char *login_message;
};

struct upstream_account {
    struct loop *loop;
    const struct env *env;
    struct transport *transport;
    struct worker *worker; /* reads the answers */
    const struct config_account *config;
    const struct upstream_driver *driver;
    const struct seal_key *key;
    struct upstream_account_events events;
    struct account_lane lane;
    struct account_health health;
    struct account_session session;
    struct refused_name *refused_rows, *unread_members; /* see refused_rows.c */
};

/* ---- exchange.c: one request and its answer, which the worker reads ---- */
struct exchange_end {
    struct http_answer http; /* owned_body is NULL */
    mono_us answered_at;
    bool token_rejected;           /* a new login may help */
    enum read_end read;            /* how the body of a 2xx could be read */
    const char *why;               /* the reason, a static text, when `read` is not OK */
    struct upstream_result result; /* class and message, and the payload if the body could be read */
    struct login_answer login;     /* the answer to a login; its `result` may be GARBLED */
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
    const struct upstream_call *made_for; /* the call whose trace and request id are sent; NULL for logins.
                                           * Borrowed during the call */
    struct known_rows *known;             /* the known rows for a list, taken over; or NULL */
};
/* Sends `draft` with the account's headers. */
struct exchange *exchange_send(struct upstream_account *a, const struct request_draft *draft,
                               const struct sending *how, const struct exchange_handlers *on, void *ctx);
/* Cancels the request. After this function none of the callbacks is called. */
void exchange_cancel(struct exchange *x);

/* ---- call_spans.c: the spans of a call that belongs to a recorded trace ---- */
/* Called when the call stops waiting, because it is sent, or because it ends with this error. */
void call_waited(struct upstream_call *call, const char *error);
/* Called when a request has ended. `why` is the reason why the shoot in the answer is not accepted; NULL: it
 * is accepted. */
void call_answered(const struct upstream_call *call, const struct exchange_end *end, const char *why);
/* Called before the user of the call removes the call from the lane. */
void call_cancelled(struct upstream_call *call);

/* ---- refused_rows.c: unusable parts of answers ---- */
/* Logs a refused shoot, once for each name and reason in a project. */
void refused_rows_log(struct upstream_account *a, const char *project_id, const char *name, const char *why);
/* Counts and logs the refused rows of this part of a list. */
void refused_rows_note(struct upstream_account *a, const char *project_id, const struct list_part *part);
/*
 * Counts the unread members of an answer, or of a row of a list, and logs those that were not logged before.
 * `name` is that of the shoot, or NULL.
 */
void unread_members_note(struct upstream_account *a, const char *project_id, enum upstream_op op,
                         const char *name, const struct unread *unread);
void refused_rows_done(struct upstream_account *a);

/* ---- lane.c ---- */
void lane_kick(struct upstream_account *a);
/* Ends every waiting call with this result. */
void lane_fail_waiting(struct upstream_account *a, struct upstream_result *result);
/* Called when the breaker has opened: calls of users that wait are refused in the next turn. */
void lane_breaker_opened(struct upstream_account *a);

/* ---- health.c ---- */
/* Returns the earliest time at which Cleura's health and the spacing allow the next request. */
mono_us health_next_start(const struct upstream_account *a);
/* Returns the number of requests that may be in flight now. */
unsigned health_max_in_flight(const struct upstream_account *a);
bool health_breaker_is_open(const struct upstream_account *a);
/* Returns the earliest time of the next probe; 0 when the breaker is closed. */
wall_us health_breaker_until(const struct upstream_account *a);
/* Returns the seconds until the next probe is possible, at least 1. */
int health_retry_after_s(const struct upstream_account *a);
void health_started(struct upstream_account *a);
/* Called once for each answer to a call or a login. */
void health_note(struct upstream_account *a, const struct http_answer *answer, enum upstream_class class);
/* Called when a request has ended and showed nothing about Cleura's health. */
void health_abandoned(struct upstream_account *a);
void health_done(struct upstream_account *a);
/* Returns a sentence for people that says which host does not answer, when that began, and why. The caller
 * owns it. */
char *health_why_away(const struct upstream_account *a);
/* Returns the Retry-After of an answer in seconds, clamped to [0, 300] (UP-14); 0 when there is none. */
int answer_retry_after_s(const struct upstream_account *a, const struct http_answer *answer);

/* ---- auth.c ---- */
enum auth_answer { AUTH_READY, AUTH_STARTED, AUTH_REFUSED };
/* Makes sure that the account has a token. AUTH_STARTED: lane_kick is called when the result is known. */
enum auth_answer auth_prepare(struct upstream_account *a, struct upstream_result *ret_refusal);
/* Called when Cleura has rejected the token with this generation number. A newer token is not changed
 * (UP-18). */
void auth_token_rejected(struct upstream_account *a, uint64_t generation);
void auth_init(struct upstream_account *a, const struct account_state *remembered);
/* Replaces the account's configuration. When the credentials differ, earlier refusals are forgotten, and the
 * next login uses the new credentials. A token is discarded only when the login differs. Returns whether
 * the credentials differ. */
bool auth_configure(struct upstream_account *a, const struct config_account *config);
void auth_done(struct upstream_account *a);
/* Uses a token from token_file that was not tried before; false when there is none. */
bool auth_take_file_token(struct upstream_account *a);
/* Takes over a new token. When it is not `checked`, Cleura must confirm it before its first use. */
void auth_accept_token(struct upstream_account *a, char *token, const char *source, bool checked);
void auth_log_in(struct upstream_account *a, bool by_sms);
void auth_validate(struct upstream_account *a);
/* Called when the auth call in progress has ended; returns its class. For UPSTREAM_OK the caller checks the
 * content and then calls health_note. For any other class health_note was called already. */
enum upstream_class auth_answered(struct upstream_account *a, const struct exchange_end *end);
/* Called after a 2xx to a login. An answer that is not understood counts as an outage. */
void auth_note_login(struct upstream_account *a, const struct exchange_end *end);
/* Closes the login guard (auth.c). Each time the guard is closed for a longer time; a successful login
 * resets this. */
void auth_close_guard(struct upstream_account *a);
/* Counts a refusal and closes the login guard. The state changes only when there is no working token. */
void auth_refuse(struct upstream_account *a, enum login_state state, const char *message);
/* Changes the state, unless there is a working token. */
void auth_report(struct upstream_account *a, enum login_state state, const char *message);

/* ---- by_hand.c ---- */
/* Sends the request of the current step, or ends the manual login or the check of its code. */
void by_hand_start(struct upstream_account *a);
/* Whether a manual login waits or runs; an automatic login then also serves it. */
bool by_hand_is_login(const struct upstream_account *a);
/* Called when Cleura requires a second factor: decides the next step. May take members out of the answer. */
void by_hand_second_factor(struct upstream_account *a, struct login_answer *answer);
/* Ends the manual login or check, because the credentials changed. */
void by_hand_interrupt(struct upstream_account *a);
/* Ends the manual login, if there is one. */
void by_hand_end_login(struct upstream_account *a, enum login_outcome outcome, const char *message);
bool by_hand_is_pending(const struct upstream_account *a);
void by_hand_done(struct upstream_account *a);

/* ---- token_file.c ---- */
/* Returns a token from the file that was not tried before, or NULL. The caller owns it. */
char *token_file_take(struct upstream_account *a);

/* ---- credential_mark.c ---- */
/* Writes a keyed digest of a secret. The digest distinguishes secrets, but nobody without the key can use the
 * digest to guess a secret. */
void credential_mark(const struct upstream_account *a, const char *secret,
                     char mark[static CREDENTIAL_MARK_BYTES]);

#endif
