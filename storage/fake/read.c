/* Reads the fake's tables: everything at start, and pages. The caller holds the mutex of fake.c. */
#include "storage/fake/fake_private.h"

#include "base/mem.h"
#include "storage/storage_private.h"

#include <stdio.h>
#include <string.h>

/* Each struct is decoded from its stored form, as in a real store. */
#define READ_DOCS(t, which, visitor, member, from_json)                         \
    for (size_t i = 0; (visitor)->member && i < (t)->table[which].count; i++) { \
        json_t *CLEANUP_JSON doc = fake_row_doc((t)->table[which].rows[i]);     \
        __typeof__(from_json(NULL)) value = from_json(doc);                     \
        if (!value)                                                             \
            return STORE_BROKEN;                                                \
        (visitor)->member((visitor)->ctx, value);                               \
    }

static json_t *fake_row_doc(const struct fake_row *row)
{
    return json_parse_strict(row->doc, strlen(row->doc), NULL);
}

/* Returns the id of the newest ended operation that is not loaded; "": all are loaded. */
static const char *operations_left_out(const struct fake_rows *rows)
{
    size_t ended = 0;
    for (size_t i = rows->count; i > 0; i--) {
        const struct fake_row *row = rows->rows[i - 1];
        ended += row->number > 0;
        if (ended > STORE_RECENT_OPERATIONS)
            return row->key;
    }
    return "";
}

/* Whether a cluster refers to this operation. */
static bool is_shown(const struct fake_tables *t, const char *id)
{
    const struct fake_rows *clusters = &t->table[FAKE_CLUSTERS];
    for (size_t i = 0; i < clusters->count; i++) {
        json_t *CLEANUP_JSON doc = fake_row_doc(clusters->rows[i]);
        if (!strcmp(json_str_or(doc, "operation_id", ""), id))
            return true;
    }
    return false;
}

static enum store_status read_operations(const struct fake_tables *t, const struct store_visitor *v)
{
    const struct fake_rows *rows = &t->table[FAKE_OPERATIONS];
    const char *left_out = operations_left_out(rows);
    if (v->operations_left_out)
        v->operations_left_out(v->ctx, left_out);
    for (size_t i = 0; v->operation && i < rows->count; i++) {
        const struct fake_row *row = rows->rows[i];
        if (row->number > 0 && strcmp(row->key, left_out) <= 0 && !is_shown(t, row->key))
            continue;
        json_t *CLEANUP_JSON doc = fake_row_doc(row);
        struct operation *op = operation_from_json(doc);
        if (!op)
            return STORE_BROKEN;
        v->operation(v->ctx, op);
    }
    return STORE_OK;
}

enum store_status fake_read_all(const struct fake_tables *t, const struct store_visitor *v)
{
    READ_DOCS(t, FAKE_CLUSTERS, v, cluster, cluster_from_json)
    enum store_status status = read_operations(t, v);
    if (status != STORE_OK)
        return status;
    for (size_t i = 0; v->subscription && i < t->table[FAKE_SUBSCRIPTIONS].count; i++) {
        const struct fake_row *row = t->table[FAKE_SUBSCRIPTIONS].rows[i];
        json_t *CLEANUP_JSON doc = fake_row_doc(row);
        struct subscription *s = subscription_from_json(doc);
        if (!s)
            return STORE_BROKEN;
        s->last_success_at = row->number;
        v->subscription(v->ctx, s);
    }
    READ_DOCS(t, FAKE_TOKENS, v, token, api_token_from_json)
    READ_DOCS(t, FAKE_ACCOUNTS, v, account, account_state_from_json)
    READ_DOCS(t, FAKE_PROJECTS, v, project, project_state_from_json)
    const struct fake_rows *deliveries = &t->table[FAKE_DELIVERIES];
    for (size_t i = 0; v->delivery && i < deliveries->count; i++)
        if (deliveries->rows[i]->delivery->status == DELIVERY_PENDING)
            v->delivery(v->ctx, mem_dup(deliveries->rows[i]->delivery, sizeof(struct delivery)));
    const struct fake_rows *events = &t->table[FAKE_EVENTS];
    if (v->event_numbers)
        v->event_numbers(v->ctx, events->count ? events->rows[0]->event->sequence : 0, t->sequence);
    return STORE_OK;
}

static bool wants_project(const struct event_query *query, const char *project)
{
    if (!query->projects)
        return true;
    for (char **p = query->projects; project && *p; p++)
        if (!strcmp(*p, project))
            return true;
    return false;
}

/* Whether the event has neither a successful nor a pending delivery. */
static bool is_undelivered(const struct fake_tables *t, const char *subscription_id, const struct event *e)
{
    const struct fake_rows *rows = &t->table[FAKE_DELIVERIES];
    for (size_t i = 0; i < rows->count; i++) {
        const struct delivery *d = rows->rows[i]->delivery;
        if (d->status != DELIVERY_FAILED && !strcmp(d->subscription_id, subscription_id) &&
            !strcmp(d->event_id, e->id))
            return false;
    }
    return e->type != EVENT_WEBHOOK_TEST;
}

static bool fake_lists(char *const *list, const char *text)
{
    if (!list)
        return true;
    for (; text && *list; list++)
        if (!strcmp(*list, text))
            return true;
    return false;
}

/* Whether the list contains the value of the member `name` in the body of an audit entry or of an event. */
static bool fake_lists_member(char *const *list, const char *body, const char *name)
{
    json_t *CLEANUP_JSON doc = json_parse_lenient(body, strlen(body), NULL);
    const json_t *data = json_obj(doc, "data");
    return fake_lists(list, json_str(data ? data : doc, name));
}

static bool wants_of_whom(const struct event_query *q, const struct event *e)
{
    static const char *const targets[] = {"webhook", "account", "token", "scope"};
    bool is_target = fake_lists(q->targets, e->cluster);
    for (size_t i = 0; !is_target && i < ARRAY_LEN(targets); i++)
        is_target = fake_lists_member(q->targets, e->body, targets[i]);
    return is_target && (!q->actors || fake_lists_member(q->actors, e->body, "requested_by") ||
                         fake_lists_member(q->actors, e->body, "by"));
}

static bool wants_event(const struct fake_tables *t, const struct event_query *query, const struct event *e)
{
    if (query->undelivered_to && (e->at < query->since || !is_undelivered(t, query->undelivered_to, e)))
        return false;
    if (e->sequence <= query->after || (query->before && e->sequence >= query->before) ||
        e->at < query->since || (query->until && e->at >= query->until))
        return false;
    if (query->cluster && (!e->cluster || strcmp(query->cluster, e->cluster) != 0))
        return false;
    return wants_project(query, e->project) && event_query_wants_type(query, e->type) &&
           wants_of_whom(query, e);
}

/* Finds the range of numbers that the search for one page covers. False when there are no numbers. */
static bool search_window(const struct fake_rows *rows, const struct event_query *q,
                          struct number_range *ret_all, struct number_range *ret_window)
{
    struct number_range all = {0, 0};
    for (size_t i = 0; i < rows->count; i++) {
        const struct event *e = rows->rows[i]->event;
        if (e->at < q->since || (q->until && e->at >= q->until))
            continue;
        all.from = all.from ? all.from : e->sequence;
        all.to = e->sequence;
    }
    *ret_all = all;
    return store_window(all, q->newest_first ? q->before : q->after, q->newest_first, ret_window);
}

void fake_read_events(const struct fake_tables *t, const struct event_query *query,
                      struct event_page *ret_page)
{
    const struct fake_rows *rows = &t->table[FAKE_EVENTS];
    size_t max = (size_t)store_page_limit(query->limit);
    struct event_page page = {
        .events = mem_calloc(max, sizeof(struct event)),
        .oldest = rows->count ? rows->rows[0]->event->sequence : 0,
        .newest = t->sequence,
    };
    struct number_range all = {0, INT64_MAX}, window = all;
    const bool searches = query->actors || query->targets;
    const bool any = !searches || search_window(rows, query, &all, &window);
    for (size_t i = 0; any && i < rows->count && page.count < max; i++) {
        const struct event *e = rows->rows[query->newest_first ? rows->count - 1 - i : i]->event;
        if (e->sequence < window.from || e->sequence > window.to || !wants_event(t, query, e))
            continue;
        struct event *copy = event_copy(e);
        page.events[page.count++] = *copy;
        free(copy);
    }
    if (searches && any && page.count < max)
        page.cut = store_window_end(all, window, query->newest_first);
    *ret_page = page;
}

struct event *fake_read_event(const struct fake_tables *t, const char *id)
{
    const struct fake_rows *rows = &t->table[FAKE_EVENTS];
    for (size_t i = 0; i < rows->count; i++)
        if (!strcmp(rows->rows[i]->event->id, id))
            return event_copy(rows->rows[i]->event);
    return NULL;
}

static bool wants_delivery(const struct delivery_query *q, const struct delivery *d)
{
    return !strcmp(d->subscription_id, q->subscription_id) && (!*q->id || !strcmp(d->id, q->id)) &&
           (!*q->before || strcmp(d->id, q->before) < 0) && (q->status < 0 || (int)d->status == q->status);
}

void fake_read_deliveries(const struct fake_tables *t, const struct delivery_query *query,
                          struct delivery **ret_array, size_t *ret_count)
{
    const struct fake_rows *rows = &t->table[FAKE_DELIVERIES];
    size_t max = (size_t)store_page_limit(query->limit);
    struct delivery *array = mem_calloc(max, sizeof(*array));
    size_t count = 0;
    for (size_t i = rows->count; i > 0 && count < max; i--)
        if (wants_delivery(query, rows->rows[i - 1]->delivery))
            array[count++] = *rows->rows[i - 1]->delivery;
    *ret_array = array;
    *ret_count = count;
}

struct replay *fake_read_replay(const struct fake_tables *t, const char *key)
{
    const struct fake_row *row = fake_find(&t->table[FAKE_REPLAYS], key);
    if (!row)
        return NULL;
    json_t *CLEANUP_JSON doc = fake_row_doc(row);
    return replay_from_json(doc);
}

struct replay *fake_read_replay_behind(const struct fake_tables *t, char key[static REPLAY_DIGEST_BYTES])
{
    const struct fake_rows *rows = &t->table[FAKE_REPLAYS];
    for (size_t i = 0; i < rows->count; i++) {
        if (strcmp(rows->rows[i]->key, key) <= 0)
            continue;
        (void)snprintf(key, REPLAY_DIGEST_BYTES, "%s", rows->rows[i]->key);
        return fake_read_replay(t, key);
    }
    return NULL;
}

static bool wants_entry(const struct audit_query *q, const struct audit_entry *e)
{
    return (fake_lists(q->projects, e->project) ||
            (q->own && !e->project && fake_lists((char *[]){q->own, NULL}, e->token_id))) &&
           fake_lists(q->clusters, e->cluster) && fake_lists(q->actions, e->action) &&
           fake_lists(q->tokens, e->token_id) && (!q->outcomes || q->outcomes & 1U << e->outcome) &&
           e->at >= q->since && (!q->until || e->at < q->until);
}

static bool wants_searched(const struct audit_query *q, const struct audit_entry *e)
{
    return (!q->actors || fake_lists(q->actors, e->token_id) ||
            fake_lists_member(q->actors, e->body, "token_name")) &&
           (!q->targets || fake_lists(q->targets, e->cluster) ||
            fake_lists_member(q->targets, e->body, "target"));
}

void fake_read_audit(const struct fake_tables *t, const struct audit_query *query,
                     struct audit_page *ret_page)
{
    const struct fake_rows *rows = &t->table[FAKE_AUDIT];
    size_t max = (size_t)store_page_limit(query->limit);
    struct number_range all = {0, 0}, window;
    for (size_t i = 0; i < rows->count; i++) {
        const struct audit_entry *e = rows->rows[i]->audit;
        if (e->at < query->since || (query->until && e->at >= query->until))
            continue;
        all.from = all.from ? all.from : e->sequence;
        all.to = e->sequence;
    }
    if (!store_window(all, query->place, !query->oldest_first, &window))
        return;
    ret_page->entries = mem_calloc(max, sizeof(*ret_page->entries));
    for (size_t i = 0; i < rows->count && ret_page->count < max; i++) {
        const struct audit_entry *e = rows->rows[query->oldest_first ? i : rows->count - 1 - i]->audit;
        if (e->sequence < window.from || e->sequence > window.to || !wants_entry(query, e) ||
            !wants_searched(query, e))
            continue;
        struct audit_entry *out = &ret_page->entries[ret_page->count++];
        out->sequence = e->sequence;
        out->body = mem_strdup(e->body);
    }
    ret_page->next = ret_page->count == max ? ret_page->entries[max - 1].sequence
                                            : store_window_end(all, window, !query->oldest_first);
}

static bool wants_operation(const struct operation_query *q, const struct operation *op)
{
    char since[ID_BYTES];
    return (!*q->id || !strcmp(op->id, q->id)) && (!*q->before || strcmp(op->id, q->before) < 0) &&
           fake_lists(q->projects, op->project) && fake_lists(q->clusters, op->cluster) &&
           (!q->statuses || q->statuses & 1U << op->status) && (!q->types || q->types & 1U << op->type) &&
           (!q->since || strcmp(op->id, id_floor(ID_OPERATION, q->since, since)) >= 0);
}

void fake_read_operations(const struct fake_tables *t, const struct operation_query *query,
                          struct operation_page *ret_page)
{
    const struct fake_rows *rows = &t->table[FAKE_OPERATIONS];
    size_t max = (size_t)store_page_limit(query->limit);
    ret_page->operations = mem_calloc(max, sizeof(*ret_page->operations));
    for (size_t i = rows->count; i > 0 && !*ret_page->next; i--) {
        json_t *CLEANUP_JSON doc = fake_row_doc(rows->rows[i - 1]);
        struct operation *op = operation_from_json(doc);
        bool is_wanted = op && wants_operation(query, op), fits = ret_page->count < max;
        if (is_wanted && fits) {
            operation_trim(op);
            ret_page->operations[ret_page->count++] = op;
            continue;
        }
        if (is_wanted)
            memcpy(ret_page->next, ret_page->operations[max - 1]->id, sizeof(ret_page->next));
        operation_free(op);
    }
}
