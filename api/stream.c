#include "api/streams.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/request.h"
#include "base/lock.h"
#include "base/mem.h"
#include "model/string_list.h"

enum {
    PAGE_EVENTS = 50, /* about 30 kB; each stream that reads old events has one page in memory */
    RETRY_MS = 2000,
    RETRY_SPREAD_MS = 3000, /* a random delay, so that streams that ended together do not return together */
    LIFETIME_SPREAD_PERCENT = 10,
};

static const struct {
    const char *name;
    const char *word; /* the reason that is sent to the client; NULL: no message, because the client has left,
                       * does not read, or must not return */
} ends[STREAM_END_MAX_] = {
    [STREAM_GOES_ON] = {"none", NULL},
    [STREAM_CLIENT] = {"client", NULL},
    [STREAM_LIFETIME] = {"lifetime", "end of the lifetime of a stream"},
    [STREAM_TOKEN] = {"token", NULL},
    [STREAM_SLOW] = {"slow", NULL},
    [STREAM_BEHIND] = {"behind", "too far behind: read faster, or narrow the filters"},
    [STREAM_STORE] = {"store", "the event log cannot be read now"},
    [STREAM_STOPPED] = {"stopped", "the server is being stopped"},
};

const char *stream_end_name(enum stream_end end)
{
    return ends[end].name;
}

/* ---- start and end ---- */

static struct api_stream *stream_of(struct event_stream *transport)
{
    return CONTAINER_OF(transport, struct api_stream, transport);
}

static void end_with(struct api_stream *s, enum stream_end why)
{
    assert(!s->end && why != STREAM_GOES_ON);
    s->end = why;
    s->transport.is_ended = true;
}

static bool begin_piece(struct api_stream *s, enum stream_piece kind, const char *bytes, size_t len)
{
    s->kind = kind;
    event_stream_begin(&s->transport, bytes, len);
    return true;
}

static bool begin_note(struct api_stream *s)
{
    return begin_piece(s, PIECE_NOTE, s->note, strlen(s->note));
}

static void stream_free(struct event_stream *transport)
{
    struct api_stream *s = stream_of(transport);
    string_list_free(s->asked.types);
    string_list_free(s->asked.projects);
    free(s->asked.cluster);
    feed_entry_unref(s->entry);
    free(s->page);
    view_blob_unref(s->caller);
    event_stream_done(transport);
    free(s);
}

/* ---- the next piece; the lock is held in all these functions ---- */

static void piece_taken(struct event_stream *transport)
{
    struct api_stream *s = stream_of(transport);
    switch (s->kind) {
    case PIECE_NOTE:
        break;
    case PIECE_ENTRY:
        assert(s->entry);
        s->sent_position = s->position;
        feed_entry_unref(TAKE_PTR(s->entry));
        atomic_fetch_add(&s->counts->sent, 1);
        break;
    case PIECE_PAGE:
        assert(s->page);
        s->position = s->page_last;
        s->sent_position = 0;
        free(TAKE_PTR(s->page));
        atomic_fetch_add(&s->counts->sent, s->page_count);
        break;
    }
}

static bool say_goodbye(struct api_stream *s)
{
    const char *word = ends[s->end].word;
    if (s->end_sent || !word)
        return false;
    s->end_sent = true;
    unsigned retry = RETRY_MS / 2 + (unsigned)env_random_below(s->api->options.env, RETRY_SPREAD_MS);
    (void)snprintf(s->note, sizeof(s->note), ": %s\nid: %" PRId64 "\nretry: %u\n\n", word, s->position,
                   retry);
    return begin_note(s);
}

static bool say_reset(struct api_stream *s)
{
    s->reset = false;
    s->position = s->reset_newest;
    s->sent_position = s->position;
    (void)snprintf(s->note, sizeof(s->note),
                   "id: %" PRId64 "\nevent: reset\ndata: {\"oldest_sequence\":%" PRId64
                   ",\"newest_sequence\":%" PRId64 "}\n\n",
                   s->position, s->reset_oldest, s->reset_newest);
    return begin_note(s);
}

/* Makes a heartbeat. When the stream has skipped events that are not for this client, the heartbeat contains
 * the position (AO-20, AO-23). */
static bool say_heartbeat(struct api_stream *s)
{
    s->heartbeat_is_due = false;
    if (s->sent_position == s->position)
        (void)snprintf(s->note, sizeof(s->note), ":\n\n");
    else
        (void)snprintf(s->note, sizeof(s->note), ":\nid: %" PRId64 "\n\n", s->position);
    s->sent_position = s->position;
    return begin_note(s);
}

static bool lists(char *const *names, const char *name)
{
    for (; name && *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

static bool wants(const struct api_stream *s, const struct feed_entry *e)
{
    return s->types & UINT64_C(1) << e->type &&
           (!s->asked.projects || lists(s->asked.projects, e->project)) &&
           (!s->asked.cluster || (e->cluster && !strcmp(s->asked.cluster, e->cluster)));
}

/* The client's position is older than the stored events, or comes from another log (AO-22). */
static bool is_not_in_log(const struct api_stream *s, const struct command_events *page)
{
    return s->position > page->newest || s->position < page->base ||
           (s->position < page->newest && (!page->oldest || s->position + 1 < page->oldest));
}

/* Returns the reason for the end of a stream that could not read a page. */
static enum stream_end end_of_problem(const struct command *cmd)
{
    if (cmd->denied)
        return STREAM_TOKEN;
    return cmd->reply.problem->code == PROBLEM_SHUTTING_DOWN ? STREAM_STOPPED : STREAM_STORE;
}

/* Loop thread. */
static void on_stream_page(struct command *cmd)
{
    struct api_stream *s = cmd->ctx;
    mutex_lock(&s->transport.lock);
    assert(s->page_is_wanted && !s->page);
    s->page_is_wanted = false;
    if (cmd->reply.problem && !s->end) {
        end_with(s, end_of_problem(cmd));
    } else if (!cmd->reply.problem && is_not_in_log(s, &cmd->events)) {
        s->reset = true;
        s->reset_oldest = cmd->events.oldest;
        s->reset_newest = cmd->events.newest;
    } else if (!cmd->reply.problem) {
        s->page = TAKE_PTR(cmd->reply.text);
        s->page_count = cmd->events.count;
        s->page_last = cmd->events.last;
    }
    event_stream_resume(&s->transport);
    mutex_unlock(&s->transport.lock);
    command_free(cmd);
    event_stream_unref(&s->transport);
}

/* Requests a page. The stream sends nothing until the page has come. */
static void want_page(struct api_stream *s)
{
    struct request *r = CONTAINER_OF(s->transport.request, struct request, http);
    struct command *cmd = request_command(r, COMMAND_EVENTS);
    assert(!s->page_is_wanted && !s->page);
    cmd->events.after = s->position;
    cmd->events.limit = PAGE_EVENTS;
    cmd->events.types = string_list_copy(s->asked.types);
    cmd->events.projects = string_list_copy(s->asked.projects);
    cmd->events.cluster = mem_strdup(s->asked.cluster);
    cmd->events.as_stream = true;
    cmd->give_back = on_stream_page;
    event_stream_ref(&s->transport);
    cmd->ctx = s;
    s->page_is_wanted = true;
    s->is_unchecked = false;
    s->api->options.post(s->api->options.post_ctx, cmd);
}

/* Takes the next entry of the feed that matches the stream. */
static bool take_entry(struct api_stream *s)
{
    struct api *api = s->api;
    for (;;) {
        struct feed_entry *e = NULL;
        switch (feed_next(api->options.feed, s->position, &e)) {
        case FEED_ENTRY:
            s->position = e->sequence;
            if (wants(s, e)) {
                s->entry = e;
                return begin_piece(s, PIECE_ENTRY, e->text, e->len);
            }
            feed_entry_unref(e);
            break;
        case FEED_END:
            s->was_live = true;
            return false;
        case FEED_BEHIND:
            if (s->was_live && feed_newest(api->options.feed) - s->position > api->limits.stream_backlog)
                end_with(s, STREAM_BEHIND);
            else
                want_page(s);
            return s->end && say_goodbye(s);
        }
    }
}

static bool next_piece(struct event_stream *transport)
{
    struct api_stream *s = stream_of(transport);
    if (!s->end && http_is_draining(transport->request))
        end_with(s, STREAM_STOPPED);
    if (s->end)
        return say_goodbye(s);
    if (s->reset)
        return say_reset(s);
    if (s->page)
        return begin_piece(s, PIECE_PAGE, s->page, strlen(s->page));
    if (s->is_unchecked)
        want_page(s);
    if (!s->page_is_wanted && take_entry(s))
        return true;
    return s->heartbeat_is_due && !s->end && say_heartbeat(s);
}

static const struct event_stream_content content = {
    .next = next_piece,
    .taken = piece_taken,
    .free = stream_free,
};

_Static_assert((int)EVENT_TYPE_MAX_ <= 64, "a type of event is a bit of 64");

struct api_stream *stream_new(struct request *r, struct stream_counts *counts, struct command_events *asked,
                              int64_t position)
{
    const struct api *api = r->api;
    const struct env *env = api->options.env;
    struct api_stream *s = MEM_NEW(struct api_stream);
    event_stream_init(&s->transport, &content, &r->http);
    list_init(&s->link);
    s->api = r->api;
    s->counts = counts;
    memcpy(s->token_digest, r->token->digest, sizeof(s->token_digest));
    s->caller = r->token->issuer ? view_blob_ref(r->token_blob) : NULL;
    s->asked = *asked;
    *asked = (struct command_events){0};
    s->types = s->asked.types ? 0 : UINT64_MAX;
    for (char *const *name = s->asked.types; name && *name; name++) {
        int type = event_type_from_name(*name);
        assert(type > EVENT_NONE && type < EVENT_TYPE_MAX_);
        s->types |= UINT64_C(1) << type;
    }
    s->position = position;
    s->is_unchecked = position > feed_newest(api->options.feed);
    s->ends_at =
        env_mono(env) + env_jitter(env, atomic_load(&api->live.stream_lifetime_us), LIFETIME_SPREAD_PERCENT);
    /* The position is sent at once, so that a client that loses the stream before the first event misses no
     * event. */
    (void)snprintf(s->note, sizeof(s->note), "retry: %d\nid: %" PRId64 "\n\n", RETRY_MS, s->position);
    s->sent_position = s->position;
    (void)begin_note(s);
    return s;
}

/* ---- called by other threads ---- */

/* Called while the lock is held. Skips events that are not for this client, so that the stream is not woken
 * for them. */
static bool has_news(struct api_stream *s, struct feed_entry *const *batch, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (batch[i]->sequence <= s->position)
            continue;
        if (batch[i]->sequence > s->position + 1 || wants(s, batch[i]))
            return true;
        s->position = batch[i]->sequence;
    }
    return false;
}

void stream_check(struct api_stream *s, struct feed_entry *const *batch, size_t count, mono_us now)
{
    mutex_lock(&s->transport.lock);
    if (s->transport.state == EVENT_STREAM_SUSPENDED) {
        if (now >= s->transport.sent_at + atomic_load(&s->api->live.heartbeat_us))
            s->heartbeat_is_due = true;
        if (s->end || s->heartbeat_is_due || (!s->page_is_wanted && has_news(s, batch, count)))
            event_stream_resume(&s->transport);
    }
    mutex_unlock(&s->transport.lock);
}

void stream_end(struct api_stream *s, enum stream_end why)
{
    mutex_lock(&s->transport.lock);
    if (!s->end) {
        end_with(s, why);
        if (why == STREAM_TOKEN)
            event_stream_drop_piece(&s->transport); /* the client gets no more events; it does not use an
                                                     * incomplete block as an event (AO-20) */
        event_stream_resume(&s->transport);
    }
    mutex_unlock(&s->transport.lock);
}

void stream_cut(struct api_stream *s)
{
    mutex_lock(&s->transport.lock);
    event_stream_cut(&s->transport);
    mutex_unlock(&s->transport.lock);
}

enum stream_end stream_completed(struct api_stream *s)
{
    mutex_lock(&s->transport.lock);
    bool was_slow = event_stream_completed(&s->transport);
    if (!s->end)
        end_with(s, was_slow ? STREAM_SLOW : STREAM_CLIENT);
    enum stream_end end = s->end;
    mutex_unlock(&s->transport.lock);
    atomic_fetch_add(&s->counts->ended[end], 1);
    return end;
}
