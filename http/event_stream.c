#include "http/event_stream.h"

#include <assert.h>
#include <string.h>

#include "base/lock.h"
#include "http/http_private.h"

void event_stream_init(struct event_stream *s, const struct event_stream_content *content,
                       struct server_request *r)
{
    s->content = content;
    atomic_init(&s->refs, 1);
    mutex_init(&s->lock);
    s->request = r;
    s->sent_at = env_mono(r->server->options.env);
}

void event_stream_done(struct event_stream *s)
{
    mutex_done(&s->lock);
}

void event_stream_ref(struct event_stream *s)
{
    atomic_fetch_add(&s->refs, 1);
}

void event_stream_unref(struct event_stream *s)
{
    unsigned before = s ? atomic_fetch_sub(&s->refs, 1) : 0;
    assert(!s || before > 0);
    if (before == 1)
        s->content->free(s);
}

/* ---- suspending and resuming; the lock is held in these functions ---- */

/* Suspends the connection; false when it was shut down in the meantime. */
static bool suspend_stream(struct event_stream *s)
{
    struct server_request *r = s->request;
    if (r->peer && !connection_enter(r->peer, PHASE_CONN_WORK, r->started))
        return false;
    assert(s->state == EVENT_STREAM_RUNS);
    s->state = EVENT_STREAM_SUSPENDED;
    atomic_fetch_add(&r->server->suspended_streams, 1);
    MHD_suspend_connection(r->mhd);
    return true;
}

void event_stream_resume(struct event_stream *s)
{
    if (s->state != EVENT_STREAM_SUSPENDED || !s->request)
        return;
    s->state = EVENT_STREAM_RESUMED;
    MHD_resume_connection(s->request->mhd);
}

/* Called by the connection's worker after a resume. */
static void note_resumed(struct event_stream *s)
{
    assert(s->request);
    if (s->state != EVENT_STREAM_RUNS)
        atomic_fetch_sub(&s->request->server->suspended_streams, 1);
    s->state = EVENT_STREAM_RUNS;
}

void event_stream_cut(struct event_stream *s)
{
    if (s->is_ended && s->state == EVENT_STREAM_RUNS && s->request && s->request->peer)
        connection_expire(s->request->peer);
}

bool event_stream_completed(struct event_stream *s)
{
    const struct server_request *r = s->request;
    assert(r);
    bool was_slow = r->peer && connection_is_reaped(r->peer);
    note_resumed(s);
    s->request = NULL;
    return was_slow;
}

/* ---- pieces ---- */

void event_stream_begin(struct event_stream *s, const char *bytes, size_t len)
{
    assert(!s->rest_len);
    s->rest = bytes;
    s->rest_len = len;
}

void event_stream_drop_piece(struct event_stream *s)
{
    s->rest_len = 0;
}

static size_t fill_buffer(struct event_stream *s, char *bytes, size_t max)
{
    size_t n = 0;
    while (n < max && (s->rest_len || s->content->next(s))) {
        size_t len = s->rest_len < max - n ? s->rest_len : max - n;
        memcpy(bytes + n, s->rest, len);
        n += len;
        s->rest += len;
        s->rest_len -= len;
        if (!s->rest_len)
            s->content->taken(s);
    }
    return n;
}

static ssize_t read_locked(struct event_stream *s, char *bytes, size_t max)
{
    struct server_request *r = s->request;
    note_resumed(s);
    size_t n = fill_buffer(s, bytes, max);
    if (!n)
        return s->is_broken        ? MHD_CONTENT_READER_END_WITH_ERROR
               : s->is_ended       ? MHD_CONTENT_READER_END_OF_STREAM
               : suspend_stream(s) ? 0
                                   : MHD_CONTENT_READER_END_WITH_ERROR;
    s->bytes += n;
    s->sent_at = env_mono(r->server->options.env);
    bool in_time = !r->peer || connection_enter(r->peer, PHASE_CONN_SEND, s->sent_at);
    return in_time ? (ssize_t)n : MHD_CONTENT_READER_END_WITH_ERROR;
}

ssize_t event_stream_read(void *cls, uint64_t position ATTR_UNUSED, char *bytes, size_t max)
{
    struct event_stream *s = cls;
    if (!s)
        return MHD_CONTENT_READER_END_OF_STREAM;
    mutex_lock(&s->lock);
    ssize_t n = s->request ? read_locked(s, bytes, max) : MHD_CONTENT_READER_END_OF_STREAM;
    mutex_unlock(&s->lock);
    return n;
}

void event_stream_response_free(void *cls)
{
    event_stream_unref(cls);
}

void answer_stream_of(struct answer *a, struct event_stream *s, const char *type)
{
    answer_empty(a, MHD_HTTP_OK);
    a->is_stream = true;
    a->stream = s;
    if (s)
        event_stream_ref(s);
    answer_field(a, "Content-Type", type);
    answer_field(a, "Cache-Control", "no-store, no-transform");
    answer_field(a, "Vary", "Accept");
}

void answer_event_stream(struct answer *a, struct event_stream *s)
{
    answer_stream_of(a, s, TYPE_STREAM);
    answer_field(a, "X-Accel-Buffering", "no");
}
