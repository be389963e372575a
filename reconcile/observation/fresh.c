/*
 * Readers that need fresh data (Cache-Control: no-cache). Readers wait for a read that begins after their
 * request; one read serves all readers of a project. Readers are answered when the changes of that read are
 * durable and shown. If Cleura cannot be read, readers get the stored state, which is marked as stale. Loop
 * thread.
 */
#include "reconcile/observation/fresh.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "reconcile/answers/objects.h"
#include "reconcile/answers/reply.h"
#include "reconcile/observation/observe.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/schedule.h"
#include "reconcile/world/walk.h"
#include "reconcile/world/world.h"

enum { MARKING_MS = 1000 }; /* less than the time for which api/ waits after a deadline */

/* ---- the wait of a reader ---- */

static void reader_wait(struct fresh_reader *reader, struct list *where, mono_us until,
                        void (*on_deadline)(struct loop_timer *timer))
{
    struct reconcile *r = reader->project->r;
    loop_assert_owner(r->o.loop);
    reader->deadline.fire = on_deadline;
    reader->deadline.name = "deadline of a request";
    list_append(where, &reader->link);
    loop_timer_set(r->o.loop, &reader->deadline, until);
}

static void reader_leave(struct fresh_reader *reader)
{
    assert(!list_is_detached(&reader->link));
    list_remove(&reader->link);
    loop_timer_clear(reader->project->r->o.loop, &reader->deadline);
}

static void reader_end(struct fresh_reader *reader, enum fresh_outcome outcome)
{
    reader_leave(reader);
    reader->done(reader, outcome);
}

static void on_passed(struct save *save)
{
    struct fresh_reader *reader = save->ctx;
    reader->done(reader, save->status == STORE_OK ? FRESH_READ : FRESH_FAILED);
}

static void on_save_dropped(struct loop_task *task)
{
    struct save *save = CONTAINER_OF(task, struct save, task);
    struct fresh_reader *reader = save->ctx;
    reader->dropped(reader);
    save_free(save);
}

static unsigned visit_stale(struct walk *w ATTR_UNUSED, struct entity *e)
{
    return observe_mark_stale(e) ? WALK_CHANGED : WALK_PASSED_BY;
}

static void end_all(struct list *readers, enum fresh_outcome outcome)
{
    LIST_FOR_EACH_SAFE (it, next, readers)
        reader_end(CONTAINER_OF(it, struct fresh_reader, link), outcome);
}

static void on_marked_stale(struct walk *w)
{
    struct project *p = CONTAINER_OF(w, struct project, fresh.stale_marks);
    end_all(&p->fresh.failed, FRESH_FAILED);
}

/* On a slow machine with ten thousand clusters, it takes long to mark all clusters as stale. After MARKING_MS
 * the reader stops waiting, and gets FRESH_FAILED. */
static void on_marking_late(struct loop_timer *timer)
{
    reader_end(CONTAINER_OF(timer, struct fresh_reader, deadline), FRESH_FAILED);
}

/* Marks clusters that could not be read as stale, then ends the wait. */
static void end_stale(struct fresh_reader *reader)
{
    struct project *p = reader->project;
    struct entity *e = reader->name ? entity_find(p->r, p->name, reader->name) : NULL;
    if (!reader->name) {
        reader_wait(reader, &p->fresh.failed, env_mono(p->r->env) + MARKING_MS * US_PER_MS, on_marking_late);
        if (!walk_is_under_way(&p->fresh.stale_marks))
            walk_project(p, &p->fresh.stale_marks);
        return;
    }
    if (e)
        (void)observe_mark_stale(e);
    reader->done(reader, FRESH_FAILED);
}

static void on_fresh_deadline(struct loop_timer *timer)
{
    struct fresh_reader *reader = CONTAINER_OF(timer, struct fresh_reader, deadline);
    reader_leave(reader);
    end_stale(reader);
}

/* ---- the read ---- */

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
        const char *name = CONTAINER_OF(it, struct fresh_reader, link)->name;
        one = one && name && (!only || !strcmp(only, name));
        only = name;
        list_append(&p->fresh.now, it);
    }
    return one ? only : NULL;
}

void fresh_call_for(const struct project *p, struct upstream_call *call)
{
    const struct list *now = &p->fresh.now;
    const struct fresh_reader *first =
        list_is_empty(now) ? NULL : CONTAINER_OF(now->next, struct fresh_reader, link);
    upstream_call_for(call, first ? first->trace : NULL, first ? first->request_id : NULL);
}

/* Whether the read perhaps missed the newest state of the cluster. This is possible when shootd refused the
 * cluster's row, or when a call about the cluster is running, because the read may be older than the effect
 * of that call. */
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
        struct fresh_reader *reader = CONTAINER_OF(it, struct fresh_reader, link);
        reader_leave(reader);
        if (!ok || was_passed_over(p, reader->name)) {
            end_stale(reader);
            continue;
        }
        /* This save is queued after the changes of the read, and the store keeps the order. The save is
         * droppable, so a broken store does not delay the reader. */
        struct save *save = save_new(p->r, on_passed, reader);
        save->task.drop = on_save_dropped;
        save_submit(save, true);
    }
}

void fresh_refuse(struct project *p)
{
    end_all(&p->fresh.next, FRESH_REFUSED);
    end_all(&p->fresh.now, FRESH_REFUSED);
    end_all(&p->fresh.failed, FRESH_REFUSED);
}

/* Browsers often ask for fresh data by themselves, so a very recent read is used. */
static bool was_read_moments_ago(struct project *p, const char *name)
{
    const struct entity *e = name ? entity_find(p->r, p->name, name) : NULL;
    const mono_us now = env_mono(p->r->env);
    const int64_t floor_us = p->r->o.config->polling.fresh_floor_us;
    const bool all = p->poll.listed_at && now - p->poll.listed_at < floor_us;
    const bool it =
        e && e->cluster->observed_at && !e->cluster->stale && now - e->cluster->heard_at < floor_us;
    return (all || it) && !p->poll.failures;
}

void fresh_read(struct project *p, struct fresh_reader *reader)
{
    assert(reader->done && reader->dropped && reader->until && list_is_detached(&reader->link));
    reader->project = p;
    if (project_is_at_rest(p)) {
        reader->done(reader, FRESH_FAILED); /* the project may not be read, so only the stored state is
                                             * available */
    } else if (reader->accepts_recent && was_read_moments_ago(p, reader->name)) {
        reader->done(reader, FRESH_RECENT);
    } else {
        reader_wait(reader, &p->fresh.next, reader->until, on_fresh_deadline);
        schedule_rearm(p);
    }
}

/* ---- requests of callers ---- */

static void answer_fresh(struct command *cmd, enum fresh_outcome outcome)
{
    cmd->fresh.outcome = outcome;
    cmd->reply.status = 200;
    reply_give_back(cmd);
}

/* A request for fresh data. It has one answer, and one reader for its project or for each project that the
 * caller may see. */
struct fresh_request {
    struct command *cmd;
    size_t left;
    bool was_read; /* Cleura was read for at least one project */
    bool failed;
    const struct project *refused_by; /* the project whose read was refused, or NULL */
};

struct fresh_part {
    struct fresh_reader reader;
    struct fresh_request *request;
};

static struct fresh_request *part_end(struct fresh_reader *reader)
{
    struct fresh_part *part = CONTAINER_OF(reader, struct fresh_part, reader);
    struct fresh_request *request = part->request;
    free(part);
    return request;
}

/* Called when a reader has ended; answers the request when this was the last reader. */
static void request_leave(struct fresh_request *request)
{
    assert(request->left > 0);
    if (--request->left)
        return;
    struct command *cmd = request->cmd;
    const struct reconcile *r = cmd->decided_by;
    if (request->refused_by && (r->stopping || cmd->project))
        reply_problem(cmd, problem_at_rest(request->refused_by));
    else
        answer_fresh(cmd, request->failed ? FRESH_FAILED : request->was_read ? FRESH_READ : FRESH_RECENT);
    free(request);
}

static void on_part_read(struct fresh_reader *reader, enum fresh_outcome outcome)
{
    const struct project *p = reader->project;
    struct fresh_request *request = part_end(reader);
    request->was_read |= outcome == FRESH_READ;
    request->failed |= outcome == FRESH_FAILED || outcome == FRESH_REFUSED;
    if (outcome == FRESH_REFUSED)
        request->refused_by = p;
    request_leave(request);
}

/* Called when the loop has ended, so that no decider can answer the command any more. */
static void on_part_dropped(struct fresh_reader *reader)
{
    struct fresh_request *request = part_end(reader);
    if (--request->left)
        return;
    command_drop(request->cmd);
    free(request);
}

static void ask_project(struct project *p, struct fresh_request *request)
{
    const struct command *cmd = request->cmd;
    struct fresh_part *part = MEM_NEW(struct fresh_part);
    part->request = request;
    part->reader = (struct fresh_reader){.name = cmd->name,
                                         .until = cmd->deadline,
                                         .accepts_recent = true,
                                         .trace = &cmd->trace,
                                         .request_id = cmd->request_id,
                                         .done = on_part_read,
                                         .dropped = on_part_dropped};
    request->left++;
    fresh_read(p, &part->reader);
}

struct problem *command_fresh(struct reconcile *r, struct command *cmd)
{
    struct project *p = cmd->project ? project_find(r, cmd->project) : NULL;
    struct project *next;
    if (cmd->project && !p)
        return problem_no_project(cmd->project);
    struct fresh_request *request = MEM_NEW(struct fresh_request);
    request->cmd = cmd;
    request->left = 1; /* one more than the readers, so that no answer is given until all readers wait */
    if (p) {
        ask_project(p, request);
    } else {
        HASH_ITER (hh, r->projects, p, next) {
            char *one[] = {(char *)(uintptr_t)p->name, NULL};
            if (projects_cover(cmd->caller.projects, one))
                ask_project(p, request);
        }
    }
    request_leave(request);
    return NULL;
}
