/*
 * The location of a project at Cleura: account, base URL, region and project id. The store has the location.
 * At a start the configuration may name a different location, or the store may have no location. Then the
 * stored clusters may belong to the old location, and a cluster with the same name at the new location is
 * foreign. The clusters are set aside with their open operations: nothing is read or sent for the project
 * until an admin decides to which location they belong. Loop thread.
 */
#include <assert.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "reconcile/answers/objects.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/body.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/lookups/catalog.h"
#include "reconcile/operations/cluster_end.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"

static json_t *configured_location(const struct project *p)
{
    json_t *doc = json_object();
    json_set_str(doc, "account", p->config->account->name);
    json_set_str(doc, "url", p->config->account->url);
    json_set_str(doc, "region", p->region);
    json_set_str(doc, "project_id", p->project_id);
    return doc;
}

/* Sets the configured location, and discards the data that was read at the old location, because it is not
 * valid at the new location. */
static void settle_here(struct project *p)
{
    struct project_state *state = p->state;
    json_decref(state->location);
    state->location = configured_location(p);
    json_decref(state->catalog);
    state->catalog = NULL;
    state->catalog_at = state->bootstrapped_at = state->discovered_at = 0;
    p->poll.listed_at = 0;
    p->place.set_aside = false;
}

static void set_aside(struct project *p, const json_t *now)
{
    char *before CLEANUP_FREE = json_text(p->state->location);
    char *configured CLEANUP_FREE = json_text(now);
    int64_t clusters, open;
    project_count(p, &clusters, &open);
    p->place.set_aside = true;
    log_error("the configuration gives the project a new location at Cleura: its clusters are set aside and "
              "nothing is sent until an admin confirms the location (POST /v1/projects/{project}/"
              "confirm-location)",
              "project", p->name, "before", before, "configured", configured, "clusters", LOG_INT(clusters),
              "open_operations", LOG_INT(open));
    LIST_FOR_EACH (item, &p->clusters) {
        struct entity *e = CONTAINER_OF(item, struct entity, in_project);
        e->cluster->stale = true;
        mem_set_str(&e->cluster->message,
                    "Set aside: the configuration names another location at Cleura for the project");
    }
}

void location_check(struct project *p)
{
    json_t *now CLEANUP_JSON = configured_location(p);
    int64_t clusters, open;
    assert(!p->place.set_aside);
    project_count(p, &clusters, &open);
    if (!p->state->location) {
        /* When the project has clusters but its row was lost (quarantine), the stored location is {}, which
         * equals no location. */
        p->state->location = p->unremembered && clusters ? json_object() : json_incref(now);
        project_store(p);
    }
    if (json_equal(p->state->location, now))
        return;
    if (clusters) {
        set_aside(p, now);
        return;
    }
    log_warning(
        "the configured location at Cleura has changed; it is used, because the project has no clusters",
        "project", p->name);
    settle_here(p);
    project_store(p);
}

/* ---- an admin confirms the location ---- */

static unsigned take_up_cluster(struct walk *w ATTR_UNUSED, struct entity *e)
{
    if (e->cluster->deleted)
        return WALK_PASSED_BY;
    schedule_soon(e, 0);
    entity_touch(e);
    return WALK_LOOKED_AT;
}

static void on_place_saved(struct save *save)
{
    const struct command *cmd = save->ctx;
    struct project *p = project_find(save->r, cmd->project);
    command_reply_saved(save);
    /* During the save, a new configuration may have been applied, which decides the location; or shootd may
     * have begun to stop. */
    if (save->status != STORE_OK || !p || save->r->stopping || p->place.resting || p->place.set_aside)
        return;
    project_show(p);
    catalog_fetch(p);
    p->poll.discovery_due = env_mono(save->r->env);
    schedule_rearm(p);
    walk_stop(&p->place.confirmation); /* this walk may be running for an earlier confirmation */
    p->place.confirmation = (struct walk){.name = "taking up a project", .visit = take_up_cluster};
    walk_project(p, &p->place.confirmation);
}

/* Makes the configured location the location of the project. With "keep" the clusters stay as they are in the
 * store; with "forget" their removal was given to the store before this call. */
static void confirm_place(struct project *p, struct command *cmd)
{
    assert(p->place.set_aside && !p->place.confirming);
    settle_here(p);
    struct save *save = save_answer(p->r, on_place_saved, cmd);
    change_put_project(save->set, project_state_copy(p->state));
    reply_prepare(cmd, 200, project_document(p));
    command_keep(save, cmd);
    save_submit(save, false);
}

static unsigned forget_cluster(struct walk *w ATTR_UNUSED, struct entity *e)
{
    if (e->cluster->deleted) /* an earlier confirmation, which a reload has stopped, has ended the record */
        return WALK_PASSED_BY;
    entity_forget(e);
    return WALK_CHANGED;
}

static void on_forgotten(struct walk *w)
{
    struct project *p = CONTAINER_OF(w, struct project, place.confirmation);
    assert(p->place.confirming && p->config);
    confirm_place(p, TAKE_PTR(p->place.confirming));
}

static void on_forgetting_stopped(struct walk *w)
{
    struct project *p = CONTAINER_OF(w, struct project, place.confirmation);
    if (p->place.confirming)
        reply_problem(TAKE_PTR(p->place.confirming), problem_at_rest(p));
}

struct problem *command_location_confirm(struct reconcile *r, struct command *cmd)
{
    static const char *const members[] = {"clusters"};
    struct project *p = project_find(r, cmd->project);
    struct problem *faults = NULL;
    const char *what = json_str(cmd->body, "clusters");
    if (!p)
        return problem_no_project(cmd->project);
    body_check_members(cmd->body, members, ARRAY_LEN(members), &faults);
    const bool keeps = what && !strcmp(what, "keep"), forgets = what && !strcmp(what, "forget");
    if (!keeps && !forgets)
        BODY_FAULT(&faults, "#/clusters", what ? "unknown_value" : "missing_member",
                   json_pack("[ss]", "keep", "forget"), "must be one of the valid values");
    if (faults)
        return faults;
    if (p->place.resting)
        return problem_at_rest(p);
    if (p->place.confirming)
        return problem_new(PROBLEM_ACTION_NOT_POSSIBLE,
                           "project '%s' is confirmed: its clusters are being forgotten", cmd->project);
    if (!p->place.set_aside)
        return problem_new(PROBLEM_ACTION_NOT_POSSIBLE,
                           "the place of project '%s' has not changed: nothing is set aside", cmd->project);
    log_warning("location of a project confirmed", "project", cmd->project, "clusters", what, "by",
                cmd->caller.token_name);
    if (keeps) {
        confirm_place(p, cmd);
        return NULL;
    }
    p->place.confirming = cmd;
    p->place.confirmation = (struct walk){.name = "forgetting clusters",
                                          .visit = forget_cluster,
                                          .on_end = on_forgotten,
                                          .on_stop = on_forgetting_stopped};
    walk_project(p, &p->place.confirmation);
    return NULL;
}
