/*
 * The inside of an account, shared by lane.c (which call is next), health.c (whether anything may be sent
 * now), auth.c (with which token), by_hand.c (logins that need a person) and token_file.c (tokens handed
 * over). Loop thread.
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

/* The step that is to be sent next, or is under way, because a person asked for it. */
enum by_hand_step { BY_HAND_NONE, BY_HAND_LOGIN, BY_HAND_LOGIN_BY_SMS, BY_HAND_ASK_CODE, BY_HAND_CHECK_CODE };

/* One login by hand at a time; see by_hand.c. */
struct by_hand {
    enum by_hand_step step;
    int64_t code;
    mono_us deadline;
    upstream_login_done on_done;
    void *ctx;
    /* the code that was sent, beyond one request */
    char *verification; /* secret; NULL: none */
    mono_us verification_until;
    wall_us next_check_at; /* a wrong code closes the guard for the next one too */
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

    /* lane */
    struct heap queue;
    struct heap retries; /* wait for the budget as well, and hold up nobody meanwhile */
    struct budget budget;
    struct fairness fairness;
    struct list running;
    struct list overloaded;  /* refused because the queue is full, reported on the next turn */
    struct list unreachable; /* refused because the breaker is open, reported on the next turn */
    unsigned in_flight;
    int queue_length;
    struct loop_timer kick;
    int first_variant[UPSTREAM_OP_MAX_]; /* endpoints below this one are known to be missing */

    /* health */
    struct breaker breaker;
    mono_us next_start;      /* minimum spacing */
    mono_us paused_until;    /* back-off and Retry-After, for the whole account */
    wall_us away_since;      /* nothing was answered since then; 0: the last request was */
    const char *away_reason; /* static */
    int unwell;              /* answers in a row that asked for a back-off */
    wall_us last_contact_at;
    mono_us heard_at; /* the same moment */

    /* auth */
    enum auth_phase auth;
    struct exchange *auth_call;
    char *token; /* secret; NULL: none */
    bool token_checked;
    uint64_t token_generation;
    int useless_logins; /* logins in a row whose token was rejected at once */
    mono_us no_relogin_until;
    mono_us last_ok_at; /* of a call; 0: none yet */
    struct account_state *remembered;
    bool needs_person; /* Cleura asked for a second factor: no more logins with the password alone */
    bool sms, webauthn;
    struct by_hand by_hand;
    const char *file_error; /* why the token file could not be used, or NULL */
    mono_us next_file_check;
    char file_mark[CREDENTIAL_MARK_BYTES];     /* of the token that was taken from the file last */
    char rejected_mark[CREDENTIAL_MARK_BYTES]; /* of the token that Cleura rejected last */
    enum login_state login;
    char *login_message;

    struct refused_name *refused_rows, *unread_members; /* see refused_rows.c */
};

/* exchange.c: one request, its answer, and the reading of it beside the loop. */
struct exchange_end {
    struct http_answer http; /* owned_body is NULL */
    mono_us answered_at;
    bool token_rejected;           /* a new login may help */
    enum read_end read;            /* of a 2xx */
    const char *why;               /* static text, unless `read` is OK */
    struct upstream_result result; /* class and message; of calls that were read, the payload */
    struct login_answer login;     /* of logins: GARBLED unless it is something else */
};
struct exchange_handlers {
    void (*rows)(void *ctx,
                 struct list_part *part); /* of a list, in turns of their own; may take shoots out */
    void (*done)(void *ctx, struct exchange_end *end); /* once, at the end; may take things out */
};
struct sending {
    bool with_token; /* false for logins */
    bool fresh_connection;
    int64_t timeout_us;
    const struct upstream_call *made_for; /* names its trace and request; NULL for logins. Nothing is kept */
    struct known_rows *known;             /* taken; or NULL */
};
/* Sends `draft` with the account's headers. */
struct exchange *exchange_send(struct upstream_account *a, const struct request_draft *draft,
                               const struct sending *how, const struct exchange_handlers *on, void *ctx);
/* No handler runs any more. */
void exchange_cancel(struct exchange *x);

/* call_spans.c: the spans of a call that is part of a recorded trace. */
/* It waits no more: it is sent, or ends with this error. */
void call_waited(struct upstream_call *call, const char *error);
/* Whatever was sent came to an end; `why` the shoot in the answer is not believed, or NULL. */
void call_answered(const struct upstream_call *call, const struct exchange_end *end, const char *why);
/* Before it is taken off the lane by its user. */
void call_cancelled(struct upstream_call *call);

/* refused_rows.c: what of answers cannot be used. */
/* Told once for each name of a project and each reason. */
void refused_rows_log(struct upstream_account *a, const char *project_id, const char *name, const char *why);
/* Counted and logged. */
void refused_rows_note(struct upstream_account *a, const char *project_id, const struct list_part *part);
/*
 * For one answer, or one row of a list: counts the members, and logs those that are new. `name`: the shoot,
 * or NULL.
 */
void unread_members_note(struct upstream_account *a, const char *project_id, enum upstream_op op,
                         const char *name, const struct unread *unread);
void refused_rows_done(struct upstream_account *a);

/* lane.c */
void lane_kick(struct upstream_account *a);
/* Ends every waiting call. */
void lane_fail_waiting(struct upstream_account *a, const struct upstream_result *result);
/* The breaker opened: waiting users get their answer on the next turn. */
void lane_breaker_opened(struct upstream_account *a);

/* health.c */
/* When the next request may start as far as Cleura's health and the spacing go. */
mono_us health_next_start(const struct upstream_account *a);
/* How many requests may be out at once. */
unsigned health_max_in_flight(const struct upstream_account *a);
bool health_breaker_is_open(const struct upstream_account *a);
/* When the next probe may go; 0 when the breaker is closed. */
wall_us health_breaker_until(const struct upstream_account *a);
/* Seconds until the next probe may go, at least 1. */
int health_retry_after_s(const struct upstream_account *a);
void health_started(struct upstream_account *a);
/* Each answer, to calls and logins alike, passes here once. */
void health_note(struct upstream_account *a, const struct http_answer *answer, enum upstream_class class);
/* A request ended without showing anything about Cleura. */
void health_abandoned(struct upstream_account *a);
void health_done(struct upstream_account *a);
/* A sentence for people: which host, since when, why. The caller owns it. */
char *health_why_away(const struct upstream_account *a);
/* Retry-After in seconds, clamped to [0, 300] (UP-14); 0 when there is none. */
int answer_retry_after_s(const struct upstream_account *a, const struct http_answer *answer);

/* auth.c */
enum auth_answer { AUTH_READY, AUTH_STARTED, AUTH_REFUSED };
/* Makes sure that there is a token. AUTH_STARTED: lane_kick is called when it is decided. */
enum auth_answer auth_prepare(struct upstream_account *a, struct upstream_result *ret_refusal);
/* Cleura rejected the token of this generation; a newer one is left alone (UP-18). */
void auth_token_rejected(struct upstream_account *a, uint64_t generation);
void auth_init(struct upstream_account *a, const struct account_state *remembered);
/* Puts it in the place of the account's configuration; with other credentials a login begins afresh. */
void auth_configure(struct upstream_account *a, const struct config_account *config);
void auth_done(struct upstream_account *a);
/* Keyed digest: distinguishes secrets without storing anything that could be tried offline. */
void auth_mark(const struct upstream_account *a, const char *secret, char mark[static CREDENTIAL_MARK_BYTES]);
/* Takes a token (and owns it); one that is not `checked` has yet to be confirmed by Cleura. */
void auth_accept_token(struct upstream_account *a, char *token, const char *source, bool checked);
void auth_log_in(struct upstream_account *a, bool by_sms);
void auth_validate(struct upstream_account *a);
/* The auth call under way ended: OK (and the caller checks whether it can be understood, and calls
 * health_note), REFUSED, or an outage, for which health_note was called. */
enum upstream_class auth_answered(struct upstream_account *a, const struct exchange_end *end);
/* For a 2xx; one that cannot be understood counts as an outage. */
void auth_note_login(struct upstream_account *a, const struct exchange_end *end);
/* Closes the guard, each time for longer until a login succeeds. */
void auth_close_guard(struct upstream_account *a);
/* Counts a refusal and closes the guard; the state changes only when there is no token that works. */
void auth_refuse(struct upstream_account *a, enum login_state state, const char *message);
/* Changes the state, but not when there is a token that works. */
void auth_report(struct upstream_account *a, enum login_state state, const char *message);

/* by_hand.c */
/* Sends what the step says, or ends it. */
void by_hand_start(struct upstream_account *a);
/* Whether a login is wanted or under way; the automatic one then serves it. */
bool by_hand_is_login(const struct upstream_account *a);
/* A second factor is wanted: decides the next step. May take members out of the answer. */
void by_hand_second_factor(struct upstream_account *a, struct login_answer *answer);
/* Ends whatever is wanted by hand: the account has other credentials now. */
void by_hand_interrupt(struct upstream_account *a);
/* Ends a login by hand, if there is one. */
void by_hand_end_login(struct upstream_account *a, enum login_outcome outcome, const char *message);
bool by_hand_is_pending(const struct upstream_account *a);
void by_hand_done(struct upstream_account *a);

/* token_file.c */
/* Makes a token from the file that was not tried before the account's; false when there is none. */
bool token_file_take(struct upstream_account *a);

#endif
