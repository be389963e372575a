/* Life of the reconciler: load, start, dispatch, stop. Loop thread, but for construction and load before it
 * runs. */
#include "reconcile/reconcile.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "reconcile/world_private.h"
#include "view/render.h"

enum {
    HOUSEKEEPING_S = 5,
    PURGE_EVERY_TICKS = 720,
    PURGE_SLICE = 5000, /* some tens of milliseconds */
    FORGET_SLICE = 500, /* of what is in memory, a few milliseconds */
    EXPIRY_EVERY_TICKS = 60,
    OPERATION_DAYS = 7,
    AUDIT_DAYS = 90
};

static _Atomic uint64_t gauge_clusters[PHASE_MAX_];
static _Atomic uint64_t gauge_open_operations;
static _Atomic int64_t gauge_quarantined;
static _Atomic uint64_t gauge_set_aside;

/* ---- construction ---- */

static void on_subscription_changed(void *ctx, struct subscription *s)
{
    webhook_was_disabled(ctx, s);
}

struct reconcile *reconcile_new(const struct reconcile_options *options)
{
    struct reconcile *r = MEM_NEW(struct reconcile);
    r->o = *options;
    r->env = loop_env(options->loop);
    r->kubeconfigs = kubeconfigs_new(r);
    r->lookups = lookups_new(r);
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
    if (p && c->departed_at)
        departed_add(p, c);
    else if (p)
        (void)entity_add(r, p, c);
    if (p)
        return;
    log_warning("cluster of a project that is no longer configured is not shown", "project", c->project,
                "cluster", c->name);
    cluster_free(c);
}

static void load_operation(void *ctx, struct operation *op)
{
    struct reconcile *r = ctx;
    struct operation_entry *entry = MEM_NEW(struct operation_entry);
    memcpy(entry->id, op->id, sizeof(entry->id));
    entry->op = op;
    list_init(&entry->waiters);
    HASH_ADD_STR(r->operations, id, entry);
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
    struct reconcile *r = ctx;
    struct token_entry *entry = MEM_NEW(struct token_entry);
    memcpy(entry->id, t->id, sizeof(entry->id));
    entry->token = t;
    HASH_ADD_STR(r->tokens, id, entry);
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
    atomic_store(&gauge_quarantined, rows);
}

struct store_visitor reconcile_visitor(struct reconcile *r)
{
    return (struct store_visitor){.cluster = load_cluster,
                                  .operation = load_operation,
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

static struct account_state *take_account_state(struct reconcile *r, const char *name)
{
    for (size_t i = 0; i < r->loaded_account_count; i++)
        if (r->loaded_accounts[i] && !strcmp(r->loaded_accounts[i]->name, name))
            return TAKE_PTR(r->loaded_accounts[i]);
    return NULL;
}

static void start_accounts(struct reconcile *r)
{
    for (size_t i = 0; i < r->account_count; i++) {
        struct account_state *remembered = take_account_state(r, r->o.config->accounts[i].name);
        account_start(&r->accounts[i], r, &r->o.config->accounts[i], remembered);
        account_state_free(remembered);
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

/* Its cluster's row could not be read, or a step of it: nobody will go on with it, and nobody is to wait. */
static void end_orphan(struct reconcile *r, const struct operation *stored)
{
    struct operation *op = operation_copy(stored);
    struct problem *problem CLEANUP_PROBLEM = problem_new(
        PROBLEM_INTERNAL_ERROR, "its stored state cannot be read: what became of it is not known");
    struct save *save = save_new(r, NULL, NULL);
    op->status = OPERATION_FAILED;
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
        view_set(r->o.view, VIEW_OPERATIONS, entry->id, render_operation_blob(entry->op));
        struct entity *e = entity_find(r, entry->op->project, entry->op->cluster);
        bool open = !operation_status_is_final(entry->op->status);
        bool attached = e && !strcmp(entry->op->cluster_id, e->cluster->id) && steps_are_known(entry->op);
        if (!attached) {
            if (open && project_find(r, entry->op->project))
                end_orphan(r, entry->op);
            continue;
        }
        bool current = !strcmp(entry->id, e->cluster->operation_id);
        if (current) {
            e->op = operation_copy(entry->op);
            e->op_end_saved = !open;
        } else if (open) {
            queue_push(e, operation_copy(entry->op));
        }
    }
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

/* Its create's row could not be read: nobody goes on with it, and it may be asked for anew. */
static void end_unmade(struct entity *e)
{
    struct cluster *c = e->cluster;
    if (c->upstream_exists || e->op || e->queued || c->phase == PHASE_FAILED)
        return;
    c->phase = PHASE_FAILED;
    c->health = HEALTH_UNHEALTHY;
    mem_set_str(&c->message, "The operation that was to make it cannot be read: create it anew");
    entity_store(e);
}

static void take_up(struct entity *e)
{
    struct cluster *c = e->cluster;
    end_unmade(e);
    c->stale =
        e->project->set_aside || (c->observed_at && env_wall(e->r->env) - c->observed_at > poll_interval(e));
    expiry_note(e);
    view_set(e->r->o.view, VIEW_CLUSTERS, e->key, render_cluster_blob(cluster_copy(c), e->op));
    if (c->upstream_exists || entity_wish(e) == OPERATION_DELETE)
        poll_soon(e, 0);
    if (e->queued > 1)
        qsort(e->queue, e->queued, sizeof(*e->queue), by_turn);
    steps_advance(e);
}

static void show_tokens(struct reconcile *r)
{
    for (struct token_entry *entry = r->tokens; entry; entry = entry->hh.next) {
        char hex[65];
        for (size_t i = 0; i < sizeof(entry->token->digest); i++)
            (void)snprintf(hex + 2 * i, 3, "%02x", entry->token->digest[i]);
        if (!entry->token->revoked_at)
            view_set(r->o.view, VIEW_TOKENS, hex, render_api_token_blob(entry->token));
    }
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

static void purge_rows(struct reconcile *r);

static void on_purged(struct save *save)
{
    if (change_set_left_over(save->set) && !save->r->stopping)
        purge_rows(save->r);
    else
        event_log_purged(save->r);
}

/* One slice after the other: whatever else is to be written gets its turn between two. */
static void purge_rows(struct reconcile *r)
{
    wall_us now = env_wall(r->env);
    const wall_us day = 24 * 3600 * US_PER_S;
    struct save *save = save_new(r, on_purged, NULL);
    /* What was delivered is known as long as it can be asked for again. */
    const wall_us kept_since = now - r->o.config->events.keep_us;
    change_purge(save->set, CHANGE_DELIVERY_PURGE, kept_since, PURGE_SLICE);
    change_purge_events(save->set, kept_since, r->o.config->events.keep_count, PURGE_SLICE);
    change_purge(save->set, CHANGE_REPLAY_PURGE, now - REPLAY_KEPT_US, PURGE_SLICE);
    change_purge(save->set, CHANGE_AUDIT_PURGE, now - AUDIT_DAYS * day, PURGE_SLICE);
    change_purge(save->set, CHANGE_OPERATION_PURGE, now - OPERATION_DAYS * day, PURGE_SLICE);
    save_submit(save, false);
}

/* From memory; the store does it by itself. False: there are more. */
static bool forget_operations(struct reconcile *r)
{
    const wall_us before = env_wall(r->env) - OPERATION_DAYS * 24 * 3600 * US_PER_S;
    unsigned left = FORGET_SLICE;
    struct operation_entry *entry, *next;
    HASH_ITER (hh, r->operations, entry, next) {
        if (!entry->op->finished_at || entry->op->finished_at >= before)
            continue;
        if (!left--)
            return false;
        view_set(r->o.view, VIEW_OPERATIONS, entry->id, NULL);
        HASH_DEL(r->operations, entry);
        operation_free(entry->op);
        free(entry);
    }
    return true;
}

static unsigned look_over(struct walk *w, struct entity *e)
{
    struct reconcile *r = w->r;
    bool shown = observe_age(e);
    r->phases[e->cluster->phase]++;
    r->open_operations += entity_has_open_operation(e);
    return shown ? WALK_CHANGED : WALK_PASSED_BY;
}

static void on_looked_over(struct walk *w)
{
    struct reconcile *r = w->r;
    for (int i = 0; i < PHASE_MAX_; i++)
        atomic_store(&gauge_clusters[i], r->phases[i]);
    atomic_store(&gauge_open_operations, r->open_operations);
}

static void look_over_entities(struct reconcile *r)
{
    if (walk_is_under_way(&r->look_over))
        return;
    memset(r->phases, 0, sizeof(r->phases));
    r->open_operations = 0;
    r->look_over = (struct walk){.name = "look at all clusters", .visit = look_over, .done = on_looked_over};
    walk_all(r, &r->look_over);
}

static void purge(struct reconcile *r)
{
    bool hourly = r->ticks % PURGE_EVERY_TICKS == 0;
    if (hourly) {
        purge_rows(r);
        webhooks_drop_expired_keys(r);
    }
    if (!hourly && !r->purge_again)
        return;
    bool all = forget_operations(r);
    all &= departed_purge(r);
    r->purge_again = !all;
}

static void on_housekeeping(struct loop_timer *timer)
{
    struct reconcile *r = CONTAINER_OF(timer, struct reconcile, housekeeping);
    audit_tick(r, false);
    purge(r);
    uint64_t set_aside = 0;
    bool look_at_versions = r->ticks++ % EXPIRY_EVERY_TICKS == 0;
    for (struct project *p = r->projects; p; p = p->hh.next) {
        project_show(p);
        set_aside += p->set_aside;
        if (look_at_versions)
            expiry_look(p);
    }
    atomic_store(&gauge_set_aside, set_aside);
    for (size_t i = 0; i < r->account_count; i++)
        account_show(&r->accounts[i]);
    look_over_entities(r);
    loop_timer_set(r->o.loop, timer, env_mono(r->env) + HOUSEKEEPING_S * US_PER_S);
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
    r->started = true;
    r->started_at = env_wall(r->env);
    start_accounts(r);
    HASH_ITER (hh, r->projects, p, next_project) {
        p->account = account_of(r, p->config);
        project_init(p, r, p->config, p->state);
    }
    attach_operations(r);
    HASH_ITER (hh, r->projects, p, next_project) {
        location_check(p);
        project_show(p);
    }
    show_tokens(r);
    make_first_token(r, ret_first_token);
    HASH_ITER (hh, r->entities, e, next_entity)
        take_up(e);
    HASH_ITER (hh, r->projects, p, next_project) {
        catalog_fetch(p);
        poll_rearm(p);
    }
    audit_daemon(r, "daemon.started");
    r->housekeeping.fire = on_housekeeping;
    r->housekeeping.name = "housekeeping";
    loop_timer_set(r->o.loop, &r->housekeeping, env_mono(r->env));
    loop_set_after_turn(r->o.loop, publish, r);
    view_set_flags(r->o.view, *ret_first_token == NULL, false);
    view_publish(r->o.view);
}

/* ---- commands ---- */

static const struct {
    void (*decide)(struct reconcile *r, struct command *cmd);
    bool writes;
} commands[COMMAND_TYPE_MAX_] = {
    [COMMAND_CLUSTER_CREATE] = {command_cluster_create, true},
    [COMMAND_CLUSTER_PUT] = {command_cluster_put, true},
    [COMMAND_CLUSTER_PATCH] = {command_cluster_patch, true},
    [COMMAND_CLUSTER_DELETE] = {command_cluster_delete, true},
    [COMMAND_NODE_POOL] = {command_node_pool, true},
    [COMMAND_CLUSTER_ACTION] = {command_cluster_action, true},
    [COMMAND_KUBECONFIG] = {kubeconfig_command, false},
    [COMMAND_LOOKUP] = {command_lookup, false},
    [COMMAND_FRESH] = {command_fresh, false},
    [COMMAND_CATALOG_REFRESH] = {command_catalog, false},
    [COMMAND_LOCATION_CONFIRM] = {command_location_confirm, true},
    [COMMAND_OPERATION_WAIT] = {command_operation_wait, false},
    [COMMAND_OPERATION_CANCEL] = {command_operation_cancel, true},
    [COMMAND_WEBHOOK_CREATE] = {command_webhook_create, true},
    [COMMAND_WEBHOOK_PATCH] = {command_webhook_patch, true},
    [COMMAND_WEBHOOK_DELETE] = {command_webhook_delete, true},
    [COMMAND_WEBHOOK_ENABLE] = {command_webhook_enable, true},
    [COMMAND_WEBHOOK_ROTATE] = {command_webhook_rotate, true},
    [COMMAND_WEBHOOK_TEST] = {command_webhook_test, true},
    [COMMAND_WEBHOOK_RECOVER] = {command_webhook_recover, true},
    [COMMAND_DELIVERIES] = {command_deliveries, false},
    [COMMAND_DELIVERY] = {command_delivery, false},
    [COMMAND_REDELIVER] = {command_redeliver, true},
    [COMMAND_EVENTS] = {command_events, false},
    [COMMAND_AUDIT] = {command_audit, false},
    [COMMAND_AUDIT_DENIED] = {command_audit_denied, false},
    [COMMAND_TOKEN_CREATE] = {command_token_create, true},
    [COMMAND_TOKEN_DELETE] = {command_token_delete, true},
    [COMMAND_ACCOUNT_LOGIN] = {command_account_login, true},
    [COMMAND_ACCOUNT_VERIFY] = {command_account_verify, true},
};

bool reconcile_writes(enum command_type type)
{
    return commands[type].writes;
}

void reconcile_command(struct reconcile *r, struct command *cmd)
{
    cmd->decided_by = r;
    if (!r->stopping && replay_take(r, cmd))
        return;
    if (r->stopping) {
        reply_stopping(cmd);
    } else if (commands[cmd->type].writes && storage_is_broken(r->o.storage)) {
        struct problem *p = problem_new(PROBLEM_STORE_UNAVAILABLE, "the store does not accept changes now");
        p->retry_after_s = 5;
        reply_problem(cmd, p);
    } else {
        commands[cmd->type].decide(r, cmd);
    }
}

/* ---- stop ---- */

static void refuse_waiters(struct list *waiters)
{
    LIST_FOR_EACH_SAFE (it, next, waiters)
        reply_stopping(wait_take(CONTAINER_OF(it, struct waiting, link)));
}

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
        refuse_waiters(&p->catalog_waiters);
        refuse_waiters(&p->fresh_next);
        refuse_waiters(&p->fresh_now);
        refuse_waiters(&p->fresh_failed);
    }
    HASH_ITER (hh, r->entities, e, next_entity) {
        loop_timer_clear(r->o.loop, &e->retry);
        upstream_cancel(&e->call); /* a write that was sent is settled by reading back after the start */
    }
    for (size_t i = 0; i < r->account_count; i++) {
        refuse_waiters(&r->accounts[i].login_waiters);
        refuse_waiters(&r->accounts[i].verify_waiters);
    }
    kubeconfigs_stop(r->kubeconfigs);
    lookups_stop(r->lookups);
    name_checks_stop(r);
    for (struct operation_entry *entry = r->operations; entry; entry = entry->hh.next)
        operation_waiters_answer(r, entry); /* with the state as it is: 200, not finished */
    loop_timer_clear(r->o.loop, &r->housekeeping);
    view_set_flags(r->o.view, true, true);
    view_publish(r->o.view);
}

void reconcile_stop(struct reconcile *r)
{
    if (!r->stopping) {
        audit_tick(r, true);
        audit_daemon(r, "daemon.stopped");
    }
    halt(r);
}

void reconcile_free(struct reconcile *r)
{
    if (!r)
        return;
    struct project *p, *next_project;
    struct entity *e, *next_entity;
    struct operation_entry *op, *next_op;
    struct token_entry *token, *next_token;
    struct subscription_entry *s, *next_s;
    if (r->started)
        halt(r); /* when the start failed half way, nobody did, and nothing is stored any more */
    webhook_engine_free(r->webhooks);
    HASH_ITER (hh, r->entities, e, next_entity)
        entity_remove(e);
    kubeconfigs_free(r->kubeconfigs);
    lookups_free(r->lookups);
    departed_free(r);
    replays_free(r);
    audit_free(r);
    for (size_t i = 0; i < r->account_count; i++)
        account_done(&r->accounts[i]);
    free(r->accounts);
    HASH_ITER (hh, r->projects, p, next_project) {
        HASH_DEL(r->projects, p);
        project_done(p);
    }
    HASH_ITER (hh, r->operations, op, next_op) {
        HASH_DEL(r->operations, op);
        operation_free(op->op);
        free(op);
    }
    HASH_ITER (hh, r->tokens, token, next_token) {
        HASH_DEL(r->tokens, token);
        api_token_free(token->token);
        free(token);
    }
    HASH_ITER (hh, r->subscriptions, s, next_s) {
        HASH_DEL(r->subscriptions, s);
        subscription_free(s->subscription);
        free(s);
    }
    free(r);
}

/* ---- metrics ---- */

static void upstream_metrics(struct buffer *out)
{
    (void)buffer_add_str(out,
                         "# HELP shootd_upstream_requests_total Calls to Cleura that ended, by operation and "
                         "outcome.\n# TYPE shootd_upstream_requests_total counter\n");
    for (int op = 0; op < UPSTREAM_OP_MAX_; op++)
        for (int class = 0; class < UPSTREAM_CLASS_MAX_; class ++) {
            uint64_t count = upstream_calls_total((enum upstream_op)op, (enum upstream_class) class);
            if (count || class == UPSTREAM_OK)
                (void)buffer_printf(
                    out, "shootd_upstream_requests_total{operation=\"%s\",outcome=\"%s\"} %llu\n",
                    upstream_op_name((enum upstream_op)op), upstream_class_name((enum upstream_class) class),
                    (unsigned long long)count);
        }
    (void)buffer_printf(out,
                        "# HELP shootd_upstream_logins_total Logins at Cleura.\n"
                        "# TYPE shootd_upstream_logins_total counter\n"
                        "shootd_upstream_logins_total{result=\"ok\"} %llu\n"
                        "shootd_upstream_logins_total{result=\"refused\"} %llu\n",
                        (unsigned long long)upstream_logins_total(true),
                        (unsigned long long)upstream_logins_total(false));
    (void)buffer_printf(out,
                        "# HELP shootd_upstream_breakers_open Accounts whose circuit breaker is not closed.\n"
                        "# TYPE shootd_upstream_breakers_open gauge\n"
                        "shootd_upstream_breakers_open %d\n"
                        "# HELP shootd_upstream_breaker_opened_total Times a circuit breaker opened.\n"
                        "# TYPE shootd_upstream_breaker_opened_total counter\n"
                        "shootd_upstream_breaker_opened_total %llu\n"
                        "# HELP shootd_upstream_retries_delayed_total Retries that waited for their budget.\n"
                        "# TYPE shootd_upstream_retries_delayed_total counter\n"
                        "shootd_upstream_retries_delayed_total %llu\n"
                        "# HELP shootd_upstream_rows_refused_total Shoots in lists of Cleura that were left "
                        "out: they cannot be, or lack what they must have.\n"
                        "# TYPE shootd_upstream_rows_refused_total counter\n"
                        "shootd_upstream_rows_refused_total %llu\n",
                        upstream_breakers_open(), (unsigned long long)upstream_breaker_opened_total(),
                        (unsigned long long)upstream_retries_delayed_total(),
                        (unsigned long long)upstream_rows_refused_total());
}

void reconcile_remarks(char *text, size_t size)
{
    const long long rows = (long long)atomic_load(&gauge_quarantined);
    const unsigned long long projects = (unsigned long long)atomic_load(&gauge_set_aside);
    text[0] = '\0';
    if (rows && projects)
        (void)snprintf(text, size,
                       "stored rows put aside: %lld (shootd check-store); projects set aside: %llu", rows,
                       projects);
    else if (rows)
        (void)snprintf(text, size, "stored rows put aside: %lld (shootd check-store)", rows);
    else if (projects)
        (void)snprintf(text, size, "projects set aside: %llu (location_change of GET /v1/projects)",
                       projects);
}

void reconcile_metrics(struct buffer *out)
{
    (void)buffer_printf(
        out,
        "# HELP shootd_store_rows_put_aside Stored rows that cannot be read (shootd check-store).\n"
        "# TYPE shootd_store_rows_put_aside gauge\nshootd_store_rows_put_aside %lld\n"
        "# HELP shootd_projects_set_aside Projects whose place at Cleura was changed.\n"
        "# TYPE shootd_projects_set_aside gauge\nshootd_projects_set_aside %llu\n",
        (long long)atomic_load(&gauge_quarantined), (unsigned long long)atomic_load(&gauge_set_aside));
    upstream_metrics(out);
    (void)buffer_add_str(out,
                         "# HELP shootd_clusters Clusters known, by phase.\n# TYPE shootd_clusters gauge\n");
    for (int i = 0; i < PHASE_MAX_; i++)
        (void)buffer_printf(out, "shootd_clusters{phase=\"%s\"} %llu\n", phase_name((enum phase)i),
                            (unsigned long long)atomic_load(&gauge_clusters[i]));
    (void)buffer_printf(out,
                        "# HELP shootd_operations_open Operations that have not ended.\n"
                        "# TYPE shootd_operations_open gauge\nshootd_operations_open %llu\n",
                        (unsigned long long)atomic_load(&gauge_open_operations));
}
