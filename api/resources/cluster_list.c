/* Lists of clusters: filters over the view; pages in the order of the view, or in another order. */
#include "api/resources/handlers.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/reads.h"
#include "api/resources/cluster_order.h"
#include "api/resources/first_rows.h"
#include "api/routes.h"
#include "base/mem.h"
#include "model/label_filter.h"
#include "view/cluster_counts.h"
#include "view/cluster_facts.h"

/* `wanted` is in lower case; the texts of the facts are in lower case, too. */
static bool matches_text(const struct cluster_facts *c, const char *wanted)
{
    return !wanted || strstr(c->search, wanted);
}

/* "1.33" matches every patch of 1.33, and no version of 1.3. */
static bool matches_version(const struct cluster_facts *c, const char *wanted)
{
    if (!wanted)
        return true;
    const size_t len = strlen(wanted);
    return !strncmp(c->version, wanted, len) && (c->version[len] == '.' || !c->version[len]);
}

static bool matches_region(struct request *r, const struct cluster_facts *c)
{
    if (!r->params.given[PARAM_REGION])
        return true;
    const struct config_project *p = config_project(api_config(r->api), c->project);
    return p && param_lists(&r->params, PARAM_REGION, p->region);
}

static bool matches_expiry(const struct query_values *p, const struct cluster_facts *c)
{
    return !p->given[PARAM_EXPIRING_BEFORE] ||
           (c->expires_at && c->expires_at < p->numbers[PARAM_EXPIRING_BEFORE]);
}

static bool matches_creation(const struct query_values *p, const struct cluster_facts *c)
{
    return (!p->given[PARAM_CREATED_BEFORE] || c->created_at < p->numbers[PARAM_CREATED_BEFORE]) &&
           (!p->given[PARAM_CREATED_AFTER] || c->created_at > p->numbers[PARAM_CREATED_AFTER]) &&
           (!p->given[PARAM_AGE] || c->created_at <= p->numbers[PARAM_AGE]);
}

static bool cluster_is_wanted(struct request *r, const struct view_entry *entry)
{
    const struct cluster_facts *c = entry->subject;
    const struct query_values *p = &r->params;
    return api_token_sees_project(r->token, c->project) && param_lists(p, PARAM_PROJECT, c->project) &&
           param_has_value(p, PARAM_PHASE, (int)c->phase) &&
           param_has_value(p, PARAM_HEALTH, (int)c->health) &&
           (!p->given[PARAM_MANAGED] || p->numbers[PARAM_MANAGED] == c->managed) && matches_region(r, c) &&
           matches_version(c, p->texts[PARAM_KUBERNETES_VERSION]) && matches_expiry(p, c) &&
           matches_creation(p, c) &&
           (!p->texts[PARAM_LABEL] || label_filter_holds(p->texts[PARAM_LABEL], c->labels)) &&
           matches_text(c, p->texts[PARAM_Q]);
}

/* ---- the number of clusters on all pages ---- */

/* Whether a parameter leaves out clusters by more than their project. The chunks count the clusters of each
 * project; a filter that is not among `others` makes a pass necessary. */
static bool is_filtered(const struct request *r)
{
    const uint64_t others = PARAM_BIT(PARAM_CLUSTER_LIMIT) | PARAM_BIT(PARAM_CURSOR) |
                            PARAM_BIT(PARAM_PROJECT) | PARAM_BIT(PARAM_SORT) | PARAM_BIT(PARAM_FIELDS);
    const uint64_t filters = r->route->params & ~others;
    for (int id = 0; id < PARAM_MAX_; id++)
        if (filters & PARAM_BIT(id) && r->params.given[id])
            return true;
    return false;
}

/* Adds up the counts of the view's chunks, and reads no cluster. */
static int64_t count_of_projects(const struct request *r, const struct view_snapshot *s)
{
    const struct view_section_entries *clusters = &s->sections[VIEW_CLUSTERS];
    int64_t total = 0;
    for (size_t i = 0; i < clusters->chunk_count; i++) {
        const struct cluster_counts *counts = clusters->chunks[i]->counts;
        for (size_t j = 0; j < counts->count; j++) {
            const struct cluster_group *group = &counts->groups[j];
            if (r->project ? !strcmp(r->project, group->project)
                           : api_token_sees_project(r->token, group->project) &&
                                 param_lists(&r->params, PARAM_PROJECT, group->project))
                total += group->total;
        }
    }
    return total;
}

/* Counts the wanted entries from the place on, up to the entry with this key ("": to the end). */
static int64_t count_of_wanted(struct request *r, struct view_cursor *place, const struct list_query *q,
                               const char *last)
{
    int64_t count = 0;
    for (const struct view_entry *e = view_next(place); e && list_has_prefix(e->key, q->prefix);
         e = view_next(place)) {
        if (*last && strcmp(e->key, last) > 0)
            break;
        count += cluster_is_wanted(r, e);
    }
    return count;
}

/* ---- pages that are not in the order of the view: they need one pass over the view, and memory for one page
 * ---- */

/* Selects the wanted entries after the place: the first `most` of them, in order. Returns the number of all
 * wanted entries. */
static int64_t select_rows(struct request *r, const struct view_snapshot *s, const struct list_query *q,
                           const struct order_row *after, struct first_rows *found)
{
    struct view_cursor place = view_seek(s, q->section, q->prefix ? q->prefix : "");
    struct order_row row;
    int64_t at = 0;
    for (const struct view_entry *e = view_next(&place); e && list_has_prefix(e->key, q->prefix);
         e = view_next(&place)) {
        if (!cluster_is_wanted(r, e))
            continue;
        order_row_of_entry(found->order, api_config(r->api), e, &row);
        row.at = (size_t)++at;
        if (!after || order_compare(found->order, &row, after) > 0)
            first_rows_consider(found, &row);
    }
    first_rows_sort(found);
    return at;
}

static struct problem *answer_sorted(struct request *r, const struct list_query *query)
{
    struct cursor_place place, next;
    struct cluster_order order;
    struct order_row after;
    char project[CURSOR_MAX_KEY + 1];
    json_t *valid CLEANUP_JSON = NULL;
    char *fault CLEANUP_FREE = cluster_order_parse(r->params.texts[PARAM_SORT], &order, &valid);
    assert(!fault); /* the text was checked in api/params.c */
    (void)fault;
    struct problem *p = list_place(r, &place);
    if (p)
        return p;
    order_row_of_place(&order, api_config(r->api), &place, project, &after);

    size_t limit = (size_t)list_limit(r);
    assert(limit > 0);
    /* memory for one more row, which shows whether another page follows */
    struct order_row *rows CLEANUP_FREE = mem_calloc(limit + 1, sizeof(*rows));
    struct first_rows found = {.order = &order, .rows = rows, .most = limit + 1};
    struct list_body page CLEANUP_LIST_BODY;
    list_open(&page);
    const struct view_snapshot *s = view_enter(r->api->options.view);
    page.total = select_rows(r, s, query, *place.key ? &after : NULL, &found);
    for (size_t i = 0; i < found.count && i < limit; i++)
        list_add_blob(&page, rows[i].blob, query->brief);
    bool more = found.count > limit && order_row_place(&order, &rows[limit - 1], &next);
    view_leave(r->api->options.view);
    list_set_age(r, &page);
    return list_close(r, &page, more ? &next : NULL);
}

/* ---- pages in the order of the view ---- */

static struct problem *answer_in_order(struct request *r, const struct list_query *query)
{
    struct list_view list;
    struct problem *p = list_view_begin(&list, r, query);
    if (p)
        return p;
    int64_t total = 0;
    const bool is_counted = is_filtered(r);
    if (is_counted && *list.after.key) { /* the entries of the pages before */
        struct view_cursor place =
            view_seek(list.snapshot, query->section, query->prefix ? query->prefix : "");
        total = count_of_wanted(r, &place, query, list.after.key);
    }
    for (const struct view_entry *e = list_view_next(&list); e; e = list_view_next(&list))
        if (cluster_is_wanted(r, e)) {
            list_view_add(&list, e);
            total++;
        }
    if (is_counted && list.more) /* and those of the pages behind */
        total += count_of_wanted(r, &list.place, query, "");
    list.body.total = is_counted ? total : count_of_projects(r, list.snapshot);
    return list_view_end(&list);
}

struct problem *handle_clusters(struct request *r)
{
    for (char *p = r->params.texts[PARAM_Q]; p && *p; p++)
        *p = (char)tolower((unsigned char)*p);
    char *prefix CLEANUP_FREE = r->project ? mem_printf("%s/", r->project) : NULL;
    const struct list_query query = {.section = VIEW_CLUSTERS,
                                     .prefix = prefix,
                                     .brief = (r->params.numbers[PARAM_FIELDS] >> FIELDS_SUMMARY) & 1,
                                     .states_age = true};
    return r->params.given[PARAM_SORT] ? answer_sorted(r, &query) : answer_in_order(r, &query);
}
