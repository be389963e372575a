/*
 * Authenticates the caller and checks its rights. A token is a row of the view: the length is checked, then
 * one digest and one look-up are made, without the store. Unknown, malformed, expired and revoked tokens of
 * the right length get the same answer after the same work (AU-8): bench/refusals.py compares the times.
 */
#include "api/auth.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/jwt.h"
#include "api/routes.h"
#include "api/tickets.h"
#include "base/ids.h"
#include "base/mem.h"
#include "oidc/verify.h"

/* ---- rate limits: each token has its own limit. Wrong credentials are counted for the client's address, and
 * do not affect valid credentials from the same address, because this may be the address of a proxy ---- */

/* The bits of a digest are evenly distributed, so some of them are the key. */
static uint64_t key_of_token(const struct api_token *token)
{
    uint64_t key;
    memcpy(&key, token->digest, sizeof(key));
    return key ? key : 1;
}

static struct problem *refuse_over_limit(struct request *r, const char *detail)
{
    const struct rate_limit_state *quota = &r->http.rate_limit;
    struct problem *p = problem_new(PROBLEM_REQUEST_QUOTA_EXCEEDED, "%s", detail);
    const struct env *env = r->api->options.env;
    uint32_t random;
    assert(quota->limit && quota->is_refused && quota->seconds >= 0);
    p->extra = json_object();
    json_set_take(p->extra, "violated-policies", json_pack("[s]", quota->limit->name));
    /* A random delay is added, so that clients that were refused together do not return together (HT-43). */
    env->random(env, &random, sizeof(random));
    p->retry_after_s = quota->seconds + (int)(random % (2 + (unsigned)quota->seconds / 4));
    return p;
}

/* Returns the present time. For a request that has just begun, this is the time when it began, so that the
 * clock is not read again. */
static mono_us recent(const struct request *r)
{
    return r->http.took_time ? env_mono(r->api->options.env) : r->http.started;
}

struct problem *check_rate_limit(struct request *r)
{
    if (!r->token)
        return NULL;
    r->http.rate_limit = rate_limit_take(&r->api->requests, key_of_token(r->token), recent(r));
    return r->http.rate_limit.is_refused
               ? refuse_over_limit(r,
                                   "The token has made more requests within a minute than its quota allows.")
               : NULL;
}

bool throttle_fresh(struct request *r)
{
    return rate_limit_take(&r->api->fresh_reads, key_of_token(r->token), recent(r)).is_refused;
}

const char *auth_failure_name(enum auth_failure why)
{
    static const char *const names[AUTH_FAILURE_MAX_] = {"missing", "malformed", "unknown",
                                                         "revoked", "expired",   "jwt"};
    return names[why];
}

/* Returns a key of the client's address, not 0, with evenly distributed bits. */
static uint64_t client_key(const struct request *r)
{
    const uint64_t network = client_network(r->http.client);
    uint64_t key;
    (void)crypto_shorthash((unsigned char *)&key, (const unsigned char *)&network, sizeof(network),
                           r->api->print_key);
    return key ? key : 1;
}

/* Refuses wrong or missing credentials: 401, or 429 when the address sent too many. The reason `why` goes to
 * a counter, not to the answer. */
static struct problem *refuse_credentials(struct request *r, enum auth_failure why, enum problem_code code,
                                          const char *detail)
{
    atomic_fetch_add_explicit(&r->api->refused_credentials[why], 1, memory_order_relaxed);
    r->http.rate_limit = rate_limit_take(&r->api->auth_failures, client_key(r), recent(r));
    return r->http.rate_limit.is_refused
               ? refuse_over_limit(
                     r, "Too many requests with wrong or missing credentials came from this address.")
               : problem_new(code, "%s", detail);
}

/* ---- credentials ---- */

bool token_is_live(const struct api *api, const struct api_token *token)
{
    return api_token_is_live(token, env_wall(api->options.env));
}

static const char bearer[] = "Bearer";

/* Whether the scheme is Bearer. The answer to another scheme does not show it, because it may be a token. */
static bool is_bearer(const char *field)
{
    const char *end = field + sizeof(bearer) - 1;
    return !strncasecmp(field, bearer, sizeof(bearer) - 1) && (*end == ' ' || !*end);
}

/* Returns the token in "Bearer <token>"; NULL when the scheme is not Bearer, or nothing follows. */
static const char *bearer_token(const char *field)
{
    const char *rest = field + sizeof(bearer) - 1;
    return is_bearer(field) && *rest ? rest + strspn(rest, " ") : NULL;
}

/* Takes the token from "Bearer <token>" and writes its digest, in hex, to `key`; the view finds tokens by
 * this key. Returns false when the scheme is not Bearer, or when the text is not as long as a token. *ret_why
 * is the reason to report when the view has no such key. */
static bool digest_credentials(const char *field, char key[static TOKEN_HEX_BYTES],
                               enum auth_failure *ret_why)
{
    uint8_t digest[TOKEN_DIGEST_BYTES];
    const char *token = bearer_token(field);
    if (!token || strnlen(token, TOKEN_BYTES) != TOKEN_LEN)
        return false;
    *ret_why = token_is_wellformed(token) ? AUTH_UNKNOWN : AUTH_MALFORMED;
    token_digest(token, digest);
    token_hex(digest, key);
    return true;
}

/* The credentials of the last request of a connection; the connection stores them. */
struct last_token {
    bool is_set;
    uint8_t print[TOKEN_PRINT_BYTES];
    char key[TOKEN_HEX_BYTES];
    enum auth_failure why; /* the reason from digest_credentials */
};
_Static_assert(sizeof(struct last_token) <= CONNECTION_USER_BYTES, "a connection has room for it");

/*
 * Clients send the same credentials in every request of a connection, and the digest of the credentials
 * costs more than all other checks. Therefore the connection stores a fingerprint of the last credentials,
 * and their digest. The fingerprint is made with a secret key of this process, so it reveals nothing. The
 * token is looked up again in each request.
 */
static bool read_credentials(struct request *r, const char *field, char key[static TOKEN_HEX_BYTES],
                             enum auth_failure *ret_why)
{
    struct last_token now = {.is_set = true};
    (void)crypto_shorthash_siphashx24(now.print, (const unsigned char *)field, strlen(field),
                                      r->api->print_key);
    struct last_token *last = r->http.peer ? (struct last_token *)(void *)r->http.peer->user : NULL;
    if (last && last->is_set && !sodium_memcmp(last->print, now.print, sizeof(now.print))) {
        memcpy(key, last->key, sizeof(last->key));
        *ret_why = last->why;
        return true;
    }
    if (!digest_credentials(field, key, ret_why))
        return false;
    memcpy(now.key, key, sizeof(now.key));
    now.why = *ret_why;
    if (last)
        *last = now;
    return true;
}

/*
 * The first request of a token in a minute reports that the token is in use. The time is stored in the
 * view's copy of the token. It is the only member of an object in the view that changes, and it is atomic.
 */
static void note_use(struct request *r)
{
    struct api_token *t = (struct api_token *)(uintptr_t)r->token;
    const wall_us minute = token_minute(env_wall(r->api->options.env));
    wall_us before = atomic_load_explicit(&t->used_at, memory_order_relaxed);
    if (before != minute && atomic_compare_exchange_strong(&t->used_at, &before, minute))
        request_notify(r, request_command(r, COMMAND_TOKEN_USED));
}

/* Finds out why a token is not valid; *why does not change when the view has no such key. */
static void log_reason(const struct api *api, const char *key, const struct api_token *found,
                       enum auth_failure *why)
{
    const bool was =
        view_was_token(api->options.view, key); /* always called, so that the duration reveals nothing */
    if (found && !found->revoked_at)
        *why = AUTH_EXPIRED;
    else if (found || was)
        *why = AUTH_REVOKED;
}

/*
 * Looks up the token. Digests are compared, not tokens, so the duration reveals nothing about the token.
 * Returns false when the token is not valid; *why then gets the reason, but is left unchanged when the view
 * has no such key.
 */
static bool look_up(struct request *r, const char *key, enum auth_failure *why)
{
    const struct view_snapshot *s = view_enter(r->api->options.view);
    struct view_blob *blob = view_find(s, VIEW_TOKENS, key);
    const struct api_token *found = blob ? blob->subject : NULL;
    bool ok = found && token_is_live(r->api, found);
    if (ok) {
        assert(!r->token_blob);
        r->token_blob = view_blob_ref(blob);
        r->token = found;
    } else {
        log_reason(r->api, key, found, why);
    }
    view_leave(r->api->options.view);
    if (ok)
        note_use(r);
    return ok;
}

/* The answer is the same, whatever the reason is. */
static struct problem *refuse_token(struct request *r, enum auth_failure why)
{
    return refuse_credentials(r, why, PROBLEM_INVALID_TOKEN, "The token is not known, expired or revoked.");
}

/* Makes `caller` the caller of the request, and takes over its reference. The checks that follow treat a
 * caller with a JWT like a token. */
static void take_caller(struct request *r, struct view_blob *caller)
{
    view_blob_unref(r->token_blob);
    r->token_blob = caller;
    r->token = caller->subject;
}

/* Returns the credentials if they have the form of a JWT, otherwise NULL. */
static const char *given_jwt(const struct request *r)
{
    const char *field = r->http.headers.values[HEADER_AUTHORIZATION];
    const char *token = field && r->api->options.oidc ? bearer_token(field) : NULL;
    return token && jwt_is_one(token) ? token : NULL;
}

/* Checks a JWT. When it is not cached, the request is suspended while another thread verifies it. */
static struct problem *check_jwt(struct request *r, const char *token)
{
    uint8_t digest[TOKEN_DIGEST_BYTES];
    token_digest(token, digest);
    struct view_blob *caller = jwt_caller_kept(r->api, digest);
    if (!caller && oidc_has_form(token, strlen(token)))
        return jwt_verify(r, token, digest, client_key(r));
    if (!caller) {
        /* The form is wrong; the call counts the reason. */
        (void)jwt_caller_check(r->api, token, digest, &caller);
        assert(!caller);
        return refuse_token(r, AUTH_JWT);
    }
    take_caller(r, caller);
    return NULL;
}

/* Whether the browser's header fields show that a page of another site made the request. (shootd's own page
 * may use the API.) */
static bool is_of_a_page(const struct request *r)
{
    const char *site = r->http.headers.values[HEADER_SEC_FETCH_SITE];
    return r->http.headers.values[HEADER_ORIGIN] ||
           (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0);
}

/* Whether a client certificate of the connection is accepted in place of a token. A browser also sends its
 * certificate with requests that pages of other sites make; therefore such a request needs a token. */
static bool check_certificate(struct request *r)
{
    struct tls *tls = r->api->options.tls;
    if (!tls || !tls_client_authorities(tls) || !r->http.peer || is_of_a_page(r))
        return false;
    const struct tls_client *client = connection_client(r->http.peer, tls);
    if (!client->names || !client->names[0] || client->ends_at <= env_wall(r->api->options.env))
        return false;
    take_caller(r, certificate_caller(r->api, client));
    return true;
}

/* Checks a caller that got its ticket with a JWT or a certificate; takes over the reference. */
static bool look_at_caller(struct request *r, struct view_blob *caller)
{
    if (caller_holds(r->api, caller->subject)) {
        take_caller(r, caller);
        return true;
    }
    view_blob_unref(caller);
    return false;
}

/* Returns the ticket of a request for a stream without credentials; NULL when it is absent or not allowed. */
static const char *given_ticket(const struct request *r)
{
    if (!(r->route->params & PARAM_BIT(PARAM_TICKET)) || !route_prefers_stream(r))
        return NULL;
    return http_query_text(&r->http, param_name(PARAM_TICKET));
}

static struct problem *check_ticket(struct request *r, const char *ticket)
{
    uint8_t digest[TOKEN_DIGEST_BYTES];
    char key[TOKEN_HEX_BYTES];
    enum auth_failure why = AUTH_UNKNOWN;
    struct view_blob *caller;
    bool ok = tickets_use(&r->api->tickets, r->api->options.env, ticket, digest, &caller);
    if (ok) {
        token_hex(digest, key);
        ok = caller ? look_at_caller(r, caller) : look_up(r, key, &why);
    }
    return ok ? NULL
              : refuse_credentials(r, why, PROBLEM_INVALID_TOKEN,
                                   "The ticket is not known, was used, or has expired; POST "
                                   "/v1/stream-tickets gives another.");
}

struct problem *check_token(struct request *r)
{
    assert(r->route && !r->token);
    if (r->route->flags & ROUTE_PUBLIC)
        return NULL;
    const char *field = r->http.headers.values[HEADER_AUTHORIZATION];
    const char *ticket = field ? NULL : given_ticket(r);
    if (ticket)
        return check_ticket(r, ticket);
    if (!field)
        return check_certificate(r) ? NULL
                                    : refuse_credentials(r, AUTH_MISSING, PROBLEM_UNAUTHENTICATED,
                                                         "This operation needs a bearer token.");
    if (!is_bearer(field))
        return refuse_credentials(r, AUTH_MALFORMED, PROBLEM_UNAUTHENTICATED,
                                  "The scheme of Authorization is not Bearer: this operation needs "
                                  "'Authorization: Bearer <token>'.");
    char key[TOKEN_HEX_BYTES];
    enum auth_failure why = AUTH_MALFORMED;
    if (read_credentials(r, field, key, &why) && look_up(r, key, &why))
        return NULL;
    const char *jwt = given_jwt(r);
    return jwt ? check_jwt(r, jwt) : refuse_token(r, why);
}

struct problem *check_verified_jwt(struct request *r, struct jwt_verification *result)
{
    struct view_blob *caller;
    struct problem *p = jwt_verified(r, result, &caller);
    if (p || r->http.suspension)
        return p;
    if (!caller)
        return refuse_token(r, AUTH_JWT);
    take_caller(r, caller);
    return NULL;
}

static void audit_refusal(struct request *r, enum problem_code code, bool denied)
{
    struct command *cmd = request_command(r, COMMAND_AUDIT_REFUSED);
    cmd->reply.problem = problem_new(code, "refused");
    cmd->denied = denied;
    request_notify(r, cmd);
}

void report_denied(struct request *r, enum problem_code code)
{
    audit_refusal(r, code, true);
}

void report_refused(struct request *r, enum problem_code code)
{
    audit_refusal(r, code, code == PROBLEM_FORBIDDEN);
}

struct problem *check_permission(struct request *r)
{
    if (!r->token)
        return NULL;
    if (r->token->issuer && !r->token->projects[0]) {
        report_denied(r, PROBLEM_FORBIDDEN);
        return problem_new(PROBLEM_FORBIDDEN,
                           "No rule of the configuration gives a role to the caller with this token.");
    }
    if (r->token->role < r->route->role) {
        report_denied(r, PROBLEM_FORBIDDEN);
        return problem_new(PROBLEM_FORBIDDEN, "This operation needs the role %s; the token has the role %s.",
                           role_name(r->route->role), role_name(r->token->role));
    }
    if (r->route->flags & ROUTE_WHOLE && !projects_include(r->token->projects, PROJECT_ALL)) {
        report_denied(r, PROBLEM_FORBIDDEN);
        return problem_new(PROBLEM_FORBIDDEN,
                           "This operation concerns the whole server: it needs the role %s for all projects "
                           "(\"*\"); the token is limited to some projects.",
                           role_name(r->route->role));
    }
    bool is_there = r->project && config_project(api_config(r->api), r->project);
    bool is_seen = is_there && api_token_sees_project(r->token, r->project);
    if (is_there && !is_seen)
        report_denied(r, PROBLEM_PROJECT_NOT_FOUND);
    if (r->project && !is_seen)
        return problem_no_project(r->project);
    return NULL;
}

/* Ends a repeated check of the credentials. After a refusal the request keeps the caller of the first check,
 * so that the audit log can name this caller. */
static struct problem *end_check_again(struct request *r, struct problem *p)
{
    if (p && (p->code == PROBLEM_INVALID_TOKEN || p->code == PROBLEM_REQUEST_QUOTA_EXCEEDED))
        report_denied(r, PROBLEM_INVALID_TOKEN);
    return p || r->http.suspension ? p : check_permission(r);
}

static struct problem *check_token_again(struct request *r)
{
    struct view_blob *before = r->token_blob;
    const struct api_token *token = r->token;
    r->token_blob = NULL;
    r->token = NULL;
    struct problem *p = check_token(r);
    if (!p) {
        view_blob_unref(before);
        return NULL;
    }
    r->token_blob = before;
    r->token = token;
    return p;
}

/* A ticket is valid only once, so it is not checked again; its stream checks the token itself. The signature
 * of a JWT is verified again only when the configuration of its issuer has changed. */
struct problem *check_caller_again(struct request *r)
{
    if (!r->token || given_ticket(r))
        return NULL;
    const char *jwt = r->token->issuer && !r->token->is_certificate ? given_jwt(r) : NULL;
    if (!jwt)
        return end_check_again(r, check_token_again(r));
    return end_check_again(r, caller_holds(r->api, r->token) ? NULL : check_jwt(r, jwt));
}

struct problem *check_verified_jwt_again(struct request *r, struct jwt_verification *result)
{
    return end_check_again(r, check_verified_jwt(r, result));
}

void auth_add_fields(struct request *r, enum problem_code code)
{
    static const char *const challenges[PROBLEM_MAX_] = {
        [PROBLEM_UNAUTHENTICATED] = "Bearer realm=\"shootd\"",
        [PROBLEM_INVALID_TOKEN] = "Bearer realm=\"shootd\", error=\"invalid_token\"",
        [PROBLEM_FORBIDDEN] = "Bearer realm=\"shootd\", error=\"insufficient_scope\"",
    };
    const struct headers *h = &r->http.headers;
    const char *challenge = challenges[code];
    if (code == PROBLEM_MALFORMED_REQUEST && !h->fault && h->counts[HEADER_AUTHORIZATION] > 1)
        challenge = "Bearer realm=\"shootd\", error=\"invalid_request\"";
    if (!challenge)
        return;
    const char *role = code == PROBLEM_FORBIDDEN && r->route ? role_name(r->route->role) : NULL;
    answer_header(&r->http.answer, "WWW-Authenticate", role ? "%s, scope=\"%s\"" : "%s", challenge, role);
}

bool auth_still_holds(struct api *api, const uint8_t digest[static TOKEN_DIGEST_BYTES])
{
    char key[TOKEN_HEX_BYTES];
    token_hex(digest, key);
    const struct view_snapshot *snapshot = view_enter(api->options.view);
    struct view_blob *blob = view_find(snapshot, VIEW_TOKENS, key);
    bool holds = blob && token_is_live(api, blob->subject);
    view_leave(api->options.view);
    return holds;
}
