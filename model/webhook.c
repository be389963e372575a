#include "model/webhook.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "model/api_token.h"
#include "model/json_values_private.h"
#include "model/string_list.h"

/* ---- parts of a subscription ---- */

void signing_key_done(struct signing_key *key)
{
    free(key->sealed);
    free(key->public_key);
    *key = (struct signing_key){0};
}

static struct signing_key key_copy(const struct signing_key *key)
{
    struct signing_key copy = *key;
    copy.sealed = mem_dup(key->sealed, key->sealed_len);
    copy.public_key = mem_strdup(key->public_key);
    return copy;
}

static json_t *key_to_json(const struct signing_key *key)
{
    json_t *doc = json_object();
    json_set_str(doc, "scheme", signature_scheme_name(key->scheme));
    json_set_bytes(doc, "sealed", key->sealed, key->sealed_len);
    json_set_str(doc, "public_key", key->public_key);
    json_set_int(doc, "created_at", key->created_at);
    json_set_int(doc, "expires_at", key->expires_at);
    return doc;
}

static bool key_from_json(const json_t *doc, struct signing_key *key)
{
    int scheme = signature_scheme_from_name(json_str(doc, "scheme"));
    *key = (struct signing_key){
        .scheme = scheme < 0 ? SIGNATURE_V1 : (enum signature_scheme)scheme,
        .public_key = mem_strdup(json_str(doc, "public_key")),
        .created_at = json_int(doc, "created_at", 0),
        .expires_at = json_int(doc, "expires_at", 0),
    };
    key->sealed = json_bytes(doc, "sealed", &key->sealed_len);
    return scheme >= 0;
}

void subscription_rotate(struct subscription *s, struct signing_key *key, wall_us now, int64_t grace_us)
{
    const wall_us until = now + grace_us;
    struct signing_key live[SUBSCRIPTION_MAX_KEYS] = {*key};
    unsigned count = 1;
    assert(key->sealed && !key->expires_at && s->key_count <= SUBSCRIPTION_MAX_KEYS);
    for (unsigned i = 0; i < s->key_count; i++) {
        struct signing_key *old = &s->keys[i];
        if (!old->expires_at || old->expires_at > until)
            old->expires_at = until;
        if (old->expires_at > now && count < SUBSCRIPTION_MAX_KEYS)
            live[count++] = *old;
        else
            signing_key_done(old);
    }
    *key = (struct signing_key){0};
    memcpy(s->keys, live, sizeof(live));
    s->key_count = count;
}

wall_us subscription_next_end(const struct subscription *s)
{
    wall_us next = 0;
    for (unsigned i = 0; i < s->key_count; i++)
        if (s->keys[i].expires_at && (!next || s->keys[i].expires_at < next))
            next = s->keys[i].expires_at;
    return next;
}

bool subscription_drop_expired(struct subscription *s, wall_us now)
{
    unsigned kept = 0, count = s->key_count;
    for (unsigned i = 0; i < count; i++) {
        struct signing_key key = s->keys[i];
        s->keys[i] = (struct signing_key){0};
        if (key.expires_at && key.expires_at <= now)
            signing_key_done(&key);
        else
            s->keys[kept++] = key;
    }
    s->key_count = kept;
    return kept < count;
}

void webhook_header_done(struct webhook_header *header)
{
    free(header->name);
    free(header->sealed);
    *header = (struct webhook_header){0};
}

static unsigned find_header(const struct subscription *s, const char *name)
{
    unsigned i = 0;
    assert(s->header_count <= SUBSCRIPTION_MAX_HEADERS);
    while (i < s->header_count && strcasecmp(s->headers[i].name, name) != 0)
        i++;
    return i;
}

bool subscription_set_header(struct subscription *s, struct webhook_header *header)
{
    unsigned i = find_header(s, header->name);
    if (i == SUBSCRIPTION_MAX_HEADERS)
        return false;
    webhook_header_done(&s->headers[i]);
    s->header_count += i == s->header_count;
    s->headers[i] = *header;
    *header = (struct webhook_header){0};
    return true;
}

void subscription_remove_header(struct subscription *s, const char *name)
{
    unsigned i = find_header(s, name);
    if (i == s->header_count)
        return;
    webhook_header_done(&s->headers[i]);
    s->header_count--;
    memmove(&s->headers[i], &s->headers[i + 1], (s->header_count - i) * sizeof(s->headers[0]));
    s->headers[s->header_count] = (struct webhook_header){0};
}

/* ---- subscriptions ---- */

void subscription_free(struct subscription *s)
{
    if (!s)
        return;
    free(s->url);
    string_list_free(s->event_types);
    string_list_free(s->projects);
    free(s->description);
    for (unsigned i = 0; i < s->key_count; i++)
        signing_key_done(&s->keys[i]);
    for (unsigned i = 0; i < s->header_count; i++)
        webhook_header_done(&s->headers[i]);
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
    for (unsigned i = 0; i < s->key_count; i++)
        copy->keys[i] = key_copy(&s->keys[i]);
    for (unsigned i = 0; i < s->header_count; i++) {
        copy->headers[i].name = mem_strdup(s->headers[i].name);
        copy->headers[i].sealed = mem_dup(s->headers[i].sealed, s->headers[i].sealed_len);
    }
    copy->created_by = mem_strdup(s->created_by);
    copy->disabled_reason = mem_strdup(s->disabled_reason);
    return copy;
}

json_t *subscription_to_json(const struct subscription *s)
{
    json_t *keys = json_array(), *headers = json_array();
    assert(s->url); /* otherwise subscription_from_json could not read the document */
    for (unsigned i = 0; i < s->key_count; i++)
        json_append_take(keys, key_to_json(&s->keys[i]));
    for (unsigned i = 0; i < s->header_count; i++) {
        json_t *header = json_object();
        json_set_str(header, "name", s->headers[i].name);
        json_set_bytes(header, "sealed", s->headers[i].sealed, s->headers[i].sealed_len);
        json_append_take(headers, header);
    }
    json_t *doc = json_object();
    json_set_str(doc, "id", s->id);
    json_set_str(doc, "url", s->url);
    json_set_take(doc, "event_types", string_list_to_json(s->event_types));
    json_set_take(doc, "projects", string_list_to_json(s->projects));
    json_set_str(doc, "description", s->description);
    json_set_take(doc, "keys", keys);
    json_set_take(doc, "headers", headers);
    json_set_int(doc, "max_in_flight", s->max_in_flight);
    json_set_str(doc, "created_by", s->created_by);
    json_set_str(doc, "created_by_id", s->created_by_id[0] ? s->created_by_id : NULL);
    json_set_int(doc, "token_revoked_at", s->token_revoked_at);
    json_set_bool(doc, "disabled", s->disabled);
    json_set_str(doc, "disabled_reason", s->disabled_reason);
    json_set_int(doc, "version", s->version);
    json_set_int(doc, "created_at", s->created_at);
    json_set_int(doc, "updated_at", s->updated_at);
    json_set_int(doc, "enabled_at", s->enabled_at);
    return doc;
}

static void read_keys(const json_t *doc, struct subscription *s)
{
    size_t i;
    json_t *item;
    json_array_foreach (json_arr(doc, "keys"), i, item) {
        if (s->key_count == SUBSCRIPTION_MAX_KEYS)
            break;
        if (key_from_json(item, &s->keys[s->key_count]))
            s->key_count++;
        else
            signing_key_done(&s->keys[s->key_count]);
    }
    if (s->key_count || !json_str(doc, "sealed_secret"))
        return;
    s->keys[0] = (struct signing_key){.scheme = SIGNATURE_V1, .created_at = json_int(doc, "created_at", 0)};
    s->keys[0].sealed = json_bytes(doc, "sealed_secret", &s->keys[0].sealed_len);
    s->key_count = 1;
}

static void read_headers(const json_t *doc, struct subscription *s)
{
    size_t i;
    json_t *item;
    json_array_foreach (json_arr(doc, "headers"), i, item) {
        struct webhook_header header = {.name = mem_strdup(json_str(item, "name"))};
        header.sealed = json_bytes(item, "sealed", &header.sealed_len);
        if (!header.name || !header.sealed || !subscription_set_header(s, &header))
            webhook_header_done(&header);
    }
}

/* The store adds this member. The name of the result is stored, because numbers of results may change. */
static struct webhook_standing read_standing(const json_t *doc)
{
    const json_t *standing = json_obj(doc, "standing");
    const int result = attempt_result_from_name(json_str(standing, "last_result"));
    if (result < 0)
        return (struct webhook_standing){0};
    return (struct webhook_standing){.last_at = json_int(standing, "last_at", 0),
                                     .failing_since = json_int(standing, "failing_since", 0),
                                     .last_status = (int16_t)json_int(standing, "last_status", 0),
                                     .last_result = (uint8_t)result};
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
    read_keys(doc, s);
    read_headers(doc, s);
    s->max_in_flight = (int)json_int(doc, "max_in_flight", 1);
    s->created_by = mem_strdup(json_str(doc, "created_by"));
    json_copy_str(doc, "created_by_id", s->created_by_id, sizeof(s->created_by_id));
    s->token_revoked_at = json_int(doc, "token_revoked_at", 0);
    s->disabled = json_bool(doc, "disabled", false);
    s->disabled_reason = mem_strdup(json_str(doc, "disabled_reason"));
    s->version = json_int(doc, "version", 1);
    s->created_at = json_int(doc, "created_at", 0);
    s->updated_at = json_int(doc, "updated_at", 0);
    s->enabled_at = json_int(doc, "enabled_at", 0);
    s->last_success_at = json_int(doc, "last_success_at", 0);
    s->standing = read_standing(doc);
    return s;
}

enum webhook_state subscription_state(const struct subscription *s)
{
    return s->disabled ? WEBHOOK_DISABLED : s->standing.failing_since ? WEBHOOK_FAILING : WEBHOOK_ENABLED;
}

bool subscription_is_of_all_projects(const struct subscription *s)
{
    return !s->projects || !s->projects[0] || projects_include(s->projects, "*");
}

bool subscription_is_visible(const struct subscription *s, char *const *projects)
{
    return subscription_is_of_all_projects(s) ? projects_include(projects, "*")
                                              : projects_cover(projects, s->projects);
}

bool subscription_sends_the_same(const struct subscription *s, const struct subscription *other)
{
    bool is_same = !strcmp(s->url, other->url) && s->header_count == other->header_count;
    for (unsigned i = 0; is_same && i < s->header_count; i++)
        is_same = !strcmp(s->headers[i].name, other->headers[i].name) &&
                  s->headers[i].sealed_len == other->headers[i].sealed_len &&
                  !memcmp(s->headers[i].sealed, other->headers[i].sealed, s->headers[i].sealed_len);
    return is_same;
}

bool subscription_matches(const struct subscription *s, const struct event *e)
{
    bool type_ok = !s->event_types || !s->event_types[0];
    for (size_t i = 0; !type_ok && s->event_types[i]; i++)
        type_ok = event_type_matches(e->type, s->event_types[i]);
    bool project_ok =
        subscription_is_of_all_projects(s) || (e->project && projects_include(s->projects, e->project));
    return type_ok && project_ok && !s->disabled;
}

/* ---- attempts of deliveries ---- */

void standing_note_attempt(struct webhook_standing *standing, const struct delivery_attempt *attempt)
{
    standing->last_at = attempt->at;
    standing->last_status = attempt->response_status;
    standing->last_result = attempt->result;
    if (attempt->result == ATTEMPT_DELIVERED)
        standing->failing_since = 0;
    else if (!standing->failing_since)
        standing->failing_since = attempt->at;
}

void standing_begin_anew(struct webhook_standing *standing)
{
    *standing = (struct webhook_standing){.pending = standing->pending};
}

void delivery_note_attempt(struct delivery *d, const struct delivery_attempt *attempt)
{
    if (d->attempts_known < DELIVERY_ATTEMPTS)
        d->attempts[d->attempts_known++] = *attempt;
}

static struct delivery_attempt last_attempt(const struct delivery *d)
{
    int result = *d->error ? attempt_result_from_name(d->error) : ATTEMPT_DELIVERED;
    return (struct delivery_attempt){
        .at = d->updated_at,
        .latency_ms = (int32_t)d->latency_ms,
        .response_status = (int16_t)d->response_status,
        .result = (uint8_t)(result < 0 ? ATTEMPT_NOT_SENT : result),
    };
}

/* Each attempt is a short array of time, status, latency and result, because there are many rows. */
char *delivery_attempts_text(const struct delivery *d)
{
    if (!d->attempts_known || (d->attempts_known == 1 && d->status == DELIVERY_DELIVERED))
        return mem_strdup("");
    json_t *list CLEANUP_JSON = json_array();
    for (unsigned i = 0; i < d->attempts_known; i++) {
        const struct delivery_attempt *a = &d->attempts[i];
        json_append_take(list,
                         json_pack("[I,i,i,s]", (json_int_t)a->at, (int)a->response_status,
                                   (int)a->latency_ms, attempt_result_name((enum attempt_result)a->result)));
    }
    return json_text(list);
}

static bool read_attempt(const json_t *item, struct delivery_attempt *ret)
{
    const json_int_t at = json_integer_value(json_array_get(item, 0));
    const json_int_t status = json_integer_value(json_array_get(item, 1));
    const json_int_t latency_ms = json_integer_value(json_array_get(item, 2));
    const int result = attempt_result_from_name(json_string_value(json_array_get(item, 3)));
    if (at <= 0 || status < 0 || status > INT16_MAX || latency_ms < 0 || latency_ms > INT32_MAX || result < 0)
        return false;
    *ret = (struct delivery_attempt){at, (int32_t)latency_ms, (int16_t)status, (uint8_t)result};
    return true;
}

void delivery_read_attempts(struct delivery *d, const char *text, size_t len)
{
    size_t i;
    json_t *item, *list CLEANUP_JSON = len ? json_parse_strict(text, len, NULL) : NULL;
    struct delivery_attempt attempt;
    json_array_foreach (list, i, item)
        if (read_attempt(item, &attempt))
            delivery_note_attempt(d, &attempt);
    if (d->attempts_known || !d->attempt)
        return;
    attempt = last_attempt(d);
    delivery_note_attempt(d, &attempt);
}
