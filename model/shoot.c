#include "model/shoot.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/json_values_private.h"
#include "model/operation.h"
#include "model/string_list.h"

enum { DNS_LABEL_MAX = 63, POOL_NAME_MAX = sizeof(((struct operation_step *)0)->target) - 1 };

/* Whether the text has only lower-case letters, digits and inner hyphens. */
static bool is_dns_label(const char *text, size_t max)
{
    size_t len = strnlen(text, max + 1);
    bool ends_well = len && text[0] != '-' && text[len - 1] != '-';
    return ends_well && len <= max && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

bool shoot_name_is_possible(const char *name)
{
    return is_dns_label(name, DNS_LABEL_MAX) && !strstr(name, "--");
}

bool pool_name_is_possible(const char *name)
{
    return is_dns_label(name, POOL_NAME_MAX);
}

void shoot_free(struct shoot *s)
{
    if (!s)
        return;
    free(s->name);
    json_doc_free(s->observed);
    free(s->kubernetes_version);
    string_list_free(s->images);
    free(s->operation_type);
    free(s->operation_state);
    free(s->description);
    json_doc_free(s->conditions);
    json_doc_free(s->constraints);
    json_doc_free(s->last_errors);
    free(s->api_server_url);
    free(s);
}

struct shoot *shoot_copy(const struct shoot *s)
{
    if (!s)
        return NULL;
    struct shoot *copy = MEM_NEW(struct shoot);
    *copy = *s;
    copy->name = mem_strdup(s->name);
    copy->observed = json_doc_copy(s->observed);
    copy->kubernetes_version = mem_strdup(s->kubernetes_version);
    copy->images = string_list_copy(s->images);
    copy->operation_type = mem_strdup(s->operation_type);
    copy->operation_state = mem_strdup(s->operation_state);
    copy->description = mem_strdup(s->description);
    copy->conditions = json_doc_copy(s->conditions);
    copy->constraints = json_doc_copy(s->constraints);
    copy->last_errors = json_doc_copy(s->last_errors);
    copy->api_server_url = mem_strdup(s->api_server_url);
    return copy;
}

static void read_uid(struct shoot *s, const json_t *object)
{
    if (uuid_parse(json_str_or(object, "uid", ""), s->uid) != 0)
        uuid_clear(s->uid);
}

/* Whether the first `count` texts of the list contain the pair. A linear search is sufficient, because a
 * cluster has few pools. */
static bool has_image(char *const *images, size_t count, const char *name, const char *version)
{
    for (size_t i = 0; i < count; i += 2)
        if (!strcmp(images[i], name) && !strcmp(images[i + 1], version))
            return true;
    return false;
}

static char **images_of(const json_t *pools)
{
    char **images = mem_calloc(2 * json_array_size(pools) + 1, sizeof(*images));
    size_t i, count = 0;
    json_t *pool;
    json_array_foreach (pools, i, pool) {
        const json_t *image = json_obj(pool, "image");
        const char *name = json_str_or(image, "name", ""), *version = json_str_or(image, "version", "");
        if (!*name || !*version || has_image(images, count, name, version))
            continue;
        images[count++] = mem_strdup(name);
        images[count++] = mem_strdup(version);
    }
    return images;
}

void shoot_set_observed(struct shoot *s, json_t *observed)
{
    const json_t *pools = json_arr(observed, "node_pools");
    json_doc_set(&s->observed, observed);
    read_uid(s, observed);
    mem_set_str(&s->kubernetes_version, json_str(observed, "kubernetes_version"));
    s->pool_count = (int)json_array_size(pools);
    string_list_free(s->images);
    s->images = images_of(pools);
}

json_t *shoot_observed(const struct shoot *s)
{
    return s ? json_doc_tree(s->observed) : NULL;
}

bool shoot_has_uid(const struct shoot *s)
{
    return s && !uuid_is_null(s->uid);
}

bool shoot_is_another(const struct shoot *a, const struct shoot *b)
{
    return shoot_has_uid(a) && shoot_has_uid(b) && uuid_compare(a->uid, b->uid) != 0;
}

enum shoot_run shoot_run(const struct shoot *s)
{
    static const struct {
        const char *word;
        enum shoot_run run;
    } words[] = {{"Pending", RUN_PENDING}, {"Processing", RUN_PROCESSING}, {"Error", RUN_RETRYING},
                 {"Failed", RUN_FAILED},   {"Aborted", RUN_ABORTED},       {"Succeeded", RUN_SUCCEEDED}};
    if (!s->has_operation)
        return RUN_NONE;
    if (!s->operation_state)
        return RUN_UNKNOWN;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (!strcmp(s->operation_state, words[i].word))
            return words[i].run;
    return RUN_UNHEARD;
}

bool shoot_is_in_progress(const struct shoot *s)
{
    const enum shoot_run run = shoot_run(s);
    return run == RUN_PENDING || run == RUN_PROCESSING || run == RUN_UNHEARD;
}

bool shoot_may_be_deleting(const struct shoot *s)
{
    static const char *const others[] = {"Create", "Reconcile", "Migrate", "Restore", "LiveMigrate"};
    if (word_index(others, ARRAY_LEN(others), s->operation_type) >= 0)
        return false;
    const enum shoot_run run = shoot_run(s);
    /* an operation in progress may be a deletion when its type is not in the table */
    return shoot_is_deletion(s) || run == RUN_UNKNOWN || run == RUN_RETRYING || shoot_is_in_progress(s);
}

bool shoot_is_deletion(const struct shoot *s)
{
    return s && s->operation_type && !strcmp(s->operation_type, "Delete");
}

bool shoot_is_being_deleted(const struct shoot *s)
{
    return shoot_is_deletion(s) && !shoot_state_is(s, "Failed") && !shoot_state_is(s, "Aborted");
}

bool shoot_state_is(const struct shoot *s, const char *state)
{
    return s->operation_state && !strcmp(s->operation_state, state);
}

/* Makes the stored form of the values that shoot_set_observed extracts. */
static json_t *brief_to_json(const struct shoot *s)
{
    char uid[UUID_STR_LEN];
    json_t *doc = json_object();
    uuid_unparse_lower(s->uid, uid);
    json_set_str(doc, "uid", shoot_has_uid(s) ? uid : NULL);
    json_set_str(doc, "kubernetes_version", s->kubernetes_version);
    json_set_int(doc, "pool_count", s->pool_count);
    json_set_take(doc, "images", string_list_to_json(s->images));
    return doc;
}

static void read_brief(struct shoot *s, const json_t *doc)
{
    read_uid(s, doc);
    s->kubernetes_version = mem_strdup(json_str(doc, "kubernetes_version"));
    s->pool_count = (int)json_int(doc, "pool_count", 0);
    s->images = string_list_from_json(json_arr(doc, "images"));
}

json_t *shoot_to_json(const struct shoot *s)
{
    if (!s)
        return json_null();
    json_t *doc = json_object();
    json_set_str(doc, "name", s->name);
    json_set_take(doc, "observed", json_incref(json_doc_tree(s->observed)));
    json_set_take(doc, "brief", brief_to_json(s));
    json_set_bool(doc, "has_operation", s->has_operation);
    json_set_str(doc, "operation_type", s->operation_type);
    json_set_str(doc, "operation_state", s->operation_state);
    if (s->progress != SHOOT_PROGRESS_UNKNOWN)
        json_set_int(doc, "progress", s->progress);
    json_set_str(doc, "description", s->description);
    json_set_int(doc, "operation_at", s->operation_at);
    json_set_take(doc, "hibernated", s->hibernated_unknown ? NULL : json_boolean(s->hibernated));
    json_set_take(doc, "conditions", json_incref(json_doc_tree(s->conditions)));
    json_set_take(doc, "constraints", json_incref(json_doc_tree(s->constraints)));
    json_set_take(doc, "last_errors", json_incref(json_doc_tree(s->last_errors)));
    json_set_str(doc, "api_server_url", s->api_server_url);
    return doc;
}

struct shoot *shoot_from_json(const json_t *doc)
{
    if (!json_str(doc, "name"))
        return NULL;
    struct shoot *s = MEM_NEW(struct shoot);
    s->name = mem_strdup(json_str(doc, "name"));
    json_t *observed = json_object_get(doc, "observed");
    if (observed)
        shoot_set_observed(s, json_incref(observed));
    else /* cluster_from_text has left out `observed` */
        read_brief(s, json_obj(doc, "brief"));
    s->has_operation = json_bool(doc, "has_operation", false);
    s->operation_type = mem_strdup(json_str(doc, "operation_type"));
    s->operation_state = mem_strdup(json_str(doc, "operation_state"));
    s->progress = (int)json_int(doc, "progress", SHOOT_PROGRESS_UNKNOWN);
    s->description = mem_strdup(json_str(doc, "description"));
    s->operation_at = json_int(doc, "operation_at", 0);
    s->hibernated = json_bool(doc, "hibernated", false);
    s->hibernated_unknown = json_is_null(json_object_get(doc, "hibernated"));
    s->conditions = json_doc_new(json_incref(json_object_get(doc, "conditions")));
    s->constraints = json_doc_new(json_incref(json_object_get(doc, "constraints")));
    s->last_errors = json_doc_new(json_incref(json_object_get(doc, "last_errors")));
    s->api_server_url = mem_strdup(json_str(doc, "api_server_url"));
    return s;
}
