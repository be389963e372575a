/* Webhooks. A token can see a webhook only if it may see all projects of the webhook. */
#include "api/resources/handlers.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/reads.h"
#include "api/routes.h"
#include "base/mem.h"
#include "model/webhook.h"

struct problem *handle_webhooks(struct request *r)
{
    struct list_view list;
    struct problem *p = list_view_begin(&list, r, &(struct list_query){.section = VIEW_WEBHOOKS});
    if (p)
        return p;
    for (const struct view_entry *e = list_view_next(&list); e; e = list_view_next(&list))
        if (subscription_is_visible(e->subject, r->token->projects) &&
            param_has_value(&r->params, PARAM_WEBHOOK_STATE, (int)subscription_state(e->subject)))
            list_view_add(&list, e);
    return list_view_end(&list);
}

/* Finds the webhook of the path. */
static struct problem *find_webhook(struct request *r, struct view_blob **ret)
{
    assert(r->item);
    struct view_blob *blob = read_blob(r, VIEW_WEBHOOKS, r->item);
    if (blob && subscription_is_visible(blob->subject, r->token->projects)) {
        *ret = blob;
        return NULL;
    }
    view_blob_unref(blob);
    return problem_new(PROBLEM_WEBHOOK_NOT_FOUND, "There is no webhook of this id that the token may see.");
}

struct problem *handle_webhook(struct request *r)
{
    struct view_blob *blob;
    struct problem *p = find_webhook(r, &blob);
    return p ? p : answer_with_blob(r, blob);
}

/* Makes the command of the route for the webhook of the path. */
static struct problem *command_about(struct request *r, struct command **ret)
{
    struct view_blob *blob;
    struct problem *p = find_webhook(r, &blob);
    if (p)
        return p;
    view_blob_unref(blob);
    struct command *cmd = *ret = request_command(r, r->route->command);
    cmd->webhook.delivery = mem_strdup(r->delivery);
    return NULL;
}

struct problem *handle_webhook_command(struct request *r)
{
    struct command *cmd;
    struct problem *p = command_about(r, &cmd);
    return p ? p : request_park(r, cmd);
}

/* ---- deliveries ---- */

static struct problem *finish_deliveries_page(struct request *r, struct command *cmd)
{
    return cmd->reply.text ? list_answer_array(r, cmd->reply.text, cmd->webhook.page.next) : NULL;
}

struct problem *handle_deliveries(struct request *r)
{
    struct cursor_place place;
    struct command *cmd;
    struct problem *p = list_place(r, &place);
    if (!p)
        p = command_about(r, &cmd);
    if (p)
        return p;
    bool by_status = r->params.given[PARAM_DELIVERY_STATUS];
    (void)snprintf(cmd->webhook.page.before, sizeof(cmd->webhook.page.before), "%.39s", place.key);
    cmd->webhook.page.limit = (int)param_number(&r->params, PARAM_LIMIT);
    cmd->webhook.page.status =
        by_status ? __builtin_ctzll((unsigned long long)r->params.numbers[PARAM_DELIVERY_STATUS]) : -1;
    r->finish = finish_deliveries_page;
    return request_park(r, cmd);
}
