/*
 * Freezes: an admin forbids changes of clusters of a project, or of all projects, for a time. During a
 * freeze, commands that change clusters are refused with the reason of the freeze. Reads, kubeconfigs, dry
 * runs and cancellations are allowed, and operations that were accepted before continue. A freeze is stored
 * with the project's state. Loop thread.
 */
#include <assert.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "model/webhook.h"
#include "reconcile/answers/audit.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/body.h"
#include "reconcile/commands/commands.h"
#include "reconcile/commands/decide.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/events.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "view/render.h"

#define SCOPE_ALL     "all"
#define SCOPE_PROJECT "project" /* this scope needs the member `project` */

enum { REASON_MAX = 500 };

/* ---- refusing ---- */

struct problem *freeze_refusal(struct reconcile *r, const struct command *cmd)
{
    const struct command_write *w = command_write_of(cmd);
    const struct project *p = w && !w->dry_run ? project_find(r, cmd->project) : NULL;
    const struct freeze freeze = p ? project_freeze(p) : (struct freeze){NULL, NULL};
    if (!freeze.in_force)
        return NULL;
    const wall_us until = json_int(freeze.in_force, "until", 0);
    char text[TIME_TEXT_BYTES];
    struct problem *problem = problem_new(
        PROBLEM_FROZEN, "changes of %s are frozen by %s%s%s: %s",
        strcmp(freeze.scope, SCOPE_ALL) ? freeze.scope : "all projects",
        json_str_or(freeze.in_force, "by", "an admin"), until ? " until " : "",
        until ? time_rfc3339(until, false, text) : "", json_str_or(freeze.in_force, "reason", ""));
    if (until)
        problem_retry_in(problem, until - env_wall(r->env));
    return problem;
}

/* ---- scopes ---- */

static bool is_seen(const struct command *cmd, const char *scope)
{
    return projects_include(cmd->caller.projects, strcmp(scope, SCOPE_ALL) ? scope : PROJECT_ALL);
}

/* Returns NULL when there is no such scope. */
static struct project_state *state_of(struct reconcile *r, const char *scope)
{
    if (strcmp(scope, SCOPE_ALL) != 0) {
        struct project *p = project_find(r, scope);
        return p ? p->state : NULL;
    }
    return project_state_of_all(r);
}

/* Returns the name of the state's project; NULL for the state of all projects. */
static const char *project_of(const struct project_state *state)
{
    return strcmp(state->name, PROJECT_ALL) ? state->name : NULL;
}

static const char *scope_of(const struct project_state *state)
{
    return project_of(state) ? state->name : SCOPE_ALL;
}

static void show_all(struct reconcile *r)
{
    for (struct project *p = r->projects; p; p = p->hh.next)
        project_show(p);
}

static void on_saved(struct save *save)
{
    show_all(save->r);
    command_reply_saved(save);
}

/* Sets the freeze `freeze` (taken over); NULL: ends it. */
static void set_freeze(struct save *save, struct project_state *state, json_t *freeze)
{
    emit_freeze(save, freeze ? EVENT_FREEZE_STARTED : EVENT_FREEZE_ENDED, project_of(state),
                freeze ? freeze : state->freeze);
    json_decref(state->freeze);
    state->freeze = freeze;
    change_put_project(save->set, project_state_copy(state));
}

/* ---- the freezes that a caller sees ---- */

static void add_freeze(json_t *items, const struct command *cmd, const struct project_state *state,
                       wall_us now)
{
    const json_t *freeze = freeze_in_force(state, now);
    /* A freeze of all projects concerns every project, so every caller sees it. */
    if (freeze && (!project_of(state) || is_seen(cmd, state->name)))
        json_append_take(items, freeze_document(scope_of(state), freeze));
}

/* Returns the freezes that the caller sees, and their entity tag. */
static json_t *freezes_of(struct reconcile *r, const struct command *cmd, char etag[static ETAG_BYTES])
{
    const wall_us now = env_wall(r->env);
    json_t *items = json_array(), *doc = json_object();
    add_freeze(items, cmd, r->all_projects, now);
    for (const struct project *p = r->projects; p; p = p->hh.next)
        add_freeze(items, cmd, p->state, now);
    json_set_take(doc, "items", items);
    json_set_str(doc, "next_cursor", NULL);
    char *text CLEANUP_FREE = json_text(doc);
    etag_of_bytes(text, strlen(text), etag);
    return doc;
}

/* "*" refers to the freeze of this scope. An entity tag is that of all freezes that the caller sees. */
static struct problem *freeze_precondition(struct reconcile *r, const struct command *cmd,
                                           const struct project_state *state)
{
    char etag[ETAG_BYTES];
    if (!cmd->preconditions)
        return NULL;
    json_decref(freezes_of(r, cmd, etag));
    const bool exists = freeze_in_force(state, env_wall(r->env)) != NULL;
    return precondition_of(cmd, "list of freezes", "freeze",
                           &(struct etag_current){.exists = exists, .tag = etag});
}

/* ---- commands ---- */

/* {"scope": "project", "project": "team-a"} means that project. Without the member `project`, the scope is
 * `all` or the name of a project. */
static const char *asked_scope(const json_t *body)
{
    const char *project = json_str(body, "project");
    return project ? project : json_str(body, "scope");
}

static void check_scope(struct reconcile *r, const struct command *cmd, struct problem **faults)
{
    const json_t *project = json_object_get(cmd->body, "project");
    const char *scope = json_str(cmd->body, "scope"), *asked = asked_scope(cmd->body);
    const bool has_project = project && !json_is_null(project);
    if (!scope) {
        BODY_FAULT(
            faults, "#/scope", "missing_member", NULL,
            "must be \"all\" (for tokens that see all projects), or \"project\" with the member project");
    } else if (has_project && (!json_is_string(project) || strcmp(scope, SCOPE_PROJECT) != 0)) {
        BODY_FAULT(faults, "#/project", "conflict", NULL,
                   "names the project of the scope \"project\"; leave it out with any other scope");
    } else if (!is_seen(cmd, asked) || !state_of(r, asked) || (has_project && !strcmp(asked, SCOPE_ALL))) {
        BODY_FAULT(
            faults, has_project ? "#/project" : "#/scope", "unknown_value", NULL,
            "must be %sthe name of a project that the token sees",
            has_project
                ? ""
                : "\"all\" (for tokens that see all projects), \"project\" with the member project, or ");
    }
}

static wall_us read_until(const struct reconcile *r, const struct command *cmd, struct problem **faults)
{
    const json_t *member = json_object_get(cmd->body, "until");
    wall_us until = 0;
    if (!member || json_is_null(member))
        return 0;
    if (!json_is_string(member) || !time_parse_rfc3339(json_string_value(member), &until) ||
        until <= env_wall(r->env))
        BODY_FAULT(
            faults, "#/until", "invalid_time", NULL,
            "must be a future time, such as 2026-12-31T00:00:00Z, or null: until the freeze is lifted");
    return until;
}

struct problem *command_freeze(struct reconcile *r, struct command *cmd)
{
    static const char *const members[] = {"scope", "project", "reason", "until"};
    struct problem *faults = NULL;
    const char *reason = json_str(cmd->body, "reason");
    body_check_members(cmd->body, members, ARRAY_LEN(members), &faults);
    check_scope(r, cmd, &faults);
    if (!reason || !*reason)
        BODY_FAULT(&faults, "#/reason", "missing_member", NULL,
                   "is required: callers that are refused read it");
    body_check_text(cmd->body, "reason", REASON_MAX, &faults);
    const wall_us until = read_until(r, cmd, &faults);
    if (faults)
        return faults;
    struct project_state *state = state_of(r, asked_scope(cmd->body));
    faults = freeze_precondition(r, cmd, state);
    if (faults)
        return faults;
    json_t *freeze = json_object();
    json_set_str(freeze, "reason", reason);
    json_set_str(freeze, "by", cmd->caller.token_name);
    json_set_int(freeze, "since", env_wall(r->env));
    json_set_int(freeze, "until", until);
    log_warning("changes are frozen", "project", scope_of(state), "by", cmd->caller.token_name, "reason",
                reason);
    struct save *save = save_answer(r, on_saved, cmd);
    set_freeze(save, state, freeze);
    reply_prepare(cmd, 200, freeze_document(scope_of(state), freeze));
    command_keep(save, cmd);
    save_submit(save, false);
    return NULL;
}

struct problem *command_unfreeze(struct reconcile *r, struct command *cmd)
{
    struct project_state *state = is_seen(cmd, cmd->name) ? state_of(r, cmd->name) : NULL;
    if (!freeze_in_force(state, env_wall(r->env)))
        return problem_new(PROBLEM_NOT_FOUND, "there is no freeze of '%s' that the token sees", cmd->name);
    struct problem *refusal = freeze_precondition(r, cmd, state);
    if (refusal)
        return refusal;
    log_warning("changes are no longer frozen", "project", scope_of(state), "by", cmd->caller.token_name);
    struct save *save = save_answer(r, on_saved, cmd);
    set_freeze(save, state, NULL);
    cmd->reply.status = 204;
    audit_accepted(save, cmd);
    save_submit(save, false);
    return NULL;
}

struct problem *command_freezes(struct reconcile *r, struct command *cmd)
{
    reply_json(cmd, 200, freezes_of(r, cmd, cmd->reply.etag));
    return NULL;
}

/* ---- the end of freezes ---- */

static bool end_when_over(struct reconcile *r, struct project_state *state)
{
    if (!state || !state->freeze || freeze_in_force(state, env_wall(r->env)))
        return false;
    struct save *save = save_new(r, NULL, NULL);
    log_info("freeze expired", "project", scope_of(state));
    set_freeze(save, state, NULL);
    save_submit(save, false);
    return true;
}

void freezes_check(struct reconcile *r)
{
    bool ended = end_when_over(r, r->all_projects);
    for (struct project *p = r->projects; p; p = p->hh.next)
        ended |= end_when_over(r, p->state);
    if (ended)
        show_all(r);
}
