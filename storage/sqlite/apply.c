/*
 * Writes changes as rows: one function per kind. Runs on the writer's thread inside a transaction that the
 * caller begins and ends.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

/* Takes over the reference of `value`. */
static char *doc_text(json_t *value)
{
    char *text = json_text(value);
    json_decref(value);
    return text;
}

static enum store_status sqlite_put_cluster(struct sqlite_conn *conn, struct change *change, char **ret_error)
{
    const struct cluster *c = change->cluster;
    assert(*c->id && c->project && c->name);
    char *CLEANUP_FREE doc = doc_text(cluster_to_json(c));
    unsigned char digest[DOC_DIGEST_BYTES];
    doc_digest(doc, strlen(doc), digest);
    struct binder b = statement_start(conn, STATEMENT_CLUSTER_PUT);
    bind_text(&b, c->id);
    bind_text(&b, c->project);
    bind_text(&b, c->name);
    bind_int(&b, c->version);
    bind_int(&b, c->deleted);
    bind_text(&b, c->operation_id);
    bind_text(&b, doc);
    bind_blob(&b, digest, sizeof(digest));
    enum store_status status = statement_run(&b, ret_error);
    if (status != STORE_OK || sqlite3_changes(conn->db) > 0)
        return status;
    if (ret_error)
        *ret_error = mem_printf("cluster %s: a higher version is stored", c->id);
    return STORE_CONFLICT;
}

static enum store_status sqlite_put_operation(struct sqlite_conn *conn, struct change *change,
                                              char **ret_error)
{
    const struct operation *op = change->operation;
    assert(*op->id && op->project && op->cluster);
    char *CLEANUP_FREE doc = doc_text(operation_to_json(op));
    struct binder b = statement_start(conn, STATEMENT_OPERATION_PUT);
    bind_text(&b, op->id);
    bind_text(&b, op->cluster_id);
    bind_text(&b, op->project);
    bind_text(&b, op->cluster);
    bind_text(&b, operation_status_name(op->status));
    bind_int(&b, op->finished_at);
    bind_text(&b, doc);
    return statement_run(&b, ret_error);
}

static enum store_status next_sequence(struct sqlite_conn *conn, int64_t *ret_sequence, char **ret_error)
{
    struct binder b = statement_start(conn, STATEMENT_EVENT_NUMBER);
    enum store_status status = statement_step(&b, ret_error);
    if (status != STORE_OK)
        return status == STORE_NONE ? STORE_BROKEN : status;
    *ret_sequence = sqlite3_column_int64(b.stmt, 0);
    /* The statement is run to its end, because an UPDATE with RETURNING is complete only then. */
    return statement_run(&b, ret_error);
}

static enum store_status sqlite_append_event(struct sqlite_conn *conn, struct change *change,
                                             char **ret_error)
{
    struct event *e = change->event;
    assert(*e->id && e->body && e->type < EVENT_TYPE_MAX_);
    int64_t sequence = 0;
    enum store_status status = next_sequence(conn, &sequence, ret_error);
    if (status != STORE_OK)
        return status;
    struct binder b = statement_start(conn, STATEMENT_EVENT_APPEND);
    bind_int(&b, sequence);
    bind_text(&b, e->id);
    bind_text(&b, event_type_name(e->type));
    bind_text(&b, e->project);
    bind_text(&b, e->cluster);
    bind_int(&b, e->at);
    bind_text(&b, e->body);
    status = statement_run(&b, ret_error);
    if (status == STORE_OK)
        e->sequence = sequence;
    return status;
}

static enum store_status sqlite_put_delivery(struct sqlite_conn *conn, struct change *change,
                                             char **ret_error)
{
    const struct delivery *d = change->delivery;
    assert(*d->id && *d->event_id && *d->subscription_id);
    char *CLEANUP_FREE attempts = delivery_attempts_text(d);
    struct binder b = statement_start(conn, STATEMENT_DELIVERY_PUT);
    bind_text(&b, d->id);
    bind_text(&b, d->event_id);
    bind_text(&b, d->subscription_id);
    bind_text(&b, delivery_status_name(d->status));
    bind_int(&b, d->attempt);
    bind_int(&b, d->response_status);
    bind_int(&b, d->latency_ms);
    bind_text(&b, d->error);
    bind_int(&b, d->next_attempt_at);
    bind_int(&b, d->created_at);
    bind_int(&b, d->updated_at);
    bind_text(&b, d->event_type);
    bind_text(&b, d->snippet);
    bind_text(&b, attempts);
    enum store_status status = statement_run(&b, ret_error);
    if (status != STORE_OK || d->status != DELIVERY_DELIVERED)
        return status;
    b = statement_start(conn, STATEMENT_SUBSCRIPTION_SUCCEEDED);
    bind_text(&b, d->subscription_id);
    bind_int(&b, d->updated_at);
    return statement_run(&b, ret_error);
}

static enum store_status sqlite_put_standing(struct sqlite_conn *conn, struct change *change,
                                             char **ret_error)
{
    const struct webhook_standing *standing = &change->standing.of;
    struct binder b = statement_start(conn, STATEMENT_SUBSCRIPTION_STANDING);
    bind_text(&b, change->standing.webhook);
    bind_int(&b, standing->failing_since);
    bind_int(&b, standing->last_at);
    bind_int(&b, standing->last_status);
    bind_text(&b, attempt_result_name((enum attempt_result)standing->last_result));
    return statement_run(&b, ret_error);
}

static enum store_status sqlite_put_token(struct sqlite_conn *conn, struct change *change, char **ret_error)
{
    const struct api_token *t = change->token;
    char *CLEANUP_FREE doc = doc_text(api_token_to_json(t));
    struct binder b = statement_start(conn, STATEMENT_TOKEN_PUT);
    bind_text(&b, t->id);
    bind_blob(&b, t->digest, sizeof(t->digest));
    bind_text(&b, doc);
    return statement_run(&b, ret_error);
}

/* Writes a row of a table that has only a key and a document. Takes over the reference of `value`. */
static enum store_status put_doc(struct sqlite_conn *conn, enum statement which, const char *key,
                                 json_t *value, char **ret_error)
{
    char *CLEANUP_FREE doc = doc_text(value);
    struct binder b = statement_start(conn, which);
    bind_text(&b, key);
    bind_text(&b, doc);
    return statement_run(&b, ret_error);
}

static enum store_status sqlite_put_subscription(struct sqlite_conn *conn, struct change *change,
                                                 char **ret_error)
{
    const struct subscription *s = change->subscription;
    return put_doc(conn, STATEMENT_SUBSCRIPTION_PUT, s->id, subscription_to_json(s), ret_error);
}

static enum store_status sqlite_put_account(struct sqlite_conn *conn, struct change *change, char **ret_error)
{
    const struct account_state *a = change->account;
    return put_doc(conn, STATEMENT_ACCOUNT_PUT, a->name, account_state_to_json(a), ret_error);
}

static enum store_status sqlite_put_project(struct sqlite_conn *conn, struct change *change, char **ret_error)
{
    const struct project_state *p = change->project;
    return put_doc(conn, STATEMENT_PROJECT_PUT, p->name, project_state_to_json(p), ret_error);
}

static enum store_status sqlite_put_replay(struct sqlite_conn *conn, struct change *change, char **ret_error)
{
    char *CLEANUP_FREE doc = doc_text(replay_to_json(change->replay));
    struct binder b = statement_start(conn, STATEMENT_REPLAY_PUT);
    bind_text(&b, change->replay->key);
    bind_int(&b, change->replay->created_at);
    bind_text(&b, doc);
    return statement_run(&b, ret_error);
}

static enum store_status sqlite_append_audit(struct sqlite_conn *conn, struct change *change,
                                             char **ret_error)
{
    const struct audit_entry *e = change->audit;
    struct binder b = statement_start(conn, STATEMENT_AUDIT_APPEND);
    bind_int(&b, e->at);
    bind_text(&b, e->token_id);
    bind_text(&b, e->action);
    bind_text(&b, e->project);
    bind_text(&b, e->cluster);
    bind_text(&b, audit_outcome_name(e->outcome));
    bind_text(&b, e->body);
    return statement_run(&b, ret_error);
}

static enum store_status run_with_id(struct sqlite_conn *conn, enum statement which, const char *id,
                                     char **ret_error)
{
    struct binder b = statement_start(conn, which);
    bind_text(&b, id);
    return statement_run(&b, ret_error);
}

static enum store_status sqlite_delete_cluster(struct sqlite_conn *conn, struct change *change,
                                               char **ret_error)
{
    return run_with_id(conn, STATEMENT_CLUSTER_DELETE, change->id, ret_error);
}

static enum store_status sqlite_delete_subscription(struct sqlite_conn *conn, struct change *change,
                                                    char **ret_error)
{
    return run_with_id(conn, STATEMENT_SUBSCRIPTION_DELETE, change->id, ret_error);
}

static enum store_status sqlite_delete_token(struct sqlite_conn *conn, struct change *change,
                                             char **ret_error)
{
    return run_with_id(conn, STATEMENT_TOKEN_DELETE, change->id, ret_error);
}

static enum store_status sqlite_put_seal_key(struct sqlite_conn *conn, struct change *change,
                                             char **ret_error)
{
    return run_with_id(conn, STATEMENT_SEAL_KEY_PUT, change->id, ret_error);
}

static const enum statement purges[CHANGE_KIND_MAX_] = {
    [CHANGE_OPERATION_PURGE] = STATEMENT_OPERATION_PURGE,
    [CHANGE_DELIVERY_PURGE] = STATEMENT_DELIVERY_PURGE,
    [CHANGE_REPLAY_PURGE] = STATEMENT_REPLAY_PURGE,
    [CHANGE_AUDIT_PURGE] = STATEMENT_AUDIT_PURGE,
};

static enum store_status run_purge(struct binder *b, struct change *change, char **ret_error)
{
    enum store_status status = statement_run(b, ret_error);
    change->left_over = status == STORE_OK && sqlite3_changes(b->conn->db) >= change->purge.limit;
    return status;
}

static enum store_status sqlite_purge(struct sqlite_conn *conn, struct change *change, char **ret_error)
{
    struct binder b = statement_start(conn, purges[change->kind]);
    bind_int(&b, change->purge.before);
    bind_int(&b, change->purge.limit);
    return run_purge(&b, change, ret_error);
}

static enum store_status sqlite_purge_events(struct sqlite_conn *conn, struct change *change,
                                             char **ret_error)
{
    struct binder b = statement_start(conn, STATEMENT_EVENT_PURGE);
    bind_int(&b, change->purge.before);
    bind_int(&b, change->purge.newest);
    bind_int(&b, change->purge.limit);
    return run_purge(&b, change, ret_error);
}

typedef enum store_status (*applier)(struct sqlite_conn *conn, struct change *change, char **ret_error);

static const applier appliers[CHANGE_KIND_MAX_] = {
    [CHANGE_CLUSTER_PUT] = sqlite_put_cluster,
    [CHANGE_CLUSTER_DELETE] = sqlite_delete_cluster,
    [CHANGE_OPERATION_PUT] = sqlite_put_operation,
    [CHANGE_OPERATION_PURGE] = sqlite_purge,
    [CHANGE_EVENT_APPEND] = sqlite_append_event,
    [CHANGE_EVENT_PURGE] = sqlite_purge_events,
    [CHANGE_SUBSCRIPTION_PUT] = sqlite_put_subscription,
    [CHANGE_SUBSCRIPTION_DELETE] = sqlite_delete_subscription,
    [CHANGE_STANDING_PUT] = sqlite_put_standing,
    [CHANGE_DELIVERY_PUT] = sqlite_put_delivery,
    [CHANGE_DELIVERY_PURGE] = sqlite_purge,
    [CHANGE_TOKEN_PUT] = sqlite_put_token,
    [CHANGE_TOKEN_DELETE] = sqlite_delete_token,
    [CHANGE_ACCOUNT_PUT] = sqlite_put_account,
    [CHANGE_PROJECT_PUT] = sqlite_put_project,
    [CHANGE_REPLAY_PUT] = sqlite_put_replay,
    [CHANGE_REPLAY_PURGE] = sqlite_purge,
    [CHANGE_AUDIT_APPEND] = sqlite_append_audit,
    [CHANGE_AUDIT_PURGE] = sqlite_purge,
    [CHANGE_SEAL_KEY_PUT] = sqlite_put_seal_key,
};

enum store_status sqlite_apply(void *conn, struct change *change, char **ret_error)
{
    assert((unsigned)change->kind < CHANGE_KIND_MAX_ && appliers[change->kind]);
    return appliers[change->kind](conn, change, ret_error);
}
