#include "model/cluster.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/json_values_private.h"

struct cluster *cluster_new(void)
{
    struct cluster *c = MEM_NEW(struct cluster);
    c->labels = json_object();
    c->phase = PHASE_PENDING;
    c->health = HEALTH_UNKNOWN;
    return c;
}

void cluster_free(struct cluster *c)
{
    if (!c)
        return;
    free(c->project);
    free(c->name);
    json_decref(c->labels);
    free(c->description);
    json_doc_free(c->spec);
    json_decref(c->drift);
    json_decref(c->expiry_announced);
    shoot_free(c->shoot);
    free(c->message);
    free(c->retrying_announced);
    free(c->api_server_url);
    free(c);
}

struct cluster *cluster_copy(const struct cluster *c)
{
    struct cluster *copy = MEM_NEW(struct cluster);
    *copy = *c;
    copy->project = mem_strdup(c->project);
    copy->name = mem_strdup(c->name);
    copy->labels = json_deep_copy(c->labels);
    copy->description = mem_strdup(c->description);
    copy->spec = json_doc_copy(c->spec);
    copy->drift = json_deep_copy(c->drift);
    copy->expiry_announced = json_deep_copy(c->expiry_announced);
    copy->shoot = shoot_copy(c->shoot);
    copy->message = mem_strdup(c->message);
    copy->retrying_announced = mem_strdup(c->retrying_announced);
    copy->api_server_url = mem_strdup(c->api_server_url);
    return copy;
}

void cluster_observed_now(struct cluster *c, const struct env *env)
{
    c->observed_at = env_wall(env);
    c->heard_at = env_mono(env);
}

void cluster_observed_before(struct cluster *c, const struct env *env)
{
    const int64_t age_us = c->observed_at ? env_wall(env) - c->observed_at : 0;
    c->heard_at = env_mono(env) - (age_us > 0 ? age_us : 0);
}

void cluster_note_trouble(struct cluster *c, wall_us now)
{
    static const bool is_trouble[PHASE_MAX_] = {
        [PHASE_FAILED] = true, [PHASE_DEGRADED] = true, [PHASE_RETRYING] = true};
    assert(c->phase < PHASE_MAX_);
    if ((c->phase == PHASE_READY && !c->settling) || c->phase == PHASE_HIBERNATED)
        c->trouble_since = 0;
    else if (!c->trouble_since && (is_trouble[c->phase] || c->health == HEALTH_UNHEALTHY))
        c->trouble_since = now;
}

void cluster_rest(struct cluster *c)
{
    json_doc_rest(c->spec);
    if (!c->shoot)
        return;
    json_doc_rest(c->shoot->observed);
    json_doc_rest(c->shoot->conditions);
    json_doc_rest(c->shoot->constraints);
    json_doc_rest(c->shoot->last_errors);
}

json_t *cluster_to_json(const struct cluster *c)
{
    assert(c->project && c->name && c->labels); /* otherwise cluster_from_json could not read the document */
    json_t *doc = json_object();
    json_set_str(doc, "id", c->id);
    json_set_str(doc, "project", c->project);
    json_set_str(doc, "name", c->name);
    json_set_bool(doc, "managed", c->managed);
    json_set_take(doc, "labels", json_incref(c->labels));
    json_set_str(doc, "description", c->description);
    json_set_bool(doc, "deletion_protection", c->deletion_protection);
    json_set_take(doc, "spec", json_incref(json_doc_tree(c->spec)));
    json_set_take(doc, "drift", json_incref(c->drift));
    json_set_take(doc, "expiry_told", json_incref(c->expiry_announced));
    json_set_take(doc, "shoot", shoot_to_json(c->shoot));
    json_set_int(doc, "observed_at", c->observed_at);
    json_set_str(doc, "phase", phase_name(c->phase));
    json_set_str(doc, "health", health_name(c->health));
    json_set_int(doc, "trouble_since", c->trouble_since);
    json_set_bool(doc, "settling", c->settling);
    json_set_str(doc, "message", c->message);
    json_set_int(doc, "guard_since", c->guard_since);
    json_set_int(doc, "guard_seen_at", c->guard_seen_at);
    json_set_int(doc, "guard_until", c->guard_until);
    json_set_bool(doc, "wants_hibernated", c->wants_hibernated);
    json_set_bool(doc, "slept", c->slept);
    json_set_str(doc, "operation_id", c->operation_id);
    json_set_int(doc, "version", c->version);
    json_set_int(doc, "generation", c->generation);
    json_set_int(doc, "created_at", c->created_at);
    json_set_int(doc, "updated_at", c->updated_at);
    json_set_bool(doc, "upstream_exists", c->upstream_exists);
    json_set_str(doc, "api_server_url", c->api_server_url);
    json_set_int(doc, "absent_since", c->absent_since);
    json_set_int(doc, "departed_at", c->departed_at);
    json_set_str(doc, "retrying_told", c->retrying_announced);
    return doc;
}

static void read_identity(struct cluster *c, const json_t *doc)
{
    json_copy_str(doc, "id", c->id, sizeof(c->id));
    c->project = mem_strdup(json_str(doc, "project"));
    c->name = mem_strdup(json_str(doc, "name"));
    c->managed = json_bool(doc, "managed", false);
    if (json_obj(doc, "labels")) {
        json_decref(c->labels);
        c->labels = json_incref(json_obj(doc, "labels"));
    }
    c->description = mem_strdup(json_str(doc, "description"));
    c->deletion_protection = json_bool(doc, "deletion_protection", false);
    c->spec = json_doc_new(json_incref(json_obj(doc, "spec")));
    c->drift = json_incref(json_arr(doc, "drift"));
    c->expiry_announced = json_incref(json_obj(doc, "expiry_told"));
}

struct cluster *cluster_from_json(const json_t *doc)
{
    const char *project = json_str(doc, "project"), *name = json_str(doc, "name");
    if (!json_str(doc, "id") || !project || !name || strlen(project) + 1 + strlen(name) >= CLUSTER_KEY_BYTES)
        return NULL;
    struct cluster *c = cluster_new();
    read_identity(c, doc);
    c->shoot = shoot_from_json(json_object_get(doc, "shoot"));
    c->observed_at = json_int(doc, "observed_at", 0);
    int phase = phase_from_name(json_str(doc, "phase"));
    int health = health_from_name(json_str(doc, "health"));
    c->phase = phase < 0 ? PHASE_UNKNOWN : (enum phase)phase;
    c->health = health < 0 ? HEALTH_UNKNOWN : (enum health)health;
    c->trouble_since = json_int(doc, "trouble_since", 0);
    c->settling = json_bool(doc, "settling", false);
    c->message = mem_strdup(json_str(doc, "message"));
    c->guard_since = json_int(doc, "guard_since", 0);
    c->guard_seen_at = json_int(doc, "guard_seen_at", 0);
    c->guard_until = json_int(doc, "guard_until", 0);
    c->wants_hibernated = json_bool(doc, "wants_hibernated", false);
    c->slept = json_bool(doc, "slept", c->phase == PHASE_HIBERNATED);
    json_copy_str(doc, "operation_id", c->operation_id, sizeof(c->operation_id));
    c->version = json_int(doc, "version", 1);
    c->generation = json_int(doc, "generation", 1);
    c->created_at = json_int(doc, "created_at", 0);
    c->updated_at = json_int(doc, "updated_at", 0);
    if (!json_object_get(doc, "trouble_since")) /* of an earlier version; the trouble is at least that old */
        cluster_note_trouble(c, c->updated_at);
    c->upstream_exists = json_bool(doc, "upstream_exists", false);
    c->api_server_url = mem_strdup(json_str(doc, "api_server_url"));
    c->absent_since = json_int(doc, "absent_since", 0);
    c->departed_at = json_int(doc, "departed_at", 0);
    c->retrying_announced = mem_strdup(json_str(doc, "retrying_told"));
    if (c->departed_at && !shoot_has_uid(c->shoot)) { /* a record without a uid could never be restored */
        cluster_free(c);
        return NULL;
    }
    return c;
}
