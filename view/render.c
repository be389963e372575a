#include "view/render.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/etag.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "base/version.h"
#include "model/error_meanings.h"
#include "model/phase_meaning.h"
#include "model/string_list.h"
#include "view/cluster_facts.h"

/* The two forms of a cluster. The short one is a part of the full one. */
enum form { FORM_FULL, FORM_BRIEF };

/* A document of its own needs no limit, because its parts have limits. */
static struct buffer begin_text(void)
{
    struct buffer out;
    buffer_init(&out, SIZE_MAX / 2);
    return out;
}

static char *end_text(struct buffer *out)
{
    assert(!out->overflow);
    const size_t len = out->len;
    char *text = buffer_take(out, NULL);
    return mem_realloc_array(text, len + 1, 1); /* frees unused memory, because callers may hold the text for
                                                 * long */
}

static void out_time(struct buffer *out, const char *name, wall_us at)
{
    char text[TIME_TEXT_BYTES];
    json_out_str(out, name, at ? time_rfc3339(at, true, text) : NULL);
}

/* Writes null when the number is not known. */
static void out_number(struct buffer *out, const char *name, bool known, int64_t value)
{
    if (known)
        json_out_int(out, name, value);
    else
        json_out_str(out, name, NULL);
}

static void out_doc(struct buffer *out, const char *name, const struct json_doc *doc, const char *fallback)
{
    json_out_text(out, name, doc ? doc->text : fallback);
}

static void out_progress(struct buffer *out, const struct shoot *s)
{
    const bool known = s && s->has_operation && s->progress != SHOOT_PROGRESS_UNKNOWN;
    out_number(out, "progress", known, known ? s->progress : 0);
}

static void out_last_operation(struct buffer *out, const struct shoot *s)
{
    if (!s || !s->has_operation) {
        json_out_str(out, "last_operation", NULL);
        return;
    }
    json_out_begin(out, "last_operation");
    json_out_str(out, "type", s->operation_type);
    json_out_str(out, "state", s->operation_state);
    out_progress(out, s);
    json_out_str(out, "description", s->description);
    out_time(out, "updated_at", s->operation_at);
    json_out_end(out);
}

static json_t *render_errors(const struct cluster *c)
{
    const struct shoot *s = c->shoot;
    json_t *errors = json_array();
    size_t i;
    json_t *error;
    json_array_foreach (s ? json_doc_tree(s->last_errors) : NULL, i, error)
        model_append_errors(errors, error, c->phase == PHASE_FAILED);
    return errors;
}

/* Writes the time of observation; returns where it begins in the text. */
static size_t out_observed_at(struct buffer *out, const struct cluster *c)
{
    char text[TIME_TEXT_BYTES];
    out_time(out, "observed_at", c->observed_at);
    return c->observed_at ? out->len - 1 - strlen(time_rfc3339(c->observed_at, true, text)) : 0;
}

/* While nothing else happens, the worst issue is what there is to say: Gardener's sentence about the last run,
 * which succeeded, is in last_operation. */
static const char *message_of(const struct cluster *c, const struct trouble *trouble)
{
    const bool is_at_rest = c->phase == PHASE_READY || c->phase == PHASE_HIBERNATED;
    return is_at_rest && trouble_severity(trouble) <= ISSUE_WARNING ? trouble->title : c->message;
}

static void out_status_details(struct buffer *out, const struct cluster *c)
{
    const struct shoot *s = c->shoot;
    json_out_take(out, "hibernated", s && s->hibernated_unknown ? NULL : json_boolean(s && s->hibernated));
    json_out_str(out, "api_server_url", s && s->api_server_url ? s->api_server_url : c->api_server_url);
    out_doc(out, "conditions", s ? s->conditions : NULL, "[]");
    out_doc(out, "constraints", s ? s->constraints : NULL, "[]");
    json_out_take(out, "errors", render_errors(c));
    out_last_operation(out, s);
    out_time(out, "absent_since", c->absent_since);
}

/*
 * Writes the status; returns where the time of observation begins in the text. What the short form has is
 * written here for both forms, so it has the same name, place and value in both.
 */
static size_t out_status(struct buffer *out, const struct cluster *c, const struct trouble *trouble,
                         enum form form)
{
    json_out_begin(out, "status");
    json_out_str(out, "phase", phase_name(c->phase));
    json_out_str(out, "health", health_name(c->health));
    out_time(out, "trouble_since", c->trouble_since);
    out_progress(out, c->shoot);
    json_out_str(out, "message", message_of(c, trouble));
    json_out_str(out, "summary", phase_meaning(c->phase, c->health)->sentence);
    json_out_bool(out, "settling", c->settling);
    if (form == FORM_FULL)
        out_status_details(out, c);
    const size_t observed = out_observed_at(out, c);
    json_out_bool(out, "stale", c->stale);
    json_out_end(out);
    return observed;
}

static void out_messages(struct buffer *out, const struct operation *op, unsigned step)
{
    json_out_array_begin(out, "messages");
    for (unsigned i = 0; i < op->note_count; i++) {
        if (op->notes[i].step != step)
            continue;
        json_out_begin(out, NULL);
        out_time(out, "at", op->notes[i].at);
        json_out_str(out, "text", op->notes[i].text);
        json_out_end(out);
    }
    json_out_array_end(out);
}

static void out_step(struct buffer *out, const struct operation *op, unsigned i, bool with_messages)
{
    const struct operation_step *step = &op->steps[i];
    const json_t *planned = json_array_get(json_arr(op->body, "steps"), i);
    const struct step_times times = operation_step_times(op, i);
    json_out_begin(out, NULL);
    json_out_str(out, "type", step_type_name(step->type));
    json_out_str(out, "target", step->target[0] ? step->target : NULL);
    json_out_str(out, "status", step_status_name(step->status));
    json_out_int(out, "attempts", step->attempts);
    if (planned) {
        json_out_bool(out, "rolls_nodes", json_bool(planned, "rolls_nodes", false));
        json_out_str(out, "reason", json_str(planned, "reason"));
    }
    out_time(out, "started_at", step->started_at);
    out_time(out, "finished_at", step->finished_at);
    out_number(out, "waited_ms", times.waited_us >= 0, times.waited_us / US_PER_MS);
    out_number(out, "running_ms", times.running_us >= 0, times.running_us / US_PER_MS);
    if (with_messages)
        out_messages(out, op, i);
    json_out_end(out);
}

static void out_operation(struct buffer *out, const char *name, const struct operation *op,
                          bool with_messages)
{
    json_out_begin(out, name);
    json_out_str(out, "id", op->id);
    json_out_str(out, "type", operation_type_name(op->type));
    json_out_str(out, "status", operation_status_name(op->status));
    json_out_str(out, "project", op->project);
    json_out_str(out, "cluster", op->cluster);
    json_out_int(out, "progress", op->progress);
    json_out_str(out, "message", op->message);
    json_out_value(out, "error", op->error);
    json_out_array_begin(out, "steps");
    for (unsigned i = 0; i < op->step_count; i++)
        out_step(out, op, i, with_messages);
    json_out_array_end(out);
    json_out_str(out, "requested_by", op->requested_by);
    json_out_str(out, "request_id", op->request_id);
    json_out_str(out, "cancelled_by", op->cancelled_by);
    json_out_str(out, "trace_id", op->trace.id[0] ? op->trace.id : NULL);
    out_time(out, "created_at", op->created_at);
    out_time(out, "updated_at", op->updated_at);
    out_time(out, "finished_at", op->finished_at);
    json_out_end(out);
}

void render_operation(struct buffer *out, const struct operation *op)
{
    out_operation(out, NULL, op, true);
}

static void out_operation_brief(struct buffer *out, const char *name, const struct operation *op)
{
    json_out_begin(out, name);
    json_out_str(out, "id", op->id);
    json_out_str(out, "type", operation_type_name(op->type));
    json_out_str(out, "status", operation_status_name(op->status));
    json_out_int(out, "progress", op->progress);
    json_out_end(out);
}

static void out_issue(struct buffer *out, const struct trouble *trouble)
{
    if (!trouble->code) {
        json_out_str(out, "issue", NULL);
        return;
    }
    const enum issue_severity severity = trouble_severity(trouble);
    const wall_us since = trouble->since[severity];
    char text[TIME_TEXT_BYTES];
    json_out_begin(out, "issue");
    json_out_str(out, "code", trouble->code);
    json_out_str(out, "severity", issue_severity_name((int)severity));
    json_out_str(out, "title", trouble->title);
    json_out_str(out, "since", since ? time_rfc3339(since, false, text) : NULL);
    json_out_end(out);
}

static void out_last(struct buffer *out, const struct operation *op, enum form form)
{
    if (!op)
        json_out_str(out, "operation", NULL);
    else if (form == FORM_FULL)
        out_operation(out, "operation", op, false);
    else
        out_operation_brief(out, "operation", op);
}

/* Writes the large members, which only the full form has. */
static void out_large(struct buffer *out, const struct cluster *c)
{
    json_out_str(out, "description", c->description);
    json_out_bool(out, "deletion_protection", c->deletion_protection);
    out_doc(out, "spec", c->spec, NULL);
    out_doc(out, "observed", c->shoot ? c->shoot->observed : NULL, NULL);
    if (c->drift)
        json_out_value(out, "drift", c->drift);
    else
        json_out_text(out, "drift", "[]");
}

static char *render_form(const struct cluster *c, const struct operation *op, const struct trouble *trouble,
                         enum form form, size_t *ret_observed)
{
    const struct shoot *s = c->shoot;
    struct buffer out = begin_text();
    json_out_begin(&out, NULL);
    json_out_str(&out, "id", c->id);
    json_out_str(&out, "project", c->project);
    json_out_str(&out, "name", c->name);
    json_out_bool(&out, "managed", c->managed);
    json_out_value(&out, "labels", c->labels);
    json_out_bool(&out, "drifted", json_array_size(c->drift) > 0);
    json_out_str(&out, "kubernetes_version", s ? s->kubernetes_version : NULL);
    json_out_int(&out, "node_pool_count", s ? s->pool_count : 0);
    out_time(&out, "expires_at", c->expires_at);
    if (form == FORM_FULL)
        out_large(&out, c);
    *ret_observed = out_status(&out, c, trouble, form);
    out_issue(&out, trouble);
    out_last(&out, op, form);
    json_out_int(&out, "revision", c->version);
    out_time(&out, "created_at", c->created_at);
    out_time(&out, "updated_at", c->updated_at);
    json_out_end(&out);
    return end_text(&out);
}

char *render_cluster(const struct cluster *c, const struct operation *op, const struct trouble *trouble)
{
    size_t observed;
    return render_form(c, op, trouble, FORM_FULL, &observed);
}

char *render_cluster_brief(const struct cluster *c, const struct operation *op, const struct trouble *trouble)
{
    size_t observed;
    return render_form(c, op, trouble, FORM_BRIEF, &observed);
}

static void out_keys(struct buffer *out, const struct subscription *s)
{
    json_out_array_begin(out, "keys");
    for (unsigned i = 0; i < s->key_count; i++) {
        json_out_begin(out, NULL);
        json_out_str(out, "signature", signature_scheme_name(s->keys[i].scheme));
        json_out_str(out, "public_key", s->keys[i].public_key);
        out_time(out, "created_at", s->keys[i].created_at);
        out_time(out, "expires_at", s->keys[i].expires_at);
        json_out_end(out);
    }
    json_out_array_end(out);
}

/* The part that shootd finds by itself. */
static void out_webhook_status(struct buffer *out, const struct subscription *s)
{
    const struct webhook_standing *standing = &s->standing;
    const bool has_failed = standing->last_result != ATTEMPT_DELIVERED;
    json_out_begin(out, "status");
    json_out_str(out, "state", webhook_state_name(subscription_state(s)));
    out_time(out, "failing_since", standing->failing_since);
    json_out_int(out, "pending_deliveries", s->disabled ? 0 : standing->pending);
    if (standing->last_at) {
        json_out_begin(out, "last_response");
        out_time(out, "at", standing->last_at);
        out_number(out, "status", standing->last_status != 0, standing->last_status);
        json_out_str(out, "error",
                     has_failed ? attempt_result_name((enum attempt_result)standing->last_result) : NULL);
        json_out_end(out);
    } else {
        json_out_str(out, "last_response", NULL);
    }
    json_out_str(out, "disabled_reason", s->disabled_reason);
    json_out_end(out);
}

/* Shows only the public part of keys, and only the names of headers. */
char *render_subscription(const struct subscription *s)
{
    struct buffer out = begin_text();
    json_t *header_names = json_array();
    for (unsigned i = 0; i < s->header_count; i++)
        json_append_take(header_names, json_string(s->headers[i].name));
    json_out_begin(&out, NULL);
    json_out_str(&out, "id", s->id);
    json_out_str(&out, "url", s->url);
    json_out_take(&out, "event_types", string_list_to_json(s->event_types));
    json_out_take(&out, "projects", string_list_to_json(s->projects));
    json_out_str(&out, "description", s->description);
    out_keys(&out, s);
    json_out_take(&out, "header_names", header_names);
    json_out_int(&out, "max_in_flight", s->max_in_flight);
    json_out_bool(&out, "enabled", !s->disabled);
    out_webhook_status(&out, s);
    json_out_str(&out, "secrets", s->unreadable ? "unreadable" : "ok");
    json_out_str(&out, "created_by", s->created_by);
    json_out_str(&out, "created_by_token_id", s->created_by_id[0] ? s->created_by_id : NULL);
    out_time(&out, "token_revoked_at", s->token_revoked_at);
    out_time(&out, "created_at", s->created_at);
    out_time(&out, "updated_at", s->updated_at);
    json_out_end(&out);
    return end_text(&out);
}

/* Returns the last ten characters of the id. */
static const char *id_end(const char *id)
{
    const size_t len = strlen(id);
    return len > 10 ? id + len - 10 : id;
}

/*
 * Makes an ETag of the form "id-number-digest". The digest includes everything from which the body is made.
 * It also includes times, because a store that was restored uses the same version numbers a second time, and
 * the build, because another build may render different texts.
 */
static void make_etag(char etag[static ETAG_BYTES], const char *id, int64_t number, const int64_t *state,
                      size_t state_bytes, const char *message, const char *issue)
{
    const struct etag_part parts[] = {{state, state_bytes},
                                      {shootd_revision, strlen(shootd_revision)},
                                      {message, message ? strlen(message) : 0},
                                      {issue, issue ? strlen(issue) : 0}};
    char hex[ETAG_SHORT_BYTES];
    etag_digest(parts, ARRAY_LEN(parts), hex, sizeof(hex));
    (void)snprintf(etag, ETAG_BYTES, "\"%.10s-%" PRId64 "-%s\"", id_end(id), number, hex);
}

void render_subscription_version(const struct subscription *s, char version[static ETAG_BYTES])
{
    (void)snprintf(version, ETAG_BYTES, "\"%.10s-%" PRId64, id_end(s->id), s->version);
}

/* The version does not count what the attempts tell. */
void render_subscription_etag(const struct subscription *s, char etag[static ETAG_BYTES])
{
    const struct webhook_standing *standing = &s->standing;
    const int64_t state[] = {s->unreadable,         standing->last_at,     standing->failing_since,
                             standing->last_status, standing->last_result, standing->pending};
    make_etag(etag, s->id, s->version, state, sizeof(state), NULL, NULL);
}

static void out_attempts(struct buffer *out, const struct delivery *d)
{
    json_out_array_begin(out, "attempts");
    for (unsigned i = 0; i < d->attempts_known; i++) {
        const struct delivery_attempt *a = &d->attempts[i];
        const char *error = attempt_result_name((enum attempt_result)a->result);
        json_out_begin(out, NULL);
        out_time(out, "at", a->at);
        out_number(out, "response_status", a->response_status != 0, a->response_status);
        json_out_int(out, "latency_ms", a->latency_ms);
        json_out_str(out, "error", a->result == ATTEMPT_DELIVERED ? NULL : error);
        json_out_end(out);
    }
    json_out_array_end(out);
}

void render_delivery(struct buffer *out, const struct delivery *d, bool with_snippet)
{
    json_out_begin(out, NULL);
    json_out_str(out, "id", d->id);
    json_out_str(out, "event_id", d->event_id);
    json_out_str(out, "event_type", d->event_type);
    json_out_str(out, "project", d->project[0] ? d->project : NULL);
    json_out_str(out, "cluster", d->cluster[0] ? d->cluster : NULL);
    json_out_str(out, "status", delivery_status_name(d->status));
    json_out_int(out, "attempt", d->attempt);
    out_number(out, "response_status", d->response_status != 0, d->response_status);
    out_number(out, "latency_ms", d->attempt != 0, d->latency_ms);
    json_out_str(out, "error", d->error[0] ? d->error : NULL);
    if (with_snippet)
        json_out_str(out, "response_snippet", d->snippet[0] ? d->snippet : NULL);
    out_attempts(out, d);
    json_out_str(out, "waits_for", delivery_wait_name((enum delivery_wait)d->waits_for));
    out_time(out, "next_attempt_at", d->next_attempt_at);
    out_time(out, "created_at", d->created_at);
    out_time(out, "updated_at", d->updated_at);
    json_out_end(out);
}

static void set_time(json_t *object, const char *key, wall_us at)
{
    char text[TIME_TEXT_BYTES];
    json_set_str(object, key, at ? time_rfc3339(at, true, text) : NULL);
}

json_t *render_api_token(const struct api_token *t)
{
    json_t *doc = json_object();
    json_set_str(doc, "id", t->id);
    json_set_str(doc, "name", t->name);
    json_set_str(doc, "role", role_name(t->role));
    json_set_take(doc, "projects", string_list_to_json(t->projects));
    json_set_str(doc, "description", t->description);
    json_set_str(doc, "last4", t->last4);
    json_set_str(doc, "created_by", t->created_by);
    set_time(doc, "created_at", t->created_at);
    set_time(doc, "expires_at", t->expires_at);
    set_time(doc, "revoked_at", t->revoked_at);
    set_time(doc, "rotated_at", t->rotated_at);
    set_time(doc, "last_used_at", t->used_at);
    set_time(doc, "old_secret_ends_at", t->old_ends_at);
    return doc;
}

char *render_api_token_text(const struct api_token *t)
{
    json_t *doc CLEANUP_JSON = render_api_token(t);
    return json_text(doc);
}

char *render_event_body(const char *id, enum event_type type, wall_us at, const json_t *data)
{
    struct buffer out = begin_text();
    json_out_begin(&out, NULL);
    json_out_str(&out, "id", id);
    json_out_str(&out, "type", event_type_name(type));
    out_time(&out, "timestamp", at);
    json_out_value(&out, "data", data);
    json_out_end(&out);
    return end_text(&out);
}

/* The body is a compact object that shootd made: the number is inserted before the closing brace. */
void render_event_item(struct buffer *out, const struct event *e)
{
    buffer_add(out, e->body, strlen(e->body) - 1);
    buffer_printf(out, ",\"sequence\":%" PRId64 "}", e->sequence);
}

void render_event_stream(struct buffer *out, const struct event *e)
{
    buffer_printf(out, "id: %" PRId64 "\nevent: %s\ndata: ", e->sequence, event_type_name(e->type));
    render_event_item(out, e);
    buffer_add_str(out, "\n\n");
}

void render_cluster_etag(const struct cluster *c, const struct operation *op, const struct trouble *trouble,
                         char etag[static ETAG_BYTES])
{
    /*
     * The expiry is included, because a new catalog may change the expiry without a change of the cluster.
     * The worst issue is included, because it may change with the time alone.
     * The message is included, because the message of a cluster that is set aside is not stored, so no
     * version number shows its change.
     */
    const int64_t counted_to = op ? operation_counted_to(op) : 0;
    const int64_t state[] = {c->version,    c->updated_at, op ? op->version : 0,
                             c->expires_at, counted_to,    c->stale,
                             trouble_severity(trouble)};
    make_etag(etag, c->id, c->generation, state, sizeof(state), c->message, trouble->title);
}

void render_cluster_version(const struct cluster *c, char version[static ETAG_BYTES])
{
    (void)snprintf(version, ETAG_BYTES, "\"%.10s-%" PRId64, id_end(c->id), c->generation);
}

void render_api_token_version(const struct api_token *t, char version[static ETAG_BYTES])
{
    json_t *doc CLEANUP_JSON = render_api_token(t);
    char hex[ETAG_SHORT_BYTES];
    (void)json_object_del(doc, "last_used_at");
    (void)json_object_del(doc, "old_secret_ends_at"); /* rotated_at shows a rotation */
    char *text CLEANUP_FREE = json_text(doc);
    etag_digest(&(struct etag_part){text, strlen(text)}, 1, hex, sizeof(hex));
    (void)snprintf(version, ETAG_BYTES, "\"%.10s-%s", id_end(t->id), hex);
}

void render_api_token_etag(const struct api_token *t, const char *text, char etag[static ETAG_BYTES])
{
    char hex[ETAG_SHORT_BYTES];
    render_api_token_version(t, etag);
    const size_t len = strlen(etag);
    etag_digest(&(struct etag_part){text, strlen(text)}, 1, hex, sizeof(hex));
    (void)snprintf(etag + len, ETAG_BYTES - len, "-%s\"", hex);
}

static void free_document(void *doc)
{
    json_decref(doc);
}

static void free_facts(void *facts)
{
    cluster_facts_free(facts);
}

static void free_operation(void *op)
{
    operation_free(op);
}

static void free_subscription(void *s)
{
    subscription_free(s);
}

static void free_api_token(void *t)
{
    api_token_free(t);
}

struct view_blob *render_cluster_blob(const struct cluster *c, const struct operation *op,
                                      const struct issue_world *world)
{
    char etag[ETAG_BYTES];
    size_t in_body, in_brief;
    struct trouble trouble;
    json_t *prepared CLEANUP_JSON = issues_prepare(c, op, world, &trouble);
    render_cluster_etag(c, op, &trouble, etag);
    char *body = render_form(c, op, &trouble, FORM_FULL, &in_body);
    char *brief = render_form(c, op, &trouble, FORM_BRIEF, &in_brief);
    struct cluster_facts *facts = cluster_facts_new(c, prepared, &trouble, world->is_unread);
    facts->operation_failed = op && op->status == OPERATION_FAILED;
    struct view_blob *blob = view_blob_new(etag, body, c->observed_at, facts, free_facts);
    view_blob_set_brief(blob, brief, in_body, in_brief);
    view_blob_set_heard(blob, c->heard_at);
    return blob;
}

void render_operation_etag(const struct operation *op, char etag[static ETAG_BYTES])
{
    const int64_t counted_to = operation_counted_to(op);
    make_etag(etag, op->id, op->version, &counted_to, sizeof(counted_to), NULL, NULL);
}

struct view_blob *render_operation_blob(const struct operation *op)
{
    char etag[ETAG_BYTES];
    struct operation shown = *op;
    /* These are the largest parts, and no reader needs them. Only the pools of an open create are read. */
    shown.body = op->type == OPERATION_CREATE ? op->body : NULL;
    shown.notes = NULL;
    shown.note_count = 0;
    struct buffer out = begin_text();
    render_operation_etag(op, etag);
    render_operation(&out, op);
    return view_blob_new(etag, end_text(&out), 0, operation_copy(&shown), free_operation);
}

struct view_blob *render_subscription_blob(const struct subscription *s)
{
    char etag[ETAG_BYTES];
    render_subscription_etag(s, etag);
    return view_blob_new(etag, render_subscription(s), 0, subscription_copy(s), free_subscription);
}

struct view_blob *render_api_token_blob(const struct api_token *t)
{
    return view_blob_new("", render_api_token_text(t), 0, api_token_copy(t), free_api_token);
}

struct view_blob *render_catalog_blob(const char *etag, char *text, const json_t *catalog, wall_us fetched_at)
{
    /* A separate copy, because many threads read it, and these threads must not change the reference counts
     * of the loop's objects. */
    return view_blob_new(etag, text, fetched_at, json_deep_copy(catalog), free_document);
}
