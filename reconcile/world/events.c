/*
 * Events. An event and its deliveries are part of the change set of the change that they report (WH-17).
 * Therefore all of them are stored, or none.
 */
#include "reconcile/world/events.h"

#include <assert.h>
#include <stdio.h>

#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "model/error_meanings.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/event_share.h"
#include "reconcile/world/project.h"
#include "reconcile/world/save.h"
#include "reconcile/world/trouble.h"
#include "reconcile/world/world.h"
#include "view/render.h"

enum { EVENT_ERRORS_MAX = 10 };

struct delivery *delivery_new(struct reconcile *r, const char *subscription_id, const char *event_id,
                              const char *event_type, wall_us at)
{
    struct delivery *d = MEM_NEW(struct delivery);
    (void)id_new(r->env, ID_DELIVERY, d->id);
    (void)snprintf(d->event_id, sizeof(d->event_id), "%s", event_id);
    (void)snprintf(d->event_type, sizeof(d->event_type), "%s", event_type);
    (void)snprintf(d->subscription_id, sizeof(d->subscription_id), "%s", subscription_id);
    d->created_at = d->updated_at = d->next_attempt_at = at;
    return d;
}

static struct delivery *deliver(struct save *save, const struct event *event, const struct subscription *to)
{
    struct delivery *d = delivery_new(save->r, to->id, event->id, event_type_name(event->type), event->at);
    (void)snprintf(d->project, sizeof(d->project), "%s", event->project ? event->project : "");
    (void)snprintf(d->cluster, sizeof(d->cluster), "%s", event->cluster ? event->cluster : "");
    change_put_delivery(save->set, d);
    return d;
}

/* Takes over `data`. The save owns the event. */
static const struct event *append_event(struct save *save, enum event_type type, const char *project,
                                        const char *cluster, json_t *data)
{
    struct event *e = MEM_NEW(struct event);
    (void)id_new(save->r->env, ID_EVENT, e->id);
    e->type = type;
    e->project = mem_strdup(project);
    e->cluster = mem_strdup(cluster);
    e->at = env_wall(save->r->env);
    e->body = render_event_body(e->id, type, e->at, data);
    json_decref(data);
    event_share_spend(save->r, project);
    return change_append_event(save->set, e);
}

/* The event belongs to `op`; NULL: the event belongs to no operation. */
static void emit_of(struct save *save, enum event_type type, const char *project, const char *cluster,
                    const struct operation *op, json_t *data)
{
    assert(type != EVENT_NONE && type < EVENT_TYPE_MAX_);
    const struct event *event = append_event(save, type, project, cluster, data);
    const struct trace trace = op ? operation_trace(op) : (struct trace){0};
    for (struct subscription_entry *entry = save->r->subscriptions; entry; entry = entry->hh.next)
        if (subscription_matches(entry->subscription, event))
            deliver(save, event, entry->subscription)->trace = trace;
}

static void emit(struct save *save, enum event_type type, const char *project, const char *cluster,
                 json_t *data)
{
    emit_of(save, type, project, cluster, NULL, data);
}

static json_t *cluster_data(const struct entity *e, enum phase previous, const struct operation *op,
                            const char *message)
{
    const struct cluster *c = e->cluster;
    json_t *data = json_object();
    char *url CLEANUP_FREE = mem_printf("/v1/projects/%s/clusters/%s", c->project, c->name);
    json_set_str(data, "project", c->project);
    json_set_str(data, "cluster", c->name);
    json_set_str(data, "phase", phase_name(c->phase));
    json_set_str(data, "previous_phase", phase_name(previous));
    json_set_str(data, "operation_id", op ? op->id : NULL);
    json_set_int(data, "revision", c->version + 1); /* save_entity sets this number in the same change set */
    json_set_str(data, "url", url);
    json_set_str(data, "message", message);
    const struct trouble trouble = entity_trouble(e, c, e->op);
    json_set_take(data, "issue", trouble_to_json(&trouble));
    return data;
}

/* Returns Cleura's error codes, with the action for each code. */
static json_t *cluster_errors(const struct cluster *c)
{
    json_t *errors = json_array();
    size_t i;
    json_t *error;
    json_array_foreach (c->shoot ? json_doc_tree(c->shoot->last_errors) : NULL, i, error) {
        if (json_array_size(errors) >= EVENT_ERRORS_MAX)
            break;
        model_append_errors(errors, error, c->phase == PHASE_FAILED);
    }
    while (json_array_size(errors) > EVENT_ERRORS_MAX) /* one error of Cleura may have many codes, and each
                                                        * code is an entry in this list */
        (void)json_array_remove(errors, EVENT_ERRORS_MAX);
    return errors;
}

void emit_cluster(struct save *save, enum event_type type, const struct entity *e, enum phase previous,
                  const char *message)
{
    const struct cluster *c = e->cluster;
    json_t *data = cluster_data(e, previous, e->op, message);
    if (type == EVENT_CLUSTER_DEGRADED || type == EVENT_CLUSTER_FAILED)
        log_warning(type == EVENT_CLUSTER_FAILED ? "cluster failed" : "cluster degraded", "project",
                    c->project, "cluster", c->name, "reason", message);
    if (type == EVENT_CLUSTER_RETRYING || type == EVENT_CLUSTER_FAILED)
        json_set_take(data, "errors", cluster_errors(e->cluster));
    /* an event belongs to the operation when it is emitted before the operation has ended, or at its end */
    const bool is_of_op =
        e->op && (!e->op->finished_at || e->op->finished_at >= env_wall(e->r->env) - US_PER_S);
    emit_of(save, type, e->cluster->project, e->cluster->name, is_of_op ? e->op : NULL, data);
}

void emit_adopted(struct save *save, const struct entity *e, const char *by)
{
    json_t *data = cluster_data(e, e->cluster->phase, NULL, "Managed by shootd from now on");
    json_set_str(data, "requested_by", by);
    emit(save, EVENT_CLUSTER_ADOPTED, e->cluster->project, e->cluster->name, data);
}

void emit_operation(struct save *save, enum event_type type, const struct entity *e,
                    const struct operation *op)
{
    json_t *data = cluster_data(e, e->cluster->phase, op, op->message);
    json_set_str(data, "operation_type", operation_type_name(op->type));
    json_set_str(data, "operation_status", operation_status_name(op->status));
    json_set_str(data, "requested_by", op->requested_by);
    emit_of(save, type, e->cluster->project, e->cluster->name, op, data);
}

void emit_expiring(struct save *save, const struct entity *e, const struct expiring *x)
{
    char *message CLEANUP_FREE = x->days_left > 0
                                     ? mem_printf("%s %s expires at %s, in %lld day(s)", x->what, x->version,
                                                  x->expires_at, (long long)x->days_left)
                                     : mem_printf("%s %s expires at %s", x->what, x->version, x->expires_at);
    json_t *data = cluster_data(e, e->cluster->phase, NULL, message);
    json_set_str(data, "component", x->what);
    json_set_str(data, "component_version", x->version);
    json_set_str(data, "expires_at", x->expires_at);
    json_set_int(data, "days_left", x->days_left);
    emit(save, EVENT_VERSION_EXPIRING, e->cluster->project, e->cluster->name, data);
}

void emit_account(struct save *save, enum event_type type, const struct account *a, const char *message)
{
    json_t *data = json_object();
    json_set_str(data, "account", a->name);
    json_set_str(data, "message", message);
    emit(save, type, NULL, NULL, data);
}

/* The webhook is named by its id, because its URL may contain a credential. */
static json_t *webhook_data(const struct subscription *s, const char *message)
{
    json_t *data = json_object();
    char *url CLEANUP_FREE = mem_printf("/v1/webhooks/%s", s->id);
    json_set_str(data, "webhook", s->id);
    json_set_str(data, "url", url);
    json_set_str(data, "message", message);
    return data;
}

/* Emits one event for each project of the webhook, because a caller that may see a project gets the events of
 * its webhooks. */
void emit_webhook(struct save *save, enum event_type type, const struct subscription *s, const char *message)
{
    const bool all = subscription_is_of_all_projects(s);
    if (all)
        emit(save, type, NULL, NULL, webhook_data(s, message));
    for (char **p = all ? NULL : s->projects; p && *p; p++)
        emit(save, type, *p, NULL, webhook_data(s, message));
}

const struct delivery *emit_webhook_test(struct save *save, const struct subscription *s, const char *message)
{
    const char *project = subscription_is_of_all_projects(s) ? NULL : s->projects[0];
    return deliver(save, append_event(save, EVENT_WEBHOOK_TEST, project, NULL, webhook_data(s, message)), s);
}

static json_t *token_data(const struct api_token *t, int64_t days_left)
{
    json_t *data = json_object();
    char *url CLEANUP_FREE = mem_printf("/v1/tokens/%s", t->id);
    char *message CLEANUP_FREE = mem_printf("The token %s ends in %lld day%s; rotate it.", t->name,
                                            (long long)days_left, days_left == 1 ? "" : "s");
    char expires_at[TIME_TEXT_BYTES];
    json_set_str(data, "token", t->id);
    json_set_str(data, "token_name", t->name);
    json_set_str(data, "expires_at", time_rfc3339(t->expires_at, false, expires_at));
    json_set_int(data, "days_left", days_left);
    json_set_str(data, "url", url);
    json_set_str(data, "message", message);
    return data;
}

void emit_freeze(struct save *save, enum event_type type, const char *project, const json_t *freeze)
{
    const char *scope = project ? project : "all", *by = json_str_or(freeze, "by", "");
    const char *reason = json_str_or(freeze, "reason", "");
    char *message CLEANUP_FREE =
        type == EVENT_FREEZE_STARTED
            ? mem_printf("Changes of %s are frozen by %s: %s", project ? project : "all projects", by, reason)
            : mem_printf("Changes of %s are no longer frozen", project ? project : "all projects");
    json_t *data = json_object();
    json_set_str(data, "scope", scope);
    json_set_str(data, "reason", reason);
    json_set_take(data, "until", time_or_null(json_int(freeze, "until", 0)));
    json_set_str(data, "by", by);
    json_set_str(data, "url", "/v1/freeze");
    json_set_str(data, "message", message);
    emit(save, type, project, NULL, data);
}

/* Emits one event for each project of the token, because clients with this token stop working in each
 * project. */
void emit_token_expiring(struct save *save, const struct api_token *t, int64_t days_left)
{
    const bool all = projects_include(t->projects, "*");
    if (all)
        emit(save, EVENT_TOKEN_EXPIRING, NULL, NULL, token_data(t, days_left));
    for (char **p = all ? NULL : t->projects; p && *p; p++)
        emit(save, EVENT_TOKEN_EXPIRING, *p, NULL, token_data(t, days_left));
}
