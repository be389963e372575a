/*
 * Readers that need fresh data (Cache-Control: no-cache). They wait for a read that begins after their
 * request, one read for all readers of a project. They are answered when the changes of that read are durable
 * and shown. If Cleura cannot be read, they get the stored state, marked stale. Loop thread.
 */
#include "reconcile/observation/poll.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/answers/reply.h"
#include "reconcile/observation/observe.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"

enum { MARKING_MS = 1000 }; /* less than the time that api/ waits after a deadline */

static void answer_fresh(struct command *cmd, enum fresh_outcome outcome)
{
    cmd->fresh.outcome = outcome;
    cmd->reply.status = 200;
    reply_give_back(cmd);
}

static void on_passed(struct save *save)
{
    answer_fresh(save->ctx, save->status == STORE_OK ? FRESH_READ : FRESH_FAILED);
}

static unsigned visit_stale(struct walk *w, struct entity *e)
{
    (void)w;
    return observe_mark_stale(e) ? WALK_CHANGED : WALK_PASSED_BY;
}

static void on_marked_stale(struct walk *w)
{
    struct project *p = CONTAINER_OF(w, struct project, fresh.stale_marks);
    LIST_FOR_EACH_SAFE (it, next, &p->fresh.failed)
        answer_fresh(wait_take(CONTAINER_OF(it, struct waiting, link)), FRESH_FAILED);
}

/* With ten thousand clusters on a slow machine, marking takes long. The answer does not wait for all
 * marks. */
static void on_marking_late(struct waiting *w)
{
    answer_fresh(wait_take(w), FRESH_FAILED);
}

/* Marks clusters that could not be read as stale, then answers the command. */
static void answer_stale(struct project *p, struct command *cmd)
{
    struct entity *e = cmd->name ? entity_find(p->r, p->name, cmd->name) : NULL;
    if (!cmd->name) {
        cmd->deadline = env_mono(p->r->env) + MARKING_MS * US_PER_MS;
        (void)wait_new(p->r, cmd, &p->fresh.failed, on_marking_late);
        if (!walk_is_under_way(&p->fresh.stale_marks))
            walk_project(p, &p->fresh.stale_marks);
        return;
    }
    if (e)
        (void)observe_mark_stale(e);
    answer_fresh(cmd, FRESH_FAILED);
}

static void on_fresh_deadline(struct waiting *w)
{
    struct project *p = project_find(w->r, w->cmd->project);
    assert(p); /* the project existed when the wait began */
    answer_stale(p, wait_take(w));
}

void fresh_init(struct project *p)
{
    list_init(&p->fresh.next);
    list_init(&p->fresh.now);
    list_init(&p->fresh.failed);
    p->fresh.stale_marks =
        (struct walk){.name = "marking as stale", .visit = visit_stale, .on_end = on_marked_stale};
}

const char *fresh_take_up(struct project *p)
{
    const char *only = NULL;
    bool one = true;
    assert(list_is_empty(&p->fresh.now));
    for (struct list *it = list_pop(&p->fresh.next); it; it = list_pop(&p->fresh.next)) {
        const struct command *cmd = CONTAINER_OF(it, struct waiting, link)->cmd;
        one = one && cmd->name && (!only || !strcmp(only, cmd->name));
        only = cmd->name;
        list_append(&p->fresh.now, it);
    }
    return one ? only : NULL;
}

/* Whether the read may show an older state of the cluster: a call about the cluster is running, so the read
 * may be older than its effect, or the cluster's row was refused. */
static bool was_passed_over(struct project *p, const char *name)
{
    const struct entity *e = name ? entity_find(p->r, p->name, name) : NULL;
    bool was_listed = !p->poll.name;
    return e && ((was_listed && entity_row_was_refused(e)) || entity_is_committing(e) ||
                 upstream_call_is_active(&e->step.call));
}

void fresh_answer(struct project *p, bool ok)
{
    LIST_FOR_EACH_SAFE (it, next, &p->fresh.now) {
        struct command *cmd = wait_take(CONTAINER_OF(it, struct waiting, link));
        if (ok && !was_passed_over(p, cmd->name))
            /* Queued after the changes of the read, because the store keeps the order. A broken store delays
             * no reader. */
            save_submit(save_answer(p->r, on_passed, cmd), true);
        else
            answer_stale(p, cmd);
    }
}

/* A reader of several projects. There is one command for each project, and one answer. */
struct group {
    struct command *cmd;
    bool read; /* Cleura was read for at least one project */
    size_t left;
    bool failed;
};

static void on_part(struct command *part)
{
    struct group *g = part->ctx;
    assert(g->left > 0);
    bool dropped = part->reply.problem && part->reply.problem->code == PROBLEM_SHUTTING_DOWN;
    g->failed |= part->reply.problem || part->fresh.outcome == FRESH_FAILED;
    g->read |= part->project && part->fresh.outcome != FRESH_RECENT;
    command_free(part);
    if (--g->left)
        return;
    if (dropped) /* no decider is left */
        command_drop(g->cmd);
    else
        answer_fresh(g->cmd, g->failed ? FRESH_FAILED : g->read ? FRESH_READ : FRESH_RECENT);
    free(g);
}

static void ask_each_project(struct reconcile *r, struct command *cmd)
{
    struct group *g = MEM_NEW(struct group);
    struct project *p, *next;
    g->cmd = cmd;
    g->left = 1; /* until all parts are requested */
    HASH_ITER (hh, r->projects, p, next) {
        char *one[] = {(char *)(uintptr_t)p->name, NULL};
        if (!projects_cover(cmd->caller.projects, one))
            continue;
        struct command *part = command_new(COMMAND_FRESH);
        part->project = mem_strdup(p->name);
        part->deadline = cmd->deadline;
        part->request_id = mem_strdup(cmd->request_id);
        part->trace = cmd->trace;
        part->give_back = on_part;
        part->ctx = g;
        g->left++;
        command_fresh(r, part);
    }
    struct command *last = command_new(COMMAND_FRESH);
    last->ctx = g;
    on_part(last);
}

/* Browsers often ask for fresh data by themselves, so a very recent read is used. */
static bool was_read_moments_ago(struct project *p, const struct command *cmd)
{
    const struct entity *e = cmd->name ? entity_find(p->r, p->name, cmd->name) : NULL;
    const mono_us now = env_mono(p->r->env);
    const int64_t floor_us = p->r->o.config->polling.fresh_floor_us;
    const bool all = p->poll.listed_at && now - p->poll.listed_at < floor_us;
    const bool it =
        e && e->cluster->observed_at && !e->cluster->stale && now - e->cluster->heard_at < floor_us;
    return (all || it) && !p->poll.failures;
}

void command_fresh(struct reconcile *r, struct command *cmd)
{
    if (!cmd->project) {
        ask_each_project(r, cmd);
        return;
    }
    struct project *known = project_find(r, cmd->project);
    if (known && project_is_at_rest(known)) {
        answer_fresh(cmd, FRESH_FAILED); /* only the stored state is available */
        return;
    }
    struct project *p = command_project(r, cmd);
    if (!p)
        return;
    if (!cmd->fresh.now && was_read_moments_ago(p, cmd)) {
        answer_fresh(cmd, FRESH_RECENT);
        return;
    }
    (void)wait_new(r, cmd, &p->fresh.next, on_fresh_deadline);
    schedule_rearm(p);
}
