#include "api/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/request.h"
#include "base/mem.h"

enum {
    PAGE_EVENTS = 50, /* some 30 kB; every stream that catches up holds one */
    RETRY_MS = 2000,
    RETRY_SPREAD_MS = 3000, /* those that were ended together do not come back together */
    LIFETIME_SPREAD_PERCENT = 10,
};

static const struct {
    const char *name;
    const char *word; /* to the client; NULL: it is not there, or is not to come again */
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

/* ---- life ---- */

static uint64_t types_of(const struct command_events *asked)
{
    uint64_t bits = 0;
    for (char *const *name = asked->types; name && *name; name++)
        bits |= UINT64_C(1) << event_type_from_name(*name);
    return asked->types ? bits : UINT64_MAX;
}

/* Right at the beginning, so that a client that loses the stream before the first event loses nothing. */
static void greet(struct stream *s)
{
    (void)snprintf(s->note, sizeof(s->note), "retry: %d\nid: %" PRId64 "\n\n", RETRY_MS, s->position);
    s->rest = s->note;
    s->rest_len = strlen(s->note);
    s->told = s->position;
}

struct stream *stream_new(struct request *r, struct stream_counts *counts, struct command_events *asked,
                          int64_t position)
{
    const struct env *env = r->api->options.env;
    struct stream *s = MEM_NEW(struct stream);
    list_init(&s->link);
    atomic_init(&s->refs, 1);
    s->counts = counts;
    (void)pthread_mutex_init(&s->lock, NULL);
    s->request = r;
    memcpy(s->token_digest, r->token->digest, sizeof(s->token_digest));
    s->asked = *asked;
    *asked = (struct command_events){0};
    s->types = types_of(&s->asked);
    s->position = position;
    s->is_unchecked = position > feed_newest(r->api->options.feed);
    s->heartbeat_at = env_mono(env) + r->api->limits.heartbeat_us;
    s->ends_at = env_mono(env) + env_jitter(env, r->api->limits.stream_lifetime_us, LIFETIME_SPREAD_PERCENT);
    greet(s);
    return s;
}

struct stream *stream_ref(struct stream *s)
{
    atomic_fetch_add(&s->refs, 1);
    return s;
}

void stream_unref(struct stream *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    string_list_free(s->asked.types);
    string_list_free(s->asked.projects);
    free(s->asked.cluster);
    feed_entry_unref(s->entry);
    free(s->page);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

void stream_response_free(void *cls)
{
    stream_unref(cls);
}

/* ---- suspending and resuming; all under the lock ---- */

/* False when the connection was shut down meanwhile. */
static bool suspend(struct stream *s)
{
    struct request *r = s->request;
    if (r->peer && !connection_enter(r->peer, PHASE_CONN_WORK))
        return false;
    s->state = STREAM_SUSPENDED;
    atomic_fetch_add(&s->counts->suspended, 1);
    MHD_suspend_connection(r->mhd);
    return true;
}

static void resume(struct stream *s)
{
    if (s->state != STREAM_SUSPENDED || !s->request)
        return;
    s->state = STREAM_RESUMED;
    MHD_resume_connection(s->request->mhd);
}

/* The connection's worker has it again. */
static void note_resumed(struct stream *s)
{
    if (s->state != STREAM_RUNS)
        atomic_fetch_sub(&s->counts->suspended, 1);
    s->state = STREAM_RUNS;
}

/* ---- what comes next; all under the lock ---- */

static bool begin_piece(struct stream *s, enum stream_piece kind, const char *bytes, size_t len)
{
    s->kind = kind;
    s->rest = bytes;
    s->rest_len = len;
    return true;
}

static bool begin_note(struct stream *s)
{
    return begin_piece(s, PIECE_NOTE, s->note, strlen(s->note));
}

static void end_piece(struct stream *s)
{
    switch (s->kind) {
    case PIECE_NOTE:
        break;
    case PIECE_ENTRY:
        s->told = s->position;
        feed_entry_unref(TAKE_PTR(s->entry));
        atomic_fetch_add(&s->counts->sent, 1);
        break;
    case PIECE_PAGE:
        s->position = s->page_last;
        s->told = 0;
        free(TAKE_PTR(s->page));
        atomic_fetch_add(&s->counts->sent, s->page_count);
        break;
    }
}

static bool say_goodbye(struct stream *s)
{
    const char *word = ends[s->end].word;
    if (s->end_told || !word)
        return false;
    s->end_told = true;
    unsigned retry = RETRY_MS / 2 + (unsigned)env_random_below(s->request->api->options.env, RETRY_SPREAD_MS);
    (void)snprintf(s->note, sizeof(s->note), ": %s\nid: %" PRId64 "\nretry: %u\n\n", word, s->position,
                   retry);
    return begin_note(s);
}

static bool say_reset(struct stream *s)
{
    s->reset = false;
    s->position = s->reset_newest;
    s->told = s->position;
    (void)snprintf(s->note, sizeof(s->note),
                   "id: %" PRId64 "\nevent: reset\ndata: {\"oldest_sequence\":%" PRId64
                   ",\"newest_sequence\":%" PRId64 "}\n\n",
                   s->position, s->reset_oldest, s->reset_newest);
    return begin_note(s);
}

/* With the position where that has moved on over events that are not for this client (AO-20, AO-23). */
static bool say_heartbeat(struct stream *s)
{
    s->heartbeat_is_due = false;
    if (s->told == s->position)
        (void)snprintf(s->note, sizeof(s->note), ":\n\n");
    else
        (void)snprintf(s->note, sizeof(s->note), ":\nid: %" PRId64 "\n\n", s->position);
    s->told = s->position;
    return begin_note(s);
}

static bool lists(char *const *names, const char *name)
{
    for (; name && *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

static bool wants(const struct stream *s, const struct feed_entry *e)
{
    return s->types & UINT64_C(1) << e->type &&
           (!s->asked.projects || lists(s->asked.projects, e->project)) &&
           (!s->asked.cluster || (e->cluster && !strcmp(s->asked.cluster, e->cluster)));
}

/* The client's position is older than what is kept, or is from another log than this one (AO-22). */
static bool is_not_in_log(const struct stream *s, const struct command_events *page)
{
    return s->position > page->newest ||
           (s->position < page->newest && (!page->oldest || s->position + 1 < page->oldest));
}

/* Loop thread. */
static void on_page(struct command *cmd)
{
    struct stream *s = cmd->ctx;
    (void)pthread_mutex_lock(&s->lock);
    s->page_is_wanted = false;
    if (cmd->problem && !s->end) {
        s->end = cmd->problem->code == PROBLEM_SHUTTING_DOWN ? STREAM_STOPPED : STREAM_STORE;
    } else if (!cmd->problem && is_not_in_log(s, &cmd->events)) {
        s->reset = true;
        s->reset_oldest = cmd->events.oldest;
        s->reset_newest = cmd->events.newest;
    } else if (!cmd->problem) {
        s->page = TAKE_PTR(cmd->answer);
        s->page_count = cmd->events.count;
        s->page_last = cmd->events.last;
    }
    resume(s);
    (void)pthread_mutex_unlock(&s->lock);
    command_free(cmd);
    stream_unref(s);
}

/* The stream stays where it is until the page has come. */
static void want_page(struct stream *s)
{
    struct request *r = s->request;
    struct command *cmd = request_command(r, COMMAND_EVENTS);
    cmd->events.after = s->position;
    cmd->events.limit = PAGE_EVENTS;
    cmd->events.types = string_list_copy(s->asked.types);
    cmd->events.projects = string_list_copy(s->asked.projects);
    cmd->events.cluster = mem_strdup(s->asked.cluster);
    cmd->events.as_stream = true;
    cmd->reply = on_page;
    cmd->ctx = stream_ref(s);
    s->page_is_wanted = true;
    s->is_unchecked = false;
    r->api->options.post(r->api->options.post_ctx, cmd);
}

/* The next entry of the feed that this client wants. */
static bool take_entry(struct stream *s)
{
    struct api *api = s->request->api;
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
                s->end = STREAM_BEHIND;
            else
                want_page(s);
            return s->end && say_goodbye(s);
        }
    }
}

static bool next_piece(struct stream *s)
{
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

/* ---- reading ---- */

static size_t fill(struct stream *s, char *bytes, size_t max)
{
    size_t n = 0;
    while (n < max && (s->rest_len || next_piece(s))) {
        size_t len = s->rest_len < max - n ? s->rest_len : max - n;
        memcpy(bytes + n, s->rest, len);
        n += len;
        s->rest += len;
        s->rest_len -= len;
        if (!s->rest_len)
            end_piece(s);
    }
    return n;
}

static ssize_t read_locked(struct stream *s, char *bytes, size_t max)
{
    struct request *r = s->request;
    note_resumed(s);
    if (atomic_load(&r->api->draining) && !s->end)
        s->end = STREAM_STOPPED;
    size_t n = fill(s, bytes, max);
    if (!n)
        return s->end ? MHD_CONTENT_READER_END_OF_STREAM : suspend(s) ? 0 : MHD_CONTENT_READER_END_WITH_ERROR;
    s->bytes += n;
    s->heartbeat_is_due = false;
    s->heartbeat_at = env_mono(r->api->options.env) + r->api->limits.heartbeat_us;
    bool in_time = !r->peer || connection_enter(r->peer, PHASE_CONN_SEND);
    return in_time ? (ssize_t)n : MHD_CONTENT_READER_END_WITH_ERROR;
}

ssize_t stream_read(void *cls, uint64_t position, char *bytes, size_t max)
{
    struct stream *s = cls;
    (void)position;
    if (!s)
        return MHD_CONTENT_READER_END_OF_STREAM;
    (void)pthread_mutex_lock(&s->lock);
    ssize_t n = s->request ? read_locked(s, bytes, max) : MHD_CONTENT_READER_END_OF_STREAM;
    (void)pthread_mutex_unlock(&s->lock);
    return n;
}

/* ---- from outside ---- */

/* Under the lock. Passes over what is not for this client, so that it is not woken for it. */
static bool has_news(struct stream *s, struct feed_entry *const *batch, size_t count)
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

void stream_look(struct stream *s, struct feed_entry *const *batch, size_t count, mono_us now)
{
    (void)pthread_mutex_lock(&s->lock);
    if (s->state == STREAM_SUSPENDED) {
        if (now >= s->heartbeat_at)
            s->heartbeat_is_due = true;
        if (s->end || s->heartbeat_is_due || (!s->page_is_wanted && has_news(s, batch, count)))
            resume(s);
    }
    (void)pthread_mutex_unlock(&s->lock);
}

void stream_end(struct stream *s, enum stream_end why)
{
    (void)pthread_mutex_lock(&s->lock);
    if (!s->end) {
        s->end = why;
        if (why == STREAM_TOKEN)
            s->rest_len = 0; /* nothing more for this client; half a block is no event (AO-20) */
        resume(s);
    }
    (void)pthread_mutex_unlock(&s->lock);
}

void stream_cut(struct stream *s)
{
    (void)pthread_mutex_lock(&s->lock);
    if (s->end && s->state == STREAM_RUNS && s->request && s->request->peer)
        connection_expire(s->request->peer);
    (void)pthread_mutex_unlock(&s->lock);
}

enum stream_end stream_completed(struct stream *s)
{
    (void)pthread_mutex_lock(&s->lock);
    const struct request *r = s->request;
    if (!s->end)
        s->end = r->peer && connection_is_reaped(r->peer) ? STREAM_SLOW : STREAM_CLIENT;
    enum stream_end end = s->end;
    note_resumed(s);
    s->request = NULL;
    (void)pthread_mutex_unlock(&s->lock);
    atomic_fetch_add(&s->counts->ended[end], 1);
    return end;
}
