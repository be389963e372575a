#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/cluster.h"
#include "model/stored_private.h"

static const char *const delivery_statuses[] = {
    [DELIVERY_PENDING] = "pending", [DELIVERY_DELIVERED] = "delivered", [DELIVERY_FAILED] = "failed"};

const char *delivery_status_name(enum delivery_status status)
{
    return delivery_statuses[status];
}

int delivery_status_from_name(const char *name)
{
    for (int i = 0; name && i < DELIVERY_STATUS_MAX_; i++)
        if (!strcmp(delivery_statuses[i], name))
            return i;
    return -1;
}

void event_free(struct event *e)
{
    if (!e)
        return;
    free(e->project);
    free(e->cluster);
    free(e->body);
    free(e);
}

struct event *event_copy(const struct event *e)
{
    struct event *copy = MEM_NEW(struct event);
    *copy = *e;
    copy->project = mem_strdup(e->project);
    copy->cluster = mem_strdup(e->cluster);
    copy->body = mem_strdup(e->body);
    return copy;
}

void subscription_free(struct subscription *s)
{
    if (!s)
        return;
    free(s->url);
    string_list_free(s->event_types);
    string_list_free(s->projects);
    free(s->description);
    free(s->sealed_secret);
    free(s->created_by);
    free(s->disabled_reason);
    free(s);
}

struct subscription *subscription_copy(const struct subscription *s)
{
    struct subscription *copy = MEM_NEW(struct subscription);
    *copy = *s;
    copy->url = mem_strdup(s->url);
    copy->event_types = string_list_copy(s->event_types);
    copy->projects = string_list_copy(s->projects);
    copy->description = mem_strdup(s->description);
    copy->sealed_secret = mem_dup(s->sealed_secret, s->sealed_secret_len);
    copy->created_by = mem_strdup(s->created_by);
    copy->disabled_reason = mem_strdup(s->disabled_reason);
    return copy;
}

json_t *subscription_to_json(const struct subscription *s)
{
    json_t *doc = json_object();
    json_set_str(doc, "id", s->id);
    json_set_str(doc, "url", s->url);
    json_set_take(doc, "event_types", string_list_to_json(s->event_types));
    json_set_take(doc, "projects", string_list_to_json(s->projects));
    json_set_str(doc, "description", s->description);
    json_set_bytes(doc, "sealed_secret", s->sealed_secret, s->sealed_secret_len);
    json_set_str(doc, "created_by", s->created_by);
    json_set_bool(doc, "disabled", s->disabled);
    json_set_str(doc, "disabled_reason", s->disabled_reason);
    json_set_int(doc, "version", s->version);
    json_set_int(doc, "created_at", s->created_at);
    json_set_int(doc, "updated_at", s->updated_at);
    return doc;
}

struct subscription *subscription_from_json(const json_t *doc)
{
    if (!json_str(doc, "id") || !json_str(doc, "url"))
        return NULL;
    struct subscription *s = MEM_NEW(struct subscription);
    json_copy_str(doc, "id", s->id, sizeof(s->id));
    s->url = mem_strdup(json_str(doc, "url"));
    s->event_types = string_list_from_json(json_arr(doc, "event_types"));
    s->projects = string_list_from_json(json_arr(doc, "projects"));
    s->description = mem_strdup(json_str(doc, "description"));
    s->sealed_secret = json_bytes(doc, "sealed_secret", &s->sealed_secret_len);
    s->created_by = mem_strdup(json_str(doc, "created_by"));
    s->disabled = json_bool(doc, "disabled", false);
    s->disabled_reason = mem_strdup(json_str(doc, "disabled_reason"));
    s->version = json_int(doc, "version", 1);
    s->created_at = json_int(doc, "created_at", 0);
    s->updated_at = json_int(doc, "updated_at", 0);
    return s;
}

static bool type_matches(const char *pattern, const char *type)
{
    size_t len = strlen(pattern);
    if (len && pattern[len - 1] == '*')
        return !strncmp(pattern, type, len - 1);
    return !strcmp(pattern, type);
}

bool subscription_matches(const struct subscription *s, const struct event *e)
{
    bool type_ok = !s->event_types || !s->event_types[0];
    for (size_t i = 0; !type_ok && s->event_types[i]; i++)
        type_ok = type_matches(s->event_types[i], event_type_name(e->type));
    bool project_ok = !s->projects || !s->projects[0];
    for (size_t i = 0; !project_ok && s->projects[i]; i++)
        project_ok = !strcmp(s->projects[i], "*") || (e->project && !strcmp(s->projects[i], e->project));
    return type_ok && project_ok && !s->disabled;
}
