/* The reconciler as a whole: load, start, dispatch, stop. Loop thread, except construction and load, which
 * come before the loop runs. */
#include "reconcile/reconcile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/assertion.h"
#include "base/attrs.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "model/moves.h"
#include "reconcile/answers/audit.h"
#include "reconcile/answers/operation_answers.h"
#include "reconcile/answers/replay.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/decide.h"
#include "reconcile/gauges.h"
#include "reconcile/housekeeping.h"
#include "reconcile/projects.h"
#include "reconcile/reload.h"
#include "reconcile/turn.h"
#include "reconcile/lookups/catalog.h"
#include "reconcile/lookups/fetch.h"
#include "reconcile/observation/observe.h"
#include "reconcile/observation/fresh.h"
#include "reconcile/observation/poll.h"
#include "reconcile/operations/durations.h"
#include "reconcile/operations/spans.h"
#include "reconcile/operations/steps.h"
#include "reconcile/world/departed.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/operation_table.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"
#include "reconcile/world/token_registry.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"
#include "view/render.h"

/* ---- construction ---- */

static void on_given_up(void *ctx, struct webhook_report *report)
{
    struct reconcile *r = ctx;
    list_append(&r->turn.reported, &report->link);
}

static void on_webhook_shown(void *ctx, const struct subscription *s)
{
    struct reconcile *r = ctx;
    view_set(r->o.view, VIEW_WEBHOOKS, s->id, render_subscription_blob(s));
}

struct reconcile *reconcile_new(const struct reconcile_options *options)
{
    struct reconcile *r = MEM_NEW(struct reconcile);
    r->o = *options;
    r->env = loop_env(options->loop);
    r->fetches = fetches_new(r);
    turn_init(r);
    list_init(&r->walks);
    list_init(&r->kubeconfigs.oldest_first);
    list_init(&r->reload_waiters);
    for (size_t i = 0; i < options->config->project_count; i++)
        (void)project_add(r, &options->config->projects[i]);
    const struct webhook_options webhooks = {.loop = options->loop,
                                             .transport = options->webhook_transport,
                                             .storage = options->storage,
                                             .config = options->config,
                                             .key = options->key,
                                             .given_up = on_given_up,
                                             .shown = on_webhook_shown,
                                             .ctx = r};
    r->webhooks = webhook_engine_new(&webhooks);
    return r;
}

/* ---- load ---- */

static void load_cluster(void *ctx, struct cluster *c)
{
    struct reconcile *r = ctx;
    struct project *p = project_of_row(r, c->project);
    if (!c->departed_at && entity_find(r, c->project, c->name)) {
        log_error("two stored clusters have the same name: the second one is ignored", "project", c->project,
                  "cluster", c->name);
        cluster_free(c);
        return;
    }
    if (c->departed_at)
        departed_add(p, c);
    else
        (void)entity_add(r, p, c);
    cluster_rest(c);
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
    (void)webhook_add(r, s);
    s->unreadable = !webhook_secrets_open(s, r->o.key);
    if (s->unreadable)
        log_error("the seal key does not open the secrets of a webhook: rotate the secret of the webhook",
                  "webhook", s->id);
    webhook_engine_set(r->webhooks, s);
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
    account_remember(ctx, a);
}

static void load_project(void *ctx, struct project_state *state)
{
    struct reconcile *r = ctx;
    if (!strcmp(state->name, PROJECT_ALL) && !r->all_projects) {
        r->all_projects = state;
        return;
    }
    struct project *p = project_of_row(r, state->name);
    if (p->unremembered) {
        project_state_free(p->state);
        p->state = state;
        p->unremembered = false;
    } else {
        project_state_free(state);
    }
}

static void load_event_numbers(void *ctx, int64_t oldest, int64_t newest)
{
    struct reconcile *r = ctx;
    feed_begin(r->o.feed, oldest, newest);
}

static void load_quarantined(void *ctx ATTR_UNUSED, int64_t rows)
{
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

/* Ends an operation whose cluster's row could not be read. Nothing will continue the operation, so no client
 * must wait for it. */
static void end_orphan(struct reconcile *r, const struct operation *stored)
{
    struct operation *op = operation_copy(stored);
    struct problem *problem CLEANUP_PROBLEM =
        problem_new(PROBLEM_INTERNAL_ERROR, "its stored state cannot be read: its outcome is not known");
    struct save *save = save_new(r, NULL, NULL);
    operation_move(op, OPERATION_FAILED);
    op->finished_at = env_wall(r->env);
    durations_note(op);
    json_decref(op->error);
    op->error = problem_to_error_json(problem);
    mem_set_str(&op->message, problem->detail);
    operation_spans(op);
    log_error("operation cannot continue", "operation", op->id, "project", op->project, "cluster",
              op->cluster, "reason", op->message);
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
            if (!open)
                operation_forget_notes(e->op);
        } else if (open) {
            entity_queue_push(e, operation_copy(entry->op));
        }
    }
    operations_settle(r);
}

/* shootd is ready only when requests with the token from the file admin-token are accepted. */
static void on_first_token_saved(struct save *save)
{
    view_set_flags(save->r->o.view, true, save->r->stopping);
}

static void make_first_token(struct reconcile *r, char **ret_first_token)
{
    *ret_first_token = NULL;
    if (r->tokens)
        return;
    char *everything[] = {(char[]){"*"}, NULL};
    struct api_token *t = token_new(r, "admin", ROLE_ADMIN, everything, "shootd", ret_first_token);
    struct save *save = save_new(r, on_first_token_saved, NULL);
    change_put_token(save->set, t);
    save_submit(save, false);
}

static void log_retired(const struct reconcile *r)
{
    for (const struct project *p = r->retired; p; p = p->hh.next)
        if (p->cluster_count)
            log_warning("project is not in the configuration: its clusters are hidden", "project", p->name,
                        "clusters", LOG_INT(p->cluster_count));
}

void reconcile_start(struct reconcile *r, char **ret_first_token)
{
    struct project *p, *next_project;
    struct entity *e, *next_entity;
    assert(!r->started && !r->stopping);
    r->started = true;
    r->started_at = env_mono(r->env);
    settled_clock_begin(&r->settled, r->env, project_state_of_all(r)->settled_at);
    for (size_t i = 0; i < r->o.config->account_count; i++)
        account_add(r, &r->o.config->accounts[i]);
    HASH_ITER (hh, r->projects, p, next_project)
        project_start(p);
    projects_spread(r);
    attach_operations(r);
    log_retired(r);
    HASH_ITER (hh, r->projects, p, next_project) {
        location_check(p);
        project_show(p);
    }
    for (struct token_entry *entry = r->tokens; entry; entry = entry->hh.next) {
        token_show(r, entry->token);
        token_watch(entry);
    }
    make_first_token(r, ret_first_token);
    webhook_engine_show(r->webhooks);
    HASH_ITER (hh, r->entities, e, next_entity)
        if (e->project->config)
            project_take_up_cluster(e);
    HASH_ITER (hh, r->projects, p, next_project)
        project_begin_reading(p);
    audit_daemon(r, ACTION_STARTED);
    housekeeping_start(r);
    loop_set_after_turn(r->o.loop, turn_end, r);
    view_set_flags(r->o.view, *ret_first_token == NULL, false);
    turn_end(r);
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
        upstream_cancel(&p->catalog.call);
        loop_timer_clear(r->o.loop, &p->catalog.share);
        reply_stopping(&p->catalog.waiters);
        fresh_refuse(p);
    }
    HASH_ITER (hh, r->entities, e, next_entity) {
        life_stop(e);
    }
    for (struct account *a = r->accounts; a; a = a->hh.next) {
        reply_stopping(&a->login_waiters);
        reply_stopping(&a->verify_waiters);
        reply_stopping(&a->login_saving);
        reply_stopping(&a->verify_saving);
    }
    reply_stopping(&r->reload_waiters);
    fetches_stop(r->fetches);
    /* requests that wait get the current state: 200 with an operation that has not ended */
    for (struct operation_entry *entry = r->operations; entry; entry = entry->hh.next)
        waiters_answer(&entry->waiters);
    loop_timer_clear(r->o.loop, &r->housekeeping);
    loop_timer_clear(r->o.loop, &r->reload.turn);
    view_set_flags(r->o.view, true, true);
    turn_end(r);
}

void reconcile_stop(struct reconcile *r)
{
    loop_assert_owner(r->o.loop);
    if (!r->stopping) {
        audit_tick(r, true);
        audit_daemon(r, ACTION_STOPPED);
        storage_end_backups(r->o.storage);
    }
    halt(r);
}

void reconcile_free(struct reconcile *r)
{
    if (!r)
        return;
    struct entity *e, *next_entity;
    struct token_entry *token, *next_token;
    struct subscription_entry *s, *next_s;
    if (r->started)
        halt(r); /* after a failed start the work was not stopped before; nothing is stored any more */
    gauges_withdraw();
    webhook_engine_free(r->webhooks);
    HASH_ITER (hh, r->entities, e, next_entity)
        entity_remove(e);
    assert(!r->entities);
    fetches_free(r->fetches);
    departed_free(r);
    replays_free(r);
    audit_free(r);
    project_state_free(r->all_projects);
    json_decref(r->last_reload);
    accounts_free(r);
    projects_free(r);
    operations_free(r);
    HASH_ITER (hh, r->tokens, token, next_token)
        token_entry_free(r, token);
    HASH_ITER (hh, r->subscriptions, s, next_s)
        webhook_entry_free(r, s);
    free(r);
}
