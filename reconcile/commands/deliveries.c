/*
 * The delivery log of a webhook, and requests for new deliveries: one delivery is repeated, all missed events
 * are delivered, or a test event is sent. The store's result returns as a task; while the query runs, the
 * webhook may be removed or disabled. Loop thread.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "reconcile/answers/reply.h"
#include "reconcile/answers/store_query.h"
#include "reconcile/commands/body.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/commands/webhooks.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/events.h"
#include "reconcile/world/save.h"
#include "reconcile/world/world.h"
#include "view/render.h"

enum {
    RECOVER_MAX = 500,  /* the limit of deliveries in one recovery */
    PENDING_MAX = 1000, /* with so many pending deliveries, a client may add none one by one: each
                         * delivery takes memory until it has ended, also after a restart */
    PENDING_WAIT_S = 60,
};

static struct problem *unreadable(void)
{
    return problem_passing(PROBLEM_STORE_UNAVAILABLE, 5, "the delivery log cannot be read now");
}

/* Only admins may see the answers of receivers (WH-22). */
static void render_for_caller(struct buffer *out, const struct reconcile *r, const struct command *cmd,
                              const struct delivery *d)
{
    struct delivery shown = *d;
    webhook_engine_look_up(r->webhooks, &shown);
    render_delivery(out, &shown, cmd->caller.role >= ROLE_ADMIN);
}

static void prepare_one(const struct reconcile *r, struct command *cmd, int status, const struct delivery *d)
{
    struct buffer out;
    buffer_init(&out, SIZE_MAX);
    render_for_caller(&out, r, cmd, d);
    reply_prepare_text(cmd, status, buffer_take(&out, NULL));
}

/* Does the same as webhook_of, but the webhook must also be enabled. */
static struct problem *enabled_webhook_of(struct reconcile *r, const struct command *cmd,
                                          struct subscription_entry **ret)
{
    struct problem *refusal = webhook_of(r, cmd, ret);
    if (refusal || !(*ret)->subscription->disabled)
        return refusal;
    return problem_new(PROBLEM_ACTION_NOT_POSSIBLE,
                       "the webhook is disabled (%s); POST .../enable comes first",
                       (*ret)->subscription->disabled_reason);
}

/* Returns the problem when no further delivery may be made at a client's request. */
static struct problem *too_many_pending(const struct reconcile *r, const struct command *cmd)
{
    if (webhook_engine_pending(r->webhooks, cmd->id) < PENDING_MAX)
        return NULL;
    struct problem *p = problem_new(PROBLEM_TOO_MANY_REQUESTS,
                                    "the webhook has %d pending deliveries or more; GET .../deliveries shows "
                                    "them",
                                    PENDING_MAX);
    p->retry_after_s = PENDING_WAIT_S;
    return p;
}

/* ---- reading ---- */

static struct problem *on_deliveries_found(struct store_query *s)
{
    struct command *cmd = s->cmd;
    if (s->status != STORE_OK)
        return unreadable();
    struct buffer items;
    buffer_init(&items, SIZE_MAX);
    buffer_add_str(&items, "[");
    for (size_t i = 0; i < s->count; i++)
        render_for_caller(&items, cmd->decided_by, cmd, &s->deliveries[i]);
    buffer_add_str(&items, "]");
    if (s->count == (size_t)cmd->webhook.page.limit)
        memcpy(cmd->webhook.page.next, s->deliveries[s->count - 1].id, sizeof(cmd->webhook.page.next));
    reply_prepare_text(cmd, 200, buffer_take(&items, NULL));
    reply_give_back(cmd);
    return NULL;
}

static struct delivery_query query_of(const struct command *cmd)
{
    struct delivery_query query = {.status = -1, .limit = 1};
    memcpy(query.subscription_id, cmd->id, sizeof(query.subscription_id));
    if (cmd->webhook.delivery)
        (void)snprintf(query.id, sizeof(query.id), "%s", cmd->webhook.delivery);
    return query;
}

struct problem *command_deliveries(struct reconcile *r, struct command *cmd)
{
    struct subscription_entry *entry;
    struct problem *refusal = webhook_of(r, cmd, &entry);
    if (refusal)
        return refusal;
    struct delivery_query query = query_of(cmd);
    memcpy(query.before, cmd->webhook.page.before, sizeof(query.before));
    query.status = cmd->webhook.page.status;
    query.limit = cmd->webhook.page.limit;
    storage_query_deliveries(r->o.storage, &query, store_query_deliveries,
                             store_query_question(cmd, on_deliveries_found));
    return NULL;
}

/* Returns the problem when the query has failed or found no delivery. NULL: the delivery is the first item of
 * the result. */
static struct problem *absence_of_delivery(const struct store_query *s)
{
    if (s->status != STORE_OK && s->status != STORE_NONE)
        return unreadable();
    return s->count ? NULL
                    : problem_new(PROBLEM_DELIVERY_NOT_FOUND, "the webhook has no delivery %s",
                                  s->cmd->webhook.delivery);
}

static struct problem *on_delivery_found(struct store_query *s)
{
    struct problem *refusal = absence_of_delivery(s);
    if (refusal)
        return refusal;
    prepare_one(s->cmd->decided_by, s->cmd, 200, s->deliveries);
    reply_give_back(s->cmd);
    return NULL;
}

static struct problem *ask_for_one(struct reconcile *r, struct command *cmd, query_end *on_found)
{
    struct delivery_query query = query_of(cmd);
    if (strlen(cmd->webhook.delivery) >= sizeof(query.id))
        return problem_new(PROBLEM_DELIVERY_NOT_FOUND, "the webhook has no delivery of this id");
    storage_query_deliveries(r->o.storage, &query, store_query_deliveries,
                             store_query_question(cmd, on_found));
    return NULL;
}

struct problem *command_delivery(struct reconcile *r, struct command *cmd)
{
    struct subscription_entry *entry;
    struct problem *refusal = webhook_of(r, cmd, &entry);
    return refusal ? refusal : ask_for_one(r, cmd, on_delivery_found);
}

/* ---- redelivery ---- */

/* Prepares the answer for the caller that started a delivery. */
static void prepare_delivery(const struct reconcile *r, struct command *cmd, const struct delivery *d)
{
    free(TAKE_PTR(cmd->reply.location));
    cmd->reply.location = mem_printf("/v1/webhooks/%s/deliveries/%s", d->subscription_id, d->id);
    prepare_one(r, cmd, 202, d);
}

/* Makes a new delivery of the old event, so the log keeps the old delivery. */
static void deliver_again(struct reconcile *r, struct command *cmd, const struct delivery *old)
{
    struct delivery *d = delivery_new(r, cmd->id, old->event_id, old->event_type, env_wall(r->env));
    memcpy(d->project, old->project, sizeof(d->project));
    memcpy(d->cluster, old->cluster, sizeof(d->cluster));
    prepare_delivery(r, cmd, d);
    struct save *save = save_answer(r, command_reply_saved, cmd);
    change_put_delivery(save->set, d);
    command_keep(save, cmd);
    save_submit(save, true);
}

static void expedite(struct reconcile *r, struct command *cmd, struct delivery *d)
{
    if (!webhook_engine_expedite(r->webhooks, d->id)) {
        /* The delivery was pending when it was read, but its last attempt has ended after that. */
        deliver_again(r, cmd, d);
        return;
    }
    prepare_delivery(r, cmd, d);
    /* This save contains only the answer and the audit entry. */
    struct save *save = save_answer(r, command_reply_saved, cmd);
    command_keep(save, cmd);
    save_submit(save, true);
}

/* While the query ran, the caller may have lost its right, and the webhook may have been removed. */
static struct problem *on_redeliver(struct store_query *s)
{
    struct command *cmd = s->cmd;
    struct reconcile *r = cmd->decided_by;
    struct subscription_entry *entry;
    struct problem *refusal = reply_denial(r, cmd);
    if (!refusal)
        refusal = absence_of_delivery(s);
    if (!refusal)
        refusal = enabled_webhook_of(r, cmd, &entry);
    if (refusal)
        return refusal;
    if (s->deliveries->status == DELIVERY_PENDING)
        expedite(r, cmd, s->deliveries);
    else if (!(refusal = too_many_pending(r, cmd)))
        deliver_again(r, cmd, s->deliveries);
    return refusal;
}

struct problem *command_redeliver(struct reconcile *r, struct command *cmd)
{
    struct subscription_entry *entry;
    struct problem *refusal = enabled_webhook_of(r, cmd, &entry);
    return refusal ? refusal : ask_for_one(r, cmd, on_redeliver);
}

/* ---- missed events ---- */

static void end_recovery(struct reconcile *r, const char *webhook)
{
    struct subscription_entry *entry;
    HASH_FIND_STR(r->subscriptions, webhook, entry);
    if (!entry)
        return;
    assert(entry->recovering);
    entry->recovering = false;
}

/* Called when the deliveries of this recovery are stored, because the next recovery must find them. */
static void on_recovered(struct save *save)
{
    const struct command *cmd = save->ctx;
    end_recovery(save->r, cmd->id);
    command_reply_saved(save);
}

static void recover_page(struct reconcile *r, struct command *cmd, const struct event_page *page)
{
    assert(page->count <= RECOVER_MAX);
    struct save *save = save_answer(r, on_recovered, cmd);
    for (size_t i = 0; i < page->count; i++) {
        const struct event *e = &page->events[i];
        change_put_delivery(save->set,
                            delivery_new(r, cmd->id, e->id, event_type_name(e->type), env_wall(r->env)));
    }
    json_t *doc = json_object();
    json_set_int(doc, "recovered", (int64_t)page->count);
    json_set_bool(doc, "more", page->count == RECOVER_MAX);
    reply_prepare(cmd, 202, doc);
    command_keep(save, cmd);
    save_submit(save, true);
}

static struct problem *on_missed(struct store_query *s)
{
    struct command *cmd = s->cmd;
    struct reconcile *r = cmd->decided_by;
    struct subscription_entry *entry;
    struct problem *refusal = s->status == STORE_OK && s->events ? reply_denial(r, cmd) : unreadable();
    if (!refusal)
        refusal = enabled_webhook_of(r, cmd, &entry);
    if (refusal)
        end_recovery(r, cmd->id);
    else
        recover_page(r, cmd, s->events);
    return refusal;
}

static struct problem *read_since(const struct reconcile *r, const struct command *cmd, wall_us *ret_since)
{
    static const char *const members[] = {"since"};
    const char *since = json_str(cmd->body, "since");
    struct problem *faults = NULL;
    body_check_members(cmd->body, members, ARRAY_LEN(members), &faults);
    if (!since)
        BODY_FAULT(&faults, "#/since", "missing_member", NULL,
                   "is required: a date and time such as 2026-01-31T12:00:00Z");
    else if (!time_parse_rfc3339(since, ret_since))
        BODY_FAULT(&faults, "#/since", "invalid_format", NULL,
                   "must be a date and time such as 2026-01-31T12:00:00Z");
    else if (*ret_since > env_wall(r->env))
        BODY_FAULT(&faults, "#/since", "out_of_range", NULL, "must not be in the future");
    return faults;
}

struct problem *command_webhook_recover(struct reconcile *r, struct command *cmd)
{
    struct subscription_entry *entry;
    wall_us since = 0;
    struct problem *refusal = enabled_webhook_of(r, cmd, &entry);
    if (!refusal)
        refusal = read_since(r, cmd, &since);
    if (refusal)
        return refusal;
    if (entry->recovering) /* two recoveries at once would find the same missed events */
        return problem_new(PROBLEM_ACTION_NOT_POSSIBLE, "another recovery is starting");
    entry->recovering = true;
    /* Events before this time will be purged soon. Their deliveries are purged first, so these events would
     * seem to be missed. */
    const wall_us kept_since = env_wall(r->env) - r->o.config->events.keep_us;
    const struct subscription *s = entry->subscription;
    const struct event_query query = {
        .limit = RECOVER_MAX,
        .types = s->event_types && s->event_types[0] ? s->event_types : NULL,
        .projects = subscription_is_of_all_projects(s) ? NULL : s->projects,
        .undelivered_to = entry->id,
        .since = since > kept_since ? since : kept_since,
    };
    storage_query_events(r->o.storage, &query, store_query_events, store_query_question(cmd, on_missed));
    return NULL;
}

/* ---- a test ---- */

struct problem *command_webhook_test(struct reconcile *r, struct command *cmd)
{
    struct subscription_entry *entry;
    struct problem *refusal = enabled_webhook_of(r, cmd, &entry);
    if (!refusal)
        refusal = too_many_pending(r, cmd);
    if (refusal)
        return refusal;
    struct save *save = save_answer(r, command_reply_saved, cmd);
    char *message CLEANUP_FREE = mem_printf("A test, sent with the token %s", cmd->caller.token_name);
    prepare_delivery(r, cmd, emit_webhook_test(save, entry->subscription, message));
    command_keep(save, cmd);
    save_submit(save, true);
    return NULL;
}
