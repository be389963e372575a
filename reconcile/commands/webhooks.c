/*
 * Commands about webhooks: create, change, enable, replace the key, remove. A change is made in memory at
 * once, and answered when it is durable. Only a new webhook is added to memory when it is durable, because no
 * event may make a delivery for a webhook that the store may still refuse. Loop thread.
 */
#include "reconcile/commands/webhooks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "reconcile/answers/audit.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/body.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/events.h"
#include "reconcile/world/save.h"
#include "reconcile/world/world.h"
#include "view/render.h"

enum {
    WEBHOOKS_MAX = 1000,
    OF_A_PROJECT = 100,    /* webhooks that name one project */
    OF_ALL_PROJECTS = 500, /* webhooks of all projects; the others are left to single projects */
    GRACE_S = 24 * 3600    /* WH-6 */
};

struct problem *webhook_of(struct reconcile *r, const struct command *cmd, struct subscription_entry **ret)
{
    HASH_FIND_STR(r->subscriptions, cmd->id, *ret);
    const struct subscription *s = *ret ? (*ret)->subscription : NULL;
    if (!s || !subscription_is_visible(s, cmd->caller.projects))
        return problem_new(PROBLEM_WEBHOOK_NOT_FOUND, "no webhook %s", cmd->id);
    char version[ETAG_BYTES];
    render_subscription_version(s, version);
    return precondition_of(cmd, "webhook", "webhook", &(struct etag_current){.exists = true, .tag = version});
}

/* ---- old keys ---- */

static void watch_keys(struct subscription_entry *entry, wall_us now)
{
    overlap_set(entry->r->o.loop, &entry->overlap, subscription_next_end(entry->subscription), now);
}

/* Called when old keys have expired: they do not sign any more, and are removed from the store. */
static void on_overlap_over(struct loop_timer *timer)
{
    struct subscription_entry *entry = CONTAINER_OF(timer, struct subscription_entry, overlap.timer);
    const wall_us over = overlap_take(&entry->overlap);
    if (entry->r->stopping)
        return;
    const bool dropped = subscription_drop_expired(entry->subscription, over);
    assert(dropped);
    (void)dropped;
    entry->subscription->version++;
    struct save *save = save_new(entry->r, NULL, NULL);
    change_put_subscription(save->set, subscription_copy(entry->subscription));
    save_submit(save, false);
    watch_keys(entry, over);
}

struct subscription_entry *webhook_add(struct reconcile *r, struct subscription *s)
{
    struct subscription_entry *entry = MEM_NEW(struct subscription_entry);
    memcpy(entry->id, s->id, sizeof(entry->id));
    entry->subscription = s;
    entry->r = r;
    entry->overlap.timer.fire = on_overlap_over;
    entry->overlap.timer.name = "end of an old key";
    HASH_ADD_STR(r->subscriptions, id, entry);
    watch_keys(entry, env_wall(r->env));
    return entry;
}

void webhook_entry_free(struct reconcile *r, struct subscription_entry *entry)
{
    HASH_DEL(r->subscriptions, entry);
    loop_timer_clear(r->o.loop, &entry->overlap.timer);
    subscription_free(entry->subscription);
    free(entry);
}

/* ---- changes by shootd ---- */

static void put_next_version(struct save *save, struct subscription *s)
{
    s->version++;
    s->updated_at = env_wall(save->r->env);
    change_put_subscription(save->set, subscription_copy(s));
}

static void switch_off(struct save *save, struct subscription *s, const char *reason)
{
    assert(!s->disabled);
    s->disabled = true;
    mem_set_str(&s->disabled_reason, reason);
    put_next_version(save, s);
    emit_webhook(save, EVENT_WEBHOOK_DISABLED, s, reason);
}

/*
 * A report may speak about an earlier version, because the engine gets a change when it is stored. After a
 * change of the target the report is worth nothing: the engine tries the new target. Any other change leaves
 * the report valid, also when it is not stored yet: this change set follows and includes it.
 */
void webhook_failed_for_good(struct reconcile *r, const struct webhook_report *report)
{
    struct subscription_entry *entry;
    HASH_FIND_STR(r->subscriptions, report->delivery.subscription_id, entry);
    if (!entry) /* its owner has removed the webhook, and the store removes its deliveries */
        return;
    struct subscription *s = entry->subscription;
    struct save *save = save_new(r, NULL, NULL);
    change_put_delivery(save->set, mem_dup(&report->delivery, sizeof(report->delivery)));
    if (!s->disabled && s->target_version <= report->version) {
        log_warning("webhook disabled", "webhook", s->id, "reason", report->reason);
        switch_off(save, s, report->reason);
    }
    save_submit(save, false);
}

/* ---- creating ---- */

static bool is_made_with(const struct subscription *s, const struct api_token *t)
{
    return s->created_by_id[0] ? !strcmp(s->created_by_id, t->id)
                               : s->created_by && !strcmp(s->created_by, t->name);
}

/* The token that created the webhook was revoked. The webhook shows this fact, and is disabled if the caller
 * requested that. */
static void note_revocation(struct save *save, struct subscription *s, const struct token_entry *maker)
{
    assert(maker->is_leaving && maker->token->revoked_at);
    s->token_revoked_at = maker->token->revoked_at;
    if (maker->switches_off && !s->disabled)
        switch_off(save, s, "the token that made the webhook was revoked");
    else
        put_next_version(save, s);
}

void webhooks_token_revoked(struct save *save, const struct token_entry *maker)
{
    for (struct subscription_entry *entry = save->r->subscriptions; entry; entry = entry->hh.next)
        if (is_made_with(entry->subscription, maker->token))
            note_revocation(save, entry->subscription, maker);
}

/* The token that created the webhook may have been revoked while the webhook was being stored. The entry of
 * the token is freed later than this call, so the entry still exists here. */
static void look_at_maker(struct reconcile *r, struct subscription *s)
{
    struct token_entry *maker;
    HASH_FIND_STR(r->tokens, s->created_by_id, maker);
    if (!maker || !maker->is_leaving)
        return;
    struct save *save = save_new(r, NULL, NULL);
    note_revocation(save, s, maker);
    save_submit(save, false);
}

static void on_webhook_made(struct save *save)
{
    struct reconcile *r = save->r;
    assert(save->set->count && save->set->changes[0].kind == CHANGE_SUBSCRIPTION_PUT);
    const struct subscription *s = save->set->changes[0].subscription;
    if (save->status == STORE_OK)
        look_at_maker(r, webhook_add(r, subscription_copy(s))->subscription);
    command_reply_saved(save);
}

static struct subscription *subscription_new(struct reconcile *r, const struct command *cmd)
{
    struct subscription *s = MEM_NEW(struct subscription);
    (void)id_new(r->env, ID_SUBSCRIPTION, s->id);
    s->created_by = mem_strdup(cmd->caller.token_name);
    memcpy(s->created_by_id, cmd->caller.token_id, sizeof(s->created_by_id));
    s->version = 1;
    s->created_at = env_wall(r->env);
    s->updated_at = s->created_at;
    return s;
}

/* Counts the webhooks, other than `except`, that name the project; NULL: those of all projects. */
static size_t webhooks_of(const struct reconcile *r, const char *project, const struct subscription *except)
{
    size_t count = 0;
    for (const struct subscription_entry *entry = r->subscriptions; entry; entry = entry->hh.next) {
        const struct subscription *s = entry->subscription;
        const bool is_of_all = subscription_is_of_all_projects(s);
        if (strcmp(s->id, except->id) != 0)
            count += project ? !is_of_all && projects_include(s->projects, project) : is_of_all;
    }
    return count;
}

/* Returns the problem when a project would have more webhooks than its share, so that the callers of one
 * project cannot take all webhooks. */
static struct problem *beyond_share(const struct reconcile *r, const struct subscription *s)
{
    if (subscription_is_of_all_projects(s))
        return webhooks_of(r, NULL, s) < OF_ALL_PROJECTS
                   ? NULL
                   : problem_new(PROBLEM_ACTION_NOT_POSSIBLE,
                                 "there are %d webhooks of all projects, which is the limit; delete some",
                                 OF_ALL_PROJECTS);
    for (size_t i = 0; s->projects[i]; i++)
        if (webhooks_of(r, s->projects[i], s) >= OF_A_PROJECT)
            return problem_new(PROBLEM_ACTION_NOT_POSSIBLE,
                               "project %s has %d webhooks, which is the limit; delete some", s->projects[i],
                               OF_A_PROJECT);
    return NULL;
}

struct problem *command_webhook_create(struct reconcile *r, struct command *cmd)
{
    struct problem *faults = NULL;
    char *secret = NULL;
    struct signing_key key = {0};
    if (HASH_COUNT(r->subscriptions) >= WEBHOOKS_MAX)
        return problem_new(PROBLEM_ACTION_NOT_POSSIBLE,
                           "there are %d webhooks, which is the limit; delete some", WEBHOOKS_MAX);
    struct subscription *s = subscription_new(r, cmd);
    webhook_apply(r, cmd, s, &faults);
    if (webhook_make_key(r, cmd, s->id, SIGNATURE_V1, &key, &secret, &faults))
        subscription_rotate(s, &key, s->created_at, 0);
    if (!faults)
        faults = beyond_share(r, s);
    if (faults) {
        mem_free_secret(secret);
        subscription_free(s);
        return faults;
    }
    log_info("webhook created", "webhook", s->id, "by", cmd->caller.token_name);
    render_subscription_etag(s, cmd->reply.etag);
    body_prepare_secret(cmd, 201, render_subscription(s), "secret", secret);
    cmd->reply.location = mem_printf("/v1/webhooks/%s", s->id);
    memcpy(cmd->id, s->id, sizeof(cmd->id));
    struct save *save = save_answer(r, on_webhook_made, cmd);
    change_put_subscription(save->set, s);
    command_keep(save, cmd);
    save_submit(save, true);
    return NULL;
}

/* ---- changing ---- */

/* Whether deliveries of `s` differ so much from those of `old` that a failure of `old` tells nothing about
 * `s`. */
static bool has_another_target(const struct subscription *old, const struct subscription *s)
{
    const struct signing_key *key = &s->keys[0], *old_key = &old->keys[0];
    return s->disabled != old->disabled || !subscription_sends_the_same(old, s) ||
           key->sealed_len != old_key->sealed_len ||
           (key->sealed_len && memcmp(key->sealed, old_key->sealed, key->sealed_len) != 0);
}

/* Sets what the answer shows of the receiver. The engine gets the change only when it is stored. */
static void look_at_receiver(struct reconcile *r, struct subscription *s, bool has_other_target)
{
    s->standing = webhook_engine_standing(r->webhooks, s->id);
    if (has_other_target && !s->disabled)
        standing_begin_anew(&s->standing);
}

/* Takes over `s`, the new state of the webhook, and `secret`, which the answer contains if `with_secret`. */
static void change_webhook(struct reconcile *r, struct command *cmd, struct subscription_entry *entry,
                           struct subscription *s, bool with_secret, char *secret)
{
    assert(s != entry->subscription && !strcmp(s->id, entry->id));
    bool switched_off = s->disabled && !entry->subscription->disabled;
    s->unreadable = !webhook_secrets_open(s, r->o.key);
    s->version = entry->subscription->version + 1;
    const bool other = has_another_target(entry->subscription, s);
    if (other)
        s->target_version = s->version;
    look_at_receiver(r, s, other);
    s->updated_at = env_wall(r->env);
    log_info("webhook changed", "webhook", s->id, "action", cmd->action_name, "by", cmd->caller.token_name);
    render_subscription_etag(s, cmd->reply.etag);
    if (with_secret)
        body_prepare_secret(cmd, 200, render_subscription(s), "secret", secret);
    else
        reply_prepare_text(cmd, 200, render_subscription(s));
    subscription_free(entry->subscription);
    entry->subscription = subscription_copy(s);
    watch_keys(entry, env_wall(r->env));
    struct save *save = save_answer(r, command_reply_saved, cmd);
    change_put_subscription(save->set, s);
    if (switched_off)
        emit_webhook(save, EVENT_WEBHOOK_DISABLED, s, s->disabled_reason);
    command_keep(save, cmd);
    save_submit(save, false);
}

static void reply_as_it_is(struct reconcile *r, struct command *cmd, struct subscription *s)
{
    look_at_receiver(r, s, false);
    render_subscription_etag(s, cmd->reply.etag);
    reply_prepare_text(cmd, 200, render_subscription(s));
    reply_unchanged(r, cmd);
}

static bool is_equal(const struct subscription *a, const struct subscription *b)
{
    json_t *left CLEANUP_JSON = subscription_to_json(a);
    json_t *right CLEANUP_JSON = subscription_to_json(b);
    return json_equal(left, right);
}

struct problem *command_webhook_patch(struct reconcile *r, struct command *cmd)
{
    struct subscription_entry *entry;
    struct problem *faults = webhook_of(r, cmd, &entry);
    if (faults)
        return faults;
    struct subscription *s = subscription_copy(entry->subscription);
    webhook_apply(r, cmd, s, &faults);
    if (!faults && json_object_get(cmd->body, "projects"))
        faults = beyond_share(r, s);
    if (!faults && !is_equal(s, entry->subscription)) {
        change_webhook(r, cmd, entry, s, false, NULL);
        return NULL;
    }
    if (!faults)
        reply_as_it_is(r, cmd, s);
    subscription_free(s);
    return faults;
}

struct problem *command_webhook_enable(struct reconcile *r, struct command *cmd)
{
    struct subscription_entry *entry;
    struct problem *refusal = webhook_of(r, cmd, &entry);
    if (refusal)
        return refusal;
    if (!entry->subscription->disabled) {
        reply_as_it_is(r, cmd, entry->subscription);
        return NULL;
    }
    struct subscription *s = subscription_copy(entry->subscription);
    s->disabled = false;
    s->enabled_at = env_wall(r->env);
    free(TAKE_PTR(s->disabled_reason));
    change_webhook(r, cmd, entry, s, false, NULL);
    return NULL;
}

struct problem *command_webhook_rotate(struct reconcile *r, struct command *cmd)
{
    static const char *const members[] = {"signature", "secret", "grace_seconds"};
    struct subscription_entry *entry;
    struct problem *faults = webhook_of(r, cmd, &entry);
    struct signing_key key = {0};
    char *secret = NULL;
    if (faults)
        return faults;
    struct subscription *s = subscription_copy(entry->subscription);
    body_check_members(cmd->body, members, ARRAY_LEN(members), &faults);
    body_check_number(cmd->body, "grace_seconds", 0, GRACE_S, false, &faults);
    int64_t grace_us = json_int(cmd->body, "grace_seconds", GRACE_S) * US_PER_S;
    bool made = webhook_make_key(r, cmd, s->id, s->keys[0].scheme, &key, &secret, &faults);
    if (made && !faults) {
        subscription_rotate(s, &key, env_wall(r->env), grace_us);
        change_webhook(r, cmd, entry, s, true, secret);
        return NULL;
    }
    signing_key_done(&key);
    mem_free_secret(secret);
    subscription_free(s);
    return faults;
}

/* ---- removing ---- */

struct problem *command_webhook_delete(struct reconcile *r, struct command *cmd)
{
    struct subscription_entry *entry;
    struct problem *refusal = webhook_of(r, cmd, &entry);
    if (refusal)
        return refusal;
    log_info("webhook deleted", "webhook", cmd->id, "by", cmd->caller.token_name);
    struct save *save = save_answer(r, command_reply_saved, cmd);
    change_delete_subscription(save->set, cmd->id);
    cmd->reply.status = 204;
    audit_accepted(save, cmd);
    webhook_entry_free(r, entry);
    save_submit(save, false);
    return NULL;
}
