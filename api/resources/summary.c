/* GET /v1/summary: the number of clusters in each state. Adds the counts of the view's chunks. */
#include <string.h>

#include "api/api_private.h"
#include "api/reads.h"
#include "api/resources/handlers.h"
#include "view/cluster_counts.h"
#include "view/place_facts.h"

#define SOON_US (30 * 24 * 3600 * US_PER_S)

struct counts {
    wall_us now;
    int64_t total, managed, stale, drifted, settling, expired, expiring;
    int64_t by_phase[PHASE_MAX_];
    int64_t by_health[HEALTH_MAX_];
    json_t *by_kubernetes_version;
    json_t *by_project;
};

static bool is_asked_for(const struct request *r, const char *project)
{
    return api_token_sees_project(r->token, project) && param_lists(&r->params, PARAM_PROJECT, project);
}

static void add_to(json_t *counts, const char *key, int64_t n)
{
    json_set_int(counts, key, json_int(counts, key, 0) + n);
}

static void add_group(struct counts *n, const struct cluster_group *group)
{
    n->total += group->total;
    for (int i = 0; i < PHASE_MAX_; i++)
        n->by_phase[i] += group->by_phase[i];
    for (int i = 0; i < HEALTH_MAX_; i++)
        n->by_health[i] += group->by_health[i];
    n->managed += group->managed;
    n->stale += group->stale;
    n->settling += group->settling;
    n->drifted += group->drifted;
    if (group->expires_at && group->expires_at <= n->now)
        n->expired += group->total;
    else if (group->expires_at && group->expires_at - n->now <= SOON_US)
        n->expiring += group->total;
    add_to(n->by_kubernetes_version, group->version_line, group->total);
    add_to(n->by_project, group->project, group->total);
}

static void add_clusters(struct counts *n, const struct request *r, const struct view_snapshot *s)
{
    const struct view_section_entries *clusters = &s->sections[VIEW_CLUSTERS];
    for (size_t i = 0; i < clusters->chunk_count; i++) {
        const struct cluster_counts *counts = clusters->chunks[i]->counts;
        for (size_t j = 0; j < counts->count; j++)
            if (is_asked_for(r, counts->groups[j].project))
                add_group(n, &counts->groups[j]);
    }
}

static int64_t open_operations(const struct request *r, const struct view_snapshot *s)
{
    int64_t open = 0;
    struct view_cursor place = view_seek(s, VIEW_OPERATIONS, "");
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        const struct operation *op = e->subject;
        open += !operation_status_is_final(op->status) && is_asked_for(r, op->project) &&
                config_project(api_config(r->api), op->project);
    }
    return open;
}

static int64_t frozen_projects(const struct request *r, const struct view_snapshot *s)
{
    int64_t frozen = 0;
    struct view_cursor place = view_seek(s, VIEW_PROJECTS, "");
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place))
        frozen += ((const struct place_facts *)e->subject)->is_frozen && is_asked_for(r, e->key);
    return frozen;
}

static json_t *render_summary(const struct counts *n, int64_t open, int64_t frozen)
{
    json_t *doc = json_object(), *phases = json_object(), *healths = json_object();
    for (int i = 0; i < PHASE_MAX_; i++)
        json_set_int(phases, phase_name((enum phase)i), n->by_phase[i]);
    for (int i = 0; i < HEALTH_MAX_; i++)
        json_set_int(healths, health_name((enum health)i), n->by_health[i]);
    json_set_int(doc, "total", n->total);
    json_set_take(doc, "by_phase", phases);
    json_set_take(doc, "by_health", healths);
    json_set_take(doc, "by_kubernetes_version", n->by_kubernetes_version);
    json_set_take(doc, "by_project", n->by_project);
    json_set_int(doc, "managed", n->managed);
    json_set_int(doc, "unmanaged", n->total - n->managed);
    json_set_int(doc, "settling", n->settling);
    json_set_int(doc, "stale", n->stale);
    json_set_int(doc, "drifted", n->drifted);
    json_set_int(doc, "expired", n->expired);
    json_set_int(doc, "expiring_30d", n->expiring);
    json_set_int(doc, "open_operations", open);
    json_set_int(doc, "frozen_projects", frozen);
    return doc;
}

struct problem *handle_summary(struct request *r)
{
    struct counts n = {.now = env_wall(r->api->options.env),
                       .by_kubernetes_version = json_object(),
                       .by_project = json_object()};
    const struct config *config = api_config(r->api);
    for (size_t i = 0; i < config->project_count; i++)
        if (is_asked_for(r, config->projects[i].name))
            json_set_int(n.by_project, config->projects[i].name, 0); /* projects without clusters are listed,
                                                                      * too */
    const struct view_snapshot *s = view_enter(r->api->options.view);
    add_clusters(&n, r, s);
    const int64_t open = open_operations(r, s), frozen = frozen_projects(r, s);
    view_leave(r->api->options.view);
    return answer_with_document(r, render_summary(&n, open, frozen));
}
