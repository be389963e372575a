/* GET /v1/summary: how many clusters are in which state, counted in one pass over the view. */
#include "api/api_private.h"
#include "api/resources/handlers.h"
#include "api/reads.h"
#include "model/spec.h"

#define SOON_US (30 * 24 * 3600 * US_PER_S)

struct counts {
    wall_us now;
    int64_t total, managed, stale, drifted, settling, expired, expiring;
    int64_t by_phase[PHASE_MAX_];
    int64_t by_health[HEALTH_MAX_];
    json_t *by_version;
    json_t *by_project;
};

static bool is_asked_for(const struct request *r, const char *project)
{
    return api_token_sees_project(r->token, project) && param_lists(&r->params, PARAM_PROJECT, project);
}

static void add_one(json_t *counts, const char *key)
{
    json_set_int(counts, key, json_int(counts, key, 0) + 1);
}

/* What is not known yet counts as "unknown". */
static void add_version(struct counts *n, const struct cluster *c)
{
    const char *version = c->shoot ? json_str(c->shoot->observed, "kubernetes_version") : NULL;
    char line[VERSION_LINE_BYTES] = "unknown";
    if (version)
        version_minor(version, line);
    add_one(n->by_version, line);
}

static void add_cluster(struct counts *n, const struct cluster *c)
{
    n->total++;
    n->by_phase[c->phase]++;
    n->by_health[c->health]++;
    n->managed += c->managed;
    n->stale += c->stale;
    n->settling += c->settling;
    n->drifted += json_array_size(c->drift) > 0;
    n->expired += c->expires_at && c->expires_at <= n->now;
    n->expiring += c->expires_at > n->now && c->expires_at - n->now <= SOON_US;
    add_version(n, c);
    add_one(n->by_project, c->project);
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

static json_t *render_phases(const struct counts *n)
{
    json_t *doc = json_object();
    for (int i = 0; i < PHASE_MAX_; i++)
        json_set_int(doc, phase_name((enum phase)i), n->by_phase[i]);
    return doc;
}

static json_t *render_healths(const struct counts *n)
{
    json_t *doc = json_object();
    for (int i = 0; i < HEALTH_MAX_; i++)
        json_set_int(doc, health_name((enum health)i), n->by_health[i]);
    return doc;
}

static json_t *render_summary(const struct counts *n, int64_t open)
{
    json_t *doc = json_object();
    json_set_int(doc, "total", n->total);
    json_set_take(doc, "by_phase", render_phases(n));
    json_set_take(doc, "by_health", render_healths(n));
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
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        const struct cluster *c = e->blob->subject;
        if (is_asked_for(r, c->project))
            add_cluster(&n, c);
    }
    int64_t open = open_operations(r, s);
    view_leave(r->api->options.view);
    return answer_with_document(r, render_summary(&n, open));
}
