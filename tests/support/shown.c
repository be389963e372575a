#include "tests/support/shown.h"

#include <assert.h>
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "tests/support/check.h"
#include "view/cluster_facts.h"

static wall_us time_of(const json_t *object, const char *key)
{
    wall_us at = 0;
    const char *text = json_str(object, key);
    return text && time_parse_rfc3339(text, &at) ? at : 0;
}

static struct shoot *shoot_of_body(const json_t *body, const struct cluster_facts *f)
{
    const json_t *status = json_obj(body, "status"), *run = json_obj(status, "last_operation");
    struct shoot *s = MEM_NEW(struct shoot);
    s->name = mem_strdup(f->name);
    shoot_set_observed(s, json_incref(json_obj(body, "observed")));
    s->has_operation = run != NULL;
    s->operation_type = mem_strdup(json_str(run, "type"));
    s->operation_state = mem_strdup(json_str(run, "state"));
    s->description = mem_strdup(json_str(run, "description"));
    s->progress = (int)json_int(run, "progress", SHOOT_PROGRESS_UNKNOWN);
    s->operation_at = time_of(run, "updated_at");
    s->hibernated = json_bool(status, "hibernated", false);
    s->hibernated_unknown = json_is_null(json_object_get(status, "hibernated"));
    s->conditions = json_doc_new(json_incref(json_arr(status, "conditions")));
    s->constraints = json_doc_new(json_incref(json_arr(status, "constraints")));
    s->last_errors = json_doc_new(json_array());
    return s;
}

static json_t *body_of(const struct view_blob *blob)
{
    json_t *body = json_loadb(blob->body, blob->body_len, JSON_DECODE_ANY, NULL);
    assert(body); /* shootd wrote the body */
    return body;
}

static struct cluster *cluster_of_body(const json_t *body, const struct view_blob *blob)
{
    const struct cluster_facts *f = cluster_facts_of(blob);
    struct cluster *c = cluster_new();
    (void)snprintf(c->id, sizeof(c->id), "%s", json_str_or(body, "id", ""));
    c->project = mem_strdup(f->project);
    c->name = mem_strdup(f->name);
    c->managed = f->managed;
    c->spec = json_doc_new(json_incref(json_obj(body, "spec")));
    c->drift = json_incref(json_arr(body, "drift"));
    c->shoot = json_obj(body, "observed") ? shoot_of_body(body, f) : NULL;
    c->phase = f->phase;
    c->health = f->health;
    c->stale = f->stale;
    c->settling = f->settling;
    c->observed_at = view_blob_seen_at(blob);
    c->trouble_since = time_of(json_obj(body, "status"), "trouble_since");
    c->absent_since = time_of(json_obj(body, "status"), "absent_since");
    c->expires_at = f->expires_at;
    c->upstream_exists = f->upstream_exists;
    c->message = mem_strdup(json_str(json_obj(body, "status"), "message"));
    return c;
}

struct cluster *shown_cluster(const struct view_blob *blob)
{
    json_t *body CLEANUP_JSON = body_of(blob);
    return cluster_of_body(body, blob);
}

void expect_cluster(struct view *view, const char *key, const char *text)
{
    const struct view_snapshot *s = view_enter(view);
    const struct view_blob *blob = view_find(s, VIEW_CLUSTERS, key);
    struct cluster *c CLEANUP_CLUSTER = blob ? shown_cluster(blob) : NULL;
    char *shown CLEANUP_FREE =
        mem_printf("%s%s", c ? phase_name(c->phase) : "none", c && c->managed ? " managed" : "");
    view_leave(view);
    assert_string_equal(shown, text);
}
