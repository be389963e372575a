/* The state of a project without its clusters, in its stored form and as shown at /v1/projects. Loop
 * thread. */
#include "reconcile/world/project.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/etag.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "model/issues.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/save.h"
#include "reconcile/world/world.h"
#include "view/place_facts.h"

struct project *project_find(struct reconcile *r, const char *name)
{
    struct project *p;
    HASH_FIND_STR(r->projects, name, p);
    return p;
}

void project_spec_context(const struct project *p, struct spec_context *ret)
{
    *ret = (struct spec_context){.catalog = p->state->catalog,
                                 .defaults = p->config->defaults,
                                 .abilities = upstream_abilities_of(p->config->account),
                                 .now = env_wall(p->r->env)};
}

bool project_is_at_rest(const struct project *p)
{
    return p->place.resting || p->place.set_aside;
}

struct upstream_account *project_lane(const struct project *p)
{
    assert(!project_is_at_rest(p));
    return p->account->lane;
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
    json_set_str(doc, "last_error", away ? away : p->poll.last_error);
    return doc;
}

void project_count(const struct project *p, int64_t *ret_clusters, int64_t *ret_open)
{
    *ret_clusters = *ret_open = 0;
    LIST_FOR_EACH (item, &p->clusters) {
        const struct entity *e = CONTAINER_OF(item, struct entity, in_project);
        if (e->cluster->deleted) /* the end of the record is being stored */
            continue;
        (*ret_clusters)++;
        *ret_open += (int64_t)e->queued + entity_has_open_operation(e);
    }
}

static json_t *location_change(const struct project *p)
{
    int64_t clusters, open;
    if (!p->place.set_aside)
        return json_null();
    project_count(p, &clusters, &open);
    json_t *doc = json_object();
    bool known = json_object_size(p->state->location) > 0;
    json_set_take(doc, "from", known ? json_incref(p->state->location) : json_null());
    json_set_int(doc, "clusters", clusters);
    json_set_int(doc, "open_operations", open);
    return doc;
}

struct project_state *project_state_of_all(struct reconcile *r)
{
    if (!r->all_projects) {
        r->all_projects = MEM_NEW(struct project_state);
        r->all_projects->name = mem_strdup(PROJECT_ALL);
    }
    return r->all_projects;
}

const json_t *freeze_in_force(const struct project_state *state, wall_us now)
{
    const json_t *freeze = state ? state->freeze : NULL;
    const wall_us until = json_int(freeze, "until", 0);
    return freeze && (!until || now < until) ? freeze : NULL;
}

struct freeze project_freeze(const struct project *p)
{
    const wall_us now = env_wall(p->r->env);
    const json_t *own = freeze_in_force(p->state, now);
    return own ? (struct freeze){p->name, own}
               : (struct freeze){"all", freeze_in_force(p->r->all_projects, now)};
}

json_t *freeze_document(const char *scope, const json_t *freeze)
{
    json_t *doc = json_object();
    json_set_str(doc, "scope", scope);
    json_set_str(doc, "project", strcmp(scope, "all") ? scope : NULL);
    json_set_str(doc, "reason", json_str(freeze, "reason"));
    json_set_take(doc, "until", time_or_null(json_int(freeze, "until", 0)));
    json_set_take(doc, "since", time_or_null(json_int(freeze, "since", 0)));
    json_set_str(doc, "by", json_str(freeze, "by"));
    return doc;
}

json_t *project_document(const struct project *p)
{
    const struct freeze freeze = project_freeze(p);
    json_t *doc = json_object();
    json_set_str(doc, "name", p->name);
    json_set_str(doc, "account", p->config->account->name);
    json_set_str(doc, "cloud", p->config->account->cloud);
    json_set_str(doc, "api", upstream_abilities_of(p->config->account)->api);
    json_set_str(doc, "region", p->region);
    json_set_str(doc, "project_id", p->project_id);
    json_set_take(doc, "location_change", location_change(p));
    json_set_take(doc, "freeze",
                  freeze.in_force ? freeze_document(freeze.scope, freeze.in_force) : json_null());
    json_set_take(doc, "upstream", render_upstream(p));
    return doc;
}

/* Returns the fault that a login state is, or -1. While the login cannot be reached, the account is away. */
static int fault_of(enum login_state state)
{
    static const int faults[] = {[LOGIN_UNKNOWN] = -1,
                                 [LOGIN_OK] = -1,
                                 [LOGIN_REJECTED] = ACCOUNT_LOGIN_FAILED,
                                 [LOGIN_TWO_FACTOR] = ACCOUNT_NEEDS_CODE,
                                 [LOGIN_UNREACHABLE] = -1,
                                 [LOGIN_NO_PASSWORD] = ACCOUNT_LOGIN_FAILED};
    return faults[state];
}

/* One list may fail for a passing reason, two in a row do not. */
static bool is_unread(const struct project *p)
{
    return p->poll.failures > 1;
}

static bool a_project_is_unread(const struct account *a)
{
    for (const struct project *p = a->r->projects; p; p = p->hh.next)
        if (p->account == a && is_unread(p))
            return true;
    return false;
}

json_t *account_issue(const struct account *a)
{
    struct upstream_account_status status;
    upstream_account_status(a->lane, &status);
    const bool is_away =
        status.away_since && (strcmp(status.breaker, "closed") != 0 || a_project_is_unread(a));
    const int fault = is_away ? (int)ACCOUNT_AWAY : fault_of(status.login);
    if (fault < 0)
        return NULL;
    char *away CLEANUP_FREE = is_away ? upstream_why_away(a->lane) : NULL;
    return issue_of_place(
        (enum place_fault)fault,
        &(struct issue_place){.name = a->name,
                              .description = away ? away : status.login_message,
                              .since = is_away ? status.away_since : status.last_contact_at});
}

/* NULL when it is the issue of the account. */
static json_t *project_issue(const struct project *p)
{
    struct upstream_account_status status;
    upstream_account_status(p->account->lane, &status);
    const bool is_of_account = status.away_since || fault_of(status.login) >= 0;
    struct issue_place place = {.name = p->name, .since = p->state->discovered_at};
    if (p->place.set_aside)
        return issue_of_place(PROJECT_SET_ASIDE, &place);
    place.description = p->poll.last_error;
    return is_of_account || !is_unread(p) ? NULL : issue_of_place(PROJECT_UNREAD, &place);
}

void place_show(struct reconcile *r, enum view_section section, const char *name, char **shown, json_t *doc,
                bool is_frozen, json_t *issue)
{
    char etag[ETAG_BYTES];
    char *body = json_text(doc), *wrong CLEANUP_FREE = issue ? json_text(issue) : NULL;
    char *both CLEANUP_FREE = mem_printf("%s\n%s", body, wrong ? wrong : "");
    json_decref(doc);
    json_decref(issue);
    if (*shown && !strcmp(*shown, both)) {
        free(body);
        return;
    }
    mem_set_str(shown, both);
    etag_of_bytes(body, strlen(body), etag);
    view_set(r->o.view, section, name, place_blob_new(etag, body, is_frozen, wrong));
}

void project_show(struct project *p)
{
    if (!p->place.resting)
        place_show(p->r, VIEW_PROJECTS, p->name, &p->shown, project_document(p),
                   project_freeze(p).in_force != NULL, project_issue(p));
}

void project_store(struct project *p)
{
    struct save *save = save_new(p->r, NULL, NULL);
    change_put_project(save->set, project_state_copy(p->state));
    save_submit(save, false);
}
