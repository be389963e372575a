/*
 * Reads each cluster and project when it is due. Each cluster has a due time in its project's heap, and the
 * first due cluster causes a read. One list call reads every cluster of the project, so all clusters get
 * their next due time together. When only one of many clusters is active, this cluster is read alone. Lists
 * also discover clusters. Failures double the wait up to a limit. An answer about one shoot that shootd does
 * not accept does not count as a failure.
 *
 * In projects without activity, lists are read at regular times. Each project of an account has its own slot,
 * and the slots are evenly distributed over the interval, so the projects are never due together. A slow call
 * or an extra read does not move the slots.
 */
#include "reconcile/observation/poll.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "reconcile/observation/fresh.h"
#include "reconcile/observation/observe.h"
#include "reconcile/world/departed.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/events.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"

enum {
    POLL_DEADLINE_S = 120, /* a poll that was not sent in this time is requested again */
    POLL_FAILURE_CAP_S = 300,
    POLL_LOGIN_CAP_S = 30, /* the same limit while there is no login */
    POLL_JITTER_PERCENT = 5,
    POLL_SINGLE_ABOVE = 4, /* projects with fewer clusters are always read by a list */
    SAVES_MAX = 2,         /* while the store cannot be written, so many change sets of a cluster wait */
};

static int64_t backed_off(int64_t interval, unsigned failures)
{
    int64_t cap = POLL_FAILURE_CAP_S * US_PER_S;
    if (cap < interval)
        cap = interval;
    for (unsigned i = 0; i < failures && interval < cap; i++)
        interval *= 2;
    return interval < cap ? interval : cap;
}

/* Returns the interval of lists while nothing happens in the project. */
static int64_t steady_interval(const struct project *p)
{
    const struct config *config = p->r->o.config;
    bool idle_polls = p->poll.due.count && config->polling.idle_us < config->polling.discovery_us;
    return idle_polls ? config->polling.idle_us : config->polling.discovery_us;
}

/*
 * Returns the project's last slot before now + about_us + a quarter of its interval. An extra read shortly
 * before a slot replaces the read of that slot, so one wait may be longer by a quarter of an interval.
 */
static mono_us last_slot(const struct project *p, int64_t about_us)
{
    int64_t interval = steady_interval(p);
    assert(p->poll.phase < p->poll.phases);
    mono_us latest = env_mono(p->r->env) + about_us + interval / 4;
    int64_t phase = interval / (int64_t)p->poll.phases * (int64_t)p->poll.phase;
    return latest - ((latest - phase) % interval + interval) % interval;
}

/* `percent` is the jitter of this round. The jitter is the same for all clusters of a list, so that they are
 * due at the same time. */
static void schedule_next(struct entity *e, int64_t percent)
{
    struct project *p = e->project;
    int64_t interval = schedule_interval(e);
    int64_t wait = backed_off(interval, p->poll.failures);
    bool steady = !p->poll.failures && !entity_is_active(e) && interval >= e->r->o.config->polling.idle_us;
    mono_us at = env_mono(e->r->env) + wait + wait / 100 * percent;
    if (steady && steady_interval(p) <= interval)
        at = last_slot(p, interval);
    heap_set(&p->poll.due, &e->due, at);
}

static int64_t draw_jitter(const struct project *p)
{
    return (int64_t)env_random_below(p->r->env, 2 * POLL_JITTER_PERCENT + 1) - POLL_JITTER_PERCENT;
}

static struct entity *find_in_project(struct project *p, const char *name)
{
    return entity_find(p->r, p->name, name);
}

/* ---- lists ---- */

static void discover(struct project *p, struct shoot *shoot)
{
    struct reconcile *r = p->r;
    assert(!find_in_project(p, shoot->name));
    struct cluster *c = departed_take(p, shoot);
    const char *message =
        c ? "Back at Cleura: the same cluster as before" : "Found at Cleura; not managed by shootd";
    if (!c) {
        c = cluster_new();
        (void)id_new(r->env, ID_CLUSTER, c->id);
        c->project = mem_strdup(p->name);
        c->name = mem_strdup(shoot->name);
        c->created_at = env_wall(r->env);
        c->generation = 1;
    }
    c->upstream_exists = true;
    shoot_free(c->shoot);
    c->shoot = shoot;
    cluster_observed_now(c, r->env);
    struct entity *e = entity_add(r, p, c);
    struct decision d = decide(c, shoot, -1, c->observed_at);
    c->phase = d.phase;
    c->slept = shoot->hibernated;
    c->wants_hibernated = shoot->hibernated;
    c->health = d.health;
    c->settling = d.settling;
    free(c->message);
    c->message = decision_message(&d);
    log_info("cluster discovered", "project", p->name, "cluster", c->name, "reason", message);
    struct save *save = save_new(r, NULL, NULL);
    emit_cluster(save, EVENT_CLUSTER_DISCOVERED, e, PHASE_UNKNOWN, message);
    save_entity(save, e);
    save_submit(save, false);
}

static bool is_listed(const struct entity *e)
{
    return e->seen.listed_in == e->project->poll.lists;
}

static bool waits_to_be_gone(const struct entity *e)
{
    return entity_open_type(e) == OPERATION_DELETE && e->op->steps[e->op->step_index].status == STEP_WAITING;
}

/*
 * Called when Cleura's answer about the cluster was not accepted. The cluster exists, so its known state
 * stays. After some time housekeeping.c marks it as stale.
 */
static void keep_as_it_was(struct entity *e, int64_t jitter)
{
    e->absence = (struct absence){0};
    schedule_next(e, jitter);
}

/*
 * Handles clusters that are missing in a list. A list may be outdated (CL-18): only a read of the shoot
 * itself proves that the shoot no longer exists. When Cleura does not have the cluster yet, or never had it,
 * the list is right.
 */
static void suspect_absent(struct project *p, int64_t jitter)
{
    LIST_FOR_EACH (item, &p->clusters) {
        struct entity *e = CONTAINER_OF(item, struct entity, in_project);
        thread_step_aside();
        if (is_listed(e))
            continue;
        if (entity_row_was_refused(e)) {
            keep_as_it_was(e, jitter);
        } else if (e->cluster->upstream_exists || waits_to_be_gone(e)) {
            e->absence.read_alone = true;
            e->absence.missing_in_list = true;
            heap_set(&p->poll.due, &e->due, env_mono(p->r->env));
        } else if (heap_contains(&e->due)) {
            schedule_next(e, jitter);
        }
    }
}

/* Whether an answer about the cluster is not used: a write is in progress, and the answer may be older; or
 * the store does not keep pace with the observations. A later poll shows the newest state. */
static bool is_under_way(const struct entity *e)
{
    return entity_is_committing(e) || upstream_call_is_active(&e->step.call) ||
           e->saves.under_way >= SAVES_MAX;
}

/* Finds the entity by its name, because the observation may have removed it. */
static void mark_listed(struct project *p, const char *name, int64_t jitter)
{
    struct entity *e = find_in_project(p, name);
    if (!e)
        return;
    e->seen.listed_in = p->poll.lists;
    schedule_next(e, jitter);
}

/* Takes over the shoot. */
static void take_listed(struct project *p, struct shoot *shoot, int64_t jitter)
{
    char *name CLEANUP_FREE = mem_strdup(shoot->name);
    struct entity *e = find_in_project(p, name);
    bool leaving = shoot_is_deletion(shoot) && shoot_state_is(shoot, "Succeeded");
    bool twice = e && is_listed(e);
    /* the list is older than a deletion, or has two rows with the same name */
    if (twice || (!e && (leaving || deleted_shoot_is_known(p, shoot))))
        shoot_free(shoot);
    else if (!e)
        discover(p, shoot);
    else if (is_under_way(e))
        shoot_free(shoot);
    else
        (void)observe(e, shoot);
    mark_listed(p, name, jitter);
}

/* Handles a row that contains nothing new. */
static void take_known(struct project *p, const struct known_row *row, int64_t jitter)
{
    struct entity *e = find_in_project(p, row->name);
    if (!e || is_listed(e))
        return;
    if (!is_under_way(e))
        observe_row(e, row->digest);
    mark_listed(p, row->name, jitter);
}

/* Handles the next rows of the list, few enough for one turn of the loop. */
static void on_shoots(struct upstream_call *call, struct shoot **shoots, size_t count)
{
    struct project *p = CONTAINER_OF(call, struct project, poll.call);
    assert(call->op == UPSTREAM_LIST && !p->poll.name);
    for (size_t i = 0; i < count && upstream_call_is_active(call); i++) {
        take_listed(p, TAKE_PTR(shoots[i]), p->poll.jitter);
        thread_step_aside();
    }
}

static void on_known(struct upstream_call *call, const struct known_row *const *rows, size_t count)
{
    struct project *p = CONTAINER_OF(call, struct project, poll.call);
    for (size_t i = 0; i < count && upstream_call_is_active(call); i++) {
        take_known(p, rows[i], p->poll.jitter);
        thread_step_aside();
    }
}

/* A row that shootd refuses (upstream/upstream.h) shows at least that the shoot exists. Another row of the
 * list may show its state. */
static void on_refused(struct upstream_call *call, const char *name)
{
    struct project *p = CONTAINER_OF(call, struct project, poll.call);
    struct entity *e = find_in_project(p, name);
    if (e)
        e->seen.refused_in = p->poll.lists;
}

/* All rows of the list were handled. */
static void end_list(struct project *p)
{
    struct reconcile *r = p->r;
    suspect_absent(p, p->poll.jitter);
    p->state->discovered_at = env_wall(r->env);
    p->poll.listed_at = env_mono(r->env);
    p->poll.discovery_due =
        p->poll.list_again ? env_mono(r->env) : last_slot(p, r->o.config->polling.discovery_us);
    p->poll.list_again = false;
}

/* ---- results ---- */

/* Ends a poll; after this call the project may be read again. */
static void end_poll(struct project *p, bool ok)
{
    project_show(p);
    fresh_answer(p, ok);
    schedule_rearm(p);
}

static unsigned mark_failure(struct walk *w, struct entity *e)
{
    struct project *p = CONTAINER_OF(w, struct project, poll.failure);
    bool shown = observe_after_failure(e);
    absence_unread(e);
    if (heap_contains(&e->due) && e->due.key <= env_mono(p->r->env))
        schedule_next(e, p->poll.jitter);
    return shown ? WALK_CHANGED : WALK_PASSED_BY;
}

static void on_failure_marked(struct walk *w)
{
    end_poll(CONTAINER_OF(w, struct project, poll.failure), false);
}

/* Returns the wait after a failed read. A read without a login makes no request while the login guard is
 * closed, but it finds a new token in token_file. */
static int64_t wait_after(const struct project *p, const struct upstream_result *result)
{
    const int64_t longest = POLL_LOGIN_CAP_S * US_PER_S;
    int64_t wait = backed_off(p->r->o.config->polling.active_us, p->poll.failures);
    if (result->retry_after_s * US_PER_S > wait)
        wait = result->retry_after_s * US_PER_S;
    return result->class == UPSTREAM_LOGIN_FAILED && wait > longest ? longest : wait;
}

static void poll_failed(struct project *p, const struct upstream_result *result)
{
    struct reconcile *r = p->r;
    p->poll.jitter = draw_jitter(p);
    p->poll.failures++;
    char *message CLEANUP_FREE =
        mem_printf("%s%s%s", upstream_class_name(result->class), result->message ? ": " : "",
                   result->message ? result->message : "");
    mem_set_str(&p->poll.last_error, message);
    log_debug("clusters of a project cannot be read", "project", p->name, "error", message);
    const bool lacks_login = result->class == UPSTREAM_LOGIN_FAILED;
    const mono_us now = env_mono(r->env), next = now + wait_after(p, result);
    if (p->poll.discovery_due <= now || (lacks_login && p->poll.discovery_due > next))
        p->poll.discovery_due = next;
    walk_project(p, &p->poll.failure);
}

static void single_result(struct project *p, struct upstream_result *result)
{
    struct entity *e = find_in_project(p, p->poll.name);
    if (!e)
        return;
    bool idle = !is_under_way(e);
    if (result->class == UPSTREAM_ABSENT && idle && (e->cluster->upstream_exists || waits_to_be_gone(e))) {
        absence_noted(e);
        return;
    }
    if (result->class == UPSTREAM_OK && idle)
        (void)observe(e, TAKE_PTR(result->shoot));
    schedule_next(e, draw_jitter(p));
}

static void on_polled(struct upstream_call *call, struct upstream_result *result)
{
    struct project *p = CONTAINER_OF(call, struct project, poll.call);
    assert((call->op == UPSTREAM_GET) == (p->poll.name != NULL));
    bool ok = result->class == UPSTREAM_OK || (result->class == UPSTREAM_ABSENT && p->poll.name);
    if (p->poll.name && result->not_believed) { /* the fault concerns only this shoot, not the project */
        struct entity *e = find_in_project(p, p->poll.name);
        if (e)
            keep_as_it_was(e, draw_jitter(p));
        end_poll(p, false);
        return;
    }
    if (!ok) {
        poll_failed(p, result);
        return;
    }
    p->poll.failures = 0;
    mem_set_str(&p->poll.last_error, NULL);
    if (p->poll.name)
        single_result(p, result);
    else
        end_list(p);
    end_poll(p, true);
}

/* ---- requests ---- */

/* Returns the cluster to read alone, or NULL when a list is better. */
static struct entity *single_due(struct project *p, mono_us now)
{
    size_t due = 0, total = p->poll.due.count;
    struct entity *only = NULL;
    if (p->poll.discovery_due <= now)
        return NULL;
    for (size_t i = 0; i < total; i++) {
        struct entity *e = CONTAINER_OF(p->poll.due.items[i], struct entity, due);
        if (p->poll.due.items[i]->key > now)
            continue;
        if (e->absence.read_alone)
            return e;
        due++;
        only = e;
    }
    return due == 1 && total > POLL_SINGLE_ABOVE ? only : NULL;
}

static enum lane_priority poll_priority(struct project *p, mono_us now)
{
    enum lane_priority priority = LANE_DISCOVERY;
    for (size_t i = 0; i < p->poll.due.count; i++) {
        struct entity *e = CONTAINER_OF(p->poll.due.items[i], struct entity, due);
        if (p->poll.due.items[i]->key > now)
            continue;
        enum lane_priority mine = entity_is_active(e) ? LANE_OPERATION : LANE_IDLE_POLL;
        if (mine < priority)
            priority = mine;
    }
    return priority;
}

/* Called when readers wait. When all readers want the same known cluster, this cluster is read alone. */
static struct entity *single_wanted(struct project *p, enum lane_priority *priority)
{
    const char *name = fresh_take_up(p);
    struct entity *e = name ? find_in_project(p, name) : NULL;
    if (*priority > LANE_USER_WAITING)
        *priority = LANE_USER_WAITING;
    return e && e->cluster->upstream_exists && p->poll.discovery_due > env_mono(p->r->env) ? e : NULL;
}

/* Returns the digests of the known rows. Most rows of a list of idle clusters have not changed, and need not
 * be decoded. The caller owns the result. */
static struct known_rows *known_rows_of(const struct project *p)
{
    struct known_rows *known = known_rows_new(p->cluster_count);
    LIST_FOR_EACH (item, &p->clusters) {
        const struct entity *e = CONTAINER_OF(item, struct entity, in_project);
        const uint8_t *digest = observe_known_row(e);
        if (digest)
            known_rows_add(known, digest, e->cluster->name);
        thread_step_aside();
    }
    return known;
}

static void on_poll_due(struct loop_timer *timer)
{
    struct project *p = CONTAINER_OF(timer, struct project, poll.timer);
    mono_us now = env_mono(p->r->env);
    if (upstream_call_is_active(&p->poll.call) || p->r->stopping)
        return;
    enum lane_priority priority = poll_priority(p, now);
    struct entity *only = schedule_fresh_is_wanted(p) ? single_wanted(p, &priority) : single_due(p, now);
    free(p->poll.name);
    p->poll.name = only ? mem_strdup(only->cluster->name) : NULL;
    p->poll.lists += !only;
    p->poll.jitter = draw_jitter(p);
    p->poll.call.op = only ? UPSTREAM_GET : UPSTREAM_LIST;
    p->poll.call.region = p->region;
    p->poll.call.project_id = p->project_id;
    p->poll.call.name = p->poll.name;
    p->poll.call.priority = priority;
    p->poll.call.deadline = now + POLL_DEADLINE_S * US_PER_S;
    free(p->poll.call.known);
    p->poll.call.known = only ? NULL : known_rows_of(p);
    p->poll.call.on_known = on_known;
    p->poll.call.on_shoots = on_shoots;
    p->poll.call.on_refused = on_refused;
    p->poll.call.on_done = on_polled;
    fresh_call_for(p, &p->poll.call);
    upstream_submit(project_lane(p), &p->poll.call);
}

void poll_init(struct project *p)
{
    p->poll.timer.fire = on_poll_due;
    p->poll.timer.name = "poll";
    p->poll.failure =
        (struct walk){.name = "a read failed", .visit = mark_failure, .on_end = on_failure_marked};
}

void poll_stop(struct project *p)
{
    loop_timer_clear(p->r->o.loop, &p->poll.timer);
    upstream_cancel(&p->poll.call);
}
