/* Owns reading the audit log: pages with filters, the newest first. Runs on the connection's thread. */
#include "storage/sqlite/sqlite_private.h"

#include "base/mem.h"
#include "storage/storage_private.h"

/* NULL when everything is wanted. */
static char *wanted(char *const *list)
{
    if (!list)
        return NULL;
    json_t *CLEANUP_JSON names = string_list_to_json(list);
    return json_text(names);
}

static char *wanted_outcomes(unsigned bits)
{
    if (!bits)
        return NULL;
    json_t *CLEANUP_JSON names = json_array();
    for (int i = 0; i < AUDIT_OUTCOME_MAX_; i++)
        if (bits & 1U << i)
            (void)json_array_append_new(names, json_string(audit_outcome_name(i)));
    return json_text(names);
}

static enum store_status read_page(struct sqlite_conn *conn, const struct audit_query *query,
                                   struct audit_page *page)
{
    char *CLEANUP_FREE projects = wanted(query->projects);
    char *CLEANUP_FREE clusters = wanted(query->clusters);
    char *CLEANUP_FREE actions = wanted(query->actions);
    char *CLEANUP_FREE tokens = wanted(query->tokens);
    char *CLEANUP_FREE outcomes = wanted_outcomes(query->outcomes);
    int limit = store_page_limit(query->limit);
    struct binder b = statement_start(conn, STATEMENT_AUDIT_PAGE);
    bind_int(&b, query->before ? query->before : INT64_MAX);
    bind_text(&b, projects);
    bind_text(&b, clusters);
    bind_text(&b, actions);
    bind_text(&b, tokens);
    bind_text(&b, outcomes);
    bind_text(&b, query->own);
    bind_int(&b, limit);
    page->entries = mem_calloc((size_t)limit, sizeof(*page->entries));
    enum store_status status;
    while ((status = statement_step(&b, NULL)) == STORE_OK) {
        struct audit_entry *e = &page->entries[page->count++];
        e->sequence = sqlite3_column_int64(b.stmt, 0);
        e->body = column_text(b.stmt, 1);
    }
    return status == STORE_NONE ? STORE_OK : status;
}

enum store_status sqlite_audit(void *conn, const struct audit_query *query, struct audit_page *ret_page)
{
    enum store_status status = sqlite_begin(conn);
    if (status != STORE_OK)
        return status;
    status = read_page(conn, query, ret_page);
    sqlite_rollback(conn);
    return status;
}
