/*
 * The inside of an account, shared by lane.c (which call is next), health.c (whether anything may be sent
 * now) and auth.c (with which token). Loop thread.
 */
#ifndef UPSTREAM_ACCOUNT_PRIVATE_H
#define UPSTREAM_ACCOUNT_PRIVATE_H

#include "base/list.h"
#include "upstream/breaker.h"
#include "upstream/budget.h"
#include "upstream/fairness.h"
#include "upstream/generation_private.h"
#include "upstream/upstream.h"

enum auth_phase { AUTH_IDLE, AUTH_VALIDATING, AUTH_LOGGING_IN };

struct upstream_account {
    struct loop *loop;
    const struct env *env;
    struct transport *transport;
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
    mono_us next_start;   /* minimum spacing */
    mono_us paused_until; /* back-off and Retry-After, for the whole account */
    int unwell;           /* answers in a row that asked for a back-off */
    wall_us last_contact_at;

    /* auth */
    enum auth_phase auth;
    struct http_call *auth_call;
    char *token; /* secret; NULL: none */
    bool token_checked;
    uint64_t token_generation;
    int useless_logins; /* logins in a row whose token was rejected at once */
    mono_us no_relogin_until;
    struct account_state *remembered;
    enum login_state login;
    char *login_message;
};

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
/* A request ended without telling anything about Cleura. */
void health_abandoned(struct upstream_account *a);
void health_done(struct upstream_account *a);
/* Retry-After in seconds, clamped to [0, 300] (UP-14); 0 when there is none. */
int answer_retry_after_s(const struct upstream_account *a, const struct http_answer *answer);

/* auth.c */
enum auth_answer { AUTH_READY, AUTH_STARTED, AUTH_REFUSED };
/* Makes sure that there is a token. AUTH_STARTED: lane_kick is called when it is decided. */
enum auth_answer auth_prepare(struct upstream_account *a, struct upstream_result *ret_refusal);
/* Cleura rejected the token of this generation; a newer one is left alone (UP-18). */
void auth_token_rejected(struct upstream_account *a, uint64_t generation);
void auth_init(struct upstream_account *a, const struct account_state *remembered);
void auth_done(struct upstream_account *a);

struct sending {
    bool with_token; /* false for logins */
    bool is_write;
    int64_t timeout_us;
};
/* Sends `draft` with the account's headers. */
struct http_call *account_send(struct upstream_account *a, const struct request_draft *draft,
                               const struct sending *how,
                               void (*on_done)(void *ctx, const struct http_answer *answer), void *ctx);
void request_draft_done(struct request_draft *draft);

#endif
