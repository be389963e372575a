/*
 * Sub-resources that only Cleura knows: fetched through the lane when somebody asks, one flight for all who
 * wait (UP-17), kept for moments, never stored, never shown to the log. A document may take several calls,
 * one after the other (a call per node pool). Loop thread.
 */
#include "reconcile/lookups/lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "reconcile/answers/reply.h"
#include "reconcile/answers/subject.h"
#include "reconcile/lookups/catalog.h"
#include "reconcile/lookups/lookup_rule.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/world.h"

enum { CALL_DEADLINE_S = 30, KEY_BYTES = ENTITY_KEY_BYTES + 16, SWEEP_S = 15 };

struct lookup {
    UT_hash_handle hh;
    char key[KEY_BYTES]; /* kind, '\n', entity key or project */
    struct reconcile *r;
    const struct lookup_rule *rule;
    char entity_key[ENTITY_KEY_BYTES];
    struct project *project;
    char *name;      /* of the shoot, for the calls; or NULL */
    json_t *items;   /* what to ask for, one call each; or NULL: one call */
    json_t *answers; /* what was said, in the order of the items; null where it failed and may */
    json_t *document;
    wall_us fetched_at;
    struct upstream_call call;
    struct list waiters;
    stage_known *on_stage; /* of LOOKUP_CA_STAGE: who decides on */
};

struct lookups {
    struct reconcile *r;
    struct lookup *all;
    struct loop_timer sweep;
};

static void forget_document(struct lookup *l)
{
    json_wipe(l->document);
    json_decref(l->document);
    json_wipe(l->answers);
    json_decref(l->answers);
    l->document = NULL;
    l->answers = NULL;
}

static void lookup_free(struct lookups *all, struct lookup *l)
{
    HASH_DEL(all->all, l);
    upstream_cancel(&l->call);
    forget_document(l);
    json_decref(l->items);
    free(l->name);
    free(l);
}

static bool is_kept(const struct lookup *l)
{
    return l->document && env_wall(l->r->env) - l->fetched_at < l->rule->keep_s * US_PER_S;
}

static void on_sweep(struct loop_timer *timer)
{
    struct lookups *all = CONTAINER_OF(timer, struct lookups, sweep);
    struct lookup *l, *next;
    HASH_ITER (hh, all->all, l, next)
        if (!l->call.active && list_is_empty(&l->waiters) && !is_kept(l))
            lookup_free(all, l);
    if (all->all)
        loop_timer_set(all->r->o.loop, &all->sweep, env_mono(all->r->env) + SWEEP_S * US_PER_S);
}

struct lookups *lookups_new(struct reconcile *r)
{
    struct lookups *all = MEM_NEW(struct lookups);
    all->r = r;
    all->sweep.fire = on_sweep;
    all->sweep.name = "lookups";
    return all;
}

static void fail_waiters(struct lookup *l, const struct problem *problem)
{
    LIST_FOR_EACH_SAFE (it, next, &l->waiters) {
        struct problem *copy = problem_new(problem->code, "%s", problem->detail);
        copy->retry_after_s = problem->retry_after_s;
        reply_problem(wait_take(CONTAINER_OF(it, struct waiting, link)), copy);
    }
}

void lookups_stop(struct lookups *all)
{
    struct problem *problem CLEANUP_PROBLEM = problem_new(PROBLEM_SHUTTING_DOWN, "shootd is stopping");
    struct lookup *l, *next;
    problem->retry_after_s = 5;
    loop_timer_clear(all->r->o.loop, &all->sweep);
    HASH_ITER (hh, all->all, l, next) {
        upstream_cancel(&l->call);
        fail_waiters(l, problem);
    }
}

void lookups_free(struct lookups *all)
{
    struct lookup *l, *next;
    HASH_ITER (hh, all->all, l, next)
        lookup_free(all, l);
    free(all);
}

void lookups_forget(struct lookups *all, const char *entity_key)
{
    struct problem *problem CLEANUP_PROBLEM = problem_new(PROBLEM_CLUSTER_NOT_FOUND, "the cluster is gone");
    struct lookup *l, *next;
    HASH_ITER (hh, all->all, l, next) {
        if (strcmp(l->entity_key, entity_key) != 0)
            continue;
        fail_waiters(l, problem);
        lookup_free(all, l);
    }
}

/* ---- answers ---- */

static void answer_lookup(struct command *cmd, struct lookup *l)
{
    char text[TIME_TEXT_BYTES];
    json_t *doc = json_deep_copy(l->document);
    json_set_str(doc, "fetched_at", time_rfc3339(l->fetched_at, false, text));
    cmd->answer_is_secret = l->rule->secret;
    cmd->status = 200;
    cmd->answer = json_text(doc);
    if (l->rule->secret)
        json_wipe(doc);
    json_decref(doc);
    reply_give_back(cmd);
}

static void answer_waiters(struct lookup *l)
{
    struct entity *e;
    HASH_FIND_STR(l->r->entities, l->entity_key, e);
    /* A stage decides a command, which may ask anew: those go to a list of their own first. */
    struct list ready;
    list_init(&ready);
    for (struct list *it = list_pop(&l->waiters); it; it = list_pop(&l->waiters))
        list_append(&ready, it);
    const char *stage CLEANUP_FREE = mem_strdup(json_str(l->document, "stage"));
    LIST_FOR_EACH_SAFE (it, next, &ready) {
        struct command *cmd = wait_take(CONTAINER_OF(it, struct waiting, link));
        if (l->rule->kind != LOOKUP_CA_STAGE)
            answer_lookup(cmd, l);
        else
            l->on_stage(e, cmd, stage);
    }
}

/* ---- calls ---- */

static void next_call(struct lookup *l);

/* What the call could not be told: also when the cluster is too young to have it. */
static struct problem *problem_of(const struct lookup *l, const struct upstream_result *result)
{
    if (result->class == UPSTREAM_ABSENT || result->class == UPSTREAM_CONFLICT) {
        struct problem *p =
            problem_new(PROBLEM_CLUSTER_NOT_READY, "Cleura has no %s of this %s now: %s", l->rule->what,
                        l->name ? "cluster" : "project", result->message ? result->message : "not found");
        p->retry_after_s = 15;
        return p;
    }
    return upstream_problem(result);
}

static void on_looked_up(struct upstream_call *call, const struct upstream_result *result)
{
    struct lookup *l = CONTAINER_OF(call, struct lookup, call);
    bool ok = result->class == UPSTREAM_OK;
    if (!ok && !l->rule->parts_may_fail) {
        struct problem *problem CLEANUP_PROBLEM = problem_of(l, result);
        fail_waiters(l, problem);
        return;
    }
    json_t *said = ok && result->text ? json_string(result->text) : json_deep_copy(result->document);
    if (!ok) {
        said = json_object();
        json_set_str(said, "version", l->call.item);
        json_set_str(said, "error", result->message ? result->message : upstream_class_name(result->class));
    }
    if (json_array_append_new(l->answers, said) != 0) {
        struct problem *problem CLEANUP_PROBLEM =
            problem_new(PROBLEM_UPSTREAM_ERROR, "Cleura's answer cannot be understood");
        fail_waiters(l, problem);
        return;
    }
    next_call(l);
}

static void finish_lookup(struct lookup *l)
{
    struct entity *e;
    HASH_FIND_STR(l->r->entities, l->entity_key, e);
    json_t *document = l->rule->compose(l->project, e, l->answers);
    forget_document(l);
    l->document = document;
    l->fetched_at = env_wall(l->r->env);
    answer_waiters(l);
}

static void next_call(struct lookup *l)
{
    size_t asked = json_array_size(l->answers);
    enum upstream_op op = l->rule->op;
    const char *item = l->items ? json_string_value(json_array_get(l->items, asked)) : NULL;
    if (l->rule->then && asked == 1) {
        op = l->rule->then;
        item = l->rule->then_item(l->project, json_array_get(l->answers, 0));
        if (!item) {
            struct problem *problem CLEANUP_PROBLEM = problem_new(
                PROBLEM_UPSTREAM_ERROR, "Cleura does not list this project among those of the login");
            fail_waiters(l, problem);
            return;
        }
    } else if (l->items ? !item : asked >= 1) {
        finish_lookup(l);
        return;
    }
    l->call.op = op;
    l->call.region = l->project->config->region;
    l->call.project_id = l->project->config->project_id;
    l->call.name = l->name;
    l->call.item = item;
    l->call.priority = LANE_USER_WAITING;
    l->call.deadline = env_mono(l->r->env) + CALL_DEADLINE_S * US_PER_S;
    l->call.on_done = on_looked_up;
    call_for_waiters(&l->call, &l->waiters);
    upstream_submit(project_lane(l->project), &l->call);
}

static void fetch(struct lookup *l, const struct entity *e)
{
    forget_document(l);
    json_decref(l->items);
    l->items = l->rule->items ? l->rule->items(l->project, e) : NULL;
    l->answers = json_array();
    next_call(l);
}

static struct lookup *find_or_add(struct lookups *all, const struct lookup_rule *rule, struct project *p,
                                  const struct entity *e)
{
    char key[KEY_BYTES];
    struct lookup *l;
    (void)snprintf(key, sizeof(key), "%d\n%s", (int)rule->kind, e ? e->key : p->config->name);
    HASH_FIND_STR(all->all, key, l);
    if (l)
        return l;
    l = MEM_NEW(struct lookup);
    memcpy(l->key, key, sizeof(key));
    l->r = all->r;
    l->rule = rule;
    l->project = p;
    if (e) {
        memcpy(l->entity_key, e->key, sizeof(l->entity_key));
        l->name = mem_strdup(e->cluster->name);
    }
    list_init(&l->waiters);
    HASH_ADD_STR(all->all, key, l);
    if (!loop_timer_is_set(&all->sweep))
        loop_timer_set(all->r->o.loop, &all->sweep, env_mono(all->r->env) + SWEEP_S * US_PER_S);
    return l;
}

/* The last one who waited has left: nobody needs the transfer any more (UP-19). */
static void drop_if_unwanted(struct reconcile *r)
{
    struct lookup *l, *next;
    HASH_ITER (hh, r->lookups->all, l, next)
        if (l->call.active && list_is_empty(&l->waiters))
            upstream_cancel(&l->call);
}

static void on_lookup_deadline(struct waiting *w)
{
    struct reconcile *r = w->r;
    reply_problem(wait_take(w), problem_new(PROBLEM_UPSTREAM_TIMEOUT, "Cleura did not answer in time"));
    drop_if_unwanted(r);
}

static void want(struct lookup *l, const struct entity *e, struct command *cmd)
{
    bool under_way = !list_is_empty(&l->waiters);
    (void)wait_new(l->r, cmd, &l->waiters, on_lookup_deadline);
    if (!under_way && !l->call.active)
        fetch(l, e);
}

void lookup_stage(struct entity *e, struct command *cmd, stage_known *known)
{
    struct lookup *l = find_or_add(e->r->lookups, lookup_rule(LOOKUP_CA_STAGE), e->project, e);
    l->on_stage = known;
    want(l, e, cmd);
}

static bool is_possible(struct project *p, const struct entity *e, struct command *cmd,
                        const struct lookup_rule *rule)
{
    const struct cluster *c = e ? e->cluster : NULL;
    bool optional = rule->parts_may_fail; /* answered without Cleura where Cleura's part does not exist */
    if (!optional && !upstream_supports(project_lane(p), rule->op)) {
        reply_problem(cmd, problem_new(PROBLEM_NOT_SUPPORTED,
                                       "%s: Cleura's API v1, which the account of this project uses, has no "
                                       "such call",
                                       rule->what));
    } else if (c && (!c->shoot || !c->upstream_exists)) {
        struct problem *problem =
            problem_new(PROBLEM_CLUSTER_NOT_READY, "the cluster is %s", phase_name(c->phase));
        problem->retry_after_s = 15;
        reply_problem(cmd, problem);
    } else {
        return true;
    }
    return false;
}

void command_lookup(struct reconcile *r, struct command *cmd)
{
    const struct lookup_rule *rule = lookup_rule(cmd->lookup);
    bool of_cluster = cmd->name != NULL; /* a command that was answered is no longer ours to read */
    struct entity *e = of_cluster ? command_cluster(r, cmd) : NULL;
    if (of_cluster && !e)
        return;
    struct project *p = e ? e->project : command_project(r, cmd);
    if (!p)
        return;
    if (cmd->lookup == LOOKUP_UPGRADES && catalog_wait(p, cmd))
        return;
    if (!is_possible(p, e, cmd, rule))
        return;
    struct lookup *l = find_or_add(r->lookups, rule, p, e);
    if (is_kept(l))
        answer_lookup(cmd, l);
    else
        want(l, e, cmd);
}
