/*
 * The audit log (AU-18, AU-19). The entry for a change is stored in the transaction of the change. Refused
 * requests, failed writes, returned secrets and effects outside the store have no transaction. Their entries
 * get separate transactions. No request waits for these transactions, and while the store accepts no changes
 * the entries are left out. At most NOT_DONE_MAX refused and failed requests per token and minute get an
 * entry; one more entry counts the others. When a token reads the same secret again, one entry a minute
 * counts these reads. A request without effect gets no entry: a PUT that changes nothing, a dry run, a retry
 * with an Idempotency-Key that returns no secret. Loop thread.
 */
#include "reconcile/answers/audit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "reconcile/answers/reply.h"
#include "reconcile/answers/store_query.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/save.h"
#include "reconcile/world/world.h"

enum {
    MEMBERS_MAX = 50,   /* limit of member names in one entry */
    TEXT_MAX = 128,     /* limit in bytes for one text of an entry, because callers may send long texts */
    NOT_DONE_MAX = 120, /* the limit of entries for refusals and failures, per token and minute */
    READS_MAX = 1200,   /* the limit of different secrets and addresses, per token and minute */
};
#define MINUTE_US (60 * US_PER_S)

/* Counts the refused and failed requests of a token, and the secrets it read, in the current minute. */
struct audit_limit {
    UT_hash_handle hh;
    char token_id[40];
    char *token_name;
    char *issuer, *subject;
    mono_us since; /* when the minute began */
    unsigned noted;
    unsigned reads;
    unsigned left_out;
};

static char *audit_cut(const char *text)
{
    return utf8_cut_copy(text, TEXT_MAX);
}

static void set_cut(json_t *doc, const char *key, const char *text)
{
    char *copy CLEANUP_FREE = audit_cut(text);
    json_set_str(doc, key, copy);
}

/* Returns false when the entry has MEMBERS_MAX names already. The limit is needed, because a body may have
 * tens of thousands of members. */
static bool add_member(json_t *names, const char *prefix, const char *name)
{
    if (json_array_size(names) >= MEMBERS_MAX)
        return false;
    char *whole CLEANUP_FREE = mem_printf("%s%s", prefix, name);
    char *text CLEANUP_FREE = audit_cut(whole);
    json_append_take(names, json_string(text));
    return true;
}

/* Returns the names of the members that the caller sent, never their values. Each member of the spec is
 * listed, too. */
static json_t *members_of(const json_t *body)
{
    json_t *names = json_array();
    const char *key, *inner;
    json_t *value, *ignored;
    json_object_foreach ((json_t *)(uintptr_t)body, key, value) {
        if (strcmp(key, "spec") != 0 || !json_is_object(value)) {
            if (!add_member(names, "", key))
                break;
            continue;
        }
        json_object_foreach (value, inner, ignored)
            if (!add_member(names, "spec.", inner))
                break;
    }
    return names;
}

/* Returns the target of an entry: the id or name of the object that the path names inside a project or
 * cluster, or of the new object. */
static const char *target_of(const struct command *cmd)
{
    bool about_account = cmd->type == COMMAND_ACCOUNT_LOGIN || cmd->type == COMMAND_ACCOUNT_VERIFY;
    bool about_delivery = cmd->type == COMMAND_DELIVERY || cmd->type == COMMAND_REDELIVER;
    if (about_account)
        return cmd->name;
    if (cmd->type == COMMAND_NODE_POOL)
        return cmd->write.pool_name ? cmd->write.pool_name : json_str(cmd->body, "name");
    if (about_delivery && cmd->webhook.delivery)
        return cmd->webhook.delivery;
    return cmd->id[0] ? cmd->id : NULL;
}

static const char *cluster_of(const struct command *cmd)
{
    if (cmd->name)
        return cmd->project ? cmd->name : NULL;
    return cmd->type == COMMAND_CLUSTER_CREATE ? json_str(cmd->body, "name") : NULL;
}

/* The facts of an entry, borrowed. Each text may be NULL or ""; both mean that the entry has no such text. */
struct facts {
    const char *action;
    const char *token_id, *token_name, *issuer, *subject, *address;
    const char *project, *cluster, *target;
    const char *operation_id, *request_id, *trace_id;
    const json_t *body; /* the body of the request, or NULL */
    int status;         /* the status of the answer; 0: there is no answer */
    const char *code;   /* the code of the problem in the answer */
    unsigned left_out;  /* the number of left-out entries that this entry counts; 0 for an ordinary entry */
    enum audit_outcome outcome;
};

static void set_given(json_t *doc, const char *key, const char *text)
{
    json_set_str(doc, key, text && *text ? text : NULL);
}

static struct audit_entry *audit_entry_new(wall_us now, const struct facts *f)
{
    struct audit_entry *e = MEM_NEW(struct audit_entry);
    e->at = now;
    e->token_id = f->token_id && *f->token_id ? mem_strdup(f->token_id) : NULL;
    e->action = mem_strdup(f->action);
    e->project = audit_cut(f->project);
    e->cluster = audit_cut(f->cluster);
    e->outcome = f->outcome;
    char text[TIME_TEXT_BYTES];
    json_t *doc CLEANUP_JSON = json_object();
    json_set_str(doc, "at", time_rfc3339(now, true, text));
    json_set_str(doc, "action", e->action);
    json_set_str(doc, "outcome", audit_outcome_name(e->outcome));
    json_set_take(doc, "status", f->status ? json_integer(f->status) : json_null());
    json_set_str(doc, "code", f->code);
    json_set_str(doc, "token_id", e->token_id);
    set_cut(doc, "token_name", f->token_name);
    json_set_str(doc, "issuer", f->issuer);
    json_set_str(doc, "subject", f->subject);
    set_given(doc, "address", f->address);
    json_set_str(doc, "project", e->project);
    json_set_str(doc, "cluster", e->cluster);
    set_cut(doc, "target", f->target);
    json_set_take(doc, "members", members_of(f->body));
    json_set_take(doc, "left_out", f->left_out ? json_integer(f->left_out) : json_null());
    set_given(doc, "operation_id", f->operation_id);
    json_set_str(doc, "request_id", f->request_id);
    set_given(doc, "trace_id", f->trace_id);
    e->body = json_text(doc);
    return e;
}

/* `code`: the code of the problem in the answer; -1 for a success. */
static struct facts facts_of_command(const struct command *cmd, int status, int code)
{
    const bool denied = cmd->denied || code == PROBLEM_FORBIDDEN;
    return (struct facts){
        .action = cmd->action_name,
        .token_id = cmd->caller.token_id,
        .token_name = cmd->caller.token_name,
        .issuer = cmd->caller.issuer,
        .subject = cmd->caller.subject,
        .address = cmd->caller.address,
        .project = cmd->project,
        .cluster = cluster_of(cmd),
        .target = target_of(cmd),
        .operation_id = cmd->reply.operation_id,
        .request_id = cmd->request_id,
        .trace_id = cmd->trace.id,
        .body = cmd->body,
        .status = status,
        .code = code < 0 ? NULL : problem_kind((enum problem_code)code)->code,
        .outcome = denied     ? AUDIT_DENIED
                   : code < 0 ? AUDIT_SUCCESS
                              : AUDIT_ERROR,
    };
}

static struct audit_entry *entry_of_command(const struct command *cmd, wall_us now, int status, int code)
{
    const struct facts facts = facts_of_command(cmd, status, code);
    return audit_entry_new(now, &facts);
}

void audit_accepted(struct save *save, struct command *cmd)
{
    assert(!cmd->audited && cmd->reply.status / 100 == 2);
    cmd->audited = true;
    change_append_audit(save->set, entry_of_command(cmd, env_wall(save->r->env), cmd->reply.status, -1));
}

static void append_alone(struct reconcile *r, struct audit_entry *e)
{
    struct save *save = save_new(r, NULL, NULL);
    change_append_audit(save->set, e);
    save_submit(save, true);
}

void audit_daemon(struct reconcile *r, enum own_action action)
{
    const struct facts facts = {.action = own_action_name(action), .outcome = AUDIT_SUCCESS};
    append_alone(r, audit_entry_new(env_wall(r->env), &facts));
}

/* ---- refusals and failures are limited, so that a faulty client cannot fill the disk, and cannot hide the
 * entries of other clients ---- */

static void note_left_out(struct reconcile *r, const struct audit_limit *limit)
{
    const struct facts facts = {.action = own_action_name(ACTION_LEFT_OUT),
                                .token_id = limit->token_id,
                                .token_name = limit->token_name,
                                .issuer = limit->issuer,
                                .subject = limit->subject,
                                .left_out = limit->left_out,
                                .outcome = AUDIT_SUCCESS};
    append_alone(r, audit_entry_new(env_wall(r->env), &facts));
}

static void limit_end(struct reconcile *r, struct audit_limit *limit)
{
    HASH_DEL(r->audit_limits, limit);
    free(limit->token_name);
    free(limit->issuer);
    free(limit->subject);
    free(limit);
}

static struct audit_limit *limit_of(struct reconcile *r, const struct command *cmd)
{
    struct audit_limit *limit;
    HASH_FIND_STR(r->audit_limits, cmd->caller.token_id, limit);
    if (limit)
        return limit;
    limit = MEM_NEW(struct audit_limit);
    memcpy(limit->token_id, cmd->caller.token_id, sizeof(limit->token_id));
    limit->token_name = mem_strdup(cmd->caller.token_name);
    limit->issuer = mem_strdup(cmd->caller.issuer);
    limit->subject = mem_strdup(cmd->caller.subject);
    limit->since = env_mono(r->env);
    HASH_ADD_STR(r->audit_limits, token_id, limit);
    return limit;
}

static void tick_limits(struct reconcile *r, bool all)
{
    struct audit_limit *limit, *next;
    HASH_ITER (hh, r->audit_limits, limit, next) {
        if (!all && env_mono(r->env) - limit->since < MINUTE_US)
            continue;
        if (limit->left_out)
            note_left_out(r, limit);
        limit_end(r, limit);
    }
}

static bool is_within_limit(struct reconcile *r, const struct command *cmd)
{
    struct audit_limit *limit = limit_of(r, cmd);
    assert(cmd->reply.problem);
    if (limit->noted < NOT_DONE_MAX) {
        limit->noted++;
        return true;
    }
    limit->left_out++;
    return false;
}

static void note_not_done(struct reconcile *r, const struct command *cmd)
{
    enum problem_code code = cmd->reply.problem->code;
    if (is_within_limit(r, cmd))
        append_alone(r, entry_of_command(cmd, env_wall(r->env), problem_kind(code)->status, (int)code));
}

struct problem *command_audit_refused(struct reconcile *r, struct command *cmd)
{
    note_not_done(r, cmd);
    reply_give_back(cmd);
    return NULL;
}

/* ---- repeated reads of a secret: a token that may read one kubeconfig must not fill the log ---- */

/* The reads of one secret by one token from one address. The first read gets an entry at once. */
struct audit_reads {
    UT_hash_handle hh;
    char *key;
    mono_us since;    /* when the minute began */
    unsigned repeats; /* reads of this minute without an entry */
    char *texts[8];   /* owned; the borrowed texts of `facts` */
    struct facts facts;
};

static void reads_end(struct reconcile *r, struct audit_reads *reads)
{
    HASH_DEL(r->audit_reads, reads);
    for (size_t i = 0; i < ARRAY_LEN(reads->texts); i++)
        free(reads->texts[i]);
    free(reads->key);
    free(reads);
}

/* Takes over `key`. */
static void reads_begin(struct reconcile *r, const struct facts *f, char *key)
{
    struct audit_reads *reads = MEM_NEW(struct audit_reads);
    reads->key = key;
    reads->since = env_mono(r->env);
    reads->facts = *f;
    const char **const borrowed[ARRAY_LEN(reads->texts)] = {
        &reads->facts.token_id, &reads->facts.token_name, &reads->facts.issuer,  &reads->facts.subject,
        &reads->facts.address,  &reads->facts.project,    &reads->facts.cluster, &reads->facts.target};
    for (size_t i = 0; i < ARRAY_LEN(borrowed); i++)
        *borrowed[i] = reads->texts[i] = mem_strdup(*borrowed[i]);
    reads->facts.operation_id = reads->facts.request_id = reads->facts.trace_id = NULL;
    reads->facts.body = NULL;
    HASH_ADD_KEYPTR(hh, r->audit_reads, key, strlen(key), reads);
}

/* While the reads go on, each minute ends with an entry, and a minute without reads ends the count. */
static void tick_reads(struct reconcile *r, bool all)
{
    struct audit_reads *reads, *next;
    HASH_ITER (hh, r->audit_reads, reads, next) {
        if (!all && env_mono(r->env) - reads->since < MINUTE_US)
            continue;
        reads->facts.left_out = reads->repeats;
        if (reads->repeats)
            append_alone(r, audit_entry_new(env_wall(r->env), &reads->facts));
        if (all || !reads->repeats) {
            reads_end(r, reads);
            continue;
        }
        reads->since = env_mono(r->env);
        reads->repeats = 0;
    }
}

static void note_read(struct reconcile *r, const struct command *cmd)
{
    const struct facts f = facts_of_command(cmd, cmd->reply.status, -1);
    char *key = mem_printf("%s\n%s\n%s\n%s\n%s\n%s", f.token_id, f.address, f.action,
                           f.project ? f.project : "", f.cluster ? f.cluster : "", f.target ? f.target : "");
    struct audit_reads *reads;
    HASH_FIND_STR(r->audit_reads, key, reads);
    if (reads) {
        reads->repeats++;
        free(key);
        return;
    }
    struct audit_limit *limit = limit_of(r, cmd);
    if (limit->reads >= READS_MAX) {
        limit->left_out++;
        free(key);
        return;
    }
    limit->reads++;
    append_alone(r, audit_entry_new(env_wall(r->env), &f));
    reads_begin(r, &f, key);
}

void audit_tick(struct reconcile *r, bool all)
{
    tick_limits(r, all);
    tick_reads(r, all);
}

void audit_free(struct reconcile *r)
{
    struct audit_limit *limit, *next;
    struct audit_reads *reads, *next_reads;
    HASH_ITER (hh, r->audit_limits, limit, next)
        limit_end(r, limit);
    HASH_ITER (hh, r->audit_reads, reads, next_reads)
        reads_end(r, reads);
}

/* ---- answers ---- */

void audit_answered(struct command *cmd)
{
    struct reconcile *r = cmd->decided_by;
    const struct command_write *w = command_write_of(cmd);
    bool gives_secret =
        command_is(cmd, COMMAND_TELLS_SECRET) || (cmd->reply.replayed && cmd->reply.is_secret);
    bool is_told = gives_secret || (command_is(cmd, COMMAND_ACTS_OUTSIDE) && !cmd->reply.replayed);
    if (r->stopping || cmd->audited || (w && w->dry_run && !cmd->denied) || !cmd->action_name ||
        command_is(cmd, COMMAND_NOTES))
        return;
    if (!cmd->reply.problem && gives_secret)
        note_read(r, cmd);
    else if (!cmd->reply.problem && is_told)
        append_alone(r, entry_of_command(cmd, env_wall(r->env), cmd->reply.status, -1));
    else if (cmd->reply.problem && (is_told || cmd->denied || command_is(cmd, COMMAND_STORES)))
        note_not_done(r, cmd);
}

/* ---- pages ---- */

static struct problem *on_audit_page(struct store_query *s)
{
    enum { MAX_BYTES = 64 * 1024 * 1024 };
    struct command *cmd = s->cmd;
    const struct audit_page *page = s->audit;
    struct buffer out;
    size_t len;
    if (s->status != STORE_OK || !page)
        return problem_new(PROBLEM_STORE_UNAVAILABLE, "the audit log cannot be read");
    buffer_init(&out, MAX_BYTES);
    const bool lines = cmd->audit.as_lines;
    buffer_add_str(&out, lines ? "" : "[");
    for (size_t i = 0; i < page->count; i++) /* adds the number of the entry to its stored text */
        buffer_printf(&out, "%s{\"sequence\":%lld,%s%s", i && !lines ? "," : "",
                      (long long)page->entries[i].sequence, page->entries[i].body + 1, lines ? "\n" : "");
    buffer_add_str(&out, lines ? "" : "]");
    cmd->audit.next = page->next;
    cmd->reply.status = 200;
    cmd->reply.text = buffer_take(&out, &len);
    reply_give_back(cmd);
    return NULL;
}

struct problem *command_audit(struct reconcile *r, struct command *cmd)
{
    struct store_query *question = store_query_question(cmd, on_audit_page);
    storage_query_audit(r->o.storage, &cmd->audit.query, store_query_audit, question);
    return NULL;
}
