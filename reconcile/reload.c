#include "reconcile/reload.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "reconcile/answers/audit.h"
#include "reconcile/answers/reply.h"
#include "reconcile/commands/decide.h"
#include "reconcile/projects.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/project.h"
#include "reconcile/world/schedule.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/world.h"

static _Atomic uint64_t ended[2]; /* the number of reloads: [0] with faults, [1] without faults */
static atomic_bool last_failed;

/* ---- accounts ---- */

static const struct config_account *account_named(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->account_count; i++)
        if (!strcmp(config->accounts[i].name, name))
            return &config->accounts[i];
    return NULL;
}

/* Whether the account's lane can continue, because the server and the API stay the same. */
static bool goes_on(const struct config_account *before, const struct config_account *next)
{
    return next && !strcmp(before->url, next->url) && !strcmp(before->cloud, next->cloud) &&
           before->api == next->api;
}

static void rebind_accounts(struct reconcile *r, const struct config *next)
{
    for (struct account *a = r->accounts; a; a = a->hh.next) {
        const struct config_account *config = account_named(next, a->name);
        a->ends = !goes_on(a->config, config);
        if (a->ends)
            continue;
        a->config = config;
        /* The next call makes a login with the new credentials, if it needs one. */
        if (upstream_account_configure(a->lane, config, next->limits.queue_length))
            account_read_soon(a);
    }
}

/* Removes the accounts that the configuration no longer has, and adds the new accounts. At this time no
 * project uses any of these accounts. */
static void replace_accounts(struct reconcile *r, const struct config *next)
{
    struct account *a, *later;
    HASH_ITER (hh, r->accounts, a, later)
        if (a->ends)
            account_remove(a);
    for (size_t i = 0; i < next->account_count; i++) {
        HASH_FIND_STR(r->accounts, next->accounts[i].name, a);
        if (!a)
            account_add(r, &next->accounts[i]);
    }
    for (a = r->accounts; a; a = a->hh.next)
        account_show(a);
}

/* ---- projects ---- */

static bool stays_as_it_is(const struct project *p, const struct config_project *config)
{
    return !p->account->ends && !strcmp(p->account->name, config->account->name) &&
           !strcmp(p->region, config->region) && !strcmp(p->project_id, config->project_id);
}

/*
 * Projects are handled one after the other. Expensive work (to show a catalog, to visit clusters, to write
 * rows to the store) gets a separate turn. Projects that need no such work are passed over. Their number per
 * turn is limited, because each project has to be searched in the configuration.
 */
enum { PASSED_BY_IN_TURN = 64 };

static void go_on_later(struct reconcile *r)
{
    loop_timer_set(r->o.loop, &r->reload.turn, env_mono(r->env));
}

static void on_moved(struct project *p)
{
    go_on_later(p->r);
}

/* Gives the project its new configuration (`named`), or stops the project. Returns true when the work on this
 * project goes on in another turn: the next turn, or a turn after the project has stopped. */
static bool bind_or_rest(struct project *p, const struct config_project *named)
{
    const bool stays = named && stays_as_it_is(p, named);
    if (stays && !project_rebind(p, named))
        return false;
    if (stays)
        go_on_later(p->r);
    else if (named)
        project_pause(p, on_moved);
    else
        project_retire(p, on_moved);
    return true;
}

/* Only a reload removes projects from the hash, so `next` stays valid. */
static void put_next_to_rest(struct reconcile *r)
{
    struct reload *reload = &r->reload;
    for (unsigned passed_by = 0; reload->next; passed_by++) {
        struct project *p = reload->next;
        if (passed_by == PASSED_BY_IN_TURN) {
            go_on_later(r);
            return;
        }
        reload->next = p->hh.next;
        if (bind_or_rest(p, config_project(reload->config, p->name)))
            return;
    }
    reload->all_at_rest = true;
    replace_accounts(r, reload->config);
    projects_spread(r);
    go_on_later(r);
}

static void in_force(struct reconcile *r)
{
    struct reload *reload = &r->reload;
    reload->config = NULL;
    for (struct project *p = r->projects; p; p = p->hh.next)
        schedule_rearm(p);
    reload->done(reload->ctx);
}

static void resume_next(struct reconcile *r)
{
    struct reload *reload = &r->reload;
    while (reload->at < reload->config->project_count) {
        const struct config_project *config = &reload->config->projects[reload->at++];
        struct project *p = project_of_row(r, config->name);
        if (p->place.resting) {
            project_resume(p, config, on_moved);
            return;
        }
    }
    in_force(r);
}

static void on_turn(struct loop_timer *timer)
{
    struct reconcile *r = CONTAINER_OF(timer, struct reconcile, reload.turn);
    if (r->reload.all_at_rest)
        resume_next(r);
    else
        put_next_to_rest(r);
}

void reconcile_configure(struct reconcile *r, const struct config *config, void (*done)(void *ctx), void *ctx)
{
    loop_assert_owner(r->o.loop);
    assert(!r->reload.config && !r->stopping);
    r->reload = (struct reload){.config = config,
                                .next = r->projects,
                                .turn = {.fire = on_turn, .name = "reload"},
                                .done = done,
                                .ctx = ctx};
    r->o.config = config;
    webhook_engine_configure(r->webhooks, config);
    r->backups.look_at = 0;
    rebind_accounts(r, config);
    put_next_to_rest(r);
}

/* ---- waiting commands and the outcome ---- */

static json_t *outcome_document(const struct reload_outcome *o)
{
    json_t *doc = json_object();
    json_set_take(doc, "changed", json_incref(o->changes.applied));
    json_set_take(doc, "restart_needed", json_incref(o->changes.restart_needed));
    return doc;
}

static json_t *lines_of(const char *faults)
{
    enum { MOST = 100, LINE_BYTES = 2000 };
    json_t *lines = json_array();
    char *copy CLEANUP_FREE = mem_strdup(faults ? faults : "");
    char *rest = copy;
    for (char *line = strsep(&rest, "\n"); line && json_array_size(lines) < MOST; line = strsep(&rest, "\n"))
        if (*line)
            json_append_take(lines, json_stringn(line, utf8_cut(line, LINE_BYTES)));
    return lines;
}

static struct problem *faults_problem(const char *faults)
{
    struct problem *problem = problem_new(PROBLEM_CONFIGURATION_INVALID,
                                          "the file has faults, which `errors` lists; nothing was changed");
    json_t *lines CLEANUP_JSON = lines_of(faults), *line;
    size_t i;
    json_array_foreach (lines, i, line)
        problem_add_fault(&problem, PROBLEM_CONFIGURATION_INVALID, FAULT_AT_BODY, "#",
                          "invalid_configuration", NULL, "%s", json_string_value(line));
    return problem;
}

static void note_last(struct reconcile *r, const struct reload_outcome *o)
{
    char at[TIME_TEXT_BYTES];
    json_t *last = json_object();
    json_set_str(last, "at", time_rfc3339(env_wall(r->env), true, at));
    json_set_take(last, "ok", json_boolean(!o->faults));
    json_set_take(last, "faults", lines_of(o->faults));
    json_set_take(last, "changed", o->faults ? json_array() : json_incref(o->changes.applied));
    json_set_take(last, "restart_needed", o->faults ? json_array() : json_incref(o->changes.restart_needed));
    json_decref(r->last_reload);
    r->last_reload = last;
    atomic_store(&last_failed, o->faults != NULL);
}

struct problem *command_last_reload(struct reconcile *r, struct command *cmd)
{
    json_t *doc = json_object();
    json_set_take(doc, "last_reload", r->last_reload ? json_incref(r->last_reload) : json_null());
    reply_json(cmd, 200, doc);
    return NULL;
}

static void answer(struct reconcile *r, struct command *cmd, const struct reload_outcome *o)
{
    if (o->faults) {
        reply_problem(cmd, faults_problem(o->faults));
        return;
    }
    reply_prepare(cmd, 200, outcome_document(o));
    reply_done(r, cmd);
}

static void report(struct reconcile *r, const struct reload_outcome *o)
{
    char *changed CLEANUP_FREE = json_text(o->changes.applied);
    char *restart CLEANUP_FREE = json_text(o->changes.restart_needed);
    log_info("configuration reloaded", "changed", changed, "restart_needed", restart);
    if (json_array_size(o->changes.restart_needed))
        log_warning("the configuration has changes that need a restart", "keys", restart);
    audit_daemon(r, ACTION_RELOADED);
}

void reconcile_reloaded(struct reconcile *r, const struct reload_outcome *outcome)
{
    loop_assert_owner(r->o.loop);
    atomic_fetch_add(&ended[!outcome->faults], 1);
    note_last(r, outcome);
    if (outcome->faults)
        log_error("configuration not reloaded: it has faults, and nothing was changed", "faults",
                  outcome->faults);
    else
        report(r, outcome);
    LIST_FOR_EACH_SAFE (it, next, &r->reload_waiters) {
        struct waiting *w = CONTAINER_OF(it, struct waiting, link);
        if (w->cmd->reload_number <= outcome->covers)
            answer(r, wait_take(w), outcome);
    }
}

static struct problem *on_late(struct waiting *w ATTR_UNUSED)
{
    return problem_passing(PROBLEM_OVERLOADED, 5, "the configuration is still being read or applied");
}

struct problem *command_reload(struct reconcile *r, struct command *cmd)
{
    cmd->reload_number = r->o.ask_reload(r->o.reload_ctx);
    (void)wait_new(r, cmd, &r->reload_waiters, on_late);
    return NULL;
}

void reload_metrics(struct buffer *out)
{
    static const char name[] = "shootd_reloads_total";
    metric_family(out, name);
    metric_of(out, name, "outcome", "in_force", (double)atomic_load(&ended[true]));
    metric_of(out, name, "outcome", "faulty", (double)atomic_load(&ended[false]));
    metric_one(out, "shootd_config_reload_success", !atomic_load(&last_failed));
}
