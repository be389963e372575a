/* Pages of stored events, as arrays and as blocks of a stream. Loop thread. */
#include <assert.h>

#include "base/log.h"
#include "reconcile/answers/reply.h"
#include "reconcile/answers/store_query.h"
#include "reconcile/commands/decide.h"
#include "reconcile/world/deciders.h"
#include "reconcile/world/world.h"
#include "view/render.h"

/* Returns the number of the last event that the query has searched for the page. When the page is not full,
 * the query has searched all later events, unless it reached its limit. A query with the newest events first
 * does not search later events. */
static int64_t looked_up_to(const struct command *cmd, const struct event_page *page)
{
    assert(page->count <= (size_t)cmd->events.limit);
    if (cmd->events.newest_first)
        return page->newest;
    if (page->count == (size_t)cmd->events.limit)
        return page->events[page->count - 1].sequence;
    if (page->cut)
        return page->cut;
    if (cmd->events.until)
        return page->count ? page->events[page->count - 1].sequence : cmd->events.after;
    return page->newest > cmd->events.after ? page->newest : cmd->events.after;
}

static char *page_items(const struct event_page *page)
{
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, SIZE_MAX);
    buffer_add_str(&out, "[");
    for (size_t i = 0; i < page->count; i++) {
        buffer_add_str(&out, i ? "," : "");
        render_event_item(&out, &page->events[i]);
    }
    buffer_add_str(&out, "]");
    return buffer_take(&out, NULL);
}

static char *page_stream(const struct event_page *page)
{
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, SIZE_MAX);
    for (size_t i = 0; i < page->count; i++)
        render_event_stream(&out, &page->events[i]);
    return buffer_take(&out, NULL);
}

static void set_places(struct command *cmd, const struct event_page *page)
{
    const bool full = page->count == (size_t)cmd->events.limit;
    cmd->events.next = full ? page->events[page->count - 1].sequence : page->cut;
    cmd->events.last = looked_up_to(cmd, page);
    cmd->events.oldest = page->oldest;
    cmd->events.newest = page->newest;
    cmd->events.base = page->base;
    cmd->events.count = page->count;
}

static struct problem *on_events_page(struct store_query *s)
{
    struct command *cmd = s->cmd;
    struct reconcile *r = cmd->decided_by;
    if (s->status != STORE_OK || !s->events)
        return problem_new(PROBLEM_STORE_UNAVAILABLE, "the event log cannot be read");
    feed_set_oldest(r->o.feed, s->events->oldest);
    cmd->reply.status = 200;
    cmd->reply.text = cmd->events.as_stream ? page_stream(s->events) : page_items(s->events);
    set_places(cmd, s->events);
    reply_give_back(cmd);
    return NULL;
}

struct problem *command_events(struct reconcile *r, struct command *cmd)
{
    const struct event_query query = {.after = cmd->events.after,
                                      .before = cmd->events.before,
                                      .newest_first = cmd->events.newest_first,
                                      .since = cmd->events.since,
                                      .until = cmd->events.until,
                                      .limit = cmd->events.limit,
                                      .types = cmd->events.types,
                                      .projects = cmd->events.projects,
                                      .cluster = cmd->events.cluster,
                                      .actors = cmd->events.actors,
                                      .targets = cmd->events.targets};
    storage_query_events(r->o.storage, &query, store_query_events, store_query_question(cmd, on_events_page));
    return NULL;
}

/* Reader thread. */
static void on_oldest_read(void *ctx, enum store_status status, struct event_page *page)
{
    if (status == STORE_OK && page)
        feed_set_oldest(ctx, page->oldest);
    event_page_free(page);
}

void event_log_purged(struct reconcile *r)
{
    const struct event_query query = {.after = INT64_MAX - 1, .limit = 1};
    storage_query_events(r->o.storage, &query, on_oldest_read, r->o.feed);
}
