/*
 * Answers commands, also commands that wait for the end of an operation. After a call of one of these
 * functions, the decider must not use the command: it is given back to the HTTP side, in most cases at the
 * end of the turn.
 */
#include "reconcile/answers/reply.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "reconcile/answers/audit.h"
#include "reconcile/answers/operation_answers.h"
#include "reconcile/answers/permission.h"
#include "reconcile/answers/replay.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/operation_table.h"
#include "reconcile/world/save.h"
#include "reconcile/world/trouble.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/world.h"
#include "view/render.h"

enum { RETRY_AFTER_ACCEPTED_S = 5 };

void reply_fit_faults(const struct command *cmd, struct problem *problem)
{
    const struct command_write *w = command_write_of(cmd);
    if (!w || !w->fault_pointer)
        return;
    /* The caller sent only a part of the checked body: its pointers begin at that part. */
    const char *prefix = w->fault_pointer;
    size_t i, len = strlen(prefix);
    json_t *fault;
    json_array_foreach (problem->faults, i, fault) {
        const char *pointer = json_str_or(fault, "pointer", "");
        if (strncmp(pointer, prefix, len) != 0 || (pointer[len] && pointer[len] != '/'))
            continue;
        char *rest CLEANUP_FREE = mem_printf("#%s", pointer + len);
        json_set_str(fault, "pointer", rest);
    }
}

void command_keep(struct save *save, struct command *cmd)
{
    replay_keep(save, cmd);
    audit_accepted(save, cmd);
}

/* Whether the command only reads: its answer reports the current state, or repeats a secret. A change gets
 * the answer that was prepared at its acceptance. */
static bool only_reads(const struct command *cmd)
{
    const struct command_write *w = command_write_of(cmd);
    return command_only_reads(cmd) || (w && w->dry_run) || cmd->reply.replayed;
}

/* Replaces the prepared answer. Takes over the problem. */
static void deny(struct command *cmd, struct problem *problem)
{
    problem_free(cmd->reply.problem);
    cmd->reply.problem = problem;
    cmd->reply.retry_after_s = 0;
    cmd->denied = true;
}

/* Checks the permission again, because the command may have waited. A caller that lost the right gets no
 * content. */
static void look_again(struct command *cmd)
{
    struct reconcile *r = cmd->decided_by;
    struct problem *fault = !cmd->denied && only_reads(cmd) ? permission_fault(r, cmd) : NULL;
    if (fault)
        deny(cmd, fault);
}

void reply_give_back(struct command *cmd)
{
    struct reconcile *r = cmd->decided_by;
    assert(r && (cmd->reply.problem || cmd->reply.status) && cmd->give_back);
    look_again(cmd);
    replay_let_go(cmd);
    audit_answered(cmd);
    list_append(&r->turn.answered, &cmd->answered);
}

void replies_give_back(struct reconcile *r)
{
    for (struct list *item = list_pop(&r->turn.answered); item; item = list_pop(&r->turn.answered)) {
        struct command *cmd = CONTAINER_OF(item, struct command, answered);
        cmd->give_back(cmd);
    }
}

struct problem *reply_denial(struct reconcile *r, struct command *cmd)
{
    struct problem *fault = permission_fault(r, cmd);
    /* `denied` is already true when the command only reports a request that the HTTP side has refused. */
    cmd->denied |= fault != NULL;
    return fault;
}

void reply_problem(struct command *cmd, struct problem *problem)
{
    assert(problem && problem != cmd->reply.problem);
    reply_fit_faults(cmd, problem);
    problem_free(cmd->reply.problem);
    cmd->reply.problem = problem;
    cmd->reply.retry_after_s = problem->retry_after_s;
    reply_give_back(cmd);
}

void reply_name_operation(struct problem *problem, const struct operation *op)
{
    if (!problem->extra)
        problem->extra = json_object();
    json_set_str(problem->extra, "operation_id", op->id);
}

struct problem *problem_stopping(void)
{
    return problem_passing(PROBLEM_SHUTTING_DOWN, 5, "shootd is stopping");
}

void reply_problem_all(struct list *waiters, const struct problem *problem)
{
    LIST_FOR_EACH_SAFE (it, next, waiters)
        reply_problem(wait_take(CONTAINER_OF(it, struct waiting, link)), problem_copy(problem));
}

void reply_stopping(struct list *waiters)
{
    struct problem *problem CLEANUP_PROBLEM = problem_stopping();
    reply_problem_all(waiters, problem);
}

void reply_prepare_text(struct command *cmd, int status, char *text)
{
    assert(status / 100 == 2 && !cmd->reply.problem);
    mem_free_secret(cmd->reply.text);
    cmd->reply.status = status;
    cmd->reply.text = text;
}

void reply_prepare(struct command *cmd, int status, json_t *body)
{
    reply_prepare_text(cmd, status, body ? json_text(body) : NULL);
    if (cmd->reply.is_secret)
        json_wipe(body);
    json_decref(body);
}

void reply_json(struct command *cmd, int status, json_t *body)
{
    reply_prepare(cmd, status, body);
    reply_give_back(cmd);
}

void reply_prepare_cluster(struct command *cmd, int status, const struct entity *e,
                           const struct operation *op)
{
    if (!op)
        op = e->op;
    free(TAKE_PTR(cmd->reply.location));
    cmd->reply.retry_after_s = 0;
    cmd->reply.operation_id[0] = '\0';
    const struct trouble trouble = entity_trouble(e, e->cluster, op);
    render_cluster_etag(e->cluster, op, &trouble, cmd->reply.etag);
    if (status == 202 && op) {
        cmd->reply.location = mem_printf("/v1/operations/%s", op->id);
        cmd->reply.retry_after_s = RETRY_AFTER_ACCEPTED_S;
        memcpy(cmd->reply.operation_id, op->id, sizeof(cmd->reply.operation_id));
    } else if (status == 201) {
        cmd->reply.location =
            mem_printf("/v1/projects/%s/clusters/%s", e->cluster->project, e->cluster->name);
    }
    reply_prepare_text(cmd, status, render_cluster(e->cluster, op, &trouble));
}

void reply_saved(struct save *save, const char *failure)
{
    if (save->status == STORE_OK)
        reply_prepared(save->r, save->ctx);
    else
        reply_problem(save->ctx, problem_passing(PROBLEM_STORE_UNAVAILABLE, 5, failure));
}

static void on_kept(struct save *save)
{
    reply_saved(save, "the answer could not be kept for its key");
}

static void on_kept_or_not(struct save *save)
{
    reply_prepared(save->r, save->ctx);
}

static void keep_and_reply(struct reconcile *r, struct command *cmd, void (*on_saved)(struct save *save))
{
    if (!*cmd->idempotency.key) {
        reply_prepared(r, cmd);
        return;
    }
    assert(!cmd->reply.problem && cmd->reply.status / 100 == 2);
    struct save *save = save_answer(r, on_saved, cmd);
    replay_keep(save, cmd);
    save_submit(save, true);
}

void reply_unchanged(struct reconcile *r, struct command *cmd)
{
    keep_and_reply(r, cmd, on_kept);
}

void reply_done(struct reconcile *r, struct command *cmd)
{
    keep_and_reply(r, cmd, on_kept_or_not);
}

void reply_cluster(struct command *cmd, int status, const struct entity *e, const struct operation *op)
{
    reply_prepare_cluster(cmd, status, e, op);
    reply_unchanged(e->r, cmd);
}

void reply_prepare_operation(struct command *cmd, int status, const struct operation *op)
{
    struct buffer out;
    buffer_init(&out, SIZE_MAX);
    render_operation_etag(op, cmd->reply.etag);
    render_operation(&out, op);
    reply_prepare_text(cmd, status, buffer_take(&out, NULL));
}

void reply_operation(struct command *cmd, const struct operation *op)
{
    if (!operation_status_is_final(op->status))
        cmd->reply.retry_after_s = RETRY_AFTER_ACCEPTED_S;
    reply_prepare_operation(cmd, 200, op);
    reply_give_back(cmd);
}

/* ---- writes that are answered at the end of their operation ---- */

/* Answers with the outcome of the write: the present cluster, or the reason of the failure. */
static void reply_outcome(struct reconcile *r, struct command *cmd, const struct operation *op)
{
    struct entity *e = entity_find(r, op->project, op->cluster);
    bool is_same = e && !strcmp(e->cluster->id, op->cluster_id);
    cmd->wait_until = 0;
    if (permission_is_lost(r, cmd)) {
        reply_give_back(cmd); /* sends the 202 that was prepared at the acceptance, when the caller had the
                               * right */
    } else if (!operation_status_is_final(op->status) && is_same) {
        reply_prepare_cluster(cmd, 202, e, op);
        reply_give_back(cmd);
    } else if (op->status != OPERATION_SUCCEEDED) {
        struct problem *p = problem_from_error_json(op->error);
        if (!json_str(p->extra, "operation_id"))
            reply_name_operation(p, op);
        reply_problem(cmd, p);
    } else if (op->type == OPERATION_DELETE) {
        cmd->reply.etag[0] = '\0';
        free(TAKE_PTR(cmd->reply.location));
        cmd->reply.retry_after_s = 0;
        reply_json(cmd, 204, NULL);
    } else if (is_same) {
        reply_prepare_cluster(cmd, op->type == OPERATION_CREATE ? 201 : 200, e, op);
        reply_give_back(cmd);
    } else {
        reply_problem(cmd, problem_new(PROBLEM_CLUSTER_NOT_FOUND, "the cluster was deleted since"));
    }
}

static struct problem *answer_outcome(struct waiting *w)
{
    struct reconcile *r = w->r;
    struct operation_entry *entry = operation_entry(r, w->cmd->reply.operation_id);
    struct command *cmd = wait_take(w);
    if (entry)
        reply_outcome(r, cmd, entry->op);
    else
        reply_give_back(cmd); /* sends the answer from the acceptance */
    return NULL;
}

/* Answers a request that is repeated long after its operation has ended. */
static struct problem *on_outcome_read(struct store_query *s)
{
    const bool found = s->status == STORE_OK && s->operations && s->operations->count;
    if (found)
        reply_outcome(s->cmd->decided_by, s->cmd, s->operations->operations[0]);
    else
        reply_give_back(s->cmd); /* sends the answer from the acceptance */
    return NULL;
}

void reply_prepared(struct reconcile *r, struct command *cmd)
{
    const bool waits = cmd->reply.status == 202 && cmd->wait_until && !r->stopping;
    struct operation_entry *entry = waits ? operation_entry(r, cmd->reply.operation_id) : NULL;
    if (waits && !entry && *cmd->reply.operation_id && operation_has_left(r, cmd->reply.operation_id)) {
        replay_let_go(cmd);
        operation_recall(r, cmd, cmd->reply.operation_id, on_outcome_read);
    } else if (!entry) {
        reply_give_back(cmd);
    } else if (operation_status_is_final(entry->op->status)) {
        reply_outcome(r, cmd, entry->op);
    } else {
        replay_let_go(cmd); /* the answer is stored already: a repeated request also waits */
        assert(cmd->reply.operation_id[0]);
        cmd->deadline = cmd->wait_until;
        (void)wait_new(r, cmd, &entry->waiters, answer_outcome);
    }
}
