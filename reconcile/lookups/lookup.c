/*
 * Sub-resources that only Cleura provides. A document may need several calls, one after the other (for
 * example one per node pool). Loop thread.
 */
#include "reconcile/lookups/lookup.h"

#include <assert.h>
#include <stdio.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "reconcile/answers/objects.h"
#include "reconcile/answers/reply.h"
#include "reconcile/lookups/catalog.h"
#include "reconcile/lookups/fetch.h"
#include "reconcile/lookups/lookup_rule.h"
#include "reconcile/lookups/need.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"
#include "reconcile/world/waiting.h"
#include "reconcile/world/world.h"

enum { CALL_DEADLINE_S = 30 };

struct lookup {
    struct fetch fetch; /* the key is: kind, '\n', entity key or project */
    const struct lookup_rule *rule;
    json_t *items;   /* items to request, one call for each item; NULL: one call without an item */
    json_t *answers; /* the answers in the order of the items; null for a failed call, if the rule permits
                      * that */
    json_t *document;
    wall_us fetched_at;
    mono_us kept_since; /* the same time, by the monotonic clock */
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

static void lookup_release(struct fetch *f)
{
    struct lookup *l = CONTAINER_OF(f, struct lookup, fetch);
    forget_document(l);
    json_decref(l->items);
}

static bool lookup_is_kept(struct fetch *f)
{
    const struct lookup *l = CONTAINER_OF(f, struct lookup, fetch);
    return l->document && env_mono(f->r->env) - l->kept_since < l->rule->keep_s * US_PER_S;
}

/* Puts what was read into a command that needs it for its decision. */
static void put_fact(const struct lookup *l, struct command *cmd)
{
    if (l->rule->kind == LOOKUP_CA_STAGE)
        mem_set_str(&cmd->facts.ca_stage, json_str(l->document, "stage"));
    else
        cmd->facts.quota = json_deep_copy(json_obj(l->document, "limits"));
}

/* A failed read fails the command, except when the quota is read for a decision: then the command is decided
 * without the quota. */
static struct problem *lookup_failed(struct fetch *f, struct command *cmd, const struct problem *problem)
{
    const struct lookup *l = CONTAINER_OF(f, struct lookup, fetch);
    if (cmd->type == l->rule->command || l->rule->need != NEED_QUOTA)
        return problem_copy(problem);
    need_is_met(cmd, NEED_QUOTA);
    return NULL;
}

static const struct fetch_kind lookups = {.size = sizeof(struct lookup),
                                          .late = "Cleura did not answer in time",
                                          .is_kept = lookup_is_kept,
                                          .failed = lookup_failed,
                                          .release = lookup_release};

/* ---- answers ---- */

static void answer_lookup(struct command *cmd, struct lookup *l)
{
    char text[TIME_TEXT_BYTES];
    json_t *doc = json_deep_copy(l->document);
    json_set_str(doc, "fetched_at", time_rfc3339(l->fetched_at, false, text));
    cmd->reply.is_secret = l->rule->secret;
    cmd->reply.status = 200;
    cmd->reply.text = json_text(doc);
    if (l->rule->secret)
        json_wipe(doc);
    json_decref(doc);
    reply_give_back(cmd);
}

static void answer_all(struct lookup *l)
{
    assert(l->document);
    LIST_FOR_EACH_SAFE (it, next, &l->fetch.waiters) {
        struct command *cmd = wait_take(CONTAINER_OF(it, struct waiting, link));
        if (cmd->type == l->rule->command) {
            answer_lookup(cmd, l);
        } else {
            put_fact(l, cmd);
            need_is_met(cmd, l->rule->need);
        }
    }
}

/* ---- calls ---- */

static void next_call(struct lookup *l);

/* Returns the problem of a call that returned no document. The cluster may be too young to have the
 * document. */
static struct problem *problem_of(const struct lookup *l, const struct upstream_result *result)
{
    if (result->class == UPSTREAM_ABSENT || result->class == UPSTREAM_CONFLICT) {
        struct problem *p = problem_new(PROBLEM_CLUSTER_NOT_READY, "Cleura has no %s of this %s now: %s",
                                        l->rule->what, l->fetch.shoot ? "cluster" : "project",
                                        result->message ? result->message : "not found");
        p->retry_after_s = 15;
        return p;
    }
    return upstream_problem(result);
}

static void on_looked_up(struct upstream_call *call, struct upstream_result *result)
{
    struct lookup *l = CONTAINER_OF(call, struct lookup, fetch.call);
    bool ok = result->class == UPSTREAM_OK;
    if (!ok && !l->rule->parts_may_fail) {
        struct problem *problem CLEANUP_PROBLEM = problem_of(l, result);
        fetch_fail(&l->fetch, problem);
        return;
    }
    json_t *said = ok && result->text ? json_string(result->text) : json_deep_copy(result->document);
    if (!ok) {
        said = json_object();
        json_set_str(said, "version", l->fetch.call.item);
        json_set_str(said, "error", result->message ? result->message : upstream_class_name(result->class));
    }
    if (json_array_append_new(l->answers, said) != 0) {
        struct problem *problem CLEANUP_PROBLEM =
            problem_new(PROBLEM_UPSTREAM_ERROR, "Cleura's answer cannot be understood");
        fetch_fail(&l->fetch, problem);
        return;
    }
    next_call(l);
}

static void next_call(struct lookup *l)
{
    size_t asked = json_array_size(l->answers);
    assert(l->answers && (!l->items || asked <= json_array_size(l->items)));
    enum upstream_op op = l->rule->op;
    const char *item = l->items ? json_string_value(json_array_get(l->items, asked)) : NULL;
    if (l->rule->then && asked == 1) {
        op = l->rule->then;
        item = l->rule->then_item(l->fetch.project, json_array_get(l->answers, 0));
        if (!item) {
            struct problem *problem CLEANUP_PROBLEM = problem_new(
                PROBLEM_UPSTREAM_ERROR, "Cleura does not list this project among those of the login");
            fetch_fail(&l->fetch, problem);
            return;
        }
    } else if (l->items ? !item : asked >= 1) {
        /* The last call has ended: the document is made from the answers. */
        json_t *document = l->rule->compose(l->fetch.project, fetch_entity(&l->fetch), l->answers);
        forget_document(l);
        l->document = document;
        l->fetched_at = env_wall(l->fetch.r->env);
        l->kept_since = env_mono(l->fetch.r->env);
        answer_all(l);
        return;
    }
    fetch_call(&l->fetch, op, item, CALL_DEADLINE_S * US_PER_S, on_looked_up);
}

static void begin_lookup(struct lookup *l, const struct entity *e)
{
    forget_document(l);
    json_decref(l->items);
    l->items = l->rule->items ? l->rule->items(l->fetch.project, e) : NULL;
    l->answers = json_array();
    next_call(l);
}

static struct lookup *lookup_of(const struct lookup_rule *rule, struct project *p, const struct entity *e)
{
    char key[FETCH_KEY_BYTES];
    (void)snprintf(key, sizeof(key), "%d\n%s", (int)rule->kind, e ? e->key : p->name);
    struct fetch *f = fetch_find_or_add(p, &lookups, e, key);
    struct lookup *l = CONTAINER_OF(f, struct lookup, fetch);
    l->rule = rule;
    return l;
}

bool lookup_stage(struct project *p, struct entity *e, struct command *cmd)
{
    struct lookup *l = lookup_of(lookup_rule(LOOKUP_CA_STAGE), p, e);
    if (fetch_wait(&l->fetch, cmd, cmd->deadline))
        begin_lookup(l, e);
    return true;
}

bool lookup_quota(struct project *p, struct entity *e ATTR_UNUSED, struct command *cmd)
{
    const struct lookup_rule *rule = lookup_rule(LOOKUP_QUOTA);
    if (!upstream_supports(project_lane(p), rule->op))
        return false;
    struct lookup *l = lookup_of(rule, p, NULL);
    if (lookup_is_kept(&l->fetch)) {
        put_fact(l, cmd);
        cmd->facts.known |= NEED_QUOTA;
        return false;
    }
    if (fetch_wait(&l->fetch, cmd, env_mono(p->r->env) + NEED_PATIENCE_MS * US_PER_MS))
        begin_lookup(l, NULL);
    return true;
}

/* Returns why Cleura cannot be asked, or NULL. */
static struct problem *lookup_refusal(struct project *p, const struct entity *e,
                                      const struct lookup_rule *rule)
{
    const struct cluster *c = e ? e->cluster : NULL;
    bool optional = rule->parts_may_fail; /* without the call, the document lacks only this part */
    if (!optional && !upstream_supports(project_lane(p), rule->op))
        return problem_new(PROBLEM_NOT_SUPPORTED,
                           "%s: Cleura's API %s, which the account of this project uses, has no such call",
                           rule->what, upstream_abilities_of(p->config->account)->api);
    return c && (!c->shoot || !c->upstream_exists) ? problem_not_ready(e) : NULL;
}

struct problem *command_lookup(struct reconcile *r, struct command *cmd)
{
    const struct lookup_rule *rule = lookup_rule_of(cmd->type);
    struct project *p;
    struct entity *e = NULL;
    struct problem *refusal = command_project(r, cmd, &p);
    if (!refusal && cmd->name)
        refusal = command_cluster(r, cmd, &e);
    if (refusal || (rule->of_catalog && catalog_wait(p, cmd)))
        return refusal;
    refusal = lookup_refusal(p, e, rule);
    if (refusal)
        return refusal;
    struct lookup *l = lookup_of(rule, p, e);
    if (lookup_is_kept(&l->fetch))
        answer_lookup(cmd, l);
    else if (fetch_wait(&l->fetch, cmd, cmd->deadline))
        begin_lookup(l, e);
    return NULL;
}
