/* Life of the reconciler: load, start, dispatch, stop. Loop thread, but for construction and load before it
 * runs. */
#include "reconcile/reconcile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/moves.h"
#include "reconcile/answers/audit.h"
#include "reconcile/answers/operations.h"
#include "reconcile/answers/replay.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/decide.h"
#include "reconcile/housekeeping.h"
#include "reconcile/lookups/catalog.h"
#include "reconcile/lookups/fetch.h"
#include "reconcile/lookups/lookup.h"
#include "reconcile/observation/observe.h"
#include "reconcile/observation/poll.h"
#include "reconcile/operations/steps.h"
#include "reconcile/world/departed.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/remembered.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"
#include "view/render.h"

/* ---- construction ---- */

static void on_subscription_changed(void *ctx, struct subscription *s)
{
    webhook_was_disabled(ctx, s);
}

static void on_credentials_rotated(struct entity *e)
{
    kubeconfigs_drop(e);
}

static void on_left(struct entity *e)
{
    fetches_forget(e->r->fetches, e->key);
}

struct reconcile *reconcile_new(const struct reconcile_options *options)
{
    struct reconcile *r = MEM_NEW(struct reconcile);
    r->o = *options;
    r->reactions = (struct reactions){.advance = steps_advance,
                                      .sighted = observe,
                                      .credentials_rotated = on_credentials_rotated,
                                      .left = on_left,
                                      .decide_again = reconcile_command};
    r->env = loop_env(options->loop);
    r->fetches = fetches_new(r);
    list_init(&r->name_checks);
    list_init(&r->walks);
    r->account_count = options->config->account_count;
    r->accounts = mem_calloc(r->account_count, sizeof(*r->accounts));
    for (size_t i = 0; i < options->config->project_count; i++) {
        struct project *p = MEM_NEW(struct project);
        p->config = &options->config->projects[i];
        p->r = r;
        list_init(&p->clusters);
        HASH_ADD_KEYPTR(hh, r->projects, p->config->name, strlen(p->config->name), p);
    }
    const struct webhook_options webhooks = {.loop = options->loop,
                                             .transport = options->webhook_transport,
                                             .storage = options->storage,
                                             .config = options->config,
                                             .key = options->key,
                                             .subscription_changed = on_subscription_changed,
                                             .ctx = r};
    r->webhooks = webhook_engine_new(&webhooks);
    return r;
}

/* ---- load ---- */

static void load_cluster(void *ctx, struct cluster *c)
{
    struct reconcile *r = ctx;
    struct project *p = project_find(r, c->project);
    if (p && !c->departed_at && entity_find(r, c->project, c->name)) {
        log_error("two stored clusters have one name: the second is left out", "project", c->project,
                  "cluster", c->name);
        cluster_free(c);
        return;
    }
    if (p && c->departed_at)
        departed_add(p, c);
    else if (p)
        (void)entity_add(r, p, c);
    cluster_rest(c);
    if (p)
        return;
    log_warning("cluster of a project that is no longer configured is not shown", "project", c->project,
                "cluster", c->name);
    cluster_free(c);
}

static void load_operation(void *ctx, struct operation *op)
{
    operation_free(operation_remember(ctx, op));
}

static void load_operations_left_out(void *ctx, const char *id)
{
    struct reconcile *r = ctx;
    (void)snprintf(r->left_out, sizeof(r->left_out), "%s", id);
}

static void load_subscription(void *ctx, struct subscription *s)
{
    struct reconcile *r = ctx;
    struct subscription_entry *entry = MEM_NEW(struct subscription_entry);
    memcpy(entry->id, s->id, sizeof(entry->id));
    entry->subscription = s;
    HASH_ADD_STR(r->subscriptions, id, entry);
    webhook_engine_set(r->webhooks, s);
    view_set(r->o.view, VIEW_WEBHOOKS, s->id, render_subscription_blob(s));
}

static void load_delivery(void *ctx, struct delivery *d)
{
    struct reconcile *r = ctx;
    webhook_engine_enqueue(r->webhooks, d, NULL);
    free(d);
}

static void load_token(void *ctx, struct api_token *t)
{
    token_add(ctx, t);
}

static void load_account(void *ctx, struct account_state *a)
{
    struct reconcile *r = ctx;
    r->loaded_accounts =
        mem_realloc_array(r->loaded_accounts, r->loaded_account_count + 1, sizeof(*r->loaded_accounts));
    r->loaded_accounts[r->loaded_account_count++] = a;
}

static void load_project(void *ctx, struct project_state *state)
{
    struct reconcile *r = ctx;
    struct project *p = project_find(r, state->name);
    if (p && !p->state)
        p->state = state;
    else
        project_state_free(state);
}

static void load_event_numbers(void *ctx, int64_t oldest, int64_t newest)
{
    struct reconcile *r = ctx;
    feed_begin(r->o.feed, oldest, newest);
}

static void load_quarantined(void *ctx, int64_t rows)
{
    (void)ctx;
    housekeeping_quarantined(rows);
}

struct store_visitor reconcile_visitor(struct reconcile *r)
{
    assert(!r->started);
    return (struct store_visitor){.cluster = load_cluster,
                                  .operation = load_operation,
                                  .operations_left_out = load_operations_left_out,
                                  .subscription = load_subscription,
                                  .delivery = load_delivery,
                                  .token = load_token,
                                  .account = load_account,
                                  .project = load_project,
                                  .quarantined = load_quarantined,
                                  .event_numbers = load_event_numbers,
                                  .ctx = r};
}

/* ---- start ---- */

static void start_accounts(struct reconcile *r)
{
    for (size_t i = 0; i < r->account_count; i++) {
        const struct config_account *config = &r->o.config->accounts[i];
        const struct account_state *remembered = NULL;
        for (size_t j = 0; j < r->loaded_account_count && !remembered; j++)
            if (!strcmp(r->loaded_accounts[j]->name, config->name))
                remembered = r->loaded_accounts[j];
        account_start(&r->accounts[i], r, config, remembered);
    }
    for (size_t i = 0; i < r->loaded_account_count; i++)
        account_state_free(r->loaded_accounts[i]);
    free(r->loaded_accounts);
    r->loaded_accounts = NULL;
    r->loaded_account_count = 0;
}

static struct account *account_of(struct reconcile *r, const struct config_project *config)
{
    for (size_t i = 0; i < r->account_count; i++)
        if (r->accounts[i].config == config->account)
            return &r->accounts[i];
    abort(); /* config_load resolves every project's account */
}

/* It was made with the construction, and has what the store knows of it. */
static void start_project(struct project *p)
{
    p->account = account_of(p->r, p->config);
    p->unremembered = !p->state;
    if (!p->state) {
        p->state = MEM_NEW(struct project_state);
        p->state->name = mem_strdup(p->config->name);
    }
    catalog_init(p);
    fresh_init(p);
    poll_init(p);
}

/* Its cluster's row could not be read: nobody will go on with it, and nobody is to wait. */
static void end_orphan(struct reconcile *r, const struct operation *stored)
{
    struct operation *op = operation_copy(stored);
    struct problem *problem CLEANUP_PROBLEM = problem_new(
        PROBLEM_INTERNAL_ERROR, "its stored state cannot be read: what became of it is not known");
    struct save *save = save_new(r, NULL, NULL);
    operation_move(op, OPERATION_FAILED);
    op->finished_at = env_wall(r->env);
    json_decref(op->error);
    op->error = problem_to_error_json(problem);
    mem_set_str(&op->message, problem->detail);
    log_error("operation cannot go on", "operation", op->id, "project", op->project, "cluster", op->cluster,
              "reason", op->message);
    save_operation(save, op);
    save_submit(save, false);
    operation_free(op);
}

static void attach_operations(struct reconcile *r)
{
    for (struct operation_entry *entry = r->operations; entry; entry = entry->hh.next) {
        struct entity *e = entity_find(r, entry->op->project, entry->op->cluster);
        bool open = !operation_status_is_final(entry->op->status);
        bool attached = e && !strcmp(entry->op->cluster_id, e->cluster->id);
        if (!attached) {
            if (open && project_find(r, entry->op->project))
                end_orphan(r, entry->op);
            continue;
        }
        bool current = !strcmp(entry->id, e->cluster->operation_id);
        if (current) {
            e->op = operation_copy(entry->op);
            e->saves.operation_ended = !open;
        } else if (open) {
            entity_queue_push(e, operation_copy(entry->op));
        }
    }
    operations_settle(r);
}

/* A delete first, else in the order of acceptance; ids are made in the order of time. */
static int by_turn(const void *left, const void *right)
{
    const struct operation *const *a = left, *const *b = right;
    bool a_first = (*a)->type == OPERATION_DELETE, b_first = (*b)->type == OPERATION_DELETE;
    if (a_first != b_first)
        return a_first ? -1 : 1;
    if ((*a)->created_at != (*b)->created_at)
        return (*a)->created_at < (*b)->created_at ? -1 : 1;
    return strcmp((*a)->id, (*b)->id);
}

static void take_up(struct entity *e)
{
    struct cluster *c = e->cluster;
    if (!c->upstream_exists && !e->op && !e->queued && c->phase != PHASE_FAILED) {
        /* Its create's row could not be read: nobody goes on with it, and it may be asked for anew. */
        c->phase = PHASE_FAILED;
        c->health = HEALTH_UNHEALTHY;
        mem_set_str(&c->message, "The operation that was to make it cannot be read: create it anew");
        entity_store(e);
    }
    c->stale = e->project->set_aside ||
               (c->observed_at && env_wall(e->r->env) - c->observed_at > schedule_interval(e));
    entity_note_expiry(e);
    view_set(e->r->o.view, VIEW_CLUSTERS, e->key, render_cluster_blob(c, e->op, NULL));
    if (c->upstream_exists || entity_open_type(e) == OPERATION_DELETE)
        schedule_soon(e, 0);
    if (e->queued > 1)
        qsort(e->queue, e->queued, sizeof(*e->queue), by_turn);
    entity_rest(e);
    steps_advance(e);
}

/* Ready means that a request with the token from the file is answered. */
static void on_first_token_saved(struct save *save)
{
    view_set_flags(save->r->o.view, true, save->r->stopping);
    view_publish(save->r->o.view);
}

static void make_first_token(struct reconcile *r, char **ret_first_token)
{
    *ret_first_token = NULL;
    if (r->tokens)
        return;
    char *everything[] = {(char[]){"*"}, NULL};
    struct api_token *t = token_new(r, "admin", ROLE_ADMIN, everything, "shootd", ret_first_token);
    struct save *save = save_new(r, on_first_token_saved, NULL);
    change_put_token(save->set, api_token_copy(t));
    save_submit(save, false);
}

static void publish(void *ctx)
{
    struct reconcile *r = ctx;
    view_publish(r->o.view);
}

void reconcile_start(struct reconcile *r, char **ret_first_token)
{
    struct project *p, *next_project;
    struct entity *e, *next_entity;
    assert(!r->started && !r->stopping);
    r->started = true;
    r->started_at = env_wall(r->env);
    start_accounts(r);
    HASH_ITER (hh, r->projects, p, next_project)
        start_project(p);
    attach_operations(r);
    HASH_ITER (hh, r->projects, p, next_project) {
        location_check(p);
        project_show(p);
    }
    for (struct token_entry *entry = r->tokens; entry; entry = entry->hh.next)
        token_show(r, entry->token);
    make_first_token(r, ret_first_token);
    HASH_ITER (hh, r->entities, e, next_entity)
        take_up(e);
    HASH_ITER (hh, r->projects, p, next_project) {
        catalog_fetch(p);
        schedule_rearm(p);
    }
    audit_daemon(r, "daemon.started");
    housekeeping_start(r);
    loop_set_after_turn(r->o.loop, publish, r);
    view_set_flags(r->o.view, *ret_first_token == NULL, false);
    view_publish(r->o.view);
}

/* ---- commands ---- */

static void (*const commands[COMMAND_TYPE_MAX_])(struct reconcile *r, struct command *cmd) = {
    [COMMAND_CLUSTER_CREATE] = command_cluster_create,
    [COMMAND_CLUSTER_PUT] = command_cluster_put,
    [COMMAND_CLUSTER_PATCH] = command_cluster_patch,
    [COMMAND_CLUSTER_DELETE] = command_cluster_delete,
    [COMMAND_NODE_POOL] = command_node_pool,
    [COMMAND_CLUSTER_ACTION] = command_cluster_action,
    [COMMAND_KUBECONFIG] = command_kubeconfig,
    [COMMAND_LOOKUP] = command_lookup,
    [COMMAND_FRESH] = command_fresh,
    [COMMAND_CATALOG_REFRESH] = command_catalog,
    [COMMAND_LOCATION_CONFIRM] = command_location_confirm,
    [COMMAND_OPERATIONS] = command_operations,
    [COMMAND_OPERATION_WAIT] = command_operation_wait,
    [COMMAND_OPERATION_CANCEL] = command_operation_cancel,
    [COMMAND_WEBHOOK_CREATE] = command_webhook_create,
    [COMMAND_WEBHOOK_PATCH] = command_webhook_patch,
    [COMMAND_WEBHOOK_DELETE] = command_webhook_delete,
    [COMMAND_WEBHOOK_ENABLE] = command_webhook_enable,
    [COMMAND_WEBHOOK_ROTATE] = command_webhook_rotate,
    [COMMAND_WEBHOOK_TEST] = command_webhook_test,
    [COMMAND_WEBHOOK_RECOVER] = command_webhook_recover,
    [COMMAND_DELIVERIES] = command_deliveries,
    [COMMAND_DELIVERY] = command_delivery,
    [COMMAND_REDELIVER] = command_redeliver,
    [COMMAND_EVENTS] = command_events,
    [COMMAND_AUDIT] = command_audit,
    [COMMAND_AUDIT_DENIED] = command_audit_denied,
    [COMMAND_TOKEN_HAND_IN] = command_token_hand_in,
    [COMMAND_TOKEN_USED] = command_token_used,
    [COMMAND_TOKEN_CREATE] = command_token_create,
    [COMMAND_TOKEN_PATCH] = command_token_patch,
    [COMMAND_TOKEN_ROTATE] = command_token_rotate,
    [COMMAND_TOKEN_DELETE] = command_token_delete,
    [COMMAND_ACCOUNT_LOGIN] = command_account_login,
    [COMMAND_ACCOUNT_VERIFY] = command_account_verify,
};

void reconcile_command(struct reconcile *r, struct command *cmd)
{
    loop_assert_owner(r->o.loop);
    assert(cmd->type < COMMAND_TYPE_MAX_ && commands[cmd->type] && cmd->give_back);
    cmd->decided_by = r;
    if (!r->stopping && replay_take(r, cmd))
        return;
    if (r->stopping) {
        reply_stopping(cmd);
    } else if (command_writes(cmd->type) && storage_is_broken(r->o.storage)) {
        reply_problem(cmd,
                      problem_passing(PROBLEM_STORE_UNAVAILABLE, 5, "the store does not accept changes now"));
    } else {
        commands[cmd->type](r, cmd);
    }
}

/* ---- stop ---- */

static void halt(struct reconcile *r)
{
    if (r->stopping)
        return;
    r->stopping = true;
    walks_stop(r);
    struct project *p, *next_project;
    struct entity *e, *next_entity;
    HASH_ITER (hh, r->projects, p, next_project) {
        poll_stop(p);
        upstream_cancel(&p->catalog_call);
        loop_timer_clear(r->o.loop, &p->catalog_share);
        reply_stopping_all(&p->catalog_waiters);
        reply_stopping_all(&p->fresh_next);
        reply_stopping_all(&p->fresh_now);
        reply_stopping_all(&p->fresh_failed);
    }
    HASH_ITER (hh, r->entities, e, next_entity) {
        loop_timer_clear(r->o.loop, &e->step.retry);
        upstream_cancel(&e->step.call); /* a write that was sent is settled by reading back after the start */
    }
    for (size_t i = 0; i < r->account_count; i++) {
        reply_stopping_all(&r->accounts[i].login_waiters);
        reply_stopping_all(&r->accounts[i].verify_waiters);
    }
    fetches_stop(r->fetches);
    name_checks_stop(r);
    for (struct operation_entry *entry = r->operations; entry; entry = entry->hh.next)
        waiters_answer(&entry->waiters); /* with the state as it is: 200, not finished */
    loop_timer_clear(r->o.loop, &r->housekeeping);
    view_set_flags(r->o.view, true, true);
    view_publish(r->o.view);
}

void reconcile_stop(struct reconcile *r)
{
    loop_assert_owner(r->o.loop);
    if (!r->stopping) {
        audit_tick(r, true);
        audit_daemon(r, "daemon.stopped");
    }
    halt(r);
}

static void project_free(struct project *p)
{
    assert(list_is_empty(&p->clusters) && !upstream_call_is_active(&p->poll_call) &&
           !upstream_call_is_active(&p->catalog_call));
    loop_timer_clear(p->r->o.loop, &p->catalog_timer);
    loop_timer_clear(p->r->o.loop, &p->catalog_share);
    json_decref(p->catalog_shared);
    heap_done(&p->due);
    gone_forget_all(p);
    project_state_free(p->state);
    free(p->poll_name);
    free(p->poll_call.known);
    free(p->last_error);
    free(p->shown);
    free(p);
}

void reconcile_free(struct reconcile *r)
{
    if (!r)
        return;
    struct project *p, *next_project;
    struct entity *e, *next_entity;
    struct token_entry *token, *next_token;
    struct subscription_entry *s, *next_s;
    if (r->started)
        halt(r); /* when the start failed half way, nobody did, and nothing is stored any more */
    webhook_engine_free(r->webhooks);
    HASH_ITER (hh, r->entities, e, next_entity)
        entity_remove(e);
    assert(!r->entities && list_is_empty(&r->name_checks));
    fetches_free(r->fetches);
    departed_free(r);
    replays_free(r);
    audit_free(r);
    for (size_t i = 0; i < r->account_count; i++)
        account_done(&r->accounts[i]);
    free(r->accounts);
    HASH_ITER (hh, r->projects, p, next_project) {
        HASH_DEL(r->projects, p);
        project_free(p);
    }
    operations_free(r);
    HASH_ITER (hh, r->tokens, token, next_token)
        token_entry_free(r, token);
    HASH_ITER (hh, r->subscriptions, s, next_s) {
        HASH_DEL(r->subscriptions, s);
        subscription_free(s->subscription);
        free(s);
    }
    free(r);
}
