/*
 * The audit log (AU-18, AU-19). What changes something is told in the transaction of the change. What was
 * refused, and what gave a secret away, has no transaction: it gets one of its own, which is not waited for,
 * and is left out while the store takes nothing. What had no effect (an equal PUT, a dry run, a repetition of
 * a keyed request) is not told. Loop thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "reconcile/world_private.h"

enum {
    MEMBERS_MAX = 50,        /* names of changed members that one entry tells */
    DENIED_PER_MINUTE = 120, /* further ones are only counted: a broken client does not fill the disk */
};

/* Names of what the caller sent, never values; members of the spec one by one. */
static json_t *members_of(const json_t *body)
{
    json_t *names = json_array();
    const char *key, *inner;
    json_t *value, *ignored;
    json_object_foreach ((json_t *)(uintptr_t)body, key, value) {
        if (strcmp(key, "spec") != 0 || !json_is_object(value)) {
            (void)json_array_append_new(names, json_string(key));
            continue;
        }
        json_object_foreach (value, inner, ignored)
            (void)json_array_append_new(names, json_sprintf("spec.%s", inner));
    }
    while (json_array_size(names) > MEMBERS_MAX)
        (void)json_array_remove(names, json_array_size(names) - 1);
    return names;
}

/* What the path names below the project and the cluster, or what was made. */
static const char *target_of(const struct command *cmd)
{
    bool about_account = cmd->type == COMMAND_ACCOUNT_LOGIN || cmd->type == COMMAND_ACCOUNT_VERIFY;
    if (about_account)
        return cmd->name;
    if (cmd->item)
        return cmd->item;
    if (cmd->type == COMMAND_NODE_POOL)
        return json_str(cmd->body, "name");
    return cmd->id[0] ? cmd->id : NULL;
}

static const char *cluster_of(const struct command *cmd)
{
    if (cmd->name)
        return cmd->project ? cmd->name : NULL;
    return cmd->type == COMMAND_CLUSTER_CREATE ? json_str(cmd->body, "name") : NULL;
}

static struct audit_entry *entry_new(const struct command *cmd, wall_us now, int status, const char *code)
{
    struct audit_entry *e = MEM_NEW(struct audit_entry);
    e->at = now;
    e->token_id = cmd->token_id[0] ? mem_strdup(cmd->token_id) : NULL;
    e->action = mem_strdup(cmd->action_name);
    e->project = mem_strdup(cmd->project);
    e->cluster = mem_strdup(cluster_of(cmd));
    e->outcome = status < 400 ? AUDIT_SUCCESS : status == 403 ? AUDIT_DENIED : AUDIT_ERROR;
    json_t *doc CLEANUP_JSON = json_object();
    char text[TIME_TEXT_BYTES];
    json_set_str(doc, "at", time_rfc3339(now, true, text));
    json_set_str(doc, "action", e->action);
    json_set_str(doc, "outcome", audit_outcome_name(e->outcome));
    json_set_take(doc, "status", status ? json_integer(status) : json_null());
    json_set_str(doc, "code", code);
    json_set_str(doc, "token_id", e->token_id);
    json_set_str(doc, "token_name", cmd->token_name);
    json_set_str(doc, "address", cmd->address[0] ? cmd->address : NULL);
    json_set_str(doc, "project", e->project);
    json_set_str(doc, "cluster", e->cluster);
    json_set_str(doc, "target", target_of(cmd));
    json_set_take(doc, "members", members_of(cmd->body));
    json_set_str(doc, "operation_id", cmd->operation_id[0] ? cmd->operation_id : NULL);
    json_set_str(doc, "request_id", cmd->request_id);
    json_set_str(doc, "trace_id", cmd->trace.id[0] ? cmd->trace.id : NULL);
    e->body = json_text(doc);
    return e;
}

void audit_accepted(struct save *save, struct command *cmd)
{
    cmd->audited = true;
    change_append_audit(save->set, entry_new(cmd, env_wall(save->r->env), cmd->status, NULL));
}

static void append_alone(struct reconcile *r, struct audit_entry *e)
{
    struct save *save = save_new(r, NULL, NULL);
    change_append_audit(save->set, e);
    save_submit(save, true);
}

/* Those beyond the limit of the minute are only counted. */
static bool denied_is_told(struct reconcile *r)
{
    struct audit_limit *limit = &r->audit_limit;
    mono_us now = env_mono(r->env);
    if (!limit->since || now - limit->since >= 60 * US_PER_S) {
        limit->since = now;
        limit->told = 0;
        limit->left_out = 0;
    }
    if (limit->told < DENIED_PER_MINUTE) {
        limit->told++;
        return true;
    }
    if (!limit->left_out++)
        log_warning("more requests are denied than the audit log takes", "per_minute",
                    LOG_INT(DENIED_PER_MINUTE));
    return false;
}

static bool gives_a_secret(const struct command *cmd)
{
    return cmd->type == COMMAND_KUBECONFIG ||
           (cmd->type == COMMAND_LOOKUP &&
            (cmd->lookup == LOOKUP_MONITORING || cmd->lookup == LOOKUP_SSH_KEY));
}

/* Their effect is at Cleura, and no transaction of ours tells of it. */
static bool acts_on_an_account(const struct command *cmd)
{
    return cmd->type == COMMAND_ACCOUNT_LOGIN || cmd->type == COMMAND_ACCOUNT_VERIFY;
}

void audit_answered(struct command *cmd)
{
    struct reconcile *r = cmd->decided_by;
    bool good = !cmd->problem;
    bool told = gives_a_secret(cmd) || acts_on_an_account(cmd) || (!good && reconcile_writes(cmd->type));
    if (!r || r->stopping || !told || cmd->audited || cmd->dry_run || cmd->replayed || !cmd->action_name)
        return;
    const struct problem_kind *kind = good ? NULL : problem_kind(cmd->problem->code);
    append_alone(
        r, entry_new(cmd, env_wall(r->env), good ? cmd->status : kind->status, good ? NULL : kind->code));
}

void command_audit_denied(struct reconcile *r, struct command *cmd)
{
    if (denied_is_told(r)) {
        const struct problem_kind *kind = problem_kind(PROBLEM_FORBIDDEN);
        append_alone(r, entry_new(cmd, env_wall(r->env), kind->status, kind->code));
    }
    reply_give_back(cmd);
}

void audit_started(struct reconcile *r)
{
    struct command *cmd = command_new(COMMAND_AUDIT);
    cmd->action_name = "daemon.started";
    struct audit_entry *e = entry_new(cmd, env_wall(r->env), 0, NULL);
    append_alone(r, e);
    command_free(cmd);
}

/* ---- pages
 * --------------------------------------------------------------------------------------------------- */

struct audit_answer {
    struct loop_task task;
    struct command *cmd;
    enum store_status status;
    struct audit_page *page;
};

static void answer_free(struct audit_answer *a)
{
    audit_page_free(a->page);
    free(a);
}

static void answer_drop(struct loop_task *task)
{
    answer_free(CONTAINER_OF(task, struct audit_answer, task));
}

static json_t *render_entry(const struct audit_entry *e)
{
    json_t *doc = json_object(), *rest CLEANUP_JSON = json_parse_lenient(e->body, strlen(e->body), NULL);
    json_set_int(doc, "sequence", e->sequence);
    (void)json_object_update(doc, rest);
    return doc;
}

static void on_page(struct loop_task *task)
{
    struct audit_answer *a = CONTAINER_OF(task, struct audit_answer, task);
    struct command *cmd = a->cmd;
    if (a->status == STORE_OK && a->page) {
        json_t *items = json_array();
        for (size_t i = 0; i < a->page->count; i++)
            (void)json_array_append_new(items, render_entry(&a->page->entries[i]));
        bool full = a->page->count == (size_t)cmd->audit.limit;
        cmd->next = full ? a->page->entries[a->page->count - 1].sequence : 0;
        reply_json(cmd, 200, items);
    } else {
        reply_problem(cmd, problem_new(PROBLEM_STORE_UNAVAILABLE, "the audit log cannot be read"));
    }
    answer_free(a);
}

/* Reader thread: only passes the page on. */
static void on_page_read(void *ctx, enum store_status status, struct audit_page *page)
{
    struct audit_answer *a = ctx;
    struct reconcile *r = a->cmd->decided_by;
    a->status = status;
    a->page = page;
    loop_post(r->o.loop, &a->task);
}

void command_audit(struct reconcile *r, struct command *cmd)
{
    struct audit_answer *a = MEM_NEW(struct audit_answer);
    a->task = (struct loop_task){.run = on_page, .drop = answer_drop};
    a->cmd = cmd;
    storage_query_audit(r->o.storage, &cmd->audit, on_page_read, a);
}
