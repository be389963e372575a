/*
 * Loads a configuration: compares the YAML (libyaml keeps the line of every node) with the table of keys,
 * then makes the checks of check.c. All faults are printed, not only the first. The loader runs at the start
 * and on the thread of a reload.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/yaml_node.h"
#include "config/config_private.h"
#include "config/values.h"
#include "model/string_list.h"

/* ---- the file ---- */

size_t config_item_count(const yaml_node_t *node)
{
    return (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
}

const yaml_node_t *config_item(struct loader *l, const yaml_node_t *node, size_t i)
{
    assert(node->type == YAML_SEQUENCE_NODE && i < config_item_count(node));
    return yaml_document_get_node(l->doc, node->data.sequence.items.start[i]);
}

/* ---- values ---- */

static void set_integer(struct loader *l, const struct key *k, const yaml_node_t *n, const char *text,
                        void *at)
{
    int64_t value;
    if (value_integer(text, k->low, k->high, &value))
        *(int *)at = (int)value;
    else
        config_fault(l, n, k->name, "'%s' is not an integer from %" PRId64 " to %" PRId64, text, k->low,
                     k->high);
}

static void set_duration(struct loader *l, const struct key *k, const yaml_node_t *n, const char *text,
                         void *at)
{
    int64_t us;
    if (!value_duration(text, &us)) {
        config_fault(l, n, k->name, "'%s' is not a duration such as 250ms, 15s, 5m, 2h, 30d", text);
    } else if (us < k->low || us > k->high) {
        char low[DURATION_BYTES], high[DURATION_BYTES];
        value_duration_write(k->low, low);
        value_duration_write(k->high, high);
        config_fault(l, n, k->name, "'%s' is not between %s and %s", text, low, high);
    } else {
        *(int64_t *)at = us;
    }
}

static void set_word(struct loader *l, const struct key *k, const yaml_node_t *n, const char *text, void *at)
{
    assert(k->words && k->words[0]);
    for (int i = 0; k->words[i]; i++)
        if (!strcmp(k->words[i], text)) {
            *(int *)at = i;
            return;
        }
    char *valid = mem_strdup(k->words[0]);
    for (int i = 1; k->words[i]; i++) {
        char *longer = mem_printf("%s, %s", valid, k->words[i]);
        free(valid);
        valid = longer;
    }
    config_fault(l, n, k->name, "'%s' is not one of: %s", text, valid);
    free(valid);
}

static bool is_blank(struct loader *l, const struct key *k, const yaml_node_t *n, const char *text)
{
    if (text[strspn(text, " \t\r\n")])
        return false;
    config_fault(l, n, k->name, "must not be empty");
    return true;
}

static bool is_placeholder(struct loader *l, const struct key *k, const yaml_node_t *n, const char *text)
{
    if (!k->placeholder || strcmp(text, k->example) != 0)
        return false;
    config_fault(l, n, k->name, "is still the placeholder of the sample: write your own value here");
    return true;
}

static void set_scalar(struct loader *l, const struct key *k, const yaml_node_t *n, const char *text,
                       void *at)
{
    switch (k->type) {
    case KEY_STRING:
        if (is_blank(l, k, n, text) || is_placeholder(l, k, n, text))
            break;
        free(*(char **)at);
        *(char **)at = mem_strdup(text);
        break;
    case KEY_INTEGER:
        set_integer(l, k, n, text, at);
        break;
    case KEY_BOOL:
        if (!value_bool(text, at))
            config_fault(l, n, k->name, "'%s' is neither true nor false", text);
        break;
    case KEY_DURATION:
        set_duration(l, k, n, text, at);
        break;
    case KEY_RATIO:
        if (!value_ratio(text, at))
            config_fault(l, n, k->name, "'%s' is not a number from 0 to 1 with at most six decimals", text);
        break;
    case KEY_WORD:
        set_word(l, k, n, text, at);
        break;
    case KEY_STRING_LIST:
    case KEY_INTEGER_LIST:
    case KEY_GROUP:
    case KEY_ITEMS:
    case KEY_DEFAULTS:
    case KEY_REFERENCE:
        assert(!"a key of one value");
    }
}

static bool is_empty(const yaml_node_t *n)
{
    return n->type == YAML_SCALAR_NODE && !n->data.scalar.length &&
           n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static bool is_sequence(struct loader *l, const struct key *k, const yaml_node_t *n)
{
    if (n->type == YAML_SEQUENCE_NODE)
        return true;
    config_fault(l, n, k->name, "must be a list");
    return false;
}

static void set_list(struct loader *l, const struct key *k, const yaml_node_t *n, void *at)
{
    if (!is_sequence(l, k, n))
        return;
    size_t count = config_item_count(n);
    char **strings = mem_calloc(count + 1, sizeof(*strings));
    int *numbers = mem_calloc(count + 1, sizeof(*numbers));
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *item = config_item(l, n, i);
        const char *text = node_text(item);
        int64_t number = 0;
        strings[i] = mem_strdup(text ? text : "");
        if (!text)
            config_fault(l, item, k->name, "must be a list of plain values");
        else if (k->type == KEY_INTEGER_LIST && !value_integer(text, k->low, k->high, &number))
            config_fault(l, item, k->name, "'%s' is not an integer from %" PRId64 " to %" PRId64, text,
                         k->low, k->high);
        numbers[i] = (int)number;
    }
    if (k->type == KEY_INTEGER_LIST) {
        free(*(int **)at);
        *(int **)at = TAKE_PTR(numbers);
    } else {
        string_list_free(*(char ***)at);
        *(char ***)at = TAKE_PTR(strings);
    }
    string_list_free(strings);
    free(numbers);
}

static json_t *default_value(struct loader *l, const struct key *k, const yaml_node_t *n)
{
    const char *text = node_text(n);
    if (k->type == KEY_STRING_LIST) {
        json_t *list = json_array();
        for (size_t i = 0; is_sequence(l, k, n) && i < config_item_count(n); i++) {
            const char *item = node_text(config_item(l, n, i));
            json_append_take(list, json_string(item ? item : ""));
        }
        return list;
    }
    if (!text) {
        config_fault(l, n, k->name, "must be a plain value");
        return NULL;
    }
    if (k->type == KEY_STRING)
        return is_blank(l, k, n, text) ? NULL : json_string(text);
    int number = 0;
    set_integer(l, k, n, text, &number);
    return json_integer(number);
}

/* ---- groups ---- */

static void load_group(struct loader *l, const struct key_group *g, const yaml_node_t *n, const char *where,
                       void *base);

static const struct key *find_key(const struct key_group *g, const char *name)
{
    for (size_t i = 0; i < g->count; i++)
        if (!strcmp(g->keys[i].name, name))
            return &g->keys[i];
    return NULL;
}

static void report_unknown(struct loader *l, const struct key_group *g, const yaml_node_t *n,
                           const char *name)
{
    char *known = mem_strdup(g->keys[0].name);
    for (size_t i = 1; i < g->count; i++) {
        char *longer = mem_printf("%s, %s", known, g->keys[i].name);
        free(known);
        known = longer;
    }
    config_fault(l, n, name, "unknown key; known here: %s", known);
    free(known);
}

static void load_defaults(struct loader *l, const struct key *k, const yaml_node_t *n, void *at)
{
    if (n->type != YAML_MAPPING_NODE) {
        config_fault(l, n, k->name, "must be a mapping");
        return;
    }
    json_t *defaults = json_object();
    for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
        const yaml_node_t *name_node = yaml_document_get_node(l->doc, p->key);
        const char *name = node_text(name_node);
        const struct key *member = name ? find_key(k->group, name) : NULL;
        if (!member)
            report_unknown(l, k->group, name_node, name ? name : "?");
        else if (json_object_get(defaults, name))
            config_fault(l, name_node, name, "is given twice");
        else
            json_set_take(defaults, name, default_value(l, member, yaml_document_get_node(l->doc, p->value)));
    }
    json_decref(*(json_t **)at);
    *(json_t **)at = defaults;
}

/* Sets the defaults of the table. They are always valid. */
static void apply_presets(const struct key_group *g, void *base, struct loader *l)
{
    const unsigned faults = l->faults;
    for (size_t i = 0; i < g->count; i++) {
        const struct key *k = &g->keys[i];
        if (k->preset)
            set_scalar(l, k, NULL, k->preset, (char *)base + k->offset);
        if (k->type == KEY_GROUP)
            apply_presets(k->group, base, l);
    }
    assert(l->faults == faults);
    (void)faults;
}

static void load_items(struct loader *l, const struct key *k, const yaml_node_t *n, struct key_items *items)
{
    const size_t size = k->group->size;
    if (!is_sequence(l, k, n))
        return;
    size_t count = config_item_count(n);
    if (count > k->group->most) {
        config_fault(l, n, k->name, "has %zu entries, the most are %zu", count, k->group->most);
        return;
    }
    *items = (struct key_items){mem_calloc(count, size), count};
    for (size_t i = 0; i < count; i++) {
        apply_presets(k->group, items->first + i * size, l);
        load_group(l, k->group, config_item(l, n, i), k->name, items->first + i * size);
    }
    if (!count && k->required)
        config_fault(l, n, k->name, "must have at least one entry");
}

static void load_key(struct loader *l, const struct key *k, const yaml_node_t *n, void *base)
{
    void *at = (char *)base + k->offset;
    const char *text = node_text(n);
    switch (k->type) {
    case KEY_GROUP:
        if (!is_empty(n)) /* an empty section is valid: all its keys may be comments, as in the sample */
            load_group(l, k->group, n, k->name, base);
        break;
    case KEY_ITEMS:
        load_items(l, k, n, at);
        break;
    case KEY_DEFAULTS:
        load_defaults(l, k, n, at);
        break;
    case KEY_STRING_LIST:
    case KEY_INTEGER_LIST:
        set_list(l, k, n, at);
        break;
    case KEY_STRING:
    case KEY_INTEGER:
    case KEY_BOOL:
    case KEY_DURATION:
    case KEY_RATIO:
    case KEY_WORD:
        if (!text)
            config_fault(l, n, k->name, "must be a plain value");
        else
            set_scalar(l, k, n, text, at);
        break;
    case KEY_REFERENCE:
        if (!text)
            config_fault(l, n, k->name, "must be a plain value");
        break;
    }
}

static void load_group(struct loader *l, const struct key_group *g, const yaml_node_t *n, const char *where,
                       void *base)
{
    if (n->type != YAML_MAPPING_NODE) {
        config_fault(l, n, where, "must be a mapping");
        return;
    }
    bool *seen CLEANUP_FREE = mem_calloc(g->count, sizeof(*seen));
    for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
        const yaml_node_t *name_node = yaml_document_get_node(l->doc, p->key);
        const char *name = node_text(name_node);
        const struct key *k = name ? find_key(g, name) : NULL;
        if (!k) {
            report_unknown(l, g, name_node, name ? name : "?");
            continue;
        }
        if (seen[k - g->keys]) {
            config_fault(l, name_node, name, "is given twice");
            continue;
        }
        seen[k - g->keys] = true;
        load_key(l, k, yaml_document_get_node(l->doc, p->value), base);
    }
    for (size_t i = 0; i < g->count; i++)
        if (g->keys[i].required && !seen[i])
            config_fault(l, n, g->keys[i].name, "is required in %s", where);
}

/* Reports the faults; returns NULL when there are any. */
static struct config *finish_load(struct loader *l, FILE *errors)
{
    config_check(l);
    config_report(l, errors);
    if (l->faults) {
        config_free(l->config);
        return NULL;
    }
    return l->config;
}

/* ---- sources ---- */

static struct config *config_new(struct loader *l)
{
    l->config = MEM_NEW(struct config);
    apply_presets(&config_root, l->config, l);
    l->config->webhooks.allow = mem_calloc(1, sizeof(char *));
    l->config->trusted_proxies = mem_calloc(1, sizeof(char *));
    l->config->webhooks.ports = mem_calloc(1, sizeof(int));
    l->config->cors.origins = mem_calloc(1, sizeof(char *));
    const char *state_dir = getenv("STATE_DIRECTORY");
    if (state_dir && *state_dir) {
        free(l->config->state_dir);
        l->config->state_dir = mem_strdup(state_dir);
    }
    return l->config;
}

static struct config *load_environment(FILE *errors)
{
    struct loader l = {.file = "environment"};
    const char *login = getenv("CLEURA_LOGIN"), *password = getenv("CLEURA_PASSWORD");
    const char *cloud = getenv("CLEURA_CLOUD"), *region = getenv("CLEURA_REGION");
    const char *project_id = getenv("CLEURA_PROJECT_ID"), *url = getenv("CLEURA_URL");
    const char *listen = getenv("SHOOTD_LISTEN");
    const char *state_home = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    const struct {
        const char *name, *value;
    } needed[] = {{"CLEURA_LOGIN", login},
                  {"CLEURA_PASSWORD", password},
                  {"CLEURA_REGION", region},
                  {"CLEURA_PROJECT_ID", project_id}};
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (!needed[i].value || !*needed[i].value)
            config_fault(&l, NULL, needed[i].name,
                         "is not set (without --config the environment is the configuration)");
    if (l.faults) {
        config_report(&l, errors);
        return NULL;
    }
    struct config *c = config_new(&l);
    if (!getenv("STATE_DIRECTORY")) {
        free(c->state_dir);
        c->state_dir = state_home && *state_home ? mem_printf("%s/shootd", state_home)
                                                 : mem_printf("%s/.local/state/shootd", home ? home : "");
    }
    if (listen && *listen) {
        free(c->listen);
        c->listen = mem_strdup(listen);
    }
    c->accounts = MEM_NEW(struct config_account);
    c->account_count = 1;
    apply_presets(&config_account_group, c->accounts, &l);
    c->accounts->name = mem_strdup("default");
    if (cloud && *cloud) {
        free(c->accounts->cloud);
        c->accounts->cloud = mem_strdup(cloud);
    }
    c->accounts->url = mem_strdup(url && *url ? url : NULL);
    c->accounts->login = mem_strdup(login);
    c->accounts->password = mem_strdup(password);
    c->projects = MEM_NEW(struct config_project);
    c->project_count = 1;
    c->projects->name = mem_strdup("default");
    c->projects->account = c->accounts;
    c->projects->region = mem_strdup(region);
    c->projects->project_id = mem_strdup(project_id);
    return finish_load(&l, errors);
}

/* Refuses a second YAML document: it would have no effect, and its author would not notice. */
static void refuse_second_document(struct loader *l, yaml_parser_t *parser)
{
    yaml_document_t next;
    if (!yaml_parser_load(parser, &next)) {
        char *text CLEANUP_FREE = mem_printf("not YAML: %s", parser->problem ? parser->problem : "?");
        config_file_fault(l, parser->problem_mark.line + 1, text);
        return;
    }
    if (yaml_document_get_root_node(&next))
        config_file_fault(l, next.start_mark.line + 1,
                          "a second document begins here: the configuration is one document");
    yaml_document_delete(&next);
}

static struct config *load_yaml(const char *path, const char *text, size_t len, enum config_purpose purpose,
                                FILE *errors)
{
    struct loader l = {.file = path, .purpose = purpose};
    yaml_parser_t parser;
    yaml_document_t doc;
    struct config *config = NULL;
    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    if (!yaml_parser_load(&parser, &doc)) {
        (void)fprintf(errors, "%s:%zu: not YAML: %s\n", path, parser.problem_mark.line + 1,
                      parser.problem ? parser.problem : "?");
    } else {
        yaml_node_t *root = yaml_document_get_root_node(&doc);
        l.doc = &doc;
        (void)config_new(&l);
        refuse_second_document(&l, &parser);
        if (root)
            load_group(&l, &config_root, root, "the configuration", l.config);
        else
            config_fault(&l, NULL, "accounts", "the file is empty");
        config = finish_load(&l, errors);
        yaml_document_delete(&doc);
    }
    yaml_parser_delete(&parser);
    return config;
}

struct config *config_load(const char *path, enum config_purpose purpose, FILE *errors)
{
    size_t len = 0, line = 0;
    const char *error = NULL;
    if (!path)
        return load_environment(errors);
    char *text CLEANUP_FREE = config_file_read(path, &len, &error);
    if (!text) {
        (void)fprintf(errors, "%s: %s\n", path, error);
        return NULL;
    }
    const char *excess = config_file_excess(text, len, &line);
    if (excess) {
        (void)fprintf(errors, "%s:%zu: the configuration %s\n", path, line, excess);
        return NULL;
    }
    return load_yaml(path, text, len, purpose, errors);
}
