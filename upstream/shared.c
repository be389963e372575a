/*
 * What both generations share: paths that differ in a word, lists that differ in their items, and the
 * kubeconfig calls, of which Cleura has three (cleura-api.md 9.1). Pure.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/mem.h"
#include "upstream/generation_private.h"

/* Expands {cloud}, {region}, {project}, {name} and {item}, each percent-encoded. */
static char *expand_path(const char *template, const struct config_account *account,
                         const struct upstream_call *call)
{
    const struct {
        const char *name, *value;
    } parts[] = {{"{cloud}", account->cloud},
                 {"{region}", call->region},
                 {"{project}", call->project_id},
                 {"{name}", call->name},
                 {"{item}", call->item}};
    struct buffer path;
    buffer_init(&path, 4096);
    while (*template) {
        size_t i = 0;
        while (i < ARRAY_LEN(parts) && strncmp(template, parts[i].name, strlen(parts[i].name)) != 0)
            i++;
        if (i == ARRAY_LEN(parts)) {
            (void)buffer_add(&path, template ++, 1);
            continue;
        }
        char *value CLEANUP_FREE = url_segment(parts[i].value ? parts[i].value : "");
        (void)buffer_add_str(&path, value);
        template += strlen(parts[i].name);
    }
    return buffer_take(&path, NULL);
}

static void build_kubeconfig(const struct config_account *account, const struct upstream_call *call,
                             struct request_draft *draft);

void build_request(const struct generation *generation, const struct config_account *account,
                   const struct upstream_call *call, struct request_draft *draft)
{
    if (call->op == UPSTREAM_KUBECONFIG) {
        build_kubeconfig(account, call, draft);
        return;
    }
    const struct endpoint *endpoint = &generation->endpoints[call->op];
    *draft = (struct request_draft){.method = endpoint->method,
                                    .path = expand_path(endpoint->path, account, call)};
    if (endpoint->encode) {
        json_t *body CLEANUP_JSON = endpoint->encode(call);
        draft->body = json_text(body);
    }
}

bool decode_by_table(const struct generation *generation, const struct upstream_call *call, const char *body,
                     size_t len, struct upstream_result *result)
{
    decode_answer *decode = generation->endpoints[call->op].decode;
    if (call->op == UPSTREAM_KUBECONFIG)
        return decode_kubeconfig(body, len, result);
    return !decode || decode(call, body, len, result);
}

/* The key itself, whatever the content type says (12.3). */
bool decode_ssh_key(const struct upstream_call *call, const char *body, size_t len,
                    struct upstream_result *result)
{
    (void)call;
    json_t *valid CLEANUP_JSON = json_stringn(body, len); /* NULL when it is no UTF-8 */
    bool ok = valid && strstr(body, "PRIVATE KEY");
    json_wipe(valid);
    if (!ok)
        return false;
    result->text = mem_strndup(body, len);
    return true;
}

bool decode_shoots(const json_t *doc, struct shoot *(*decode_one)(const json_t *doc),
                   struct upstream_result *result)
{
    if (!json_is_array(doc))
        return false;
    size_t i;
    json_t *item;
    result->shoots = mem_calloc(json_array_size(doc), sizeof(struct shoot *));
    json_array_foreach (doc, i, item) {
        struct shoot *shoot = decode_one(item);
        if (shoot)
            result->shoots[result->shoot_count++] = shoot;
        else
            result->shoots_garbled++;
    }
    return true;
}

json_t *decode_schedules(const json_t *schedules)
{
    json_t *ours = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (schedules, i, item) {
        json_t *schedule = json_object();
        json_set_str(schedule, "start", json_str(item, "start"));
        json_set_str(schedule, "end", json_str(item, "end"));
        if (json_str(item, "location"))
            json_set_str(schedule, "location", json_str(item, "location"));
        (void)json_array_append_new(ours, schedule);
    }
    return ours;
}

json_t *encode_maintenance(const json_t *maintenance, const struct maintenance_words *words)
{
    const char *const updates[][2] = {{"auto_update_kubernetes", words->kubernetes},
                                      {"auto_update_machine_image", words->machine_image}};
    json_t *theirs = json_object();
    json_t *update CLEANUP_JSON = json_object();
    for (size_t i = 0; i < ARRAY_LEN(updates); i++)
        if (json_object_get(maintenance, updates[i][0]))
            json_set_bool(update, updates[i][1], json_bool(maintenance, updates[i][0], true));
    if (json_object_size(update))
        json_set_take(theirs, words->update, json_incref(update));
    if (json_str(maintenance, "begin")) {
        json_t *window = json_object();
        json_set_str(window, "begin", json_str(maintenance, "begin"));
        json_set_str(window, "end", json_str(maintenance, "end"));
        json_set_take(theirs, words->window, window);
    }
    return theirs;
}

/* ---- kubeconfigs ---- */

static const struct {
    const char *path, *before, *after;
} kubeconfig_calls[] = {
    {"/gardener/v3/{cloud}/shoots/{region}/{project}/{name}/admin-kubeconfig",
     "{\"expiration_seconds\":", "}"}, /* the only one that tells the real expiry */
    {"/gardener/v2/{cloud}/shoots/{region}/{project}/{name}/admin-kubeconfig",
     "{\"expiration_seconds\":", "}"},
    {"/gardener/v1/{cloud}/shoot/{region}/{project}/{name}/adminkubeconfig",
     "{\"config\":{\"expirationSeconds\":", "}}"}, /* undocumented, works (quirk 5) */
};

int kubeconfig_variants(enum upstream_op op)
{
    return op == UPSTREAM_KUBECONFIG ? (int)ARRAY_LEN(kubeconfig_calls) : 1;
}

static void build_kubeconfig(const struct config_account *account, const struct upstream_call *call,
                             struct request_draft *draft)
{
    /* v1 accounts begin with the call that is known to work there. */
    size_t first = account->api == API_V1 ? ARRAY_LEN(kubeconfig_calls) - 1 : 0;
    size_t i = (first + (size_t)call->variant) % ARRAY_LEN(kubeconfig_calls);
    *draft = (struct request_draft){.method = "POST",
                                    .path = expand_path(kubeconfig_calls[i].path, account, call)};
    draft->body =
        mem_printf("%s%d%s", kubeconfig_calls[i].before, call->ttl_seconds, kubeconfig_calls[i].after);
}

/* Told apart by the first byte, never by the content type: v3 a JSON object, v1 a JSON string, v2 plain YAML.
 */
bool decode_kubeconfig(const char *body, size_t len, struct upstream_result *result)
{
    if (len && (body[0] == '{' || body[0] == '"')) {
        json_t *doc CLEANUP_JSON = json_parse_lenient(body, len, NULL);
        result->kubeconfig =
            mem_strdup(json_is_string(doc) ? json_string_value(doc) : json_str(doc, "kubeconfig"));
        result->expires_at = decode_time(json_str(doc, "expires_at"));
    } else {
        result->kubeconfig = mem_strndup(body, len);
    }
    if (!result->kubeconfig || !kubeconfig_is_plausible(result->kubeconfig))
        return false;
    if (!result->expires_at)
        result->expires_at = kubeconfig_expiry(result->kubeconfig);
    return true;
}
