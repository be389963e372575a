/* Webhook subscriptions. A token sees those whose projects it sees, every one of them. */
#include "api/handlers.h"

#include "api/api_private.h"
#include "api/list.h"
#include "api/problem_reply.h"
#include "api/reads.h"
#include "model/webhook.h"

static bool webhook_is_visible(struct request *r, const struct view_blob *blob)
{
    const struct subscription *s = blob->subject;
    if (!s->projects || !s->projects[0])
        return api_token_sees_project(r->token, "*");
    for (char *const *p = s->projects; *p; p++)
        if (!api_token_sees_project(r->token, *p))
            return false;
    return true;
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

void handle_webhook_delete(struct request *r)
{
    struct view_blob *blob = find_webhook(r);
    if (!blob)
        return;
    if (answer_allows_write(r, blob->etag))
        request_park(r, request_command(r, COMMAND_WEBHOOK_DELETE));
    view_blob_unref(blob);
}
