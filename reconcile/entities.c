/* The tables of the world: clusters, projects, operations. Finding, adding, removing; no decisions. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "model/spec.h"
#include "reconcile/world_private.h"

static void make_key(char key[static ENTITY_KEY_BYTES], const char *project, const char *name)
{
    (void)snprintf(key, ENTITY_KEY_BYTES, "%s/%s", project, name);
}

struct entity *entity_find(struct reconcile *r, const char *project, const char *name)
{
    char key[ENTITY_KEY_BYTES];
    struct entity *e;
    make_key(key, project, name);
    HASH_FIND_STR(r->entities, key, e);
    return e;
}

static void on_retry(struct loop_timer *timer)
{
    steps_advance(CONTAINER_OF(timer, struct entity, retry));
}

struct entity *entity_add(struct reconcile *r, struct project *p, struct cluster *c)
{
    struct entity *e = MEM_NEW(struct entity);
    make_key(e->key, c->project, c->name);
    e->r = r;
    e->project = p;
    e->cluster = c;
    e->retry.fire = on_retry;
    e->retry.name = "step";
    if (c->shoot)
        observe_note(e, c->shoot);
    HASH_ADD_STR(r->entities, key, e);
    list_append(&p->clusters, &e->in_project);
    return e;
}

void entity_remove(struct entity *e)
{
    struct reconcile *r = e->r;
    assert(!e->call.active);
    kubeconfigs_forget(r->kubeconfigs, e->key);
    lookups_forget(r->lookups, e->key);
    poll_forget(e);
    walks_pass(e);
    loop_timer_clear(r->o.loop, &e->retry);
    view_set(r->o.view, VIEW_CLUSTERS, e->key, NULL);
    HASH_DEL(r->entities, e);
    list_remove(&e->in_project);
    problem_free(e->refusal);
    operation_free(e->op);
    queue_free(e);
    json_decref(e->call_body);
    cluster_free(e->cluster);
    free(e);
}

void entity_set_operation(struct entity *e, struct operation *op)
{
    operation_free(e->op);
    e->op = op;
    e->op_end_saved = false;
    /* What was remembered of the old one's step. */
    e->retries = 0;
    e->conflicts = 0;
    e->unexplained = 0;
    e->absent_reads = 0;
    e->unmet_since = 0;
    e->lost_at = 0;
    e->looked_at = 0;
    e->reading_back = false;
    problem_free(e->refusal);
    e->refusal = NULL;
    loop_timer_clear(e->r->o.loop, &e->retry);
    (void)snprintf(e->cluster->operation_id, sizeof(e->cluster->operation_id), "%s", op->id);
}

struct project *project_find(struct reconcile *r, const char *name)
{
    struct project *p;
    HASH_FIND_STR(r->projects, name, p);
    return p;
}

bool entity_has_open_operation(const struct entity *e)
{
    return e->op && !operation_status_is_final(e->op->status);
}

struct operation_entry *operation_entry(struct reconcile *r, const char *id)
{
    struct operation_entry *entry;
    HASH_FIND_STR(r->operations, id, entry);
    return entry;
}

void project_spec_context(const struct project *p, struct spec_context *ret)
{
    *ret = (struct spec_context){.catalog = p->state->catalog,
                                 .defaults = p->config->defaults,
                                 .v1 = p->config->account->api == API_V1,
                                 .now = env_wall(p->r->env)};
}

struct upstream_account *project_lane(const struct project *p)
{
    assert(!p->set_aside);
    return p->account->lane;
}
