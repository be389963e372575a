/* Rows of the store: every content is read without harm. A row that was read can be stored, read again with
 * an equal result, and shown. The first line names the kind of the row. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/mem.h"
#include "model/account_state.h"
#include "model/expiry.h"
#include "model/kept.h"
#include "model/project_state.h"
#include "view/render.h"

#define DEFINE_KIND(name, type)                   \
    static void *name##_load(const json_t *doc)   \
    {                                             \
        return type##_from_json(doc);             \
    }                                             \
    static json_t *name##_save(const void *value) \
    {                                             \
        return type##_to_json(value);             \
    }                                             \
    static void name##_drop(void *value)          \
    {                                             \
        type##_free(value);                       \
    }
DEFINE_KIND(cluster, cluster)
DEFINE_KIND(operation, operation)
DEFINE_KIND(subscription, subscription)
DEFINE_KIND(token, api_token)
DEFINE_KIND(account, account_state)
DEFINE_KIND(project, project_state)
DEFINE_KIND(replay, replay)

static void check_shown(const char *text)
{
    json_t *doc CLEANUP_JSON = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_CHECK(doc);
    fuzz_check_stored(doc);
}

static void show_cluster(const void *value)
{
    struct trouble trouble;
    json_decref(issues_prepare(value, NULL, &(struct issue_world){0}, &trouble));
    char *full_text CLEANUP_FREE = render_cluster(value, NULL, &trouble);
    char *brief_text CLEANUP_FREE = render_cluster_brief(value, NULL, &trouble);
    check_shown(full_text);
    check_shown(brief_text);
    json_t *catalog CLEANUP_JSON = json_object();
    (void)versions_expire_at(((const struct cluster *)value)->shoot, catalog);
}

static void show_operation(const void *value)
{
    struct buffer text CLEANUP_BUFFER;
    buffer_init(&text, SIZE_MAX);
    render_operation(&text, value);
    check_shown(text.data);
}

static void show_subscription(const void *value)
{
    char *text CLEANUP_FREE = render_subscription(value);
    check_shown(text);
}

static void show_token(const void *value)
{
    json_t *doc CLEANUP_JSON = render_api_token(value);
    fuzz_check_stored(doc);
}

static const struct kind {
    const char *name;
    void *(*load)(const json_t *doc);
    json_t *(*save)(const void *value);
    void (*drop)(void *value);
    void (*show)(const void *value);
} kinds[] = {
    {"cluster", cluster_load, cluster_save, cluster_drop, show_cluster},
    {"operation", operation_load, operation_save, operation_drop, show_operation},
    {"subscription", subscription_load, subscription_save, subscription_drop, show_subscription},
    {"token", token_load, token_save, token_drop, show_token},
    {"account", account_load, account_save, account_drop, NULL},
    {"project", project_load, project_save, project_drop, NULL},
    {"replay", replay_load, replay_save, replay_drop, NULL},
};

/* Checks that the faster reader (model/cluster_text.c) gives the same result. */
static void check_text(const json_t *stored)
{
    char *text CLEANUP_FREE = json_text(stored);
    struct cluster *c = cluster_from_text(text, strlen(text));
    FUZZ_CHECK(c != NULL);
    json_t *again CLEANUP_JSON = cluster_to_json(c);
    FUZZ_CHECK(json_equal(stored, again));
    cluster_free(c);
}

static void check_value(const struct kind *k, const void *value)
{
    json_t *stored CLEANUP_JSON = k->save(value);
    fuzz_check_stored(stored);
    void *back = k->load(stored);
    FUZZ_CHECK(back != NULL);
    json_t *again CLEANUP_JSON = k->save(back);
    FUZZ_CHECK(json_equal(stored, again));
    k->drop(back);
    if (k->load == cluster_load)
        check_text(stored);
    if (k->show)
        k->show(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *line CLEANUP_FREE = fuzz_line(&bytes, &len);
    struct json_fault fault;
    json_t *doc CLEANUP_JSON = len ? json_parse_strict((const char *)bytes, len, &fault) : NULL;
    for (size_t i = 0; doc && i < ARRAY_LEN(kinds); i++) {
        if (strcmp(line, kinds[i].name) != 0)
            continue;
        void *value = kinds[i].load(doc);
        if (value) {
            check_value(&kinds[i], value);
            kinds[i].drop(value);
        }
    }
    return 0;
}
