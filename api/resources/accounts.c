/*
 * Accounts. A token may see the accounts of its projects; of each account, it may see only these projects.
 * Accounts are few and seldom read, so the list is made for each caller.
 */
#include "api/resources/handlers.h"

#include <string.h>

#include "api/api_private.h"
#include "api/auth.h"
#include "api/commands.h"
#include "api/reads.h"
#include "api/routes.h"
#include "base/mem.h"

/* Returns the names of the account's projects that the caller may see; *ret_all is true when these are all
 * projects of the account. */
static json_t *visible_projects(const struct request *r, const struct config_account *account, bool *ret_all)
{
    const struct config *config = api_config(r->api);
    json_t *names = json_array();
    *ret_all = true;
    for (size_t i = 0; i < config->project_count; i++) {
        const struct config_project *p = &config->projects[i];
        if (p->account != account)
            continue;
        if (api_token_sees_project(r->token, p->name))
            json_append_take(names, json_string(p->name));
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
    const struct config *config = api_config(r->api);
    for (size_t i = 0; i < config->account_count; i++)
        if (!strcmp(config->accounts[i].name, name))
            return &config->accounts[i];
    return NULL;
}

struct problem *handle_accounts(struct request *r)
{
    struct list_page page;
    struct problem *p = list_page_begin(&page, r);
    if (p)
        return p;
    const struct view_snapshot *s = view_enter(r->api->options.view);
    struct view_cursor place = view_seek(s, VIEW_ACCOUNTS, page.after.key);
    for (const struct view_entry *e = view_next(&place); e; e = view_next(&place)) {
        bool all;
        if (!strcmp(e->key, page.after.key))
            continue;
        if (list_page_is_full(&page))
            break;
        const struct config_account *account = find_account(r, e->blob->key);
        json_t *projects CLEANUP_JSON = account ? visible_projects(r, account, &all) : NULL;
        if (!projects || !is_visible(r, projects))
            continue;
        json_t *doc = json_parse_lenient(e->blob->body, e->blob->body_len, NULL);
        json_set_take(doc, "projects", json_incref(projects));
        list_page_add(&page, e->key, doc);
    }
    view_leave(r->api->options.view);
    return list_page_end(&page);
}

/*
 * Posts the command of the route for the account in the path. A login affects every project of the account,
 * and sends an SMS to its owner. Therefore the caller must be able to see all these projects.
 */
struct problem *handle_account_command(struct request *r)
{
    bool all = false;
    const struct config_account *account = find_account(r, r->item);
    json_t *projects CLEANUP_JSON = account ? visible_projects(r, account, &all) : NULL;
    if (!projects || !is_visible(r, projects))
        return problem_new(PROBLEM_ACCOUNT_NOT_FOUND,
                           "There is no account of this name that the token may see.");
    if (!all)
        return problem_new(PROBLEM_FORBIDDEN,
                           "This operation needs the role admin for every project of the account.");
    struct command *cmd = request_command(r, r->route->command);
    cmd->name = mem_strdup(r->item);
    return request_park(r, cmd);
}
