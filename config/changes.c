#include "config/changes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/config_private.h"
#include "model/string_list.h"

/* These keys need a restart: they belong to sockets, files and threads that are made only at the start. */
static const char *const restart_keys[] = {"listen",
                                           "state_dir",
                                           "trusted_proxies",
                                           "log_format",
                                           "tls.certificate",
                                           "tls.key",
                                           "tls.client_ca",
                                           "limits.http_threads",
                                           "limits.connections",
                                           "limits.connections_per_address",
                                           "tracing.endpoint",
                                           "tracing.ratio"};

bool config_key_needs_restart(const char *path)
{
    return word_index(restart_keys, ARRAY_LEN(restart_keys), path) >= 0;
}

/* ---- values ---- */

static bool texts_equal(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool lists_equal(char *const *a, char *const *b)
{
    if (!a || !b)
        return (!a || !*a) && (!b || !*b);
    for (; *a && *b; a++, b++)
        if (strcmp(*a, *b) != 0)
            return false;
    return !*a && !*b;
}

static bool numbers_equal(const int *a, const int *b)
{
    if (!a || !b)
        return (!a || !*a) && (!b || !*b);
    for (; *a && *a == *b; a++, b++)
        ;
    return *a == *b;
}

static bool entries_equal(const struct key_group *g, const void *a, const void *b);

static bool items_equal(const struct key_group *g, const struct key_items *a, const struct key_items *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++)
        equal = entries_equal(g, a->first + i * g->size, b->first + i * g->size);
    return equal;
}

static bool values_equal(const struct key *k, const void *a, const void *b)
{
    switch (k->type) {
    case KEY_STRING:
        return texts_equal(*(char *const *)a, *(char *const *)b);
    case KEY_INTEGER:
    case KEY_RATIO:
    case KEY_WORD:
        return *(const int *)a == *(const int *)b;
    case KEY_BOOL:
        return *(const bool *)a == *(const bool *)b;
    case KEY_DURATION:
        return *(const int64_t *)a == *(const int64_t *)b;
    case KEY_STRING_LIST:
        return lists_equal(*(char **const *)a, *(char **const *)b);
    case KEY_INTEGER_LIST:
        return numbers_equal(*(int *const *)a, *(int *const *)b);
    case KEY_DEFAULTS:
        return *(json_t *const *)a == *(json_t *const *)b ||
               json_equal(*(json_t *const *)a, *(json_t *const *)b);
    case KEY_ITEMS:
        return items_equal(k->group, a, b);
    case KEY_GROUP:
    case KEY_REFERENCE:
        break;
    }
    assert(!"a key with a value");
    return false;
}

/* Copies the current value into the next configuration. Handles only the types of the keys that need a
 * restart. */
static void keep_value(const struct key *k, const void *now, void *next)
{
    if (k->type == KEY_STRING) {
        mem_set_str(next, *(char *const *)now);
    } else if (k->type == KEY_STRING_LIST) {
        string_list_free(*(char ***)next);
        *(char ***)next = string_list_copy(*(char **const *)now);
    } else {
        assert(k->type == KEY_INTEGER || k->type == KEY_RATIO || k->type == KEY_WORD);
        *(int *)next = *(const int *)now;
    }
}

/* ---- accounts and projects, by name ---- */

static bool entries_equal(const struct key_group *g, const void *a, const void *b)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->keys[i].type != KEY_REFERENCE &&
            !values_equal(&g->keys[i], (const char *)a + g->keys[i].offset,
                          (const char *)b + g->keys[i].offset))
            return false;
    return true;
}

static void note(json_t *list, const char *what, const char *name)
{
    char *path CLEANUP_FREE = name ? mem_printf("%s.%s", what, name) : mem_strdup(what);
    json_append_take(list, json_string(path));
}

static const struct config_account *find_account(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->account_count; i++)
        if (!strcmp(c->accounts[i].name, name))
            return &c->accounts[i];
    return NULL;
}

static void compare_accounts(const struct config *now, const struct config *next, json_t *applied)
{
    for (size_t i = 0; i < now->account_count; i++) {
        const struct config_account *before = &now->accounts[i], *behind = find_account(next, before->name);
        if (!behind || !texts_equal(before->password, behind->password) ||
            !entries_equal(&config_account_group, before, behind))
            note(applied, "accounts", before->name);
    }
    for (size_t i = 0; i < next->account_count; i++)
        if (!find_account(now, next->accounts[i].name))
            note(applied, "accounts", next->accounts[i].name);
}

static void compare_projects(const struct config *now, const struct config *next, json_t *applied)
{
    for (size_t i = 0; i < now->project_count; i++) {
        const struct config_project *before = &now->projects[i], *behind = config_project(next, before->name);
        if (!behind || strcmp(before->account->name, behind->account->name) != 0 ||
            !entries_equal(&config_project_group, before, behind))
            note(applied, "projects", before->name);
    }
    for (size_t i = 0; i < next->project_count; i++)
        if (!config_project(now, next->projects[i].name))
            note(applied, "projects", next->projects[i].name);
}

bool config_issuer_equal(const struct config_issuer *a, const struct config_issuer *b)
{
    return entries_equal(&config_issuer_group, a, b);
}

static bool clients_equal(const struct config *a, const struct config *b)
{
    bool equal = a->tls.client_count == b->tls.client_count;
    for (size_t i = 0; equal && i < a->tls.client_count; i++)
        equal = entries_equal(&config_client_group, &a->tls.clients[i], &b->tls.clients[i]);
    return equal;
}

/* ---- the whole configuration ---- */

static void compare_group(const struct key_group *g, const char *name, const struct config *now,
                          struct config *next, struct config_changes *ret)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct key *k = &g->keys[i];
        if (k->type == KEY_GROUP)
            compare_group(k->group, k->name, now, next, ret);
        if (k->type == KEY_GROUP || k->group == &config_account_group || k->group == &config_project_group)
            continue;
        const void *before = (const char *)now + k->offset;
        void *behind = (char *)next + k->offset;
        if (values_equal(k, before, behind))
            continue;
        char *path CLEANUP_FREE = name ? mem_printf("%s.%s", name, k->name) : mem_strdup(k->name);
        const bool restart = config_key_needs_restart(path);
        note(restart ? ret->restart_needed : ret->applied, path, NULL);
        if (restart)
            keep_value(k, before, behind);
    }
}

void config_compare(const struct config *now, struct config *next, struct config_changes *ret)
{
    *ret = (struct config_changes){json_array(), json_array()};
    compare_group(&config_root, NULL, now, next, ret);
    compare_accounts(now, next, ret->applied);
    compare_projects(now, next, ret->applied);
    next->tls.clients_generation = now->tls.clients_generation + !clients_equal(now, next);
}

void config_changes_done(struct config_changes *changes)
{
    json_decref(changes->applied);
    json_decref(changes->restart_needed);
    *changes = (struct config_changes){0};
}
