#include "view/cluster_facts.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "model/issues.h"
#include "model/spec.h"

static int64_t version_number(const char *version)
{
    enum { PARTS = 3, PART_MAX = 999999 };
    int64_t number = 0;
    for (int i = 0; i < PARTS; i++) {
        char *end;
        unsigned long part = strtoul(version, &end, 10);
        number = number * (PART_MAX + 1) + (int64_t)(part < PART_MAX ? part : PART_MAX);
        version = *end == '.' ? end + 1 : "";
    }
    return number;
}

/* The separator is a byte that UTF-8 never contains, so no match spans two texts. */
static void add_search_line(struct buffer *out, const char *text)
{
    if (!text)
        return;
    (void)buffer_add_str(out, FACTS_SEPARATOR);
    const size_t from = out->len;
    (void)buffer_add_str(out, text);
    for (char *p = out->data + from; *p; p++)
        *p = (char)tolower((unsigned char)*p);
}

static void add_search(struct buffer *out, const struct cluster *c)
{
    const char *key;
    json_t *value;
    add_search_line(out, c->name);
    add_search_line(out, c->project);
    add_search_line(out, c->description);
    json_object_foreach (c->labels, key, value) {
        add_search_line(out, key);
        add_search_line(out, json_string_value(value));
    }
    (void)buffer_add(out, "", 1);
}

static void add_images(struct buffer *out, const struct shoot *s)
{
    for (char **text = s ? s->images : NULL; text && *text; text++) {
        (void)buffer_add_str(out, *text);
        (void)buffer_add_str(out, FACTS_SEPARATOR);
    }
    (void)buffer_add(out, "", 1);
}

/* Appends a text with its NUL; returns where it begins. */
static size_t add_text(struct buffer *out, const char *text)
{
    const size_t at = out->len;
    (void)buffer_add(out, text, strlen(text) + 1);
    return at;
}

struct cluster_facts *cluster_facts_new(const struct cluster *c, const struct operation *op)
{
    const struct shoot *s = c->shoot;
    const char *version = s && s->kubernetes_version ? s->kubernetes_version : "";
    char line[VERSION_LINE_BYTES] = "unknown";
    if (*version)
        version_minor(version, line);
    const struct json_doc *errors = s ? s->last_errors : NULL;
    struct buffer texts CLEANUP_BUFFER;
    buffer_init(&texts, SIZE_MAX);
    const size_t project = add_text(&texts, c->project), name = add_text(&texts, c->name);
    const size_t number = add_text(&texts, version);
    const size_t minor = add_text(&texts, line), error = errors ? add_text(&texts, errors->text) : 0;
    const size_t images = texts.len;
    add_images(&texts, s);
    const size_t search = texts.len;
    add_search(&texts, c);
    struct cluster_facts *f = mem_calloc(1, sizeof(*f) + texts.len);
    memcpy(f->texts, texts.data, texts.len);
    f->phase = c->phase;
    f->health = c->health;
    f->managed = c->managed;
    f->stale = c->stale;
    f->settling = c->settling;
    f->is_drifted = json_array_size(c->drift) > 0;
    f->upstream_exists = c->upstream_exists;
    f->version_number = version_number(version);
    f->created_at = c->created_at;
    f->updated_at = c->updated_at;
    f->expires_at = c->expires_at;
    /* A separate copy: many threads read it, and none may change the reference counts of the loop's
     * objects. */
    f->labels = json_object_size(c->labels) ? json_deep_copy(c->labels) : NULL;
    f->project = f->texts + project;
    f->name = f->texts + name;
    f->version = f->texts + number;
    f->version_line = f->texts + minor;
    f->search = f->texts + search;
    f->images = f->texts + images;
    f->may_have_issues = issues_are_possible(c, op);
    f->last_errors = errors ? f->texts + error : NULL;
    return f;
}

void cluster_facts_free(struct cluster_facts *f)
{
    json_decref(f->labels);
    free(f);
}

/* ---- a cluster read back from its body ---- */

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
    s->last_errors = json_doc_new(f->last_errors ? json_loads(f->last_errors, 0, NULL) : json_array());
    return s;
}

static json_t *body_of(const struct view_blob *blob)
{
    json_t *body = json_loadb(blob->body, blob->body_len, JSON_DECODE_ANY, NULL);
    assert(body); /* shootd wrote it */
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
    c->absent_since = time_of(json_obj(body, "status"), "absent_since");
    c->expires_at = f->expires_at;
    c->upstream_exists = f->upstream_exists;
    c->message = mem_strdup(json_str(json_obj(body, "status"), "message"));
    return c;
}

static struct operation *operation_of_body(const json_t *body)
{
    const json_t *shown = json_obj(body, "operation");
    if (!shown)
        return NULL;
    int type = operation_type_from_name(json_str(shown, "type"));
    int status = operation_status_from_name(json_str(shown, "status"));
    assert(type >= 0 && status >= 0);
    struct operation *op = operation_new();
    (void)snprintf(op->id, sizeof(op->id), "%s", json_str_or(shown, "id", ""));
    op->type = (enum operation_type)type;
    op->status = (enum operation_status)status;
    op->error = json_incref(json_obj(shown, "error"));
    op->created_at = time_of(shown, "created_at");
    op->finished_at = time_of(shown, "finished_at");
    return op;
}

struct cluster *cluster_of_blob(const struct view_blob *blob)
{
    json_t *body CLEANUP_JSON = body_of(blob);
    return cluster_of_body(body, blob);
}

struct cluster *cluster_with_operation(const struct view_blob *blob, struct operation **ret_operation)
{
    json_t *body CLEANUP_JSON = body_of(blob);
    *ret_operation = operation_of_body(body);
    return cluster_of_body(body, blob);
}
