/* The inside of an account, shared by lane.c (what is sent when) and auth.c (with which token). Loop thread.
 */
#ifndef UPSTREAM_ACCOUNT_PRIVATE_H
#define UPSTREAM_ACCOUNT_PRIVATE_H

#include "base/list.h"
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
    struct list running;
    struct list overloaded; /* refused at submission, reported on the next turn */
    unsigned in_flight;
    int queue_length;
    mono_us next_start;   /* minimum spacing */
    mono_us paused_until; /* back-off and Retry-After */
    int failures;         /* transport failures in a row */
    struct loop_timer kick;
    int first_variant[UPSTREAM_OP_MAX_]; /* endpoints below this one are known to be missing */
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
/* The peer could not be reached or throttles: no call before a full-jitter back-off (or retry_after_s) is
 * over. */
void lane_back_off(struct upstream_account *a, int retry_after_s);
void lane_contact(struct upstream_account *a);

/* auth.c */
enum auth_answer { AUTH_READY, AUTH_STARTED, AUTH_REFUSED };
/* Makes sure that there is a token. AUTH_STARTED: lane_kick is called when it is decided. */
enum auth_answer auth_prepare(struct upstream_account *a, struct upstream_result *ret_refusal);
/* Cleura rejected the token of this generation; a newer one is left alone (UP-18). */
void auth_token_rejected(struct upstream_account *a, uint64_t generation);
void auth_init(struct upstream_account *a, const struct account_state *remembered);
void auth_done(struct upstream_account *a);

/* Sends `draft` with the account's headers; with_token false for logins. */
struct http_call *account_send(struct upstream_account *a, const struct request_draft *draft, bool with_token,
                               bool is_write, void (*on_done)(void *ctx, const struct http_answer *answer),
                               void *ctx);
void request_draft_done(struct request_draft *draft);

#endif
