/* Webhook subscriptions. A token sees those whose projects it sees, every one of them. */
#include "api/resources/handlers.h"

#include <stdio.h>
#include <string.h>

#include "api/api_private.h"
#include "api/list.h"
#include "api/problem_reply.h"
#include "api/reads.h"
#include "api/routes.h"
#include "base/mem.h"
#include "model/webhook.h"

static bool webhook_is_visible(struct request *r, const struct view_blob *blob)
{
    return subscription_is_visible(blob->subject, r->token->projects);
}

void handle_webhooks(struct request *r)
{
    list_reply(r, &(struct list_query){.section = VIEW_WEBHOOKS, .wanted = webhook_is_visible});
}

void handle_webhook_create(struct request *r)
{
    request_park(r, request_command(r, COMMAND_WEBHOOK_CREATE));
}

/* The webhook of the path, or NULL after a 404. */
static struct view_blob *find_webhook(struct request *r)
{
    struct view_blob *blob = read_blob(r, VIEW_WEBHOOKS, r->item);
    if (blob && webhook_is_visible(r, blob))
        return blob;
    view_blob_unref(blob);
    respond_with(r, PROBLEM_WEBHOOK_NOT_FOUND, "There is no webhook of this id that the token may see.");
    return NULL;
}

void handle_webhook(struct request *r)
{
    struct view_blob *blob = find_webhook(r);
    if (blob)
        reply_blob(r, blob);
}

/* NULL after an answer. What If-Match named here is compared again when it is decided. */
static struct command *command_about(struct request *r, enum command_type type)
{
    struct view_blob *blob = find_webhook(r);
    struct command *cmd = NULL;
    if (blob && (r->route->method == METHOD_GET || answer_allows_write(r, blob->etag))) {
        const struct subscription *s = blob->subject;
        cmd = request_command(r, type);
        bool names_version = cmd->if_match && strcmp(cmd->if_match, "*") != 0;
        cmd->expected_version = names_version && r->route->method != METHOD_GET ? s->version : 0;
        cmd->item = mem_strdup(r->delivery);
    }
    view_blob_unref(blob);
    return cmd;
}

static void ask(struct request *r, enum command_type type)
{
    struct command *cmd = command_about(r, type);
    if (cmd)
        request_park(r, cmd);
}

void handle_webhook_patch(struct request *r)
{
    ask(r, COMMAND_WEBHOOK_PATCH);
}

void handle_webhook_delete(struct request *r)
{
    ask(r, COMMAND_WEBHOOK_DELETE);
}

void handle_webhook_enable(struct request *r)
{
    ask(r, COMMAND_WEBHOOK_ENABLE);
}

void handle_webhook_rotate(struct request *r)
{
    ask(r, COMMAND_WEBHOOK_ROTATE);
}

void handle_webhook_test(struct request *r)
{
    ask(r, COMMAND_WEBHOOK_TEST);
}

void handle_webhook_recover(struct request *r)
{
    ask(r, COMMAND_WEBHOOK_RECOVER);
}

/* ---- deliveries ---- */

void handle_delivery(struct request *r)
{
    ask(r, COMMAND_DELIVERY);
}

void handle_redeliver(struct request *r)
{
    ask(r, COMMAND_REDELIVER);
}

static bool finish_page(struct request *r, struct command *cmd)
{
    if (!cmd->answer)
        return false;
    struct buffer out CLEANUP_BUFFER;
    size_t len = strlen(cmd->answer);
    struct cursor_place next = {.number_count = 0};
    list_open(&out);
    if (len > 2) /* without its brackets */
        list_add(&out, cmd->answer + 1, len - 2);
    bool more = cmd->next_id[0] && cursor_place_set(&next, cmd->next_id);
    list_close(r, &out, more ? &next : NULL);
    return true;
}

void handle_deliveries(struct request *r)
{
    struct cursor_place place;
    if (!list_place(r, &place))
        return;
    struct command *cmd = command_about(r, COMMAND_DELIVERIES);
    if (!cmd)
        return;
    bool by_status = r->params.given[PARAM_DELIVERY_STATUS];
    (void)snprintf(cmd->deliveries.before, sizeof(cmd->deliveries.before), "%.39s", place.key);
    cmd->deliveries.limit = (int)param_number(&r->params, PARAM_LIMIT);
    cmd->deliveries.status =
        by_status ? __builtin_ctzll((unsigned long long)r->params.numbers[PARAM_DELIVERY_STATUS]) : -1;
    r->finish = finish_page;
    request_park(r, cmd);
}
