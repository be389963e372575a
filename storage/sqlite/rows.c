/*
 * Owns reading stored structs back at start, and pages of deliveries. Runs on the connection's thread. A row
 * that cannot be understood is an error, never skipped: silence would lose something that was promised.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/mem.h"
#include "storage/storage_private.h"

#include <string.h>

/* Builds the struct from a document and hands it over; false when the document is not one. */
typedef bool (*doc_visit)(const struct store_visitor *visitor, const json_t *doc);

/* A visitor that does not care for a kind has NULL there. */
#define DEFINE_VISIT(member, type, from_json)                                          \
    static bool visit_##member(const struct store_visitor *visitor, const json_t *doc) \
    {                                                                                  \
        type *value = from_json(doc);                                                  \
        if (value)                                                                     \
            visitor->member(visitor->ctx, value);                                      \
        return value;                                                                  \
    }
DEFINE_VISIT(cluster, struct cluster, cluster_from_json)
DEFINE_VISIT(operation, struct operation, operation_from_json)
DEFINE_VISIT(subscription, struct subscription, subscription_from_json)
DEFINE_VISIT(token, struct api_token, api_token_from_json)
DEFINE_VISIT(account, struct account_state, account_state_from_json)
DEFINE_VISIT(project, struct project_state, project_state_from_json)

static enum store_status row_is_bad(struct binder *b, const char *what, char **ret_error)
{
    if (ret_error)
        *ret_error =
            mem_printf("stored %s %s cannot be read", what, (const char *)sqlite3_column_text(b->stmt, 0));
    statement_end(b);
    return STORE_BROKEN;
}

/* Column 1, or NULL when it is no document. */
static json_t *row_doc(sqlite3_stmt *stmt)
{
    const unsigned char *text = sqlite3_column_text(stmt, 1);
    size_t len = (size_t)sqlite3_column_bytes(stmt, 1);
    return text ? json_parse_strict((const char *)text, len, NULL) : NULL;
}

static enum store_status load_docs(struct sqlite_conn *conn, enum statement which, const char *what,
                                   doc_visit visit, const struct store_visitor *visitor, char **ret_error)
{
    struct binder b = statement_start(conn, which);
    enum store_status status;
    while ((status = statement_step(&b, ret_error)) == STORE_OK) {
        json_t *CLEANUP_JSON doc = row_doc(b.stmt);
        if (!doc || !visit(visitor, doc))
            return row_is_bad(&b, what, ret_error);
    }
    return status == STORE_NONE ? STORE_OK : status;
}

static bool read_delivery(sqlite3_stmt *stmt, struct delivery *d)
{
    int status = delivery_status_from_name((const char *)sqlite3_column_text(stmt, 3));
    *d = (struct delivery){
        .attempt = sqlite3_column_int(stmt, 4),
        .response_status = sqlite3_column_int(stmt, 5),
        .latency_ms = sqlite3_column_int64(stmt, 6),
        .next_attempt_at = sqlite3_column_int64(stmt, 8),
        .created_at = sqlite3_column_int64(stmt, 9),
        .updated_at = sqlite3_column_int64(stmt, 10),
    };
    column_copy(stmt, 0, d->id, sizeof(d->id));
    column_copy(stmt, 1, d->event_id, sizeof(d->event_id));
    column_copy(stmt, 2, d->subscription_id, sizeof(d->subscription_id));
    column_copy(stmt, 7, d->error, sizeof(d->error));
    column_copy(stmt, 11, d->event_type, sizeof(d->event_type));
    column_copy(stmt, 12, d->snippet, sizeof(d->snippet));
    if (status < 0)
        return false;
    d->status = (enum delivery_status)status;
    return true;
}

static enum store_status load_deliveries(struct sqlite_conn *conn, const struct store_visitor *visitor,
                                         char **ret_error)
{
    struct binder b = statement_start(conn, STATEMENT_DELIVERY_LOAD);
    enum store_status status;
    while ((status = statement_step(&b, ret_error)) == STORE_OK) {
        struct delivery *d = MEM_NEW(struct delivery);
        if (!read_delivery(b.stmt, d)) {
            free(d);
            return row_is_bad(&b, "delivery", ret_error);
        }
        visitor->delivery(visitor->ctx, d);
    }
    return status == STORE_NONE ? STORE_OK : status;
}

static enum store_status load_event_numbers(struct sqlite_conn *conn, const struct store_visitor *visitor)
{
    int64_t oldest, newest;
    enum store_status status = sqlite_event_numbers(conn, &oldest, &newest);
    if (status == STORE_OK)
        visitor->event_numbers(visitor->ctx, oldest, newest);
    return status;
}

static enum store_status load_all(struct sqlite_conn *conn, const struct store_visitor *v, char **ret_error)
{
    const struct {
        bool wanted;
        enum statement which;
        const char *what;
        doc_visit visit;
    } kinds[] = {
        {v->cluster, STATEMENT_CLUSTER_LOAD, "cluster", visit_cluster},
        {v->operation, STATEMENT_OPERATION_LOAD, "operation", visit_operation},
        {v->subscription, STATEMENT_SUBSCRIPTION_LOAD, "subscription", visit_subscription},
        {v->token, STATEMENT_TOKEN_LOAD, "token", visit_token},
        {v->account, STATEMENT_ACCOUNT_LOAD, "account", visit_account},
        {v->project, STATEMENT_PROJECT_LOAD, "project", visit_project},
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!kinds[i].wanted)
            continue;
        enum store_status status =
            load_docs(conn, kinds[i].which, kinds[i].what, kinds[i].visit, v, ret_error);
        if (status != STORE_OK)
            return status;
    }
    enum store_status status = v->delivery ? load_deliveries(conn, v, ret_error) : STORE_OK;
    return status == STORE_OK && v->event_numbers ? load_event_numbers(conn, v) : status;
}

enum store_status sqlite_load(void *arg, const struct store_visitor *visitor, char **ret_error)
{
    struct sqlite_conn *conn = arg;
    enum store_status status = sqlite_begin(conn);
    if (status != STORE_OK)
        return status;
    status = load_all(conn, visitor, ret_error);
    sqlite_rollback(conn);
    return status;
}

static struct binder start_deliveries(struct sqlite_conn *conn, const struct delivery_query *query, int max)
{
    enum statement page =
        query->status == DELIVERY_FAILED ? STATEMENT_DELIVERIES_FAILED : STATEMENT_DELIVERIES_PAGE;
    struct binder b = statement_start(conn, *query->id ? STATEMENT_DELIVERY_BY_ID : page);
    bind_text(&b, query->subscription_id);
    if (*query->id) {
        bind_text(&b, query->id);
        return b;
    }
    bind_text(&b, *query->before ? query->before : "\x7f"); /* sorts behind every id */
    bind_text(&b, query->status < 0 ? NULL : delivery_status_name((enum delivery_status)query->status));
    bind_int(&b, max);
    return b;
}

static enum store_status read_deliveries(struct sqlite_conn *conn, const struct delivery_query *query,
                                         int max, struct delivery *array, size_t *count)
{
    struct binder b = start_deliveries(conn, query, max);
    enum store_status status;
    while ((status = statement_step(&b, NULL)) == STORE_OK)
        if (!read_delivery(b.stmt, &array[(*count)++]))
            return row_is_bad(&b, "delivery", NULL);
    return status == STORE_NONE ? STORE_OK : status;
}

enum store_status sqlite_deliveries(void *conn, const struct delivery_query *query,
                                    struct delivery **ret_array, size_t *ret_count)
{
    enum store_status status = sqlite_begin(conn);
    if (status != STORE_OK)
        return status;
    int max = store_page_limit(query->limit);
    struct delivery *array = mem_calloc((size_t)max, sizeof(*array));
    size_t count = 0;
    status = read_deliveries(conn, query, max, array, &count);
    sqlite_rollback(conn);
    if (status != STORE_OK) {
        free(array);
        return status;
    }
    *ret_array = array;
    *ret_count = count;
    return STORE_OK;
}

static enum store_status read_replay(struct sqlite_conn *conn, const char *key, struct replay **ret_replay)
{
    struct binder b = statement_start(conn, STATEMENT_REPLAY_BY_KEY);
    bind_text(&b, key);
    enum store_status status = statement_step(&b, NULL);
    if (status != STORE_OK)
        return status;
    json_t *CLEANUP_JSON doc = row_doc(b.stmt);
    *ret_replay = doc ? replay_from_json(doc) : NULL;
    if (!*ret_replay)
        return row_is_bad(&b, "replay", NULL);
    statement_end(&b);
    return STORE_OK;
}

enum store_status sqlite_replay_by_key(void *conn, const char *key, struct replay **ret_replay)
{
    enum store_status status = sqlite_begin(conn);
    if (status != STORE_OK)
        return status;
    status = read_replay(conn, key, ret_replay);
    sqlite_rollback(conn);
    return status;
}
