#include "api/resources/cluster_order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "model/former_names.h"
#include "view/cluster_facts.h"

/* A sort key is a number or a text. A cursor contains only the number, because the text can be found by
 * project and name. */
struct order_key {
    const char *name;
    int64_t (*number)(const struct view_entry *e);
    const char *(*text)(const struct config *config, const char *project, const char *name);
};

static const char *text_name(const struct config *config ATTR_UNUSED, const char *project ATTR_UNUSED,
                             const char *name)
{
    return name;
}

static const char *text_project(const struct config *config ATTR_UNUSED, const char *project,
                                const char *name ATTR_UNUSED)
{
    return project;
}

static const char *text_region(const struct config *config, const char *project, const char *name ATTR_UNUSED)
{
    const struct config_project *p = config_project(config, project);
    return p ? p->region : "";
}

static const struct cluster_facts *facts(const struct view_entry *e)
{
    return e->subject;
}

/* Clusters with problems come first. */
static int64_t number_phase(const struct view_entry *e)
{
    static const int ranks[PHASE_MAX_] = {
        [PHASE_FAILED] = 0,   [PHASE_RETRYING] = 1,    [PHASE_DEGRADED] = 2,    [PHASE_UNKNOWN] = 3,
        [PHASE_DELETING] = 4, [PHASE_PENDING] = 5,     [PHASE_CREATING] = 6,    [PHASE_UPDATING] = 7,
        [PHASE_WAKING] = 8,   [PHASE_HIBERNATING] = 9, [PHASE_HIBERNATED] = 10, [PHASE_READY] = 11,
    };
    const int phase = (int)facts(e)->phase;
    assert(phase < PHASE_MAX_);
    return ranks[phase];
}

/* The worst first; clusters without an issue come last. */
static int64_t number_trouble(const struct view_entry *e)
{
    const struct trouble *t = &facts(e)->trouble;
    const enum issue_severity worst = trouble_severity(t);
    return trouble_rank(worst, worst < ISSUE_SEVERITY_MAX_ ? t->since[worst] : 0);
}

static int64_t number_health(const struct view_entry *e)
{
    static const int ranks[HEALTH_MAX_] = {
        [HEALTH_UNHEALTHY] = 0, [HEALTH_UNKNOWN] = 1, [HEALTH_PROGRESSING] = 2, [HEALTH_HEALTHY] = 3};
    const int health = (int)facts(e)->health;
    assert(health < HEALTH_MAX_);
    return ranks[health];
}

static int64_t number_version(const struct view_entry *e)
{
    return facts(e)->version_number;
}

static int64_t number_created_at(const struct view_entry *e)
{
    return facts(e)->created_at;
}

static int64_t number_updated_at(const struct view_entry *e)
{
    return facts(e)->updated_at;
}

static int64_t number_observed_at(const struct view_entry *e)
{
    return view_blob_seen_at(e->blob);
}

/* A cluster without an expiry comes after all others. */
static int64_t number_expires_at(const struct view_entry *e)
{
    return facts(e)->expires_at ? facts(e)->expires_at : INT64_MAX;
}

static const struct order_key keys[] = {
    {"trouble", number_trouble, NULL},
    {"name", NULL, text_name},
    {"project", NULL, text_project},
    {"region", NULL, text_region},
    {"phase", number_phase, NULL},
    {"health", number_health, NULL},
    {"kubernetes_version", number_version, NULL},
    {"created_at", number_created_at, NULL},
    {"updated_at", number_updated_at, NULL},
    {"observed_at", number_observed_at, NULL},
    {"expires_at", number_expires_at, NULL},
};

static const struct order_key *find_key(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!strcmp(keys[i].name, name))
            return &keys[i];
    return NULL;
}

static bool is_in(const struct cluster_order *order, const struct order_key *key)
{
    for (unsigned i = 0; i < order->count; i++)
        if (order->keys[i] == key)
            return true;
    return false;
}

static char *fault_unknown_key(const char *word, json_t **ret_valid)
{
    *ret_valid = json_array();
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        json_append_take(*ret_valid, json_string(keys[i].name));
    char *renamed = former_name_fault(FORMER_SORT_KEY, word, *ret_valid);
    return renamed ? renamed
                   : mem_strdup("has to be one of the valid keys, or several with commas between, each with "
                                "'-' before it for the other direction");
}

char *cluster_order_parse(const char *text, struct cluster_order *ret, json_t **ret_valid)
{
    char *copy CLEANUP_FREE = mem_strdup(text);
    char *rest = copy;
    *ret = (struct cluster_order){.count = 0};
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
        bool down = *word == '-';
        const struct order_key *key = find_key(word + down);
        if (!key)
            return fault_unknown_key(word + down, ret_valid);
        if (is_in(ret, key))
            return mem_strdup("names a key twice");
        if (ret->count == ORDER_MAX_KEYS)
            return mem_strdup("names more than 4 keys");
        ret->keys[ret->count] = key;
        ret->down[ret->count++] = down;
    }
    return NULL;
}

void order_row_of_entry(const struct cluster_order *order, const struct config *config,
                        const struct view_entry *entry, struct order_row *ret)
{
    const struct cluster_facts *c = entry->subject;
    *ret = (struct order_row){.blob = entry->blob, .key = entry->key};
    for (unsigned i = 0; i < order->count; i++) {
        const struct order_key *key = order->keys[i];
        ret->numbers[i] = key->number ? key->number(entry) : 0;
        ret->texts[i] = key->text ? key->text(config, c->project, c->name) : NULL;
    }
}

void order_row_of_place(const struct cluster_order *order, const struct config *config,
                        const struct cursor_place *place, char project[static CURSOR_MAX_KEY + 1],
                        struct order_row *ret)
{
    memcpy(project, place->key, sizeof(place->key));
    char *name = project + strcspn(project, "/");
    if (*name)
        *name++ = '\0';
    *ret = (struct order_row){.key = place->key};
    for (unsigned i = 0; i < order->count; i++) {
        const struct order_key *key = order->keys[i];
        ret->numbers[i] = place->numbers[i];
        ret->texts[i] = key->text ? key->text(config, project, name) : NULL;
    }
}

bool order_row_place(const struct cluster_order *order, const struct order_row *row, struct cursor_place *ret)
{
    assert(order->count <= CURSOR_MAX_NUMBERS);
    ret->number_count = order->count;
    memcpy(ret->numbers, row->numbers, sizeof(ret->numbers));
    return cursor_place_set(ret, row->key);
}

int order_compare(const struct cluster_order *order, const struct order_row *a, const struct order_row *b)
{
    for (unsigned i = 0; i < order->count; i++) {
        int sign = order->keys[i]->text ? strcmp(a->texts[i], b->texts[i])
                                        : (a->numbers[i] > b->numbers[i]) - (a->numbers[i] < b->numbers[i]);
        if (sign)
            return order->down[i] ? -sign : sign;
    }
    if (a->at && b->at)
        return (a->at > b->at) - (a->at < b->at);
    return strcmp(a->key, b->key);
}
