/*
 * Loading: YAML (libyaml keeps the line of every node) against the table of keys, then what no table can say
 * (names that must be unique, URLs, files). Every fault is printed, not only the first. Runs before threads
 * start.
 */
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/attrs.h"
#include "base/cidr.h"
#include "base/mem.h"
#include "config/keys_private.h"
#include "config/origin.h"
#include "config/secret_file.h"
#include "config/values.h"
#include "model/cluster.h"

enum { PASSWORD_MAX = 1024 };

struct loader {
    const char *file;
    FILE *errors;
    unsigned faults;
    bool check; /* nothing is to be served: what only the unit has may be missing */
    yaml_document_t *doc;
    struct config *config;
};

static void fault(struct loader *l, const yaml_node_t *node, const char *key, const char *format, ...)
    ATTR_PRINTF(4, 5);

static void fault(struct loader *l, const yaml_node_t *node, const char *key, const char *format, ...)
{
    va_list args;
    l->faults++;
    if (node)
        (void)fprintf(l->errors, "%s:%zu: %s: ", l->file, node->start_mark.line + 1, key);
    else
        (void)fprintf(l->errors, "%s: %s: ", l->file, key);
    va_start(args, format);
    (void)vfprintf(l->errors, format, args);
    va_end(args);
    (void)fputc('\n', l->errors);
}

static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        abort();
    bool ok = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return ok;
}

/* ---- values ---- */

static const char *scalar(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static void set_integer(struct loader *l, const struct key *k, const yaml_node_t *n, const char *text,
                        void *at)
{
    int64_t value;
    if (value_integer(text, k->low, k->high, &value))
        *(int *)at = (int)value;
    else
        fault(l, n, k->name, "'%s' is not an integer from %" PRId64 " to %" PRId64, text, k->low, k->high);
}

static void set_duration(struct loader *l, const struct key *k, const yaml_node_t *n, const char *text,
                         void *at)
{
    int64_t us;
    if (!value_duration(text, &us))
        fault(l, n, k->name, "'%s' is not a duration such as 250ms, 15s, 5m, 2h, 30d", text);
    else if (us < k->low || us > k->high)
        fault(l, n, k->name, "'%s' is not between %" PRId64 "ms and %" PRId64 "s", text, k->low / US_PER_MS,
              k->high / US_PER_S);
    else
        *(int64_t *)at = us;
}

static void set_word(struct loader *l, const struct key *k, const yaml_node_t *n, const char *text, void *at)
{
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
    fault(l, n, k->name, "'%s' is not one of: %s", text, valid);
    free(valid);
}

static void set_scalar(struct loader *l, const struct key *k, const yaml_node_t *n, const char *text,
                       void *at)
{
    switch (k->type) {
    case KEY_STRING:
        free(*(char **)at);
        *(char **)at = mem_strdup(text);
        break;
    case KEY_INTEGER:
        set_integer(l, k, n, text, at);
        break;
    case KEY_BOOL:
        if (!value_bool(text, at))
            fault(l, n, k->name, "'%s' is neither true nor false", text);
        break;
    case KEY_DURATION:
        set_duration(l, k, n, text, at);
        break;
    case KEY_WORD:
        set_word(l, k, n, text, at);
        break;
    case KEY_STRING_LIST:
    case KEY_INTEGER_LIST:
    case KEY_GROUP:
    case KEY_ITEMS:
    case KEY_DEFAULTS:
        break;
    }
}

static size_t sequence_length(const yaml_node_t *n)
{
    return (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
}

static const yaml_node_t *sequence_item(struct loader *l, const yaml_node_t *n, size_t i)
{
    return yaml_document_get_node(l->doc, n->data.sequence.items.start[i]);
}

static bool is_sequence(struct loader *l, const struct key *k, const yaml_node_t *n)
{
    if (n->type == YAML_SEQUENCE_NODE)
        return true;
    fault(l, n, k->name, "must be a list");
    return false;
}

static void set_list(struct loader *l, const struct key *k, const yaml_node_t *n, void *at)
{
    if (!is_sequence(l, k, n))
        return;
    size_t count = sequence_length(n);
    char **strings = mem_calloc(count + 1, sizeof(*strings));
    int *numbers = mem_calloc(count + 1, sizeof(*numbers));
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *item = sequence_item(l, n, i);
        const char *text = scalar(item);
        int64_t number = 0;
        strings[i] = mem_strdup(text ? text : "");
        if (!text)
            fault(l, item, k->name, "must be a list of plain values");
        else if (k->type == KEY_INTEGER_LIST && !value_integer(text, k->low, k->high, &number))
            fault(l, item, k->name, "'%s' is not an integer from %" PRId64 " to %" PRId64, text, k->low,
                  k->high);
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
    const char *text = scalar(n);
    if (k->type == KEY_STRING_LIST) {
        json_t *list = json_array();
        for (size_t i = 0; is_sequence(l, k, n) && i < sequence_length(n); i++) {
            const char *item = scalar(sequence_item(l, n, i));
            (void)json_array_append_new(list, json_string(item ? item : ""));
        }
        return list;
    }
    if (!text) {
        fault(l, n, k->name, "must be a plain value");
        return NULL;
    }
    if (k->type == KEY_STRING)
        return json_string(text);
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
    fault(l, n, name, "unknown key; known here: %s", known);
    free(known);
}

static void load_defaults(struct loader *l, const struct key *k, const yaml_node_t *n, void *at)
{
    if (n->type != YAML_MAPPING_NODE) {
        fault(l, n, k->name, "must be a mapping");
        return;
    }
    json_t *defaults = json_object();
    for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
        const yaml_node_t *name_node = yaml_document_get_node(l->doc, p->key);
        const char *name = scalar(name_node);
        const struct key *member = name ? find_key(k->group, name) : NULL;
        if (!member)
            report_unknown(l, k->group, name_node, name ? name : "?");
        else
            json_set_take(defaults, name, default_value(l, member, yaml_document_get_node(l->doc, p->value)));
    }
    json_decref(*(json_t **)at);
    *(json_t **)at = defaults;
}

static void apply_presets(const struct key_group *g, void *base, struct loader *l)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct key *k = &g->keys[i];
        if (k->preset)
            set_scalar(l, k, NULL, k->preset, (char *)base + k->offset);
        if (k->type == KEY_GROUP)
            apply_presets(k->group, base, l);
    }
}

static void load_items(struct loader *l, const struct key *k, const yaml_node_t *n)
{
    if (!is_sequence(l, k, n))
        return;
    size_t count = sequence_length(n);
    bool accounts = k->group == &config_account_group;
    size_t size = accounts ? sizeof(struct config_account) : sizeof(struct config_project);
    char *items = mem_calloc(count, size);
    for (size_t i = 0; i < count; i++) {
        apply_presets(k->group, items + i * size, l);
        load_group(l, k->group, sequence_item(l, n, i), k->name, items + i * size);
    }
    if (accounts) {
        l->config->accounts = (struct config_account *)(void *)items;
        l->config->account_count = count;
    } else {
        l->config->projects = (struct config_project *)(void *)items;
        l->config->project_count = count;
    }
    if (!count)
        fault(l, n, k->name, "must have at least one entry");
}

static void load_key(struct loader *l, const struct key *k, const yaml_node_t *n, void *base)
{
    void *at = (char *)base + k->offset;
    const char *text = scalar(n);
    switch (k->type) {
    case KEY_GROUP:
        load_group(l, k->group, n, k->name, base);
        break;
    case KEY_ITEMS:
        load_items(l, k, n);
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
    case KEY_WORD:
        if (!text)
            fault(l, n, k->name, "must be a plain value");
        else if (strcmp(k->name, "account") != 0 || k->offset)
            set_scalar(l, k, n, text, at);
        break;
    }
}

static void load_group(struct loader *l, const struct key_group *g, const yaml_node_t *n, const char *where,
                       void *base)
{
    if (n->type != YAML_MAPPING_NODE) {
        fault(l, n, where, "must be a mapping");
        return;
    }
    bool *seen CLEANUP_FREE = mem_calloc(g->count, sizeof(*seen));
    for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
        const yaml_node_t *name_node = yaml_document_get_node(l->doc, p->key);
        const char *name = scalar(name_node);
        const struct key *k = name ? find_key(g, name) : NULL;
        if (!k) {
            report_unknown(l, g, name_node, name ? name : "?");
            continue;
        }
        if (seen[k - g->keys]) {
            fault(l, name_node, name, "is given twice");
            continue;
        }
        seen[k - g->keys] = true;
        load_key(l, k, yaml_document_get_node(l->doc, p->value), base);
    }
    for (size_t i = 0; i < g->count; i++)
        if (g->keys[i].required && !seen[i])
            fault(l, n, g->keys[i].name, "is required in %s", where);
}

/* ---- checks across keys ---- */

static const yaml_node_t *find_node(struct loader *l, const yaml_node_t *map, const char *key)
{
    if (!l->doc || !map || map->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
        const char *name = scalar(yaml_document_get_node(l->doc, p->key));
        if (name && !strcmp(name, key))
            return yaml_document_get_node(l->doc, p->value);
    }
    return NULL;
}

static const yaml_node_t *item_node(struct loader *l, const char *list, size_t i)
{
    if (!l->doc)
        return NULL;
    const yaml_node_t *n = find_node(l, yaml_document_get_root_node(l->doc), list);
    return n && n->type == YAML_SEQUENCE_NODE && i < sequence_length(n) ? sequence_item(l, n, i) : NULL;
}

static void check_name(struct loader *l, const yaml_node_t *node, const char *name)
{
    if (name && !matches("^[a-z0-9][a-z0-9-]{0,61}$", name))
        fault(l, node, "name", "'%s' must have 1 to 62 characters a-z, 0-9 and '-'", name);
}

static bool is_loopback_url(const char *url)
{
    return matches("^http://(127(\\.[0-9]{1,3}){3}|\\[::1\\]|localhost)(:[0-9]{1,5})?(/|$)", url);
}

static void check_url(struct loader *l, const yaml_node_t *node, struct config_account *a)
{
    static const char *const known[][2] = {{"public", "https://rest.cleura.cloud"},
                                           {"compliant", "https://rest.compliant.cleura.cloud"}};
    for (size_t i = 0; !a->url && a->cloud && i < ARRAY_LEN(known); i++)
        if (!strcmp(known[i][0], a->cloud))
            a->url = mem_strdup(known[i][1]);
    if (!a->url) {
        fault(l, node, "url", "is required for cloud '%s' (only public and compliant have a known one)",
              a->cloud ? a->cloud : "");
        return;
    }
    size_t len = strlen(a->url);
    while (len && a->url[len - 1] == '/')
        a->url[--len] = '\0';
    if (!matches("^https://[A-Za-z0-9.:-]+(/[A-Za-z0-9._/-]*)?$", a->url) && !is_loopback_url(a->url)) {
        const yaml_node_t *at = find_node(l, node, "url");
        fault(l, at ? at : node, "url", "'%s' must be https://host[:port], or http:// to a loopback address",
              a->url);
    }
}

/*
 * A credential that systemd makes for the unit (LoadCredential=) is no fault of a configuration that is
 * checked outside of it: it is there only while the unit runs, and for it alone.
 */
static bool passes_unread(struct loader *l, const yaml_node_t *at, const char *key, const char *path)
{
    if (!l->check || getenv("CREDENTIALS_DIRECTORY") ||
        !matches("^/run/(user/[0-9]+/)?credentials/[^/]+/[^/]+$", path))
        return false;
    (void)fprintf(l->errors, "%s:%zu: %s: note: not read: %s exists only inside the unit (LoadCredential=)\n",
                  l->file, at->start_mark.line + 1, key, path);
    return true;
}

static void load_password(struct loader *l, const yaml_node_t *node, struct config_account *a)
{
    char *error CLEANUP_FREE = NULL;
    if (a->password)
        return;
    if (a->password_file && a->password_env) {
        fault(l, node, "password_file", "give either password_file or password_env, not both");
    } else if (a->password_file) {
        const yaml_node_t *at = find_node(l, node, "password_file");
        if (passes_unread(l, at ? at : node, "password_file", a->password_file))
            return;
        (void)secret_file_read(a->password_file, PASSWORD_MAX, false, &a->password, &error);
        if (error)
            fault(l, at ? at : node, "password_file", "%s", error);
    } else if (a->password_env) {
        const char *value = getenv(a->password_env);
        a->password = mem_strdup(value && *value ? value : NULL);
        if (!a->password)
            fault(l, find_node(l, node, "password_env"), "password_env", "the environment has no %s",
                  a->password_env);
    } else if (!a->token_file) {
        fault(l, node, "password_file", "is required (or password_env, or token_file)");
    }
}

/* The file may be missing or empty: a token may be handed over later. */
static void check_token_file(struct loader *l, const yaml_node_t *node, const struct config_account *a)
{
    char *token CLEANUP_SECRET = NULL;
    char *error CLEANUP_FREE = NULL;
    if (!a->token_file || passes_unread(l, find_node(l, node, "token_file"), "token_file", a->token_file))
        return;
    if (secret_file_read(a->token_file, TOKEN_MAX, true, &token, &error) == SECRET_REFUSED)
        fault(l, find_node(l, node, "token_file"), "token_file", "%s", error);
}

static void check_accounts(struct loader *l)
{
    struct config *c = l->config;
    for (size_t i = 0; i < c->account_count; i++) {
        struct config_account *a = &c->accounts[i];
        const yaml_node_t *node = item_node(l, "accounts", i);
        check_name(l, node, a->name);
        for (size_t j = 0; j < i; j++)
            if (a->name && c->accounts[j].name && !strcmp(a->name, c->accounts[j].name))
                fault(l, node, "name", "account '%s' is given twice", a->name);
        if (a->cloud && !matches("^[A-Za-z0-9][A-Za-z0-9-]*$", a->cloud))
            fault(l, node, "cloud", "'%s' must be letters, digits and '-'", a->cloud);
        check_url(l, node, a);
        load_password(l, node, a);
        check_token_file(l, node, a);
    }
}

static void check_projects(struct loader *l)
{
    struct config *c = l->config;
    for (size_t i = 0; i < c->project_count; i++) {
        struct config_project *p = &c->projects[i];
        const yaml_node_t *node = item_node(l, "projects", i);
        const yaml_node_t *account_node = find_node(l, node, "account");
        const char *account = account_node ? scalar(account_node) : NULL;
        check_name(l, node, p->name);
        for (size_t j = 0; j < i; j++)
            if (p->name && c->projects[j].name && !strcmp(p->name, c->projects[j].name))
                fault(l, node, "name", "project '%s' is given twice", p->name);
        for (size_t j = 0; j < c->account_count && account; j++)
            if (c->accounts[j].name && !strcmp(account, c->accounts[j].name))
                p->account = &c->accounts[j];
        for (size_t j = 0; j < i; j++) {
            const struct config_project *other = &c->projects[j];
            if (p->account && p->account == other->account && p->region && other->region && p->project_id &&
                other->project_id && !strcmp(p->region, other->region) &&
                !strcmp(p->project_id, other->project_id))
                fault(l, node, "project_id", "is served as project '%s' already", other->name);
        }
        if (account && !p->account)
            fault(l, account_node, "account", "there is no account '%s'", account);
        if (p->project_id && !matches("^[0-9a-fA-F]{32}$", p->project_id))
            fault(l, node, "project_id", "'%s' must be 32 hex digits without dashes", p->project_id);
        if (p->region && !matches("^[A-Za-z0-9_-]{1,64}$", p->region))
            fault(l, node, "region", "'%s' is not a region tag such as Sto2", p->region);
    }
}

/* The node of a key at the top, or in a group there; NULL when the file lacks it. */
static const yaml_node_t *node_at(struct loader *l, const char *group, const char *key)
{
    const yaml_node_t *at = l->doc ? yaml_document_get_root_node(l->doc) : NULL;
    at = at && group ? find_node(l, at, group) : at;
    return at ? find_node(l, at, key) : NULL;
}

static void check_listen(struct loader *l)
{
    const yaml_node_t *node = node_at(l, NULL, "listen");
    const char *listen = l->config->listen;
    if (!matches("^(unix:/.+|\\[[0-9a-fA-F:]+\\]:[0-9]{1,5}|[0-9]{1,3}([.][0-9]{1,3}){3}:[0-9]{1,5})$",
                 listen))
        fault(l, node, "listen", "'%s' must be ADDRESS:PORT, [IPv6]:PORT or unix:/path", listen);
}

static void check_public_url(struct loader *l)
{
    const yaml_node_t *node = node_at(l, NULL, "public_url");
    char *url = l->config->public_url;
    if (!url)
        return;
    size_t len = strlen(url);
    while (len && url[len - 1] == '/')
        url[--len] = '\0';
    if (!matches("^https?://[]A-Za-z0-9.:[-]+(/[A-Za-z0-9._~/-]*)?$", url))
        fault(l, node, "public_url", "'%s' must be http(s)://host[:port][/path]", url);
}

static void check_origins(struct loader *l)
{
    const yaml_node_t *node = node_at(l, "cors", "origins");
    for (char *const *origin = l->config->cors.origins; origin && *origin; origin++)
        if (origin_fault(*origin))
            fault(l, node, "origins", "'%s' %s; an origin is like https://console.example.com", *origin,
                  origin_fault(*origin));
}

static void check_networks(struct loader *l)
{
    const yaml_node_t *proxies = node_at(l, NULL, "trusted_proxies");
    const yaml_node_t *allow = node_at(l, "webhooks", "allow");
    struct cidr cidr;
    for (char *const *one = l->config->trusted_proxies; one && *one; one++)
        if (strcmp(*one, CONFIG_LOCAL_PROXY) != 0 && !cidr_parse(*one, &cidr))
            fault(l, proxies, "trusted_proxies",
                  "'%s' must be a network such as 10.0.0.0/8, an address, or %s", *one, CONFIG_LOCAL_PROXY);
    for (char *const *one = l->config->webhooks.allow; one && *one; one++)
        if (strchr(*one, '/') && !cidr_parse(*one, &cidr))
            fault(l, allow, "allow", "'%s' is no network; one is like 10.0.0.0/8", *one);
}

static struct config *finish(struct loader *l)
{
    check_accounts(l);
    check_projects(l);
    check_listen(l);
    check_public_url(l);
    check_origins(l);
    check_networks(l);
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
    struct loader l = {.file = "environment", .errors = errors};
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
            fault(&l, NULL, needed[i].name,
                  "is not set (without --config the environment says what to serve)");
    if (l.faults)
        return NULL;
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
    return finish(&l);
}

static struct config *load_file(const char *path, FILE *file, bool check, FILE *errors)
{
    struct loader l = {.file = path, .errors = errors, .check = check};
    yaml_parser_t parser;
    yaml_document_t doc;
    struct config *config = NULL;
    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_input_file(&parser, file);
    if (!yaml_parser_load(&parser, &doc)) {
        (void)fprintf(errors, "%s:%zu: not YAML: %s\n", path, parser.problem_mark.line + 1,
                      parser.problem ? parser.problem : "?");
    } else {
        yaml_node_t *root = yaml_document_get_root_node(&doc);
        l.doc = &doc;
        (void)config_new(&l);
        if (root)
            load_group(&l, &config_root, root, "the configuration", l.config);
        else
            fault(&l, NULL, "accounts", "the file is empty");
        config = finish(&l);
        yaml_document_delete(&doc);
    }
    yaml_parser_delete(&parser);
    return config;
}

struct config *config_load(const char *path, bool check, FILE *errors)
{
    if (!path)
        return load_environment(errors);
    FILE *file = fopen(path, "re");
    if (!file) {
        (void)fprintf(errors, "%s: %s\n", path, strerror(errno));
        return NULL;
    }
    struct config *config = load_file(path, file, check, errors);
    (void)fclose(file);
    return config;
}
