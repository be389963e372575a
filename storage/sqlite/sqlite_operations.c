/*
 * Reads operations that are not in memory: one by id, and pages, the newest first. Runs on the connection's
 * thread. An unreadable row is left out of the page and logged.
 */
#include "storage/sqlite/sqlite_private.h"

#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/string_list.h"
#include "storage/storage_private.h"

#include <string.h>

static char *names_of_statuses(unsigned bits)
{
    if (!bits)
        return NULL;
    json_t *CLEANUP_JSON names = json_array();
    for (int i = 0; i < OPERATION_STATUS_MAX_; i++)
        if (bits & 1U << i)
            json_append_take(names, json_string(operation_status_name((enum operation_status)i)));
    return json_text(names);
}

static char *names_of_types(unsigned bits)
{
    json_t *CLEANUP_JSON names = json_array();
    for (int i = 0; i < OPERATION_TYPE_MAX_; i++)
        if (bits & 1U << i)
            json_append_take(names, json_string(operation_type_name((enum operation_type)i)));
    return json_text(names);
}

static bool has_one(char *const *list)
{
    return list && list[0] && !list[1];
}

static char *names_of(char *const *list)
{
    json_t *CLEANUP_JSON names = list ? string_list_to_json(list) : NULL;
    return names ? json_text(names) : NULL;
}

static struct operation *read_operation(sqlite3_stmt *stmt)
{
    struct json_fault fault;
    json_t *CLEANUP_JSON doc = row_doc(stmt, &fault);
    struct operation *op = doc ? operation_from_json(doc) : NULL;
    if (op)
        operation_trim(op);
    else
        log_error("stored operation {id} cannot be read and is left out", "id",
                  (const char *)sqlite3_column_text(stmt, 0), "reason", fault.text);
    return op;
}

/* Reads one row more than requested: the additional row shows whether there is another page. */
static enum store_status read_rows(struct binder *b, int limit, struct operation_page *page)
{
    char last[sizeof(page->next)] = "";
    enum store_status status;
    page->operations = mem_calloc((size_t)limit, sizeof(struct operation *));
    for (int rows = 0; (status = statement_step(b, NULL)) == STORE_OK; rows++) {
        if (rows == limit) {
            memcpy(page->next, last, sizeof(last));
            statement_end(b);
            return STORE_OK;
        }
        column_copy(b->stmt, 0, last, sizeof(last));
        struct operation *op = read_operation(b->stmt);
        if (op)
            page->operations[page->count++] = op;
    }
    return status == STORE_NONE ? STORE_OK : status;
}

static enum store_status read_one(struct sqlite_conn *conn, const struct operation_query *query,
                                  struct operation_page *page)
{
    char *CLEANUP_FREE projects = names_of(query->projects);
    struct binder b = statement_start(conn, STATEMENT_OPERATION_BY_ID);
    bind_text(&b, query->id);
    bind_text(&b, projects);
    return read_rows(&b, 1, page);
}

static enum store_status read_page(struct sqlite_conn *conn, const struct operation_query *query,
                                   struct operation_page *page)
{
    const bool of_cluster =
        has_one(query->projects) && has_one(query->clusters) && !query->cluster_parts && !query->types;
    char since[ID_BYTES];
    char *CLEANUP_FREE projects = names_of(query->projects);
    char *CLEANUP_FREE clusters = names_of(query->clusters);
    char *CLEANUP_FREE parts = names_of(query->cluster_parts);
    char *CLEANUP_FREE statuses = names_of_statuses(query->statuses);
    const int limit = store_page_limit(query->limit);
    char *CLEANUP_FREE types = names_of_types(query->types);
    struct binder b = statement_start(conn, query->types ? STATEMENT_OPERATIONS_PAGE_OF_TYPE
                                            : of_cluster ? STATEMENT_OPERATIONS_PAGE_OF_CLUSTER
                                                         : STATEMENT_OPERATIONS_PAGE);
    bind_text(&b, *query->before ? query->before : "\x7f"); /* this text sorts after every id */
    bind_text(&b, of_cluster ? query->projects[0] : projects);
    bind_text(&b, of_cluster ? query->clusters[0] : clusters);
    bind_text(&b, statuses);
    bind_int(&b, limit + 1);
    bind_text(&b, query->since ? id_floor(ID_OPERATION, query->since, since) : "");
    if (!of_cluster)
        bind_text(&b, parts);
    if (query->types)
        bind_text(&b, types);
    return read_rows(&b, limit, page);
}

enum store_status sqlite_operations(void *conn, const struct operation_query *query,
                                    struct operation_page *ret_page)
{
    enum store_status status = sqlite_begin(conn, NULL);
    if (status != STORE_OK)
        return status;
    status = *query->id ? read_one(conn, query, ret_page) : read_page(conn, query, ret_page);
    sqlite_rollback(conn);
    return status;
}
