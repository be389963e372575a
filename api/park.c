#include "api/park.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/conditional.h"
#include "api/routes.h"
#include "base/mem.h"

/* Two references: the request's (until it is resumed) and the command's (until it is answered). */
struct parking {
    pthread_mutex_t lock; /* guards request and answered */
    atomic_uint refs;
    struct request *request;  /* NULL once it was resumed */
    struct command *answered; /* the command after its reply */
    struct list link;         /* lot's lock */
    mono_us due;              /* it waits no longer than this */
    char token_id[40];
};

void lot_init(struct lot *lot)
{
    (void)pthread_mutex_init(&lot->lock, NULL);
    list_init(&lot->parked);
    atomic_init(&lot->count, 0);
}

void lot_done(struct lot *lot)
{
    (void)pthread_mutex_destroy(&lot->lock);
}

static void parking_unref(struct parking *p)
{
    if (atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    command_free(p->answered);
    (void)pthread_mutex_destroy(&p->lock);
    free(p);
}

/* Resumes the request once, whoever comes first; under p->lock, so that the request is still there. */
static void resume(struct parking *p)
{
    struct request *r = TAKE_PTR(p->request);
    if (r)
        MHD_resume_connection(r->mhd);
}

/* Loop thread. */
static void on_reply(struct command *cmd)
{
    struct parking *p = cmd->ctx;
    (void)pthread_mutex_lock(&p->lock);
    p->answered = cmd;
    resume(p);
    (void)pthread_mutex_unlock(&p->lock);
    parking_unref(p);
}

struct command *request_command(struct request *r, enum command_type type)
{
    struct command *cmd = command_new(type);
    const struct api_token *token = r->token;
    memcpy(cmd->token_id, token->id, sizeof(cmd->token_id));
    cmd->token_name = mem_strdup(token->name);
    cmd->role = token->role;
    cmd->token_projects = string_list_copy(token->projects);
    cmd->request_id = mem_strdup(r->id);
    cmd->action_name = r->route->operation;
    if (r->client)
        (void)snprintf(cmd->address, sizeof(cmd->address), "%s", r->client);
    cmd->deadline = env_mono(r->api->options.env) + r->api->limits.command_us;
    cmd->project = mem_strdup(r->project);
    cmd->name = mem_strdup(r->name);
    if (r->item)
        memcpy(cmd->id, r->item, strnlen(r->item, sizeof(cmd->id) - 1));
    cmd->body = json_incref(r->document);
    cmd->idempotency = r->idempotency;
    cmd->if_match = mem_strdup(r->headers.values[HEADER_IF_MATCH]);
    cmd->if_none_match = mem_strdup(r->headers.values[HEADER_IF_NONE_MATCH]);
    cmd->trace = *request_trace(r);
    return cmd;
}

static struct problem *stopping(void)
{
    struct problem *gone =
        problem_new(PROBLEM_SHUTTING_DOWN, "The server is being stopped; what became of the "
                                           "request can be read back after its restart.");
    gone->retry_after_s = 5;
    return gone;
}

struct problem *request_park(struct request *r, struct command *cmd)
{
    struct api *api = r->api;
    /* Counted before the flag is read: api_stop sets the flag before it reads the count. */
    atomic_fetch_add(&api->lot.count, 1);
    if (atomic_load(&api->stopping)) {
        atomic_fetch_sub(&api->lot.count, 1);
        command_free(cmd);
        return stopping();
    }
    struct parking *p = MEM_NEW(struct parking);
    (void)pthread_mutex_init(&p->lock, NULL);
    atomic_init(&p->refs, 2);
    p->request = r;
    memcpy(p->token_id, cmd->token_id, sizeof(p->token_id));
    p->due = (cmd->wait_until > cmd->deadline ? cmd->wait_until : cmd->deadline) + api->limits.overdue_us;
    r->parking = p;
    r->stage = STAGE_PARKED;
    cmd->reply = on_reply;
    cmd->ctx = p;

    (void)pthread_mutex_lock(&api->lot.lock);
    list_append(&api->lot.parked, &p->link);
    (void)pthread_mutex_unlock(&api->lot.lock);
    /* Suspended first and posted then: the reply, on whatever thread, finds a suspended connection (MH-10).
     */
    MHD_suspend_connection(r->mhd);
    api->options.post(api->options.post_ctx, cmd);
    return NULL;
}

void request_tell(struct request *r, struct command *cmd)
{
    struct api *api = r->api;
    cmd->reply = command_free;
    /* Nobody waits here: the request goes on with its document while the command travels, and the references
     * of a document are not counted in a way that two threads may share. */
    json_t *shared = cmd->body;
    cmd->body = json_deep_copy(shared);
    json_decref(shared);
    if (atomic_load(&api->stopping))
        command_free(cmd);
    else
        api->options.post(api->options.post_ctx, cmd);
}

/* What has no version of its own is told apart by its bytes (HT-21). Secrets are not to be kept: no tag. */
static void choose_tag(const struct request *r, struct command *cmd)
{
    bool is_open = !cmd->answer_is_secret && !(r->route->flags & ROUTE_SECRET);
    if (r->route->method == METHOD_GET && cmd->status == MHD_HTTP_OK && cmd->answer && !cmd->etag[0] &&
        is_open)
        etag_of_bytes(cmd->answer, strlen(cmd->answer), cmd->etag);
}

static struct problem *answer_command(struct request *r, struct command *cmd)
{
    struct answer *a = &r->answer;
    if (cmd->problem)
        return TAKE_PTR(cmd->problem);
    struct problem *p = r->finish ? r->finish(r, cmd) : NULL;
    if (p || a->status)
        return p;
    choose_tag(r, cmd);
    if (cmd->answer) {
        size_t len = strlen(cmd->answer);
        answer_text(a, cmd->status, TYPE_JSON, TAKE_PTR(cmd->answer), len);
        a->secret = cmd->answer_is_secret;
    } else {
        answer_empty(a, cmd->status);
    }
    answer_header(a, "Cache-Control", cmd->answer_is_secret ? "no-store" : "private, no-cache");
    answer_header(a, "ETag", "%s", cmd->etag);
    if (cmd->location)
        answer_header(a, "Location", "%s", cmd->location);
    if (cmd->replayed)
        answer_header(a, "Idempotency-Replayed", "true");
    if (cmd->retry_after_s > 0)
        answer_header(a, "Retry-After", "%d", cmd->retry_after_s);
    if (r->route->method == METHOD_GET && cmd->etag[0] && cmd->status == MHD_HTTP_OK)
        return answer_apply_conditions(r, cmd->etag);
    return NULL;
}

/* Takes the request off the lot; returns its command when that was answered. */
static struct command *leave_lot(struct request *r)
{
    struct api *api = r->api;
    struct parking *p = TAKE_PTR(r->parking);
    (void)pthread_mutex_lock(&api->lot.lock);
    list_remove(&p->link);
    (void)pthread_mutex_unlock(&api->lot.lock);
    atomic_fetch_sub(&api->lot.count, 1);

    (void)pthread_mutex_lock(&p->lock);
    p->request = NULL;
    struct command *cmd = TAKE_PTR(p->answered);
    (void)pthread_mutex_unlock(&p->lock);
    parking_unref(p);
    return cmd;
}

static struct problem *overdue(void)
{
    struct problem *p = problem_new(PROBLEM_OUTCOME_UNKNOWN,
                                    "The server could not finish the request in time; what became of "
                                    "it is not known yet.");
    p->retry_after_s = 5;
    return p;
}

struct problem *request_unpark(struct request *r)
{
    struct command *cmd = leave_lot(r);
    if (!cmd)
        return atomic_load(&r->api->stopping) ? stopping() : overdue();
    struct problem *p = answer_command(r, cmd);
    command_free(cmd);
    return p;
}

void request_abandon(struct request *r)
{
    if (r->parking)
        command_free(leave_lot(r));
}

/* How many parked requests belong to a token. */
static unsigned lot_count_of(struct lot *lot, const char *token_id)
{
    unsigned count = 0;
    (void)pthread_mutex_lock(&lot->lock);
    LIST_FOR_EACH (it, &lot->parked)
        count += !strcmp(CONTAINER_OF(it, struct parking, link)->token_id, token_id);
    (void)pthread_mutex_unlock(&lot->lock);
    return count;
}

bool request_may_wait(struct request *r)
{
    const struct api_limits *limits = &r->api->limits;
    return api_parked(r->api) < limits->waiters &&
           lot_count_of(&r->api->lot, r->token->id) < limits->waiters_per_token;
}

void lot_expire(struct lot *lot, mono_us now)
{
    (void)pthread_mutex_lock(&lot->lock);
    LIST_FOR_EACH (it, &lot->parked) {
        struct parking *p = CONTAINER_OF(it, struct parking, link);
        if (p->due > now)
            continue;
        (void)pthread_mutex_lock(&p->lock);
        resume(p);
        (void)pthread_mutex_unlock(&p->lock);
    }
    (void)pthread_mutex_unlock(&lot->lock);
}

void lot_evict(struct lot *lot)
{
    (void)pthread_mutex_lock(&lot->lock);
    LIST_FOR_EACH (it, &lot->parked) {
        struct parking *p = CONTAINER_OF(it, struct parking, link);
        (void)pthread_mutex_lock(&p->lock);
        resume(p);
        (void)pthread_mutex_unlock(&p->lock);
    }
    (void)pthread_mutex_unlock(&lot->lock);
}
