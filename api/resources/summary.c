/* GET /v1/summary: how many clusters are in which state, counted in one pass over the view. */
#include <assert.h>
#include <string.h>

#include "api/api_private.h"
#include "api/reads.h"
#include "api/resources/handlers.h"
#include "view/cluster_facts.h"

#define SOON_US (30 * 24 * 3600 * US_PER_S)

struct counts {
    wall_us now;
    int64_t total, managed, stale, drifted, settling, expired, expiring;
    int64_t by_phase[PHASE_MAX_];
    int64_t by_health[HEALTH_MAX_];
    json_t *by_version;
    json_t *by_project;
    /* Neighbours in the view are of one project, and mostly of one version: their runs are counted first. */
    const char *run_version, *run_project;
    int64_t run_versions, run_projects;
};

static bool is_asked_for(const struct request *r, const char *project)
{
    return api_token_sees_project(r->token, project) && param_lists(&r->params, PARAM_PROJECT, project);
}

static void add_run(json_t *counts, const char *key, int64_t n)
{
    if (n)
        json_set_int(counts, key, json_int(counts, key, 0) + n);
}

static void end_runs(struct counts *n)
{
    add_run(n->by_version, n->run_version, n->run_versions);
    add_run(n->by_project, n->run_project, n->run_projects);
}

static void count_run(json_t *counts, const char **run, int64_t *length, const char *key)
{
    if (!*run || strcmp(*run, key) != 0) {
        add_run(counts, *run, *length);
        *run = key;
        *length = 0;
    }
    ++*length;
}

static void add_cluster(struct counts *n, const struct cluster_facts *c)
{
    assert(c->phase < PHASE_MAX_ && c->health < HEALTH_MAX_);
    n->total++;
    n->by_phase[c->phase]++;
    n->by_health[c->health]++;
    n->managed += c->managed;
    n->stale += c->stale;
    n->settling += c->settling;
    n->drifted += c->is_drifted;
    n->expired += c->expires_at && c->expires_at <= n->now;
    n->expiring += c->expires_at > n->now && c->expires_at - n->now <= SOON_US;
    count_run(n->by_version, &n->run_version, &n->run_versions, c->version_line);
    count_run(n->by_project, &n->run_project, &n->run_projects, c->project);
}

static int64_t open_operations(const struct request *r, const struct view_snapshot *s)
{
    int64_t open = 0;
    struct view_cursor place = view_seek(s, VIEW_OPERATIONS, "");
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        const struct operation *op = e->blob->subject;
        open += !operation_status_is_final(op->status) && is_asked_for(r, op->project);
    }
    return open;
}

static json_t *render_summary(const struct counts *n, int64_t open)
{
    json_t *doc = json_object(), *phases = json_object(), *healths = json_object();
    for (int i = 0; i < PHASE_MAX_; i++)
        json_set_int(phases, phase_name((enum phase)i), n->by_phase[i]);
    for (int i = 0; i < HEALTH_MAX_; i++)
        json_set_int(healths, health_name((enum health)i), n->by_health[i]);
    json_set_int(doc, "total", n->total);
    json_set_take(doc, "by_phase", phases);
    json_set_take(doc, "by_health", healths);
    json_set_take(doc, "by_version", n->by_version);
    json_set_take(doc, "by_project", n->by_project);
    json_set_int(doc, "managed", n->managed);
    json_set_int(doc, "unmanaged", n->total - n->managed);
    json_set_int(doc, "settling", n->settling);
    json_set_int(doc, "stale", n->stale);
    json_set_int(doc, "drifted", n->drifted);
    json_set_int(doc, "expired", n->expired);
    json_set_int(doc, "expiring_30d", n->expiring);
    json_set_int(doc, "open_operations", open);
    return doc;
}

struct problem *handle_summary(struct request *r)
{
    struct counts n = {
        .now = env_wall(r->api->options.env), .by_version = json_object(), .by_project = json_object()};
    const struct config *config = r->api->options.config;
    for (size_t i = 0; i < config->project_count; i++)
        if (is_asked_for(r, config->projects[i].name))
            json_set_int(n.by_project, config->projects[i].name, 0); /* also those without clusters */
    const struct view_snapshot *s = view_enter(r->api->options.view);
    struct view_cursor place = view_seek(s, VIEW_CLUSTERS, "");
    const char *project = NULL;
    bool is_wanted = false;
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        const struct cluster_facts *c = cluster_facts_of(e->blob);
        if (!project || strcmp(project, c->project) != 0) {
            project = c->project;
            is_wanted = is_asked_for(r, project);
        }
        if (is_wanted)
            add_cluster(&n, c);
    }
    end_runs(&n);
    int64_t open = open_operations(r, s);
    view_leave(r->api->options.view);
    return answer_with_document(r, render_summary(&n, open));
}
