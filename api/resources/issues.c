/*
 * Issues and what helps against them, of one cluster, or of all clusters, projects and accounts that a token may
 * see. They are derived from facts in the view when a client asks.
 *
 * The order over all clusters is that of trouble (model/issues.h): the worst first, then the oldest. The facts
 * of a cluster have the number and the age of its issues of each severity, so one pass finds the rows of a page
 * without making an issue. The number of clusters whose issues are made for a page is limited, so that a page
 * takes about 2 ms of an HTTP thread.
 */
#include "api/resources/handlers.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/reads.h"
#include "api/resources/first_rows.h"
#include "api/resources/webhook_issues.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "model/issues.h"
#include "view/cluster_facts.h"
#include "view/place_facts.h"

/* ---- one cluster ---- */

static struct view_blob *take(const struct view_snapshot *s, enum view_section section, const char *key)
{
    struct view_blob *blob = view_find(s, section, key);
    return blob ? view_blob_ref(blob) : NULL;
}

struct problem *handle_issues(struct request *r)
{
    char key[VIEW_CLUSTER_KEY_BYTES];
    bool fits = view_cluster_key(key, r->project, r->name);
    const struct view_snapshot *s = view_enter(r->api->options.view);
    struct view_blob *cluster = fits ? take(s, VIEW_CLUSTERS, key) : NULL;
    struct view_blob *catalog = take(s, VIEW_CATALOGS, r->project);
    view_leave(r->api->options.view);
    struct problem *p;
    if (cluster) {
        json_t *doc = json_object();
        json_set_take(
            doc, "items",
            cluster_issues(cluster, catalog ? catalog->subject : NULL, env_wall(r->api->options.env)));
        json_set_str(doc, "next_cursor", NULL);
        p = answer_with_document(r, doc);
    } else {
        p = problem_no_cluster(r->project, r->name);
    }
    view_blob_unref(cluster);
    view_blob_unref(catalog);
    return p;
}

/* ---- all clusters ---- */

/* The limit of the cost of one page: so many times the issues of a cluster are made. */
enum { BUDGET = 40 };

/* An issue of an account or of a project, which stands for all its clusters, or of a webhook. */
struct place_issue {
    char key[CURSOR_MAX_KEY + 1]; /* begins with a byte that no key of a cluster begins with */
    json_t *issue;
};

struct fleet {
    struct request *r;
    const struct view_snapshot *snapshot;
    wall_us now;
    struct cluster_order order;
    struct place_issue *places;
    size_t place_count;
    int budget;
    int64_t left; /* the number of rows that the page can still take */
    struct list_body page;
    struct cursor_place next; /* the rows of one cluster and severity, and how many of them were listed */
};

static bool is_asked_for(const struct request *r, const char *project)
{
    return api_token_sees_project(r->token, project) && param_lists(&r->params, PARAM_PROJECT, project);
}

static bool is_wanted(const struct request *r, const json_t *issue)
{
    return param_has_value(&r->params, PARAM_SEVERITY,
                           issue_severity_from_name(json_str(issue, "severity"))) &&
           param_has_value(&r->params, PARAM_SOURCE, issue_source_from_name(json_str(issue, "source")));
}

static wall_us since_of(const json_t *issue)
{
    wall_us since;
    const char *text = json_str(issue, "since");
    return text && time_parse_rfc3339(text, &since) ? since : 0;
}

/* The projects of an account are those of the configuration. */
static bool account_is_asked_for(const struct request *r, const char *account)
{
    const struct config *config = api_config(r->api);
    for (size_t i = 0; i < config->project_count; i++)
        if (!strcmp(config->projects[i].account->name, account) && is_asked_for(r, config->projects[i].name))
            return true;
    return false;
}

static void add_place(struct fleet *x, const char *word, const char *name, json_t *issue)
{
    if (!issue || !is_wanted(x->r, issue))
        return;
    x->places = mem_realloc_array(x->places, x->place_count + 1, sizeof(*x->places));
    struct place_issue *added = &x->places[x->place_count++];
    (void)snprintf(added->key, sizeof(added->key), "\x01%s/%s", word, name);
    added->issue = json_incref(issue);
}

static void add_places(struct fleet *x, enum view_section section, const char *word,
                       bool (*is_asked)(const struct request *r, const char *name))
{
    struct view_cursor place = view_seek(x->snapshot, section, "");
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        const struct place_facts *f = e->subject;
        json_t *issue CLEANUP_JSON = f->issue && is_asked(x->r, e->key) ? json_loads(f->issue, 0, NULL) : NULL;
        add_place(x, word, e->key, issue);
    }
}

static void add_webhooks(struct fleet *x)
{
    json_t *issues CLEANUP_JSON = webhook_issues(x->r, x->snapshot);
    size_t i;
    json_t *issue;
    json_array_foreach (issues, i, issue)
        add_place(x, "webhook", json_str(issue, "subject"), issue);
}

/* ---- the rows of a page: each is a place, or all issues of one cluster with one severity ---- */

static void consider(struct first_rows *found, const struct order_row *after, const struct order_row *row)
{
    if (!after || order_compare(found->order, row, after) >= 0)
        first_rows_consider(found, row);
}

static void select_rows(struct fleet *x, const struct order_row *after, struct first_rows *found)
{
    for (size_t i = 0; i < x->place_count; i++) {
        const json_t *issue = x->places[i].issue;
        const int severity = issue_severity_from_name(json_str(issue, "severity"));
        consider(found, after,
                 &(struct order_row){.key = x->places[i].key,
                                     .numbers = {trouble_rank((enum issue_severity)severity, since_of(issue))}});
    }
    struct view_cursor place = view_seek(x->snapshot, VIEW_CLUSTERS, "");
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        const struct trouble *t = &((const struct cluster_facts *)e->subject)->trouble;
        if (!t->code || !is_asked_for(x->r, ((const struct cluster_facts *)e->subject)->project))
            continue;
        for (int severity = 0; severity < ISSUE_SEVERITY_MAX_; severity++)
            if (t->counts[severity] && param_has_value(&x->r->params, PARAM_SEVERITY, severity))
                consider(found, after,
                         &(struct order_row){
                             .blob = e->blob,
                             .key = e->key,
                             .numbers = {trouble_rank((enum issue_severity)severity, t->since[severity])}});
    }
    first_rows_sort(found);
}

/* Returns the issues of the row, which the caller owns. The severity is in the number of the row. */
static json_t *issues_of_row(struct fleet *x, const struct order_row *row)
{
    json_t *issues = json_array();
    size_t i;
    json_t *issue;
    for (i = 0; !row->blob && i < x->place_count; i++)
        if (!strcmp(x->places[i].key, row->key))
            json_append_take(issues, json_incref(x->places[i].issue));
    if (!row->blob)
        return issues;
    const struct cluster_facts *f = cluster_facts_of(row->blob);
    const struct view_blob *catalog = view_find(x->snapshot, VIEW_CATALOGS, f->project);
    json_t *all CLEANUP_JSON = cluster_issues(row->blob, catalog ? catalog->subject : NULL, x->now);
    json_array_foreach (all, i, issue) {
        const int severity = issue_severity_from_name(json_str(issue, "severity"));
        if (trouble_severity_of_rank(row->numbers[0]) == severity && is_wanted(x->r, issue))
            json_append_take(issues, json_incref(issue));
    }
    return issues;
}

static void add_row(struct fleet *x, const struct view_blob *blob, const json_t *issue)
{
    json_t *row CLEANUP_JSON = json_object();
    json_set_str(row, "project", blob ? cluster_facts_of(blob)->project : NULL);
    json_set_str(row, "cluster", blob ? cluster_facts_of(blob)->name : NULL);
    (void)json_object_update(row, (json_t *)(uintptr_t)issue);
    char *text CLEANUP_FREE = json_text(row);
    list_add(&x->page, text, strlen(text));
    x->left--;
}

/* Adds the issues of a row after the first `skip`. Returns false when the page ends before the last of them. */
static bool list_row(struct fleet *x, const struct order_row *row, size_t skip)
{
    json_t *issues CLEANUP_JSON = issues_of_row(x, row);
    const size_t count = json_array_size(issues);
    size_t i = skip;
    for (; i < count && x->left; i++)
        add_row(x, row->blob, json_array_get(issues, i));
    x->budget--;
    (void)order_row_place(&x->order, row, &x->next);
    x->next.numbers[1] = (int64_t)(i < count ? i : INT32_MAX);
    x->next.number_count = 2;
    return i == count || skip >= count;
}

/* Returns whether more rows follow. */
static bool fill(struct fleet *x, const struct cursor_place *from)
{
    struct order_row rows[BUDGET + 1];
    struct order_row after = {.key = from->key, .numbers = {from->numbers[0]}};
    struct first_rows found = {.order = &x->order, .rows = rows, .most = ARRAY_LEN(rows)};
    select_rows(x, from->number_count ? &after : NULL, &found);
    for (size_t i = 0; i < found.count; i++) {
        const bool is_first = i == 0 && from->number_count && !strcmp(rows[i].key, from->key) &&
                              rows[i].numbers[0] == from->numbers[0];
        if (!x->left || !x->budget || !list_row(x, &rows[i], is_first ? (size_t)from->numbers[1] : 0))
            return true;
    }
    return false;
}

struct problem *handle_all_issues(struct request *r)
{
    struct cursor_place from;
    json_t *valid CLEANUP_JSON = NULL;
    struct problem *p = list_place(r, &from);
    if (p)
        return p;
    struct fleet x = {.r = r,
                      .now = env_wall(r->api->options.env),
                      .budget = BUDGET,
                      .left = param_number(&r->params, PARAM_LIMIT)};
    const char *fault = cluster_order_parse("trouble", &x.order, &valid);
    assert(!fault);
    (void)fault;
    list_open(&x.page);
    x.snapshot = view_enter(r->api->options.view);
    add_places(&x, VIEW_ACCOUNTS, "account", account_is_asked_for);
    add_places(&x, VIEW_PROJECTS, "project", is_asked_for);
    add_webhooks(&x);
    const bool more = fill(&x, &from);
    view_leave(r->api->options.view);
    p = list_close(r, &x.page, more ? &x.next : NULL);
    list_done(&x.page);
    for (size_t i = 0; i < x.place_count; i++)
        json_decref(x.places[i].issue);
    free(x.places);
    return p;
}
