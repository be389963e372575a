/*
 * Accounts: a token sees those with a project that it sees, and of their projects only these. Accounts are
 * few and rarely looked at, so that their list is made anew for each caller.
 */
#include "api/resources/handlers.h"

#include <string.h>

#include "api/commands.h"
#include "api/auth.h"
#include "api/api_private.h"
#include "api/list.h"
#include "api/reads.h"
#include "base/mem.h"

/* The names of the account's projects that the caller sees; *ret_all tells whether these are all of them. */
static json_t *visible_projects(const struct request *r, const struct config_account *account, bool *ret_all)
{
    const struct config *config = r->api->options.config;
    json_t *names = json_array();
    *ret_all = true;
    for (size_t i = 0; i < config->project_count; i++) {
        const struct config_project *p = &config->projects[i];
        if (p->account != account)
            continue;
        if (api_token_sees_project(r->token, p->name))
            (void)json_array_append_new(names, json_string(p->name));
        else
            *ret_all = false;
    }
    return names;
}

static bool is_visible(const struct request *r, const json_t *projects)
{
    return json_array_size(projects) || api_token_sees_project(r->token, "*");
}

static const struct config_account *find_account(const struct request *r, const char *name)
{
    const struct config *config = r->api->options.config;
    for (size_t i = 0; i < config->account_count; i++)
        if (!strcmp(config->accounts[i].name, name))
            return &config->accounts[i];
    return NULL;
}

/* Adds the account of a view entry; false when the caller does not see it. */
static bool add_account(struct request *r, const struct view_blob *blob, struct buffer *out)
{
    bool all;
    const struct config_account *account = find_account(r, blob->key);
    json_t *projects CLEANUP_JSON = account ? visible_projects(r, account, &all) : NULL;
    if (!projects || !is_visible(r, projects))
        return false;
    json_t *doc CLEANUP_JSON = json_parse_lenient(blob->body, blob->body_len, NULL);
    json_set_take(doc, "projects", json_incref(projects));
    char *text CLEANUP_FREE = json_text(doc);
    list_add(out, text, strlen(text));
    return true;
}

struct problem *handle_accounts(struct request *r)
{
    struct cursor_place after, next = {.number_count = 0};
    struct problem *p = list_place(r, &after);
    if (p)
        return p;
    struct buffer out CLEANUP_BUFFER;
    list_open(&out);
    int64_t left = param_number(&r->params, PARAM_LIMIT);
    const struct view_snapshot *s = view_enter(r->api->options.view);
    struct view_cursor place = view_seek(s, VIEW_ACCOUNTS, after.key);
    const struct view_entry *e = NULL;
    const char *shown = NULL;
    while (left > 0 && (e = view_next(&place))) {
        if (!strcmp(e->key, after.key) || !add_account(r, e->blob, &out))
            continue;
        shown = e->key;
        left--;
    }
    bool more = shown && view_next(&place) && cursor_place_set(&next, shown);
    view_leave(r->api->options.view);
    return list_close(r, &out, more ? &next : NULL);
}

/*
 * Parks the command for the account of the path. A login is felt by every project of the account and by the
 * phone of its owner: who asks must see them all.
 */
static struct problem *park_for_account(struct request *r, enum command_type type)
{
    bool all = false;
    const struct config_account *account = find_account(r, r->item);
    json_t *projects CLEANUP_JSON = account ? visible_projects(r, account, &all) : NULL;
    if (!projects || !is_visible(r, projects))
        return problem_new(PROBLEM_ACCOUNT_NOT_FOUND,
                           "There is no account of this name that the token may see.");
    if (!all) {
        report_denied(r, PROBLEM_FORBIDDEN);
        return problem_new(PROBLEM_FORBIDDEN,
                           "This operation needs the role admin for every project of the account.");
    }
    struct command *cmd = request_command(r, type);
    cmd->name = mem_strdup(r->item);
    return request_park(r, cmd);
}

struct problem *handle_account_login(struct request *r)
{
    return park_for_account(r, COMMAND_ACCOUNT_LOGIN);
}

struct problem *handle_account_verify(struct request *r)
{
    return park_for_account(r, COMMAND_ACCOUNT_VERIFY);
}
