/*
 * What callers ask about clusters, decided against memory: create, upsert, patch, delete. Answers of accepted
 * writes are given when the change is durable (promise 1). Loop thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/spec.h"
#include "reconcile/world_private.h"
#include "view/render.h"

/* ---- shared
 * --------------------------------------------------------------------------------------------------- */

struct project *command_project(struct reconcile *r, struct command *cmd)
{
    struct project *p = project_find(r, cmd->project);
    if (!p)
        reply_problem(cmd, problem_new(PROBLEM_PROJECT_NOT_FOUND, "no project '%s'", cmd->project));
    return p;
}

struct entity *command_cluster(struct reconcile *r, struct command *cmd)
{
    if (!command_project(r, cmd))
        return NULL;
    struct entity *e = entity_find(r, cmd->project, cmd->name);
    if (!e)
        reply_problem(cmd, problem_new(PROBLEM_CLUSTER_NOT_FOUND, "no cluster '%s' in project '%s'",
                                       cmd->name, cmd->project));
    return e;
}

/* If-Match (HT-17): "*" is any existing cluster, else one of a list of strong tags. True: go on. */
bool command_precondition(struct command *cmd, const struct entity *e)
{
    const char *header = cmd->if_match;
    if (cmd->if_none_match_any && e) {
        reply_problem(cmd,
                      problem_new(PROBLEM_PRECONDITION_FAILED, "If-None-Match: * but the cluster exists"));
        return false;
    }
    if (!header)
        return true;
    bool matches = e && !strcmp(header, "*");
    for (const char *p = header; e && !matches && (p = strchr(p, '"')); p = strchr(p, ',')) {
        bool weak = p >= header + 2 && p[-1] == '/' && p[-2] == 'W';
        matches = !weak && render_cluster_etag_protects(p, e->cluster);
        p = strchr(p + 1, '"');
        if (!p || !strchr(p, ','))
            break;
    }
    if (!matches)
        reply_problem(cmd,
                      problem_new(PROBLEM_PRECONDITION_FAILED, "If-Match does not name the current version%s",
                                  e ? "" : ": there is no such cluster"));
    return matches;
}

struct operation *command_operation(struct entity *e, const struct command *cmd, enum operation_type type)
{
    struct operation *op = operation_new();
    (void)id_new(e->r->env, ID_OPERATION, op->id);
    op->type = type;
    op->project = mem_strdup(e->cluster->project);
    op->cluster = mem_strdup(e->cluster->name);
    memcpy(op->cluster_id, e->cluster->id, sizeof(op->cluster_id));
    op->requested_by = mem_strdup(cmd->token_name);
    op->request_id = mem_strdup(cmd->request_id);
    op->message = mem_strdup("Accepted");
    op->created_at = env_wall(e->r->env);
    return op;
}

void command_reply_busy(struct command *cmd, const struct entity *e, const char *why)
{
    struct problem *p = problem_new(PROBLEM_CLUSTER_BUSY, "%s", why);
    const struct operation *op = e->queued ? e->queue[e->queued - 1] : e->op;
    p->retry_after_s = 10;
    if (op) {
        p->extra = json_object();
        json_set_str(p->extra, "operation_id", op->id);
    }
    reply_problem(cmd, p);
}

static void reply_not_stored(struct command *cmd)
{
    struct problem *p = problem_new(PROBLEM_STORE_UNAVAILABLE, "the change could not be stored");
    p->retry_after_s = 5;
    reply_problem(cmd, p);
}

/* The entity of a caller's change that came back from the store; NULL when it is gone. */
static struct entity *settled(struct save *save)
{
    struct entity *e;
    HASH_FIND_STR(save->r->entities, save->key, e);
    if (e && e->unsettled)
        e->unsettled--;
    return e;
}

static void on_barrier_passed(struct save *save)
{
    reconcile_command(save->r, save->ctx);
}

/*
 * Another caller's change of this cluster is on its way to the store: what is decided now could answer with
 * what may yet be lost. True: the command is decided anew when that change is durable (the store keeps the
 * order).
 */
bool command_wait_until_settled(struct entity *e, struct command *cmd)
{
    if (!e || !e->unsettled)
        return false;
    save_submit(save_new(e->r, on_barrier_passed, cmd), false);
    return true;
}

static void set_string(char **target, const char *value)
{
    char *copy = mem_strdup(value);
    free(*target);
    *target = copy;
}

static void set_json(json_t **target, json_t *value)
{
    json_incref(value);
    json_decref(*target);
    *target = value;
}

/* What a body says about the cluster itself; PUT replaces, so absent members go back to their defaults. */
static void take_metadata(struct cluster *c, const json_t *body)
{
    json_t *labels CLEANUP_JSON =
        json_obj(body, "labels") ? json_deep_copy(json_obj(body, "labels")) : json_object();
    set_json(&c->labels, labels);
    set_string(&c->description, json_str(body, "description"));
    c->deletion_protection = json_bool(body, "deletion_protection", false);
}

static bool metadata_is_equal(const struct cluster *c, const json_t *body)
{
    json_t *empty CLEANUP_JSON = json_object();
    json_t *labels = json_obj(body, "labels");
    const char *description = json_str(body, "description");
    bool same_description =
        description ? c->description && !strcmp(description, c->description) : !c->description;
    return json_equal(c->labels, labels ? labels : empty) && same_description &&
           c->deletion_protection == json_bool(body, "deletion_protection", false);
}

/* A copy: the command's body goes back to its HTTP thread. */
static json_t *body_spec(const json_t *body)
{
    json_t *spec = json_obj(body, "spec");
    return spec ? json_deep_copy(spec) : json_object();
}

/* ---- create
 * --------------------------------------------------------------------------------------------------- */

static void on_create_saved(struct save *save)
{
    struct command *cmd = save->ctx;
    struct entity *e = settled(save);
    if (save->status != STORE_OK || !e) {
        /* As if it had never been asked: memory goes back to what the store has. */
        if (e)
            entity_remove(e);
        reply_not_stored(cmd);
        return;
    }
    reply_cluster(cmd, 202, e, NULL);
    e->committing = false;
    steps_advance(e);
}

static struct entity *make_entity(struct reconcile *r, struct project *p, const char *name)
{
    struct cluster *c = cluster_new();
    (void)id_new(r->env, ID_CLUSTER, c->id);
    c->project = mem_strdup(p->config->name);
    c->name = mem_strdup(name);
    c->created_at = env_wall(r->env);
    return entity_add(r, p, c);
}

static void accept_create(struct reconcile *r, struct project *p, struct command *cmd, const char *name)
{
    struct spec_context context;
    struct entity *e = make_entity(r, p, name);
    struct cluster *c = e->cluster;
    json_t *spec CLEANUP_JSON = body_spec(cmd->body);
    project_spec_context(p, &context);
    c->managed = true;
    c->generation = 1;
    set_json(&c->spec, spec);
    take_metadata(c, cmd->body);
    c->phase = PHASE_PENDING;
    c->health = HEALTH_PROGRESSING;
    set_string(&c->message, "Accepted");
    struct operation *op = command_operation(e, cmd, OPERATION_CREATE);
    op->body = spec_resolve(name, spec, &context);
    entity_set_operation(e, op);
    plan_create(e, op);
    log_info("create accepted", "project", c->project, "cluster", c->name, "operation", op->id, "request_id",
             cmd->request_id, "by", cmd->token_name);
    e->committing = true; /* nothing is sent before the answer's promise is durable */
    e->unsettled++;
    struct save *save = save_new(r, on_create_saved, cmd);
    save_entity(save, e);
    save_submit(save, true);
}

/* A cluster that was never made at Cleura may be asked for again; its failed record gives way. */
static bool is_leftover(const struct entity *e)
{
    return !e->cluster->upstream_exists && !entity_has_open_operation(e) && !e->committing &&
           !e->call.active && e->cluster->phase == PHASE_FAILED;
}

static void replace_leftover(struct entity *e)
{
    struct save *save = save_new(e->r, NULL, NULL);
    change_delete_cluster(save->set, e->cluster->id);
    save_submit(save, false);
    entity_remove(e);
}

static void create_or_wait(struct reconcile *r, struct project *p, struct command *cmd, const char *name,
                           enum spec_use use)
{
    struct problem *faults = NULL;
    struct spec_context context;
    if (catalog_wait(p, cmd))
        return;
    project_spec_context(p, &context);
    spec_check_body(cmd->body, use, &context, &faults);
    if (faults) {
        reply_problem(cmd, faults);
        return;
    }
    if (name_check_wait(p, cmd, name))
        return;
    struct entity *e = entity_find(r, p->config->name, name);
    if (e)
        replace_leftover(e);
    accept_create(r, p, cmd, name);
}

void command_cluster_create(struct reconcile *r, struct command *cmd)
{
    struct project *p = command_project(r, cmd);
    if (!p)
        return;
    const char *name = json_str_or(cmd->body, "name", "");
    struct entity *e = entity_find(r, cmd->project, name);
    if (command_wait_until_settled(e, cmd))
        return;
    if (e && !is_leftover(e)) {
        struct problem *problem = problem_new(PROBLEM_CLUSTER_EXISTS, "cluster '%s' exists and is %s", name,
                                              phase_name(e->cluster->phase));
        if (e->op) {
            problem->extra = json_object();
            json_set_str(problem->extra, "operation_id", e->op->id);
        }
        reply_problem(cmd, problem);
        return;
    }
    create_or_wait(r, p, cmd, name, SPEC_CREATE);
}

/* ---- put
 * ------------------------------------------------------------------------------------------------------ */

static const struct operation *find_operation(const struct entity *e, const char *id)
{
    if (e->op && !strcmp(e->op->id, id))
        return e->op;
    for (size_t i = 0; i < e->queued; i++)
        if (!strcmp(e->queue[i]->id, id))
            return e->queue[i];
    struct operation_entry *entry = operation_entry(e->r, id);
    return entry ? entry->op : NULL;
}

static void on_accepted(struct save *save)
{
    struct command *cmd = save->ctx;
    struct entity *e = settled(save);
    if (save->status != STORE_OK) {
        reply_not_stored(cmd);
        return;
    }
    if (!e) {
        reply_problem(cmd, problem_new(PROBLEM_CLUSTER_NOT_FOUND, "the cluster is gone"));
        return;
    }
    reply_cluster(cmd, 202, e, find_operation(e, cmd->id));
    steps_advance(e);
}

void command_accept(struct entity *e, struct command *cmd, struct operation *op)
{
    struct cluster *c = e->cluster;
    struct save *save = save_new(e->r, on_accepted, cmd);
    log_info("accepted", "type", operation_type_name(op->type), "project", c->project, "cluster", c->name,
             "operation", op->id, "request_id", cmd->request_id, "by", cmd->token_name);
    memcpy(cmd->id, op->id, sizeof(cmd->id));
    e->unsettled++;
    c->generation++;
    queue_supersede(e, save, op);
    if (entity_has_open_operation(e) || e->queued) {
        queue_push(e, op);
        save_operation(save, op);
    } else {
        entity_set_operation(e, op);
        e->must_look = true; /* others may be at work since the last look */
        if (op->type != OPERATION_DELETE && c->shoot)
            observe_settle(e, save);
    }
    save_entity(save, e);
    save_submit(save, false);
}

static void on_put_saved(struct save *save)
{
    struct command *cmd = save->ctx;
    struct entity *e = settled(save);
    if (save->status != STORE_OK)
        reply_not_stored(cmd);
    else if (e)
        reply_cluster(cmd, cmd->status, e, cmd->id[0] ? find_operation(e, cmd->id) : NULL);
    else
        reply_problem(cmd, problem_new(PROBLEM_CLUSTER_NOT_FOUND, "the cluster was deleted meanwhile"));
}

/* The change that makes the spec true, when one is open: the last one accepted. */
static const struct operation *change_under_way(const struct entity *e)
{
    const struct operation *waiting = queue_find(e, OPERATION_UPDATE);
    if (waiting)
        return waiting;
    int wish = entity_wish(e);
    return wish == OPERATION_CREATE || wish == OPERATION_UPDATE ? e->op : NULL;
}

/* What there is, in the words of a spec: what Cleura shows, or what it was asked to make. */
static const json_t *present_state(const struct entity *e)
{
    if (e->cluster->shoot)
        return e->cluster->shoot->observed;
    return entity_wish(e) == OPERATION_CREATE ? e->op->body : NULL;
}

/* What the update that runs is about to make of the cluster. */
static const json_t *goal_of_running(const struct entity *e)
{
    return entity_wish(e) == OPERATION_UPDATE ? json_obj(e->op->body, "spec") : NULL;
}

static void take_wish(struct entity *e, const struct command *cmd, const json_t *body)
{
    struct cluster *c = e->cluster;
    json_t *spec CLEANUP_JSON = body_spec(body);
    if (!c->managed)
        log_info("cluster adopted", "project", c->project, "cluster", c->name, "by", cmd->token_name);
    c->managed = true;
    set_json(&c->spec, spec);
    take_metadata(c, body);
}

/* Nothing is to be sent: what is asked for is there, or on its way with `change`. */
static void settle_wish(struct entity *e, struct command *cmd, const json_t *body,
                        const struct operation *change)
{
    struct cluster *c = e->cluster;
    json_t *spec CLEANUP_JSON = body_spec(body);
    cmd->status = change ? 202 : 200;
    if (change)
        memcpy(cmd->id, change->id, sizeof(cmd->id));
    if (c->managed && json_equal(c->spec, spec) && metadata_is_equal(c, body)) {
        reply_cluster(cmd, cmd->status, e, change);
        return;
    }
    take_wish(e, cmd, body);
    c->generation++;
    e->unsettled++;
    struct save *save = save_new(e->r, on_put_saved, cmd);
    if (c->shoot)
        observe_settle(e, save);
    save_entity(save, e);
    save_submit(save, false);
}

/* False when the change was refused, and answered. */
static bool change_is_possible(struct entity *e, struct command *cmd, const json_t *body)
{
    struct problem *faults = NULL;
    struct spec_context context;
    project_spec_context(e->project, &context);
    context.observed = present_state(e);
    spec_check_body(body, SPEC_PUT, &context, &faults);
    if (faults) {
        /* All at once: also what the cluster cannot become. */
        if (context.observed && json_obj(body, "spec"))
            spec_check_change(json_obj(body, "spec"), context.observed, &context, &faults);
        reply_problem(cmd, faults);
        return false;
    }
    if (entity_is_leaving(e) || entity_is_deleted_at_cleura(e)) {
        command_reply_busy(cmd, e, "the cluster is being deleted");
        return false;
    }
    if (!context.observed) {
        reply_problem(cmd, problem_new(PROBLEM_CLUSTER_NOT_READY,
                                       "the cluster was never made: create it anew with PUT or POST"));
        return false;
    }
    return true;
}

/* A copy of the spec without the members that faults name: whole, but for a member of one pool. */
static json_t *without_faults(const json_t *spec, const struct problem *faults)
{
    json_t *rest = json_deep_copy(spec);
    size_t i;
    json_t *fault;
    json_array_foreach (faults->faults, i, fault) {
        char member[64] = "", inner[64] = "";
        unsigned long index;
        const char *pointer = json_str_or(fault, "pointer", "");
        if (sscanf(pointer, "#/spec/node_pools/%lu/%63[^/]", &index, inner) == 2)
            (void)json_object_del(json_array_get(json_arr(rest, "node_pools"), index), inner);
        else if (sscanf(pointer, "#/spec/%63[^/]", member) == 1)
            (void)json_object_del(rest, member);
    }
    return rest;
}

/* One wish, by PUT or by a merged PATCH. */
static void change_cluster(struct entity *e, struct command *cmd, const json_t *body)
{
    struct cluster *c = e->cluster;
    struct spec_context context;
    struct problem *faults = NULL;
    if (catalog_wait(e->project, cmd) || !change_is_possible(e, cmd, body))
        return;
    project_spec_context(e->project, &context);
    json_t *spec CLEANUP_JSON = body_spec(body);
    const json_t *present = present_state(e);
    const struct operation *change = change_under_way(e);
    bool same = c->managed && json_equal(c->spec, spec);
    if (same && change) {
        settle_wish(e, cmd, body, change);
        return;
    }
    spec_check_change(spec, present, &context, &faults);
    if (!same && !faults && goal_of_running(e)) /* it goes to its end before this one begins */
        spec_check_change(spec, goal_of_running(e), &context, &faults);
    if (faults && !same) {
        reply_problem(cmd, faults);
        return;
    }
    /* An equal wish is no error for what cannot be brought about: that stays as drift, the rest is repaired.
     */
    json_t *goal CLEANUP_JSON = faults ? without_faults(spec, faults) : json_incref(spec);
    problem_free(faults);
    json_t *plan CLEANUP_JSON = spec_plan(goal, present, &context);
    if (!json_array_size(plan) && !change) {
        settle_wish(e, cmd, body, NULL);
        return;
    }
    struct operation *op = command_operation(e, cmd, OPERATION_UPDATE);
    op->body = json_pack("{sO}", "spec", goal);
    plan_update(e, op);
    take_wish(e, cmd, body);
    command_accept(e, cmd, op);
}

void command_cluster_put(struct reconcile *r, struct command *cmd)
{
    struct project *p = command_project(r, cmd);
    if (!p)
        return;
    struct entity *e = entity_find(r, cmd->project, cmd->name);
    if (command_wait_until_settled(e, cmd) || !command_precondition(cmd, e))
        return;
    if (e && !is_leftover(e)) {
        change_cluster(e, cmd, cmd->body);
        return;
    }
    if (!spec_name_is_valid(cmd->name)) {
        reply_problem(
            cmd, problem_new(PROBLEM_VALIDATION_FAILED,
                             "a cluster name has 1 to 15 characters a-z, 0-9 and '-', begins and ends with a "
                             "letter or digit, without '--'"));
        return;
    }
    create_or_wait(r, p, cmd, cmd->name, SPEC_PUT);
}

/* ---- patch
 * ---------------------------------------------------------------------------------------------------- */

/* RFC 7396: null removes, objects merge, everything else replaces. Changes `target`. */
static void merge_patch(json_t *target, const json_t *patch)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)(uintptr_t)patch, key, value) {
        if (json_is_null(value)) {
            (void)json_object_del(target, key);
        } else if (json_is_object(value)) {
            json_t *inner = json_obj(target, key);
            json_t *merged = inner ? json_deep_copy(inner) : json_object();
            merge_patch(merged, value);
            (void)json_object_set_new(target, key, merged);
        } else {
            (void)json_object_set_new(target, key, json_deep_copy(value));
        }
    }
}

static json_t *present_wish(const struct cluster *c)
{
    json_t *body = json_object();
    json_set_take(body, "labels", json_deep_copy(c->labels));
    if (c->description)
        json_set_str(body, "description", c->description);
    json_set_bool(body, "deletion_protection", c->deletion_protection);
    json_set_take(body, "spec", json_deep_copy(c->spec));
    return body;
}

void command_cluster_patch(struct reconcile *r, struct command *cmd)
{
    struct entity *e = command_cluster(r, cmd);
    if (!e || command_wait_until_settled(e, cmd) || !command_precondition(cmd, e))
        return;
    if (!e->cluster->managed) {
        reply_problem(
            cmd, problem_new(PROBLEM_NOT_MANAGED, "cluster '%s' was not made through shootd", cmd->name));
        return;
    }
    json_t *body CLEANUP_JSON = present_wish(e->cluster);
    merge_patch(body, cmd->body);
    change_cluster(e, cmd, body);
}

/* ---- delete
 * --------------------------------------------------------------------------------------------------- */

static void accept_delete(struct entity *e, struct command *cmd)
{
    struct cluster *c = e->cluster;
    struct operation *op = command_operation(e, cmd, OPERATION_DELETE);
    plan_delete(e, op);
    c->phase = PHASE_DELETING;
    c->health = HEALTH_PROGRESSING;
    c->settling = false;
    set_string(&c->message, "Deletion accepted");
    command_accept(e, cmd, op);
}

static const struct operation *deletion_under_way(const struct entity *e)
{
    const struct operation *waiting = queue_find(e, OPERATION_DELETE);
    return waiting ? waiting : e->op;
}

void command_cluster_delete(struct reconcile *r, struct command *cmd)
{
    struct entity *e = command_cluster(r, cmd);
    if (!e || command_wait_until_settled(e, cmd) || !command_precondition(cmd, e))
        return;
    /* Repeating a delete is no fault (peers.md 6.1): the same operation answers. */
    if (entity_is_leaving(e)) {
        reply_cluster(cmd, 202, e, deletion_under_way(e));
        return;
    }
    if (!e->cluster->managed) {
        reply_problem(
            cmd, problem_new(PROBLEM_NOT_MANAGED, "cluster '%s' was not made through shootd", cmd->name));
        return;
    }
    if (e->cluster->deletion_protection) {
        reply_problem(
            cmd, problem_new(PROBLEM_DELETION_PROTECTED, "deletion_protection of '%s' is true", cmd->name));
        return;
    }
    accept_delete(e, cmd);
}
