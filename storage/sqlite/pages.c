/*
 * Reads pages of events with filters, one event by its id, and pages of the audit log. Runs on the
 * connection's thread. The events of a page, and the oldest and newest sequence in it, come from one
 * snapshot.
 */
#include <assert.h>

#include "storage/sqlite/sqlite_private.h"

#include "base/mem.h"
#include "model/string_list.h"
#include "storage/storage_private.h"

static bool read_event(sqlite3_stmt *stmt, struct event *e)
{
    int type = event_type_from_name((const char *)sqlite3_column_text(stmt, 2));
    if (type < 0)
        return false;
    *e = (struct event){
        .sequence = sqlite3_column_int64(stmt, 0),
        .type = (enum event_type)type,
        .project = column_text(stmt, 3),
        .cluster = column_text(stmt, 4),
        .at = sqlite3_column_int64(stmt, 5),
        .body = column_text(stmt, 6),
    };
    column_copy(stmt, 1, e->id, sizeof(e->id));
    return true;
}

static enum store_status read_by_id(struct sqlite_conn *conn, const char *id, struct event **ret_event)
{
    struct binder b = statement_start(conn, STATEMENT_EVENT_BY_ID);
    bind_text(&b, id);
    enum store_status status = statement_step(&b, NULL);
    if (status != STORE_OK)
        return status;
    struct event e = {0};
    bool readable = read_event(b.stmt, &e);
    statement_end(&b);
    if (!readable)
        return STORE_BROKEN;
    *ret_event = mem_dup(&e, sizeof(e));
    return STORE_OK;
}

enum store_status sqlite_event_by_id(void *conn, const char *id, struct event **ret_event)
{
    enum store_status status = sqlite_begin(conn, NULL);
    if (status != STORE_OK)
        return status;
    status = read_by_id(conn, id, ret_event);
    sqlite_rollback(conn);
    return status;
}

/* Returns the texts of the list as a JSON array. When there is no list, returns NULL, which matches all
 * texts. */
static char *wanted_texts(char *const *list)
{
    if (!list)
        return NULL;
    json_t *CLEANUP_JSON names = string_list_to_json(list);
    return json_text(names);
}

/* Returns the exact type names that the patterns match, as a JSON array; NULL: all types match. */
static char *wanted_types(const struct event_query *query)
{
    if (!query->types)
        return NULL;
    json_t *CLEANUP_JSON names = json_array();
    for (int type = EVENT_NONE + 1; type < EVENT_TYPE_MAX_; type++)
        if (event_query_wants_type(query, (enum event_type)type))
            json_append_take(names, json_string(event_type_name((enum event_type)type)));
    return json_text(names);
}

/* Returns the statement whose index is best for the filter, and the value for that index. */
static enum statement choose_page(const struct event_query *query, const char **ret_selected)
{
    if (query->undelivered_to) {
        *ret_selected = query->undelivered_to;
        return STATEMENT_EVENTS_UNDELIVERED;
    }
    if (query->cluster) {
        *ret_selected = query->cluster;
        return query->newest_first ? STATEMENT_EVENTS_NEWEST_OF_CLUSTER : STATEMENT_EVENTS_PAGE_OF_CLUSTER;
    }
    if (query->projects && query->projects[0] && !query->projects[1]) {
        *ret_selected = query->projects[0];
        return query->newest_first ? STATEMENT_EVENTS_NEWEST_OF_PROJECT : STATEMENT_EVENTS_PAGE_OF_PROJECT;
    }
    *ret_selected = NULL;
    return query->newest_first ? STATEMENT_EVENTS_NEWEST : STATEMENT_EVENTS_PAGE;
}

/* Reads the smallest and the largest sequence number of a period. When the period has no sequence number,
 * `from` is 0. */
static enum store_status read_range(struct sqlite_conn *conn, enum statement which, wall_us since,
                                    wall_us until, struct number_range *ret_range)
{
    struct binder b = statement_start(conn, which);
    bind_int(&b, since);
    bind_int(&b, until ? until : INT64_MAX);
    enum store_status status = statement_step(&b, NULL);
    if (status != STORE_OK)
        return status == STORE_NONE ? STORE_BROKEN : status;
    *ret_range = (struct number_range){sqlite3_column_int64(b.stmt, 0), sqlite3_column_int64(b.stmt, 1)};
    statement_end(&b);
    return STORE_OK;
}

static enum store_status read_event_rows(struct sqlite_conn *conn, const struct event_query *query,
                                         struct event_page *page)
{
    char *CLEANUP_FREE types = wanted_types(query);
    char *CLEANUP_FREE projects = wanted_texts(query->projects);
    char *CLEANUP_FREE actors = wanted_texts(query->actors);
    char *CLEANUP_FREE targets = wanted_texts(query->targets);
    const char *selected = NULL;
    enum statement which = choose_page(query, &selected);
    struct binder b = statement_start(conn, which);
    bind_int(&b, query->after);
    bind_text(&b, types);
    bind_text(&b, projects);
    bind_text(&b, selected);
    bind_int(&b, store_page_limit(query->limit));
    bind_int(&b, query->since);
    if (which != STATEMENT_EVENTS_UNDELIVERED) {
        bind_int(&b, query->until ? query->until : INT64_MAX);
        bind_int(&b, query->before ? query->before : INT64_MAX);
        bind_text(&b, actors);
        bind_text(&b, targets);
    }
    size_t capacity = 0;
    enum store_status status;
    while ((status = statement_step(&b, NULL)) == STORE_OK) {
        if (page->count == capacity) {
            capacity = capacity ? capacity * 2 : 32;
            page->events = mem_realloc_array(page->events, capacity, sizeof(*page->events));
        }
        if (!read_event(b.stmt, &page->events[page->count])) {
            statement_end(&b);
            return STORE_BROKEN;
        }
        page->count++;
    }
    return status == STORE_NONE ? STORE_OK : status;
}

/* Actors and targets have no index. Therefore the search for one page stops after a limited number of
 * events, and the page says where the search ended. */
static enum store_status read_event_page(struct sqlite_conn *conn, const struct event_query *query,
                                         struct event_page *page)
{
    struct number_range all, window;
    if (!query->actors && !query->targets)
        return read_event_rows(conn, query, page);
    const int64_t place = query->newest_first ? query->before : query->after;
    enum store_status status = read_range(conn, STATEMENT_EVENTS_RANGE, query->since, query->until, &all);
    if (status != STORE_OK || !store_window(all, place, query->newest_first, &window))
        return status;
    struct event_query part = *query; /* the lists stay owned by *query */
    part.after = window.from - 1;
    part.before = window.to + 1;
    status = read_event_rows(conn, &part, page);
    if (page->count < (size_t)store_page_limit(query->limit))
        page->cut = store_window_end(all, window, query->newest_first);
    return status;
}

static enum store_status event_read_number(struct sqlite_conn *conn, enum statement which,
                                           int64_t *ret_number)
{
    struct binder b = statement_start(conn, which);
    enum store_status status = statement_step(&b, NULL);
    if (status != STORE_OK)
        return status == STORE_NONE ? STORE_BROKEN : status;
    *ret_number = sqlite3_column_int64(b.stmt, 0);
    statement_end(&b);
    return STORE_OK;
}

enum store_status sqlite_event_numbers(struct sqlite_conn *conn, int64_t *ret_oldest, int64_t *ret_newest)
{
    enum store_status status = event_read_number(conn, STATEMENT_EVENT_OLDEST, ret_oldest);
    return status == STORE_OK ? event_read_number(conn, STATEMENT_EVENT_NEWEST, ret_newest) : status;
}

enum store_status sqlite_events(void *arg, const struct event_query *query, struct event_page *ret_page)
{
    struct sqlite_conn *conn = arg;
    enum store_status status = sqlite_begin(conn, NULL);
    if (status != STORE_OK)
        return status;
    struct event_page *page = MEM_NEW(struct event_page);
    status = read_event_page(conn, query, page);
    if (status == STORE_OK)
        status = sqlite_event_numbers(conn, &page->oldest, &page->newest);
    if (status == STORE_OK)
        status = event_read_number(conn, STATEMENT_EVENT_BASE, &page->base);
    sqlite_rollback(conn);
    if (status != STORE_OK) {
        event_page_free(page);
        return status;
    }
    *ret_page = *page;
    free(page);
    return STORE_OK;
}

/* ---- the audit log ---- */

static char *wanted_outcomes(unsigned bits)
{
    if (!bits)
        return NULL;
    json_t *CLEANUP_JSON names = json_array();
    for (int i = 0; i < AUDIT_OUTCOME_MAX_; i++)
        if (bits & 1U << i)
            json_append_take(names, json_string(audit_outcome_name(i)));
    return json_text(names);
}

static enum store_status read_audit_rows(struct sqlite_conn *conn, const struct audit_query *query,
                                         struct number_range window, struct audit_page *page)
{
    char *CLEANUP_FREE projects = wanted_texts(query->projects);
    char *CLEANUP_FREE clusters = wanted_texts(query->clusters);
    char *CLEANUP_FREE actions = wanted_texts(query->actions);
    char *CLEANUP_FREE tokens = wanted_texts(query->tokens);
    char *CLEANUP_FREE outcomes = wanted_outcomes(query->outcomes);
    char *CLEANUP_FREE actors = wanted_texts(query->actors);
    char *CLEANUP_FREE targets = wanted_texts(query->targets);
    int limit = store_page_limit(query->limit);
    struct binder b =
        statement_start(conn, query->oldest_first ? STATEMENT_AUDIT_PAGE_OLDEST : STATEMENT_AUDIT_PAGE);
    bind_int(&b, window.from);
    bind_text(&b, projects);
    bind_text(&b, clusters);
    bind_text(&b, actions);
    bind_text(&b, tokens);
    bind_text(&b, outcomes);
    bind_text(&b, query->own);
    bind_int(&b, limit);
    bind_int(&b, query->since);
    bind_int(&b, query->until ? query->until : INT64_MAX);
    bind_int(&b, window.to);
    bind_text(&b, actors);
    bind_text(&b, targets);
    page->entries = mem_calloc((size_t)limit, sizeof(*page->entries));
    enum store_status status;
    while ((status = statement_step(&b, NULL)) == STORE_OK) {
        assert(page->count < (size_t)limit); /* the statement has a LIMIT, and the array has as many places */
        struct audit_entry *e = &page->entries[page->count++];
        e->sequence = sqlite3_column_int64(b.stmt, 0);
        e->body = column_text(b.stmt, 1);
    }
    return status == STORE_NONE ? STORE_OK : status;
}

static enum store_status read_audit_page(struct sqlite_conn *conn, const struct audit_query *query,
                                         struct audit_page *page)
{
    struct number_range all, window;
    enum store_status status = read_range(conn, STATEMENT_AUDIT_RANGE, query->since, query->until, &all);
    if (status != STORE_OK || !store_window(all, query->place, !query->oldest_first, &window))
        return status;
    status = read_audit_rows(conn, query, window, page);
    page->next = page->count == (size_t)store_page_limit(query->limit)
                     ? page->entries[page->count - 1].sequence
                     : store_window_end(all, window, !query->oldest_first);
    return status;
}

enum store_status sqlite_audit(void *conn, const struct audit_query *query, struct audit_page *ret_page)
{
    enum store_status status = sqlite_begin(conn, NULL);
    if (status != STORE_OK)
        return status;
    status = read_audit_page(conn, query, ret_page);
    sqlite_rollback(conn);
    return status;
}
