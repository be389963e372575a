/* Commands about webhooks, tokens and the event log. Loop thread. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/token.h"
#include "reconcile/world_private.h"
#include "view/render.h"

#define FAULT(faults, pointer, code, valid, ...) \
    problem_add_fault(faults, PROBLEM_VALIDATION_FAILED, FAULT_AT_BODY, pointer, code, valid, __VA_ARGS__)

static void check_members(const json_t *body, const char *const *known, size_t count, struct problem **faults)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)body, name, value) {
        bool found = false;
        for (size_t i = 0; i < count && !found; i++)
            found = !strcmp(known[i], name);
        if (found)
            continue;
        json_t *valid = json_array();
        for (size_t i = 0; i < count; i++)
            (void)json_array_append_new(valid, json_string(known[i]));
        char *here CLEANUP_FREE = mem_printf("#/%s", name);
        FAULT(faults, here, "unknown_member", valid, "is not a member that exists here");
    }
}

/* A list of names, each of which must be acceptable. */
static void check_names(const json_t *body, const char *member,
                        bool (*is_valid)(struct reconcile *r, const char *name), struct reconcile *r,
                        struct problem **faults)
{
    const json_t *list = json_object_get(body, member);
    char *pointer CLEANUP_FREE = mem_printf("#/%s", member);
    size_t i;
    json_t *item;
    if (list && !json_is_array(list))
        FAULT(faults, pointer, "wrong_type", NULL, "must be an array of strings");
    json_array_foreach (list, i, item) {
        char *here CLEANUP_FREE = mem_printf("%s/%zu", pointer, i);
        if (!json_is_string(item) || !is_valid(r, json_string_value(item)))
            FAULT(faults, here, "unknown_value", NULL, "'%s' is not known",
                  json_is_string(item) ? json_string_value(item) : "?");
    }
}

static bool event_pattern_is_valid(struct reconcile *r, const char *pattern)
{
    (void)r;
    size_t len = strlen(pattern);
    if (!strcmp(pattern, "*"))
        return true;
    if (len > 2 && !strcmp(pattern + len - 2, ".*")) {
        for (int i = 0; i < EVENT_TYPE_MAX_; i++)
            if (!strncmp(event_type_name((enum event_type)i), pattern, len - 1))
                return true;
        return false;
    }
    return event_type_from_name(pattern) >= 0;
}

static bool project_is_configured(struct reconcile *r, const char *name)
{
    return !strcmp(name, "*") || project_find(r, name) != NULL;
}

static bool caller_sees(const struct command *cmd, const char *project)
{
    for (size_t i = 0; cmd->token_projects && cmd->token_projects[i]; i++)
        if (!strcmp(cmd->token_projects[i], "*") || !strcmp(cmd->token_projects[i], project))
            return true;
    return false;
}

static void check_visible(const struct command *cmd, struct problem **faults)
{
    size_t i;
    json_t *item;
    json_array_foreach (json_arr(cmd->body, "projects"), i, item) {
        char *here CLEANUP_FREE = mem_printf("#/projects/%zu", i);
        const char *name = json_string_value(item);
        if (name && !caller_sees(cmd, name))
            FAULT(faults, here, "unknown_value", NULL, "'%s' is not known", name);
    }
}

/* ---- webhooks
 * ------------------------------------------------------------------------------------------------- */

static void on_webhook_saved(struct save *save)
{
    struct command *cmd = save->ctx;
    struct reconcile *r = save->r;
    struct subscription *s = save->set->changes[0].subscription;
    if (save->status != STORE_OK) {
        struct problem *p = problem_new(PROBLEM_STORE_UNAVAILABLE, "the webhook could not be stored");
        p->retry_after_s = 5;
        reply_problem(cmd, p);
    } else {
        /* Only now: an event must not leave a delivery for a subscription that the store may yet refuse. */
        struct subscription_entry *entry = MEM_NEW(struct subscription_entry);
        memcpy(entry->id, s->id, sizeof(entry->id));
        entry->subscription = subscription_copy(s);
        HASH_ADD_STR(r->subscriptions, id, entry);
        reply_prepared(r, cmd);
    }
}

/* The answer to a create, with the secret (taken) that is shown once. */
static void prepare_secret(struct command *cmd, json_t *doc, const char *member, char *secret)
{
    json_set_str(doc, member, secret);
    cmd->answer_is_secret = true;
    reply_prepare(cmd, 201, doc);
    mem_free_secret(secret);
}

static void check_webhook(struct reconcile *r, const struct command *cmd, struct problem **faults)
{
    static const char *const members[] = {"url", "event_types", "projects", "description"};
    check_members(cmd->body, members, ARRAY_LEN(members), faults);
    check_names(cmd->body, "event_types", event_pattern_is_valid, r, faults);
    check_names(cmd->body, "projects", project_is_configured, r, faults);
    check_visible(cmd, faults);
    if (!json_str(cmd->body, "url"))
        FAULT(faults, "#/url", "missing_member", NULL, "is required: the URL that events are posted to");
    else
        webhook_check_url(r->o.config, json_str(cmd->body, "url"), faults);
}

void command_webhook_create(struct reconcile *r, struct command *cmd)
{
    struct problem *faults = NULL;
    check_webhook(r, cmd, &faults);
    if (faults) {
        reply_problem(cmd, faults);
        return;
    }
    struct subscription *s = MEM_NEW(struct subscription);
    (void)id_new(r->env, ID_SUBSCRIPTION, s->id);
    s->url = mem_strdup(json_str(cmd->body, "url"));
    s->event_types = string_list_from_json(json_arr(cmd->body, "event_types"));
    /* Without a wish it follows what its maker may see. */
    s->projects = json_array_size(json_arr(cmd->body, "projects"))
                      ? string_list_from_json(json_arr(cmd->body, "projects"))
                      : string_list_copy(cmd->token_projects);
    s->description = mem_strdup(json_str(cmd->body, "description"));
    s->created_by = mem_strdup(cmd->token_name);
    s->version = 1;
    s->created_at = env_wall(r->env);
    s->updated_at = s->created_at;
    char *secret = webhook_secret_new(r->env);
    char *context CLEANUP_FREE = webhook_seal_context(s->id);
    s->keys[0].sealed = seal(r->o.key, r->env, context, secret, &s->keys[0].sealed_len);
    s->keys[0].created_at = s->created_at;
    s->key_count = 1;
    s->max_in_flight = 1;
    log_info("webhook created", "webhook", s->id, "by", cmd->token_name);
    prepare_secret(cmd, render_subscription(s), "secret", secret);
    cmd->location = mem_printf("/v1/webhooks/%s", s->id);
    memcpy(cmd->id, s->id, sizeof(cmd->id));
    struct save *save = save_new(r, on_webhook_saved, cmd);
    change_put_subscription(save->set, s);
    command_keep(save, cmd);
    save_submit(save, true);
}

static void on_removed(struct save *save)
{
    reply_json(save->ctx, 204, NULL);
}

void command_webhook_delete(struct reconcile *r, struct command *cmd)
{
    struct subscription_entry *entry;
    HASH_FIND_STR(r->subscriptions, cmd->id, entry);
    if (!entry || !projects_cover(cmd->token_projects, entry->subscription->projects)) {
        reply_problem(cmd, problem_new(PROBLEM_WEBHOOK_NOT_FOUND, "no webhook %s", cmd->id));
        return;
    }
    log_info("webhook deleted", "webhook", cmd->id, "by", cmd->token_name);
    struct save *save = save_new(r, on_removed, cmd);
    change_delete_subscription(save->set, cmd->id);
    cmd->status = 204;
    audit_accepted(save, cmd);
    HASH_DEL(r->subscriptions, entry);
    subscription_free(entry->subscription);
    free(entry);
    save_submit(save, false);
}

/* ---- tokens
 * --------------------------------------------------------------------------------------------------- */

struct api_token *token_new(struct reconcile *r, const char *name, enum role role, char **projects,
                            const char *created_by, char **ret_secret)
{
    char secret[TOKEN_BYTES];
    struct api_token *t = MEM_NEW(struct api_token);
    token_make(r->env, secret);
    token_digest(secret, t->digest);
    (void)id_new(r->env, ID_TOKEN, t->id);
    t->name = mem_strdup(name);
    t->role = role;
    t->projects = string_list_copy(projects);
    (void)snprintf(t->last4, sizeof(t->last4), "%s", secret + strlen(secret) - 4);
    t->created_by = mem_strdup(created_by);
    t->created_at = env_wall(r->env);
    *ret_secret = mem_strdup(secret);
    explicit_bzero(secret, sizeof(secret));
    struct token_entry *entry = MEM_NEW(struct token_entry);
    memcpy(entry->id, t->id, sizeof(entry->id));
    entry->token = t;
    HASH_ADD_STR(r->tokens, id, entry);
    return t;
}

static void on_token_saved(struct save *save)
{
    struct command *cmd = save->ctx;
    const struct api_token *t = save->set->changes[0].token;
    if (save->status != STORE_OK) {
        struct token_entry *entry;
        HASH_FIND_STR(save->r->tokens, t->id, entry);
        if (entry) {
            HASH_DEL(save->r->tokens, entry);
            api_token_free(entry->token);
            free(entry);
        }
        struct problem *p = problem_new(PROBLEM_STORE_UNAVAILABLE, "the token could not be stored");
        p->retry_after_s = 5;
        reply_problem(cmd, p);
    } else {
        reply_prepared(save->r, cmd);
    }
}

static void check_token(struct reconcile *r, const struct command *cmd, struct problem **faults)
{
    static const char *const members[] = {"name", "role", "projects", "expires_in_days"};
    const json_t *days = json_object_get(cmd->body, "expires_in_days");
    const char *name = json_str(cmd->body, "name");
    check_members(cmd->body, members, ARRAY_LEN(members), faults);
    if (!name || !*name || strlen(name) > 100)
        FAULT(faults, "#/name", name ? "wrong_length" : "missing_member", NULL,
              "is required: 1 to 100 characters");
    if (role_from_name(json_str(cmd->body, "role")) < 0)
        FAULT(faults, "#/role", "unknown_value", json_pack("[sss]", "viewer", "operator", "admin"),
              "is required");
    if (!json_array_size(json_arr(cmd->body, "projects")))
        FAULT(faults, "#/projects", "missing_member", NULL, "is required: project names, or [\"*\"]");
    check_names(cmd->body, "projects", project_is_configured, r, faults);
    check_visible(cmd, faults); /* nobody gives more than it has */
    if (days && !json_is_null(days) &&
        (!json_is_integer(days) || json_integer_value(days) < 1 || json_integer_value(days) > 3650))
        FAULT(faults, "#/expires_in_days", "out_of_range", NULL, "must be 1 to 3650");
}

void command_token_create(struct reconcile *r, struct command *cmd)
{
    struct problem *faults = NULL;
    check_token(r, cmd, &faults);
    if (faults) {
        reply_problem(cmd, faults);
        return;
    }
    char *secret = NULL;
    char **projects = string_list_from_json(json_arr(cmd->body, "projects"));
    struct api_token *t =
        token_new(r, json_str(cmd->body, "name"), (enum role)role_from_name(json_str(cmd->body, "role")),
                  projects, cmd->token_name, &secret);
    string_list_free(projects);
    int64_t days = json_int(cmd->body, "expires_in_days", 0);
    t->expires_at = days ? t->created_at + days * 24 * 3600 * US_PER_S : 0;
    log_info("token created", "token", t->id, "name", t->name, "by", cmd->token_name);
    prepare_secret(cmd, render_api_token(t), "token", secret);
    struct save *save = save_new(r, on_token_saved, cmd);
    change_put_token(save->set, api_token_copy(t));
    memcpy(cmd->id, t->id, sizeof(cmd->id));
    command_keep(save, cmd);
    save_submit(save, true);
}

void command_token_delete(struct reconcile *r, struct command *cmd)
{
    struct token_entry *entry;
    HASH_FIND_STR(r->tokens, cmd->id, entry);
    /* A limited admin neither sees nor touches a token that reaches further than its own. */
    if (!entry || entry->token->revoked_at || !projects_cover(cmd->token_projects, entry->token->projects)) {
        reply_problem(cmd, problem_new(PROBLEM_NOT_FOUND, "no token %s", cmd->id));
        return;
    }
    entry->token->revoked_at = env_wall(r->env);
    log_info("token revoked", "token", cmd->id, "by", cmd->token_name);
    struct save *save = save_new(r, on_removed, cmd);
    change_put_token(save->set, api_token_copy(entry->token));
    cmd->status = 204;
    audit_accepted(save, cmd);
    save_submit(save, false);
}

/* ---- events
 * --------------------------------------------------------------------------------------------------- */

struct event_answer {
    struct loop_task task;
    struct command *cmd;
    enum store_status status;
    struct event_page *page;
};

static json_t *render_event(const struct event *e)
{
    json_t *doc = json_parse_lenient(e->body, strlen(e->body), NULL);
    json_set_int(doc, "sequence", e->sequence);
    return doc;
}

static void answer_free(struct event_answer *a)
{
    event_page_free(a->page);
    free(a);
}

static void answer_drop(struct loop_task *task)
{
    answer_free(CONTAINER_OF(task, struct event_answer, task));
}

static void on_page(struct loop_task *task)
{
    struct event_answer *a = CONTAINER_OF(task, struct event_answer, task);
    struct command *cmd = a->cmd;
    if (a->status != STORE_OK || !a->page) {
        reply_problem(cmd, problem_new(PROBLEM_STORE_UNAVAILABLE, "the event log cannot be read"));
        answer_free(a);
        return;
    }
    json_t *items = json_array();
    for (size_t i = 0; i < a->page->count; i++)
        (void)json_array_append_new(items, render_event(&a->page->events[i]));
    json_t *doc = json_object();
    bool full = a->page->count == (size_t)cmd->events.limit;
    int64_t last = a->page->count ? a->page->events[a->page->count - 1].sequence : cmd->events.after;
    char next[24];
    json_set_take(doc, "items", items);
    json_set_str(doc, "next_cursor", full ? log_format_int(last, next) : NULL);
    json_set_int(doc, "last_sequence", last);
    json_set_int(doc, "oldest_sequence", a->page->oldest);
    json_set_int(doc, "newest_sequence", a->page->newest);
    reply_json(cmd, 200, doc);
    answer_free(a);
}

/* Reader thread: only passes the page on. */
static void on_page_read(void *ctx, enum store_status status, struct event_page *page)
{
    struct event_answer *a = ctx;
    struct reconcile *r = a->cmd->decided_by;
    a->status = status;
    a->page = page;
    loop_post(r->o.loop, &a->task);
}

void command_events(struct reconcile *r, struct command *cmd)
{
    struct event_answer *a = MEM_NEW(struct event_answer);
    const struct event_query query = {.after = cmd->events.after,
                                      .limit = cmd->events.limit,
                                      .types = cmd->events.types,
                                      .projects = cmd->events.projects,
                                      .cluster = cmd->events.cluster};
    a->task = (struct loop_task){.run = on_page, .drop = answer_drop};
    a->cmd = cmd;
    storage_query_events(r->o.storage, &query, on_page_read, a);
}
