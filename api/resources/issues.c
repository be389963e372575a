/*
 * Issues and their solutions, of one cluster or of all clusters that a token may see. They are derived from
 * facts in the view when a client asks. Most clusters have no issue, and their facts show this at once. For
 * the other clusters the issues must be made. Therefore the number of these clusters on a page is limited,
 * and a page takes at most about 2 ms of an HTTP thread.
 */
#include "api/resources/handlers.h"

#include <assert.h>
#include <string.h>

#include "api/api_private.h"
#include "api/reads.h"
#include "base/mem.h"
#include "model/issues.h"
#include "view/cluster_facts.h"

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

/* The limit of the cost of one page, in units of about 2 us. */
enum { BUDGET = 1000, COST_OF_ISSUES = 25, COST_OF_VERSIONS = 3, VERDICTS = 64 };

/* Whether a version of a catalog has issues. Many clusters have the same version, so the results are stored
 * until the page ends. */
struct verdict {
    const json_t *catalog;
    const char *version, *images;
    bool has_issues;
};

struct fleet {
    struct request *r;
    const struct view_snapshot *snapshot;
    wall_us now;
    const char *project; /* the project of the catalog */
    const json_t *catalog;
    struct verdict verdicts[VERDICTS];
    int budget;
    int64_t left; /* the number of rows that the page can still take */
    struct list_body page;
    bool more;
    struct cursor_place next; /* the cluster, and how many of its rows were listed */
};

static const json_t *catalog_of(struct fleet *x, const char *project)
{
    if (!x->project || strcmp(x->project, project) != 0) {
        const struct view_blob *blob = view_find(x->snapshot, VIEW_CATALOGS, project);
        x->project = project;
        x->catalog = blob ? blob->subject : NULL;
    }
    return x->catalog;
}

static size_t hash_of(const char *version, const char *images)
{
    size_t hash = 5381;
    for (; *version; version++)
        hash = hash * 33 + (unsigned char)*version;
    for (; *images; images++)
        hash = hash * 33 + (unsigned char)*images;
    return hash;
}

static bool look_at_versions(const struct fleet *x, const struct cluster_facts *f)
{
    char **images CLEANUP_FREE = cluster_facts_images(f);
    return issues_of_versions(*f->version ? f->version : NULL, images, x->catalog, x->now);
}

static bool versions_have_issues(struct fleet *x, const struct cluster_facts *f)
{
    const json_t *catalog = catalog_of(x, f->project);
    struct verdict *v = &x->verdicts[hash_of(f->version, f->images) % VERDICTS];
    if (!v->version || v->catalog != catalog || strcmp(v->version, f->version) != 0 ||
        strcmp(v->images, f->images) != 0) {
        x->budget -= COST_OF_VERSIONS;
        *v = (struct verdict){catalog, f->version, f->images, look_at_versions(x, f)};
    }
    return v->has_issues;
}

static bool is_wanted(const struct request *r, const json_t *issue)
{
    return param_has_value(&r->params, PARAM_SEVERITY,
                           issue_severity_from_name(json_str(issue, "severity"))) &&
           param_has_value(&r->params, PARAM_SOURCE, issue_source_from_name(json_str(issue, "source")));
}

static void add_row(struct fleet *x, const struct cluster_facts *f, const json_t *issue)
{
    json_t *row CLEANUP_JSON = json_object();
    json_set_str(row, "project", f->project);
    json_set_str(row, "cluster", f->name);
    (void)json_object_update(row, (json_t *)(uintptr_t)issue);
    char *text CLEANUP_FREE = json_text(row);
    list_add(&x->page, text, strlen(text));
    x->left--;
}

/* Ends the page after `listed` rows of the cluster. */
static void end_at(struct fleet *x, const char *key, int64_t listed)
{
    x->more = cursor_place_set(&x->next, key);
    x->next.numbers[0] = listed;
    x->next.number_count = 1;
}

/* `skip`: the number of the cluster's rows that were on earlier pages. */
static void add_cluster(struct fleet *x, const struct view_entry *e, int64_t skip)
{
    const struct cluster_facts *f = e->subject;
    json_t *issues CLEANUP_JSON = cluster_issues(e->blob, catalog_of(x, f->project), x->now);
    int64_t listed = 0;
    size_t i;
    json_t *issue;
    x->budget -= COST_OF_ISSUES;
    json_array_foreach (issues, i, issue) {
        if (!is_wanted(x->r, issue) || listed++ < skip)
            continue;
        if (x->left == 0) {
            end_at(x, e->key, listed - 1);
            return;
        }
        add_row(x, f, issue);
    }
}

static void fill(struct fleet *x, const struct cursor_place *from)
{
    struct view_cursor place = view_seek(x->snapshot, VIEW_CLUSTERS, from->key);
    for (const struct view_entry *e = view_next(&place); e && !x->more; e = view_next(&place)) {
        const struct cluster_facts *f = e->subject;
        if (!api_token_sees_project(x->r->token, f->project) ||
            !param_lists(&x->r->params, PARAM_PROJECT, f->project))
            continue;
        if (x->budget <= 0) {
            end_at(x, e->key, 0);
            return;
        }
        if (cluster_facts_have_issues(f) || versions_have_issues(x, f))
            add_cluster(x, e, from->number_count && !strcmp(e->key, from->key) ? from->numbers[0] : 0);
    }
}

struct problem *handle_all_issues(struct request *r)
{
    struct cursor_place from;
    struct problem *p = list_place(r, &from);
    if (p)
        return p;
    struct fleet x = {.r = r,
                      .now = env_wall(r->api->options.env),
                      .budget = BUDGET,
                      .left = param_number(&r->params, PARAM_LIMIT)};
    list_open(&x.page);
    x.snapshot = view_enter(r->api->options.view);
    fill(&x, &from);
    view_leave(r->api->options.view);
    p = list_close(r, &x.page, x.more ? &x.next : NULL);
    list_done(&x.page);
    return p;
}
