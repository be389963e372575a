#include "api/streams.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "api/api_private.h"
#include "api/auth.h"
#include "api/request.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/thread.h"

enum {
    BATCH = 256,
    TOKEN_LOOK_US = 1000000,
    DRAIN_GRACE_US = 500000, /* clients have this much time to read the last message */
    RETRY_AFTER_S = 10,
    PACED_ABOVE = 128, /* above this number of streams, the thread makes pauses */
    PACE_US = 100,
    PACE_BUSY_US = 500,
    BUSY_PERCENT = 80,
};

/* The state of the thread between two checks. */
struct stream_round {
    struct streams *all;
    struct feed_entry *batch[BATCH];
    size_t count;
    int64_t seen; /* the sequence number of the newest event that the thread has read from the feed */
    mono_us now;
    mono_us tokens_at;
    bool check_tokens;
    mono_us cut_at; /* when draining: the time when the remaining streams are cut; otherwise 0 */
    int processors;
    int64_t paced_at, worked; /* the time, and the processor time used by the daemon, at the last pause */
};

/* ---- the thread ---- */

static bool sees_what_is_sent(const struct api_token *token, const struct api_stream *s)
{
    char *everything[] = {(char[]){"*"}, NULL};
    return projects_cover(token->projects, s->asked.projects ? s->asked.projects : everything);
}

/* Looks up the token of an open stream again, like the token of a new request. */
static bool token_still_holds(struct api *api, const struct api_stream *s)
{
    char key[TOKEN_HEX_BYTES];
    if (s->caller)
        return caller_holds(api, s->caller->subject);
    token_hex(s->token_digest, key);
    const struct view_snapshot *snapshot = view_enter(api->options.view);
    struct view_blob *blob = view_find(snapshot, VIEW_TOKENS, key);
    bool holds = blob && token_is_live(api, blob->subject) && sees_what_is_sent(blob->subject, s);
    view_leave(api->options.view);
    return holds;
}

/* Called while the lock of the stream's shard is held: ends a stream at the end of its lifetime, or offers it
 * new events. */
static void check_stream(struct stream_round *l, struct api_stream *s)
{
    struct api *api = l->all->api;
    if (l->check_tokens && !token_still_holds(api, s))
        stream_end(s, STREAM_TOKEN);
    else if (l->cut_at)
        stream_end(s, STREAM_STOPPED);
    else if (l->now >= s->ends_at)
        stream_end(s, STREAM_LIFETIME);
    stream_check(s, l->batch, l->count, l->now);
    if (l->cut_at && l->now >= l->cut_at)
        stream_cut(s);
}

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

/*
 * The workers that send events to all streams also answer requests. Therefore thousands of streams are not
 * resumed at once, but one shard after another, with a pause after each shard. The pause is longer when the
 * daemon uses most of its processor time.
 */
static void pace(struct stream_round *l)
{
    if (!l->count || atomic_load(&l->all->open) <= PACED_ABOVE)
        return;
    const int64_t took = clock_us(CLOCK_MONOTONIC) - l->paced_at;
    const int64_t worked = clock_us(CLOCK_PROCESS_CPUTIME_ID) - l->worked;
    const bool is_busy = worked * 100 > took * l->processors * BUSY_PERCENT;
    const struct timespec pause = {.tv_nsec = (is_busy ? PACE_BUSY_US : PACE_US) * 1000L};
    l->paced_at += took;
    l->worked += worked;
    (void)nanosleep(&pause, NULL);
}

static void *streams_run(void *arg)
{
    struct stream_round l = {.all = arg, .seen = ((struct streams *)arg)->begins_at};
    struct api *api = l.all->api;
    l.processors = api->http_threads;
    unsigned wakes = 0;
    thread_in_background("streams");
    while (!atomic_load(&l.all->stopping)) {
        feed_wait(api->options.feed, &wakes, api->limits.connection.reap_us);
        bool more;
        do {
            l.count = feed_batch(api->options.feed, l.seen, l.batch, BATCH);
            assert(l.count <= BATCH);
            more = l.count == BATCH;
            if (l.count)
                l.seen = l.batch[l.count - 1]->sequence;

            l.now = env_mono(api->options.env);
            l.check_tokens = l.now >= l.tokens_at;
            if (l.check_tokens)
                l.tokens_at = l.now + TOKEN_LOOK_US;
            if (atomic_load(&l.all->draining) && !l.cut_at)
                l.cut_at = l.now + DRAIN_GRACE_US;

            for (size_t i = 0; i < STREAM_SHARDS; i++) {
                struct stream_shard *shard = &l.all->shards[i];
                mutex_lock(&shard->lock);
                LIST_FOR_EACH (it, &shard->streams)
                    check_stream(&l, CONTAINER_OF(it, struct api_stream, link));
                mutex_unlock(&shard->lock);
                pace(&l);
            }
            for (size_t i = 0; i < l.count; i++)
                feed_entry_unref(l.batch[i]);
        } while (more);
    }
    return NULL;
}

int streams_start(struct streams *all, struct api *api)
{
    all->api = api;
    all->begins_at = feed_newest(api->options.feed); /* set before a stream can wait for events */
    mutex_init(&all->admission);
    for (size_t i = 0; i < STREAM_SHARDS; i++) {
        mutex_init(&all->shards[i].lock);
        list_init(&all->shards[i].streams);
    }
    return -pthread_create(&all->thread, NULL, streams_run, all);
}

void streams_stop(struct streams *all)
{
    atomic_store(&all->stopping, true);
    feed_wake(all->api->options.feed);
    (void)pthread_join(all->thread, NULL);
    assert(!atomic_load(&all->open));
    for (size_t i = 0; i < STREAM_SHARDS; i++) {
        assert(list_is_empty(&all->shards[i].streams));
        mutex_done(&all->shards[i].lock);
    }
    mutex_done(&all->admission);
}

void streams_end_all(struct streams *all)
{
    atomic_store(&all->draining, true);
    feed_wake(all->api->options.feed);
}

/* ---- opening and closing ---- */

static struct stream_shard *shard_of(struct streams *all, const struct api_stream *s)
{
    return &all->shards[((uintptr_t)s / sizeof(*s)) % STREAM_SHARDS];
}

static unsigned open_of_token(struct streams *all, const uint8_t digest[static TOKEN_DIGEST_BYTES])
{
    unsigned count = 0;
    for (size_t i = 0; i < STREAM_SHARDS; i++) {
        mutex_lock(&all->shards[i].lock);
        LIST_FOR_EACH (it, &all->shards[i].streams)
            count +=
                !memcmp(CONTAINER_OF(it, struct api_stream, link)->token_digest, digest, TOKEN_DIGEST_BYTES);
        mutex_unlock(&all->shards[i].lock);
    }
    return count;
}

/* Admits a stream; returns false when a limit is reached. */
static bool let_in(struct streams *all, struct api_stream *s)
{
    struct stream_shard *shard = shard_of(all, s);
    mutex_lock(&all->admission);
    bool ok = atomic_load(&all->open) < atomic_load(&all->api->live.streams) &&
              open_of_token(all, s->token_digest) < atomic_load(&all->api->live.streams_per_token);
    if (ok) {
        atomic_fetch_add(&all->open, 1);
        mutex_lock(&shard->lock);
        list_append(&shard->streams, &s->link);
        mutex_unlock(&shard->lock);
    }
    mutex_unlock(&all->admission);
    return ok;
}

static struct problem *refuse_stream(enum problem_code code, const char *detail)
{
    struct problem *p = problem_new(code, "%s", detail);
    p->retry_after_s = RETRY_AFTER_S;
    return p;
}

struct problem *streams_open(struct request *r, struct command_events *asked, int64_t position)
{
    struct streams *all = &r->api->streams;
    if (r->http.method == METHOD_HEAD) {
        answer_event_stream(&r->http.answer, NULL);
        return NULL;
    }
    if (http_is_draining(&r->http))
        return refuse_stream(PROBLEM_SHUTTING_DOWN, "The server is being stopped.");
    struct api_stream *s = stream_new(r, &all->counts, asked, position);
    if (!let_in(all, s)) {
        event_stream_unref(&s->transport);
        return refuse_stream(PROBLEM_TOO_MANY_STREAMS,
                             "The server, or this token, has reached its limit of open event streams.");
    }
    r->http.stream = &s->transport;
    r->http.must_close = true; /* the client opens a new connection for its next stream (AO-24) */
    answer_event_stream(&r->http.answer, &s->transport);
    return NULL;
}

enum stream_end streams_completed(struct request *r)
{
    struct streams *all = &r->api->streams;
    struct api_stream *s = CONTAINER_OF(TAKE_PTR(r->http.stream), struct api_stream, transport);
    struct stream_shard *shard = shard_of(all, s);
    mutex_lock(&shard->lock);
    list_remove(&s->link);
    mutex_unlock(&shard->lock);
    unsigned before = atomic_fetch_sub(&all->open, 1);
    assert(before > 0);
    (void)before;
    enum stream_end end = stream_completed(s);
    r->http.answer.len = s->transport.bytes;
    event_stream_unref(&s->transport);
    return end;
}
