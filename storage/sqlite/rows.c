/*
 * Reads the stored structs at start, and pages of deliveries. Runs on the connection's thread. An unreadable
 * row is moved to the quarantine and logged, and causes no error.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/log.h"
#include "base/mem.h"
#include "storage/storage_private.h"

#include <sodium.h>
#include <string.h>

/* Builds the struct from a document and passes it to the visitor; false when the document is invalid. */
typedef bool (*doc_visit)(const struct store_visitor *visitor, const json_t *doc);

/* When the visitor's function is NULL, rows of this kind are ignored. */
#define DEFINE_VISIT(member, type, from_json)                                          \
    static bool visit_##member(const struct store_visitor *visitor, const json_t *doc) \
    {                                                                                  \
        type *value = from_json(doc);                                                  \
        if (value)                                                                     \
            visitor->member(visitor->ctx, value);                                      \
        return value;                                                                  \
    }
DEFINE_VISIT(operation, struct operation, operation_from_json)
DEFINE_VISIT(subscription, struct subscription, subscription_from_json)
DEFINE_VISIT(token, struct api_token, api_token_from_json)
DEFINE_VISIT(account, struct account_state, account_state_from_json)
DEFINE_VISIT(project, struct project_state, project_state_from_json)

json_t *row_doc(sqlite3_stmt *stmt, struct json_fault *fault)
{
    const unsigned char *text = sqlite3_column_text(stmt, 1);
    size_t len = (size_t)sqlite3_column_bytes(stmt, 1);
    *fault = (struct json_fault){.text = "the document lacks what it must have"};
    return text ? json_parse_strict((const char *)text, len, fault) : NULL;
}

void doc_digest(const char *doc, size_t len, unsigned char ret_digest[static DOC_DIGEST_BYTES])
{
    (void)crypto_generichash(ret_digest, DOC_DIGEST_BYTES, (const unsigned char *)doc, len, NULL, 0);
}

/* Whether the digest in column 2 is the digest of the document in column 1, so the document is complete. */
static bool doc_is_whole(sqlite3_stmt *stmt)
{
    unsigned char digest[DOC_DIGEST_BYTES];
    const char *doc = (const char *)sqlite3_column_text(stmt, 1);
    if (!doc || sqlite3_column_bytes(stmt, 2) != DOC_DIGEST_BYTES)
        return false;
    doc_digest(doc, (size_t)sqlite3_column_bytes(stmt, 1), digest);
    return !memcmp(digest, sqlite3_column_blob(stmt, 2), DOC_DIGEST_BYTES);
}

static struct cluster *read_cluster(sqlite3_stmt *stmt, struct json_fault *fault)
{
    struct cluster *c = doc_is_whole(stmt) ? cluster_from_text((const char *)sqlite3_column_text(stmt, 1),
                                                               (size_t)sqlite3_column_bytes(stmt, 1))
                                           : NULL;
    if (c)
        return c;
    json_t *CLEANUP_JSON doc = row_doc(stmt, fault);
    return doc ? cluster_from_json(doc) : NULL;
}

struct load {
    struct sqlite_conn *conn;
    const struct store_visitor *visitor;
    struct quarantine bad;
};

static enum store_status load_docs(struct load *l, struct binder *b, enum row_kind kind, doc_visit visit,
                                   char **ret_error)
{
    enum store_status status;
    while ((status = statement_step(b, ret_error)) == STORE_OK) {
        struct json_fault fault;
        json_t *CLEANUP_JSON doc = row_doc(b->stmt, &fault);
        if (!doc || !visit(l->visitor, doc))
            quarantine_note(&l->bad, kind, sqlite3_column_value(b->stmt, 0), fault.text);
    }
    return status == STORE_NONE ? STORE_OK : status;
}

static enum store_status load_clusters(struct load *l, char **ret_error)
{
    struct binder b = statement_start(l->conn, STATEMENT_CLUSTER_LOAD);
    enum store_status status;
    while ((status = statement_step(&b, ret_error)) == STORE_OK) {
        struct json_fault fault;
        struct cluster *c = read_cluster(b.stmt, &fault);
        if (c)
            l->visitor->cluster(l->visitor->ctx, c);
        else
            quarantine_note(&l->bad, ROW_CLUSTER, sqlite3_column_value(b.stmt, 0), fault.text);
    }
    return status == STORE_NONE ? STORE_OK : status;
}

static enum store_status load_operations(struct load *l, char **ret_error)
{
    const struct store_visitor *v = l->visitor;
    char left_out[40] = "";
    struct binder oldest = statement_start(l->conn, STATEMENT_OPERATION_LEFT_OUT);
    bind_int(&oldest, STORE_RECENT_OPERATIONS);
    enum store_status status = statement_step(&oldest, ret_error);
    if (status == STORE_OK) {
        column_copy(oldest.stmt, 0, left_out, sizeof(left_out));
        statement_end(&oldest);
    } else if (status != STORE_NONE) {
        return status;
    }
    if (v->operations_left_out)
        v->operations_left_out(v->ctx, left_out);
    struct binder b = statement_start(l->conn, STATEMENT_OPERATION_LOAD);
    bind_text(&b, left_out);
    return load_docs(l, &b, ROW_OPERATION, visit_operation, ret_error);
}

/* No real delivery has so many attempts; a larger number in a row means that the row is damaged. */
enum { ATTEMPTS_MOST = 1000 };

static bool read_delivery(sqlite3_stmt *stmt, struct delivery *d)
{
    int status = delivery_status_from_name((const char *)sqlite3_column_text(stmt, 3));
    sqlite3_int64 attempt = sqlite3_column_int64(stmt, 4);
    *d = (struct delivery){
        .attempt = (int)attempt,
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
    column_copy(stmt, 14, d->project, sizeof(d->project));
    column_copy(stmt, 15, d->cluster, sizeof(d->cluster));
    if (status < 0 || attempt < 0 || attempt > ATTEMPTS_MOST)
        return false;
    d->status = (enum delivery_status)status;
    delivery_read_attempts(d, (const char *)sqlite3_column_text(stmt, 13),
                           (size_t)sqlite3_column_bytes(stmt, 13));
    return true;
}

static enum store_status load_deliveries(struct load *l, char **ret_error)
{
    struct binder b = statement_start(l->conn, STATEMENT_DELIVERY_LOAD);
    enum store_status status;
    while ((status = statement_step(&b, ret_error)) == STORE_OK) {
        struct delivery *d = MEM_NEW(struct delivery);
        if (read_delivery(b.stmt, d)) {
            l->visitor->delivery(l->visitor->ctx, d);
            continue;
        }
        free(d);
        quarantine_note(&l->bad, ROW_DELIVERY, sqlite3_column_value(b.stmt, 0),
                        "unknown status or number of attempts");
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

static enum store_status load_all(struct load *l, char **ret_error)
{
    const struct store_visitor *v = l->visitor;
    const struct {
        bool wanted;
        enum statement which;
        enum row_kind kind;
        doc_visit visit;
    } kinds[] = {
        {v->subscription, STATEMENT_SUBSCRIPTION_LOAD, ROW_SUBSCRIPTION, visit_subscription},
        {v->token, STATEMENT_TOKEN_LOAD, ROW_TOKEN, visit_token},
        {v->account, STATEMENT_ACCOUNT_LOAD, ROW_ACCOUNT, visit_account},
        {v->project, STATEMENT_PROJECT_LOAD, ROW_PROJECT, visit_project},
    };
    enum store_status status = v->cluster ? load_clusters(l, ret_error) : STORE_OK;
    if (status == STORE_OK && v->operation)
        status = load_operations(l, ret_error);
    for (size_t i = 0; status == STORE_OK && i < ARRAY_LEN(kinds); i++) {
        if (!kinds[i].wanted)
            continue;
        struct binder b = statement_start(l->conn, kinds[i].which);
        status = load_docs(l, &b, kinds[i].kind, kinds[i].visit, ret_error);
    }
    if (status == STORE_OK && v->delivery)
        status = load_deliveries(l, ret_error);
    return status == STORE_OK && v->event_numbers ? load_event_numbers(l->conn, v) : status;
}

static int64_t count_quarantine(struct sqlite_conn *conn)
{
    struct binder b = statement_start(conn, STATEMENT_QUARANTINE_COUNT);
    int64_t count = 0;
    if (statement_step(&b, NULL) == STORE_OK) {
        count = sqlite3_column_int64(b.stmt, 0);
        statement_end(&b);
    }
    return count;
}

/* Moves the unreadable rows to the quarantine. When this fails (for example because the disk is full), the
 * rows stay in their tables, and the next start finds them again. */
static void put_aside(struct load *l)
{
    bool moved = l->bad.count && l->conn->writer && quarantine_move(l->conn, &l->bad) == STORE_OK &&
                 sqlite_commit(l->conn, NULL) == STORE_OK;
    if (l->bad.count && !moved)
        log_error("unreadable stored rows cannot be moved to quarantine", "rows", LOG_INT(l->bad.count));
    sqlite_rollback(l->conn);
    if (l->visitor->quarantined)
        l->visitor->quarantined(l->visitor->ctx,
                                count_quarantine(l->conn) + (moved ? 0 : (int64_t)l->bad.count));
}

enum store_status sqlite_load(void *arg, const struct store_visitor *visitor, char **ret_error)
{
    struct load l = {.conn = arg, .visitor = visitor};
    enum store_status status = sqlite_begin(l.conn, NULL);
    if (status != STORE_OK)
        return status;
    status = load_all(&l, ret_error);
    if (status == STORE_OK)
        put_aside(&l);
    else
        sqlite_rollback(l.conn);
    quarantine_done(&l.bad);
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
    bind_text(&b, *query->before ? query->before : NULL);
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
        *count += read_delivery(b.stmt, &array[*count]);
    return status == STORE_NONE ? STORE_OK : status;
}

enum store_status sqlite_deliveries(void *conn, const struct delivery_query *query,
                                    struct delivery **ret_array, size_t *ret_count)
{
    enum store_status status = sqlite_begin(conn, NULL);
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
    struct json_fault fault;
    json_t *CLEANUP_JSON doc = row_doc(b.stmt, &fault);
    *ret_replay = doc ? replay_from_json(doc) : NULL;
    statement_end(&b);
    return *ret_replay ? STORE_OK : STORE_BROKEN; /* this key has an answer that cannot be read; STORE_NONE
                                                   * would mean that there is none */
}

enum store_status sqlite_replay_by_key(void *conn, const char *key, struct replay **ret_replay)
{
    enum store_status status = sqlite_begin(conn, NULL);
    if (status != STORE_OK)
        return status;
    status = read_replay(conn, key, ret_replay);
    sqlite_rollback(conn);
    return status;
}

enum store_status sqlite_replay_behind(void *conn, char key[static REPLAY_DIGEST_BYTES],
                                       struct replay **ret_replay)
{
    struct binder b = statement_start(conn, STATEMENT_REPLAY_BEHIND);
    struct json_fault fault;
    bind_text(&b, key);
    enum store_status status = statement_step(&b, NULL);
    if (status != STORE_OK)
        return status;
    json_t *CLEANUP_JSON doc = row_doc(b.stmt, &fault);
    *ret_replay = doc ? replay_from_json(doc) : NULL;
    column_copy(b.stmt, 0, key, REPLAY_DIGEST_BYTES);
    statement_end(&b);
    return STORE_OK;
}

enum store_status sqlite_seal_key(void *conn, char ret_id[static SEAL_KEY_ID_BYTES])
{
    struct binder b = statement_start(conn, STATEMENT_SEAL_KEY);
    enum store_status status = statement_step(&b, NULL);
    ret_id[0] = '\0';
    if (status == STORE_OK) {
        column_copy(b.stmt, 0, ret_id, SEAL_KEY_ID_BYTES);
        statement_end(&b);
    }
    return status == STORE_NONE ? STORE_OK : status;
}
