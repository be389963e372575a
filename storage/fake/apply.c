/* Applies each kind of change to the fake's tables, with the rules that SQL enforces. The caller holds the
 * mutex of fake.c. */
#include "storage/fake/fake_private.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Takes over the reference of `value`, which may be NULL. */
static struct fake_row *row_new(const char *key, json_t *value)
{
    struct fake_row *row = MEM_NEW(struct fake_row);
    row->key = mem_strdup(key);
    row->doc = value ? json_text(value) : NULL;
    json_decref(value);
    return row;
}

static enum store_status put(struct fake_tables *t, enum fake_table table, struct fake_row *row)
{
    return fake_put(&t->table[table], row) ? STORE_OK : STORE_CONFLICT;
}

static enum store_status fake_put_cluster(struct fake_tables *t, struct change *change)
{
    const struct cluster *c = change->cluster;
    const struct fake_row *old = fake_find(&t->table[FAKE_CLUSTERS], c->id);
    if (old && c->version < old->number)
        return STORE_CONFLICT;
    struct fake_row *row = row_new(c->id, cluster_to_json(c));
    row->unique = c->deleted ? NULL : mem_printf("%s/%s", c->project, c->name);
    row->number = c->version;
    return put(t, FAKE_CLUSTERS, row);
}

static enum store_status fake_delete_cluster(struct fake_tables *t, struct change *change)
{
    fake_remove(&t->table[FAKE_CLUSTERS], change->id);
    return STORE_OK;
}

static enum store_status fake_put_operation(struct fake_tables *t, struct change *change)
{
    const struct operation *op = change->operation;
    struct fake_row *row = row_new(op->id, operation_to_json(op));
    row->number = op->finished_at;
    return put(t, FAKE_OPERATIONS, row);
}

void fake_mark_restored(struct fake_tables *t)
{
    struct fake_rows *rows = &t->table[FAKE_OPERATIONS];
    for (size_t i = 0; i < rows->count; i++) {
        const struct fake_row *old = rows->rows[i];
        json_t *doc = old->number ? NULL : json_parse_lenient(old->doc, strlen(old->doc), NULL);
        if (!doc)
            continue;
        json_set_bool(doc, "restored", true);
        (void)put(t, FAKE_OPERATIONS, row_new(old->key, doc));
    }
}

static bool finished_before(const struct fake_row *row, const void *before)
{
    return row->number > 0 && row->number < *(const wall_us *)before;
}

static enum store_status fake_purge(struct fake_rows *rows,
                                    bool (*drop)(const struct fake_row *row, const void *arg),
                                    const void *arg, struct change *change)
{
    size_t limit = (size_t)change->purge.limit;
    change->left_over = fake_filter(rows, drop, arg, limit) >= limit;
    return STORE_OK;
}

static enum store_status purge_operations(struct fake_tables *t, struct change *change)
{
    return fake_purge(&t->table[FAKE_OPERATIONS], finished_before, &change->purge.before, change);
}

static enum store_status fake_append_event(struct fake_tables *t, struct change *change)
{
    struct event *e = change->event;
    char key[24];
    (void)snprintf(key, sizeof(key), "%020" PRId64, t->sequence + 1);
    struct fake_row *row = row_new(key, NULL);
    row->unique = mem_strdup(e->id);
    row->event = event_copy(e);
    row->event->sequence = t->sequence + 1;
    if (!fake_put(&t->table[FAKE_EVENTS], row))
        return STORE_CONFLICT;
    e->sequence = ++t->sequence;
    return STORE_OK;
}

static bool is_needed(const struct fake_rows *deliveries, const struct event *e)
{
    for (size_t i = 0; i < deliveries->count; i++) {
        const struct delivery *d = deliveries->rows[i]->delivery;
        if (d->status == DELIVERY_PENDING && !strcmp(d->event_id, e->id))
            return true;
    }
    return false;
}

/* Returns the sequence of the last event that the purge removes, after all its conditions. Rows are in the
 * order of their sequences. */
static int64_t last_purged(const struct fake_tables *t, const struct change *change)
{
    const struct fake_rows *rows = &t->table[FAKE_EVENTS];
    int64_t last = t->sequence - change->purge.newest;
    for (size_t i = 0; i < rows->count; i++) {
        const struct event *e = rows->rows[i]->event;
        if ((int64_t)i < change->purge.limit && e->at < change->purge.before && e->sequence > last)
            last = e->sequence;
    }
    for (size_t i = 0; i < rows->count; i++) {
        const struct event *e = rows->rows[i]->event;
        if (e->sequence <= last && is_needed(&t->table[FAKE_DELIVERIES], e))
            return e->sequence - 1;
    }
    return last;
}

static bool event_is_purged(const struct fake_row *row, const void *last)
{
    return row->event->sequence <= *(const int64_t *)last;
}

static enum store_status fake_purge_events(struct fake_tables *t, struct change *change)
{
    int64_t last = last_purged(t, change);
    return fake_purge(&t->table[FAKE_EVENTS], event_is_purged, &last, change);
}

static enum store_status fake_put_subscription(struct fake_tables *t, struct change *change)
{
    const struct subscription *s = change->subscription;
    const struct fake_row *old = fake_find(&t->table[FAKE_SUBSCRIPTIONS], s->id);
    struct fake_row *row = row_new(s->id, subscription_to_json(s));
    row->number = old ? old->number : 0;
    return put(t, FAKE_SUBSCRIPTIONS, row);
}

static void note_success(struct fake_tables *t, const struct fake_row *subscription, wall_us at)
{
    struct fake_row *row = row_new(subscription->key, NULL);
    row->doc = mem_strdup(subscription->doc);
    row->number = at > subscription->number ? at : subscription->number;
    (void)put(t, FAKE_SUBSCRIPTIONS, row);
}

static bool belongs_to(const struct fake_row *row, const void *subscription_id)
{
    return !strcmp(row->delivery->subscription_id, subscription_id);
}

static enum store_status fake_delete_subscription(struct fake_tables *t, struct change *change)
{
    fake_remove(&t->table[FAKE_SUBSCRIPTIONS], change->id);
    (void)fake_filter(&t->table[FAKE_DELIVERIES], belongs_to, change->id, SIZE_MAX);
    return STORE_OK;
}

static enum store_status fake_put_delivery(struct fake_tables *t, struct change *change)
{
    const struct delivery *d = change->delivery;
    const struct fake_row *subscription = fake_find(&t->table[FAKE_SUBSCRIPTIONS], d->subscription_id);
    if (!subscription)
        return STORE_CONFLICT;
    if (d->status == DELIVERY_DELIVERED)
        note_success(t, subscription, d->updated_at);
    struct fake_row *row = row_new(d->id, NULL);
    row->delivery = mem_dup(d, sizeof(*d));
    char *CLEANUP_FREE attempts = delivery_attempts_text(d);
    row->delivery->attempts_known = 0;
    delivery_read_attempts(row->delivery, attempts, strlen(attempts));
    return put(t, FAKE_DELIVERIES, row);
}

static bool delivery_is_stale(const struct fake_row *row, const void *before)
{
    return row->delivery->status != DELIVERY_PENDING && row->delivery->updated_at < *(const wall_us *)before;
}

static enum store_status purge_deliveries(struct fake_tables *t, struct change *change)
{
    return fake_purge(&t->table[FAKE_DELIVERIES], delivery_is_stale, &change->purge.before, change);
}

static enum store_status fake_put_token(struct fake_tables *t, struct change *change)
{
    static const char digits[] = "0123456789abcdef";
    const struct api_token *token = change->token;
    struct fake_row *row = row_new(token->id, api_token_to_json(token));
    row->unique = mem_calloc(2 * sizeof(token->digest) + 1, 1);
    for (size_t i = 0; i < sizeof(token->digest); i++) {
        row->unique[2 * i] = digits[token->digest[i] >> 4];
        row->unique[2 * i + 1] = digits[token->digest[i] & 15];
    }
    return put(t, FAKE_TOKENS, row);
}

static enum store_status fake_delete_token(struct fake_tables *t, struct change *change)
{
    fake_remove(&t->table[FAKE_TOKENS], change->id);
    return STORE_OK;
}

static enum store_status fake_put_account(struct fake_tables *t, struct change *change)
{
    return put(t, FAKE_ACCOUNTS, row_new(change->account->name, account_state_to_json(change->account)));
}

static enum store_status fake_put_project(struct fake_tables *t, struct change *change)
{
    return put(t, FAKE_PROJECTS, row_new(change->project->name, project_state_to_json(change->project)));
}

static enum store_status fake_put_replay(struct fake_tables *t, struct change *change)
{
    struct fake_row *row = row_new(change->replay->key, replay_to_json(change->replay));
    row->number = change->replay->created_at;
    return put(t, FAKE_REPLAYS, row);
}

static bool made_before(const struct fake_row *row, const void *before)
{
    return row->number < *(const wall_us *)before;
}

static enum store_status purge_replays(struct fake_tables *t, struct change *change)
{
    return fake_purge(&t->table[FAKE_REPLAYS], made_before, &change->purge.before, change);
}

static enum store_status fake_append_audit(struct fake_tables *t, struct change *change)
{
    const struct audit_entry *e = change->audit;
    char key[24];
    (void)snprintf(key, sizeof(key), "%020" PRId64, ++t->audit_sequence);
    struct fake_row *row = row_new(key, NULL);
    row->number = e->at;
    row->audit = MEM_NEW(struct audit_entry);
    row->audit->sequence = t->audit_sequence;
    row->audit->token_id = mem_strdup(e->token_id);
    row->audit->action = mem_strdup(e->action);
    row->audit->project = mem_strdup(e->project);
    row->audit->cluster = mem_strdup(e->cluster);
    row->audit->at = e->at;
    row->audit->outcome = e->outcome;
    row->audit->body = mem_strdup(e->body);
    return put(t, FAKE_AUDIT, row);
}

static enum store_status purge_audit(struct fake_tables *t, struct change *change)
{
    return fake_purge(&t->table[FAKE_AUDIT], made_before, &change->purge.before, change);
}

static enum store_status fake_put_seal_key(struct fake_tables *t, struct change *change)
{
    (void)snprintf(t->seal_key, sizeof(t->seal_key), "%.*s", SEAL_KEY_ID_BYTES - 1, change->id);
    return STORE_OK;
}

typedef enum store_status (*applier)(struct fake_tables *t, struct change *change);

static const applier appliers[CHANGE_KIND_MAX_] = {
    [CHANGE_CLUSTER_PUT] = fake_put_cluster,
    [CHANGE_CLUSTER_DELETE] = fake_delete_cluster,
    [CHANGE_OPERATION_PUT] = fake_put_operation,
    [CHANGE_OPERATION_PURGE] = purge_operations,
    [CHANGE_EVENT_APPEND] = fake_append_event,
    [CHANGE_EVENT_PURGE] = fake_purge_events,
    [CHANGE_SUBSCRIPTION_PUT] = fake_put_subscription,
    [CHANGE_SUBSCRIPTION_DELETE] = fake_delete_subscription,
    [CHANGE_DELIVERY_PUT] = fake_put_delivery,
    [CHANGE_DELIVERY_PURGE] = purge_deliveries,
    [CHANGE_TOKEN_PUT] = fake_put_token,
    [CHANGE_TOKEN_DELETE] = fake_delete_token,
    [CHANGE_ACCOUNT_PUT] = fake_put_account,
    [CHANGE_PROJECT_PUT] = fake_put_project,
    [CHANGE_REPLAY_PUT] = fake_put_replay,
    [CHANGE_REPLAY_PURGE] = purge_replays,
    [CHANGE_AUDIT_APPEND] = fake_append_audit,
    [CHANGE_AUDIT_PURGE] = purge_audit,
    [CHANGE_SEAL_KEY_PUT] = fake_put_seal_key,
};

enum store_status fake_apply_change(struct fake_tables *t, struct change *change)
{
    return appliers[change->kind](t, change);
}
