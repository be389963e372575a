/*
 * What is known of a project beside its clusters: the catalog (read once an hour, kept over restarts),
 * whether it is bootstrapped, and the state of its account, shown at /v1/projects. Loop thread.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "model/spec.h"
#include "reconcile/world_private.h"
#include "view/render.h"

enum { CATALOG_MAX_AGE_S = 3600, CATALOG_DEADLINE_S = 60, CATALOG_RETRY_S = 15, TAG_BYTES = 20 };

/* Projects and catalogs have no version of their own: the tag is a digest of the text (HT-21). */
static void tag_of(const char *text, char etag[static TAG_BYTES])
{
    unsigned char digest[crypto_generichash_BYTES];
    char hex[2 * sizeof(digest) + 1];
    (void)crypto_generichash(digest, sizeof(digest), (const unsigned char *)text, strlen(text), NULL, 0);
    (void)sodium_bin2hex(hex, sizeof(hex), digest, sizeof(digest));
    (void)snprintf(etag, TAG_BYTES, "\"%.16s\"", hex);
}

json_t *time_or_null(wall_us at)
{
    char text[TIME_TEXT_BYTES];
    return at ? json_string(time_rfc3339(at, false, text)) : json_null();
}

static json_t *render_upstream(const struct project *p)
{
    struct upstream_account_status status;
    upstream_account_status(p->account->lane, &status);
    json_t *doc = json_object();
    json_set_str(doc, "login", login_state_name(status.login));
    json_set_str(doc, "login_message", status.login_message);
    json_set_take(doc, "next_login_at", time_or_null(status.next_login_at));
    json_set_bool(doc, "bootstrapped", p->state->bootstrapped_at != 0);
    json_set_take(doc, "last_contact_at", time_or_null(status.last_contact_at));
    json_set_take(doc, "last_list_at", time_or_null(p->state->discovered_at));
    json_set_int(doc, "lane_depth", status.queue_depth + status.in_flight);
    json_set_str(doc, "breaker", status.breaker);
    char *away CLEANUP_FREE = status.away_since ? upstream_why_away(p->account->lane) : NULL;
    json_set_str(doc, "last_error", away ? away : p->last_error);
    return doc;
}

json_t *project_document(const struct project *p)
{
    json_t *doc = json_object();
    json_set_str(doc, "name", p->config->name);
    json_set_str(doc, "account", p->config->account->name);
    json_set_str(doc, "cloud", p->config->account->cloud);
    json_set_str(doc, "api", p->config->account->api == API_V1 ? "v1" : "v2");
    json_set_str(doc, "region", p->config->region);
    json_set_str(doc, "project_id", p->config->project_id);
    json_set_take(doc, "location_change", location_change(p));
    json_set_take(doc, "upstream", render_upstream(p));
    return doc;
}

void project_show(struct project *p)
{
    json_t *doc CLEANUP_JSON = project_document(p);
    char *text = json_text(doc);
    if (p->shown && !strcmp(p->shown, text)) {
        free(text);
        return;
    }
    mem_set_str(&p->shown, text);
    char etag[TAG_BYTES];
    tag_of(text, etag);
    view_set(p->r->o.view, VIEW_PROJECTS, p->config->name, view_blob_new(etag, text, 0, NULL, NULL));
}

void project_store(struct project *p)
{
    struct save *save = save_new(p->r, NULL, NULL);
    change_put_project(save->set, project_state_copy(p->state));
    save_submit(save, false);
}

static void show_catalog(struct project *p)
{
    struct spec_context context;
    if (!p->state->catalog)
        return;
    project_spec_context(p, &context);
    json_t *doc CLEANUP_JSON = json_copy(p->state->catalog);
    json_set_take(doc, "defaults", spec_defaults(&context));
    json_set_take(doc, "fetched_at", time_or_null(p->state->catalog_at));
    char *text = json_text(doc);
    char etag[TAG_BYTES];
    tag_of(text, etag);
    view_set(p->r->o.view, VIEW_CATALOGS, p->config->name,
             render_catalog_blob(etag, text, doc, p->state->catalog_at));
}

static void wake_waiters(struct project *p, struct problem *problem)
{
    LIST_FOR_EACH_SAFE (it, next, &p->catalog_waiters) {
        struct waiting *w = CONTAINER_OF(it, struct waiting, link);
        struct reconcile *r = w->r;
        struct command *cmd = wait_take(w);
        if (!problem) {
            reconcile_command(r, cmd);
            continue;
        }
        struct problem *copy = problem_new(problem->code, "the catalog cannot be read: %s", problem->detail);
        copy->retry_after_s = problem->retry_after_s;
        reply_problem(cmd, copy);
    }
}

static void take_catalog(struct project *p, const json_t *catalog)
{
    /* A start reads it anew: the same one read later is no news to the store. */
    bool news = !json_equal(p->state->catalog, catalog);
    json_decref(p->state->catalog);
    p->state->catalog = json_deep_copy(catalog);
    p->state->catalog_at = env_wall(p->r->env);
    if (news)
        project_store(p);
    show_catalog(p);
    /* Waiters that look for the catalog in the view must find it. */
    view_publish(p->r->o.view);
    wake_waiters(p, NULL);
    expiry_look(p);
    loop_timer_set(p->r->o.loop, &p->catalog_timer, env_mono(p->r->env) + CATALOG_MAX_AGE_S * US_PER_S);
}

static bool shares_catalog(const struct project *p, const struct project *from)
{
    return p != from && !p->set_aside && p->account == from->account &&
           !strcmp(p->config->region, from->config->region);
}

/* One project in a turn: each copies the catalog, and writes it. */
static void share_catalog(struct project *from)
{
    struct project *p = from->catalog_share_next;
    while (p && !shares_catalog(p, from))
        p = p->hh.next;
    from->catalog_share_next = p ? p->hh.next : NULL;
    if (!p) {
        json_decref(from->catalog_shared);
        from->catalog_shared = NULL;
        return;
    }
    loop_timer_set(from->r->o.loop, &from->catalog_share, env_mono(from->r->env));
    upstream_cancel(&p->catalog_call);
    take_catalog(p, from->catalog_shared);
    project_show(p);
}

static void on_share_turn(struct loop_timer *timer)
{
    share_catalog(CONTAINER_OF(timer, struct project, catalog_share));
}

/* What Cleura offers is the same for all projects of an account in a region: one call serves them. */
static void catalog_read(struct project *p, const json_t *catalog)
{
    struct project *other, *next;
    HASH_ITER (hh, p->r->projects, other, next)
        if (shares_catalog(other, p))
            upstream_cancel(&other->catalog_call);
    take_catalog(p, catalog);
    project_show(p);
    json_decref(p->catalog_shared);
    p->catalog_shared = json_incref(p->state->catalog);
    p->catalog_share_next = p->r->projects;
    share_catalog(p);
}

static void on_catalog(struct upstream_call *call, const struct upstream_result *result)
{
    struct project *p = CONTAINER_OF(call, struct project, catalog_call);
    if (result->class == UPSTREAM_OK) {
        catalog_read(p, result->catalog);
        return;
    }
    struct problem *problem CLEANUP_PROBLEM = upstream_problem(result);
    log_warning("catalog not read", "project", p->config->name, "error", problem->detail);
    wake_waiters(p, problem);
    int64_t wait_s = result->retry_after_s > CATALOG_RETRY_S ? result->retry_after_s : CATALOG_RETRY_S;
    loop_timer_set(p->r->o.loop, &p->catalog_timer, env_mono(p->r->env) + wait_s * US_PER_S);
    project_show(p);
}

void catalog_fetch(struct project *p)
{
    if (p->catalog_call.active || p->r->stopping || p->set_aside)
        return;
    loop_timer_clear(p->r->o.loop, &p->catalog_timer);
    p->catalog_call.op = UPSTREAM_CATALOG;
    p->catalog_call.region = p->config->region;
    p->catalog_call.project_id = p->config->project_id;
    p->catalog_call.priority = list_is_empty(&p->catalog_waiters) ? LANE_DISCOVERY : LANE_USER_WAITING;
    p->catalog_call.deadline = env_mono(p->r->env) + CATALOG_DEADLINE_S * US_PER_S;
    p->catalog_call.on_done = on_catalog;
    call_for_waiters(&p->catalog_call, &p->catalog_waiters);
    upstream_submit(project_lane(p), &p->catalog_call);
}

static void on_catalog_due(struct loop_timer *timer)
{
    catalog_fetch(CONTAINER_OF(timer, struct project, catalog_timer));
}

static void on_wait_deadline(struct waiting *w)
{
    reply_problem(wait_take(w),
                  problem_new(PROBLEM_UPSTREAM_TIMEOUT, "the catalog of this project was not read in time"));
}

bool catalog_wait(struct project *p, struct command *cmd)
{
    if (p->state->catalog)
        return false;
    (void)wait_new(p->r, cmd, &p->catalog_waiters, on_wait_deadline);
    catalog_fetch(p);
    return true;
}

void command_catalog(struct reconcile *r, struct command *cmd)
{
    struct project *p = command_project(r, cmd);
    struct spec_context context;
    if (!p)
        return;
    if (catalog_wait(p, cmd))
        return;
    project_spec_context(p, &context);
    json_t *doc = json_copy(p->state->catalog);
    json_set_take(doc, "defaults", spec_defaults(&context));
    json_set_take(doc, "fetched_at", time_or_null(p->state->catalog_at));
    reply_json(cmd, 200, doc);
}

void project_init(struct project *p, struct reconcile *r, const struct config_project *config,
                  struct project_state *state)
{
    p->r = r;
    p->config = config;
    p->state = state;
    p->unremembered = !state;
    if (!state) {
        p->state = MEM_NEW(struct project_state);
        p->state->name = mem_strdup(config->name);
    }
    list_init(&p->catalog_waiters);
    p->catalog_timer.fire = on_catalog_due;
    p->catalog_timer.name = "catalog";
    p->catalog_share.fire = on_share_turn;
    p->catalog_share.name = "catalog for another project";
    show_catalog(p);
    expiry_init(p);
    fresh_init(p);
    poll_init(p);
}

void project_done(struct project *p)
{
    loop_timer_clear(p->r->o.loop, &p->catalog_timer);
    loop_timer_clear(p->r->o.loop, &p->catalog_share);
    json_decref(p->catalog_shared);
    heap_done(&p->due);
    gone_forget_all(p);
    project_state_free(p->state);
    free(p->poll_name);
    free(p->last_error);
    free(p->shown);
    free(p);
}
