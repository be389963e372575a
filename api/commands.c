#include "api/commands.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/caller.h"
#include "api/request.h"
#include "api/routes.h"
#include "base/etag.h"
#include "base/mem.h"
#include "http/message/content.h"
#include "http/suspend.h"

/* ---- writes of clusters: dry runs, and waiting for the end of the operation (AO-10 to AO-12) ---- */

bool request_may_wait(struct request *r)
{
    const struct api_limits *limits = &r->api->limits;
    return http_suspended(&r->http) < limits->waiters &&
           http_suspended_of(&r->http, r->token->id) < limits->waiters_per_token;
}

/* Returns for how many seconds to wait for the end of the operation. The parameter takes precedence over the
 * preference. */
static int64_t seconds_to_wait(struct request *r)
{
    bool by_parameter = r->params.given[PARAM_WAIT];
    int64_t wait = by_parameter ? param_number(&r->params, PARAM_WAIT) : prefer_read(&r->http.headers).wait_s;
    int64_t most = r->api->limits.wait_max_s;
    if (wait <= 0 || !request_may_wait(r))
        return 0;
    return wait < most ? wait : most;
}

static void fill_write(struct request *r, struct command *cmd)
{
    int64_t wait = seconds_to_wait(r);
    assert(r->route->method != METHOD_GET);
    cmd->write.dry_run = r->params.numbers[PARAM_DRY_RUN] != 0;
    cmd->write.waits = wait > 0;
    cmd->wait_until = wait ? r->http.started + wait * US_PER_S : 0;
}

static void append_preference(struct buffer *out, const char *text)
{
    if (out->len)
        buffer_add_str(out, ", ");
    buffer_add_str(out, text);
}

static void set_applied(struct request *r, const struct preferences *p, const struct command *cmd)
{
    enum { LONGEST = 128 };
    struct buffer applied CLEANUP_BUFFER;
    buffer_init(&applied, LONGEST);
    if (p->respond_async && cmd->reply.status == MHD_HTTP_ACCEPTED)
        append_preference(&applied, "respond-async");
    /* The request does not wait when too many other requests wait. */
    bool waited = cmd->write.waits || p->wait_s == 0;
    if (p->wait_s >= 0 && waited && !r->params.given[PARAM_WAIT]) {
        char text[32];
        int64_t most = r->api->limits.wait_max_s;
        (void)snprintf(text, sizeof(text), "wait=%lld", (long long)(p->wait_s < most ? p->wait_s : most));
        append_preference(&applied, text);
    }
    if (p->minimal)
        append_preference(&applied, "return=minimal");
    if (p->representation)
        append_preference(&applied, "return=representation");
    if (applied.len)
        answer_header(&r->http.answer, "Preference-Applied", "%.*s", (int)applied.len, applied.data);
}

static struct problem *finish_write(struct request *r, struct command *cmd)
{
    struct preferences p = prefer_read(&r->http.headers);
    if (cmd->write.dry_run)
        return NULL;
    set_applied(r, &p, cmd);
    if (p.minimal) {
        free(TAKE_PTR(cmd->reply.text));
        if (cmd->reply.status == MHD_HTTP_OK)
            cmd->reply.status = MHD_HTTP_NO_CONTENT;
    }
    return NULL; /* the common code makes the answer of other results */
}

/* ---- commands to the decider ---- */

struct command *request_command(struct request *r, enum command_type type)
{
    struct command *cmd = command_new(type);
    const struct api_token *token = r->token;
    assert(token && r->route); /* public routes make no commands */
    caller_of_token(r->api, token, &cmd->caller);
    cmd->least_role = r->route->role;
    cmd->needs_all_projects = (r->route->flags & ROUTE_WHOLE) != 0;
    cmd->request_id = mem_strdup(r->http.id);
    cmd->action_name = r->route->operation;
    if (r->http.client)
        (void)snprintf(cmd->caller.address, sizeof(cmd->caller.address), "%s", r->http.client);
    const mono_us now = env_mono(r->api->options.env);
    const int longest_s = command_kind(type)->longest_s;
    cmd->deadline = now + r->api->limits.command_us;
    cmd->wait_until = longest_s ? now + longest_s * US_PER_S : 0;
    cmd->project = mem_strdup(r->project);
    cmd->name = mem_strdup(r->name);
    if (r->item)
        memcpy(cmd->id, r->item, strnlen(r->item, sizeof(cmd->id) - 1));
    cmd->body = json_incref(r->http.document);
    if (r->route->method != METHOD_GET) {
        const struct preconditions p = preconditions_read(r->http.headers.values[HEADER_IF_MATCH],
                                                          r->http.headers.values[HEADER_IF_NONE_MATCH]);
        cmd->preconditions = preconditions_copy(&p);
    }
    cmd->trace = *server_request_trace(&r->http);
    if (command_write_of(cmd))
        fill_write(r, cmd);
    return cmd;
}

struct problem *request_stopping(void)
{
    return problem_passing(
        PROBLEM_SHUTTING_DOWN, 5,
        "The server is being stopped; after its restart, read the outcome of the request.");
}

static void discard_command(void *result)
{
    command_free(result);
}

/* Loop thread. */
static void on_reply(struct command *cmd)
{
    suspension_resume(cmd->ctx, cmd);
}

struct problem *request_park(struct request *r, struct command *cmd)
{
    const struct api *api = r->api;
    mono_us due =
        (cmd->wait_until > cmd->deadline ? cmd->wait_until : cmd->deadline) + api->limits.overdue_us;
    assert(!cmd->give_back && !cmd->ctx);
    cmd->idempotency = r->idempotency; /* commands that only report something about the request have no key,
                                        * because such a command must not reserve the key */
    r->is_traced = command_is(cmd, COMMAND_STORES | COMMAND_READS_CLEURA);
    if (command_write_of(cmd))
        r->finish = finish_write;
    cmd->give_back = on_reply;
    const struct suspension_terms terms = {cmd->caller.token_id, due, discard_command};
    cmd->ctx = http_suspend(&r->http, &terms);
    if (!cmd->ctx) {
        command_free(cmd);
        return request_stopping();
    }
    /* The request is suspended before the post, see http/suspend.h. */
    api->options.post(api->options.post_ctx, cmd);
    return NULL;
}

struct problem *request_forward(struct request *r)
{
    return request_park(r, request_command(r, r->route->command));
}

void request_notify(struct request *r, struct command *cmd)
{
    struct api *api = r->api;
    assert(!cmd->give_back);
    cmd->give_back = command_free;
    /* The request does not wait for this command, so both threads could use the document at the same time.
     * The reference counts of a document are not safe for two threads; therefore the command gets a copy. */
    json_t *shared = cmd->body;
    cmd->body = json_deep_copy(shared);
    json_decref(shared);
    if (atomic_load(&api->stopping))
        command_free(cmd);
    else
        api->options.post(api->options.post_ctx, cmd);
}

/* ---- results of commands ---- */

/* Chooses the ETag of the answer. A document without a version gets an ETag from its bytes (HT-21). A secret
 * must not be cached, so it gets no ETag. */
static void choose_tag(const struct request *r, struct command *cmd)
{
    bool is_open = !cmd->reply.is_secret && !(r->route->flags & ROUTE_SECRET);
    if (r->route->method == METHOD_GET && cmd->reply.status == MHD_HTTP_OK && cmd->reply.text &&
        !cmd->reply.etag[0] && is_open)
        etag_of_bytes(cmd->reply.text, strlen(cmd->reply.text), cmd->reply.etag);
}

struct problem *answer_with_reply(struct request *r, struct command *cmd)
{
    struct answer *a = &r->http.answer;
    assert(!cmd->reply.problem && !a->status);
    choose_tag(r, cmd);
    if (cmd->reply.text) {
        size_t len = strlen(cmd->reply.text);
        answer_text(a, cmd->reply.status, TYPE_JSON, TAKE_PTR(cmd->reply.text), len);
        a->secret = cmd->reply.is_secret;
    } else {
        answer_empty(a, cmd->reply.status);
    }
    answer_header(a, "Cache-Control", cmd->reply.is_secret ? "no-store" : "private, no-cache");
    answer_header(a, "ETag", "%s", cmd->reply.etag);
    if (cmd->reply.location)
        answer_header(a, "Location", "%s", cmd->reply.location);
    if (cmd->reply.replayed)
        answer_header(a, "Idempotency-Replayed", "true");
    if (cmd->reply.retry_after_s > 0)
        answer_header(a, "Retry-After", "%d", cmd->reply.retry_after_s);
    if (r->route->method == METHOD_GET && cmd->reply.etag[0] && cmd->reply.status == MHD_HTTP_OK)
        return http_apply_conditions(&r->http, cmd->reply.etag);
    return NULL;
}

struct problem *request_overdue(const struct request *r)
{
    return atomic_load(&r->api->stopping)
               ? request_stopping()
               : problem_passing(PROBLEM_OUTCOME_UNKNOWN, 5,
                                 "The server could not finish the request in time; its outcome is not "
                                 "known yet.");
}

/* ---- Idempotency-Key ---- */

enum { KEY_MIN = 16, KEY_MAX = 128 };

/* Adds the text with its NUL, which separates it from the next text: "a", "bc" and "ab", "c" have different
 * digests. */
static void digest_text(crypto_hash_sha256_state *state, const char *text)
{
    (void)crypto_hash_sha256_update(state, (const unsigned char *)text, strlen(text) + 1);
}

static void digest_end(crypto_hash_sha256_state *state, char hex[static REPLAY_DIGEST_BYTES])
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256_final(state, digest);
    (void)sodium_bin2hex(hex, REPLAY_DIGEST_BYTES, digest, sizeof(digest));
}

/* Accepts a string in quotes, which the draft requires, or the bare token that many clients send (HT-46). */
static bool read_key(const char *field, const char **ret_key, size_t *ret_len)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-";
    bool quoted = *field == '"';
    const char *key = field + quoted;
    size_t len = strspn(key, allowed);
    *ret_key = key;
    *ret_len = len;
    return len >= KEY_MIN && len <= KEY_MAX && !strcmp(key + len, quoted ? "\"" : "");
}

struct problem *check_idempotency_key(struct request *r)
{
    const char *field = r->http.headers.values[HEADER_IDEMPOTENCY_KEY];
    const char *key;
    size_t len;
    if (!field || r->route->method != METHOD_POST) /* the other methods need no key, because they are
                                                    * idempotent */
        return NULL;
    if (r->http.headers.counts[HEADER_IDEMPOTENCY_KEY] > 1 || !read_key(field, &key, &len)) {
        struct problem *p = NULL;
        problem_add_fault(
            &p, PROBLEM_INVALID_PARAMETER, FAULT_AT_HEADER, "Idempotency-Key", "malformed", NULL,
            "has to be one key of %d to %d characters A-Z a-z 0-9 . _ ~ -, in quotes or without", KEY_MIN,
            KEY_MAX);
        return p;
    }
    assert(r->token && !*r->idempotency.key);
    crypto_hash_sha256_state state;
    (void)crypto_hash_sha256_init(&state);
    digest_text(&state, r->token->id); /* each caller has separate keys */
    digest_text(&state, r->route->operation);
    (void)crypto_hash_sha256_update(&state, (const unsigned char *)key, len);
    digest_end(&state, r->idempotency.key);
    return NULL;
}

void idempotency_take_fingerprint(struct request *r)
{
    crypto_hash_sha256_state state;
    if (!*r->idempotency.key)
        return;
    const char *type = r->http.headers.values[HEADER_CONTENT_TYPE];
    (void)crypto_hash_sha256_init(&state);
    for (unsigned i = 0; i < r->http.segments.count; i++)
        digest_text(&state, r->http.segments.items[i]);
    for (int id = 0; id < PARAM_MAX_; id++) {
        if (!r->params.texts[id] || id == PARAM_WAIT) /* `wait` affects only the form of the answer */
            continue;
        digest_text(&state, param_name((enum param_id)id));
        digest_text(&state, r->params.texts[id]);
    }
    digest_text(&state, type ? type : "");
    (void)crypto_hash_sha256_update(&state, (const unsigned char *)r->http.body.data, r->http.body.len);
    digest_end(&state, r->idempotency.fingerprint);
}
