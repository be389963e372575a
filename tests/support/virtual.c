#include "tests/support/virtual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/mem.h"

enum { BUSY_POLL_US = 50 };

static struct virtual_world *world_of(const struct env *env)
{
    return env->ctx;
}

static mono_us virtual_mono(const struct env *env)
{
    return world_of(env)->now;
}

static wall_us virtual_wall(const struct env *env)
{
    return world_of(env)->now + world_of(env)->wall_offset;
}

/* splitmix64 */
static void virtual_random(const struct env *env, void *bytes, size_t len)
{
    struct virtual_world *w = world_of(env);
    unsigned char *p = bytes;
    for (size_t i = 0; i < len; i++) {
        uint64_t z = (w->seed += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        p[i] = (unsigned char)(z ^ (z >> 31));
    }
}

static int virtual_wait(const struct env *env, int epoll_fd, struct epoll_event *events, int max,
                        mono_us deadline)
{
    struct virtual_world *w = world_of(env);
    while (w->busy && w->busy(w->busy_ctx))
        (void)usleep(BUSY_POLL_US);
    int n = epoll_wait(epoll_fd, events, max, 0);
    if (n <= 0 && deadline > w->now)
        w->now = deadline;
    return n < 0 ? 0 : n;
}

void virtual_init(struct virtual_world *w, uint64_t seed)
{
    *w = (struct virtual_world){.seed = seed, .wall_offset = 1790000000LL * US_PER_S};
    w->now = 1000 * US_PER_S;
    w->env = (struct env){virtual_mono, virtual_wall, virtual_random, virtual_wait, w};
}

void virtual_run(struct virtual_world *w, struct loop *loop, int64_t duration_us)
{
    mono_us end = w->now + duration_us;
    while (w->now < end)
        loop_turn(loop, end);
}

struct http_call {
    struct loop_timer timer;
    struct fake_transport *owner;
    struct canned_answer answer;
    char *body;
    void (*on_done)(void *ctx, const struct http_answer *answer);
    void *ctx;
};

static void call_free(struct http_call *call)
{
    free(call->body);
    free(call);
}

static void answer_now(struct loop_timer *timer)
{
    struct http_call *call = CONTAINER_OF(timer, struct http_call, timer);
    const struct http_answer answer = {.outcome = call->answer.outcome,
                                       .status =
                                           call->answer.outcome == HTTP_ANSWERED ? call->answer.status : 0,
                                       .retry_after = call->answer.retry_after,
                                       .date = call->owner->date,
                                       .cache_control = call->owner->cache_control,
                                       .body = call->body,
                                       .body_len = strlen(call->body),
                                       .owned_body = &call->body,
                                       .error = call->answer.outcome == HTTP_ANSWERED ? NULL : "fake"};
    call->owner->in_flight--;
    call->on_done(call->ctx, &answer);
    call_free(call);
}

static struct http_call *fake_start(struct transport *t, const struct http_request *request,
                                    void (*on_done)(void *ctx, const struct http_answer *answer), void *ctx)
{
    struct fake_transport *f = CONTAINER_OF(t, struct fake_transport, transport);
    struct seen_request *seen = &f->seen[f->count % ARRAY_LEN(f->seen)];
    f->count++;
    free(seen->body);
    *seen = (struct seen_request){.at = f->world->now,
                                  .timeout_us = request->timeout_us,
                                  .body = mem_strndup(request->body ? request->body : "", request->body_len)};
    (void)snprintf(seen->method, sizeof(seen->method), "%s", request->method);
    (void)snprintf(seen->url, sizeof(seen->url), "%s", request->url);
    for (const struct http_header *h = request->headers; h && h->name; h++)
        if (!strcasecmp(h->name, "X-AUTH-TOKEN"))
            (void)snprintf(seen->token, sizeof(seen->token), "%s", h->value);
    struct http_call *call = MEM_NEW(struct http_call);
    call->owner = f;
    call->answer = f->respond(f->ctx, seen);
    call->body = mem_strdup(call->answer.body ? call->answer.body : "");
    call->on_done = on_done;
    call->ctx = ctx;
    call->timer.fire = answer_now;
    if (++f->in_flight > f->max_in_flight)
        f->max_in_flight = f->in_flight;
    loop_timer_set(f->loop, &call->timer, f->world->now + call->answer.latency_us);
    return call;
}

static void fake_cancel(struct transport *t, struct http_call *call)
{
    struct fake_transport *f = CONTAINER_OF(t, struct fake_transport, transport);
    loop_timer_clear(f->loop, &call->timer);
    f->in_flight--;
    call_free(call);
}

static void fake_free(struct transport *t)
{
    struct fake_transport *f = CONTAINER_OF(t, struct fake_transport, transport);
    for (size_t i = 0; i < ARRAY_LEN(f->seen); i++)
        free(f->seen[i].body);
    free(f);
}

struct canned_answer answer_with(int status, const char *body)
{
    return (struct canned_answer){HTTP_ANSWERED, status, body, NULL, 10 * US_PER_MS};
}

struct fake_transport *fake_transport_new(struct virtual_world *w, struct loop *loop)
{
    struct fake_transport *f = MEM_NEW(struct fake_transport);
    f->transport = (struct transport){fake_start, fake_cancel, fake_free};
    f->loop = loop;
    f->world = w;
    return f;
}

struct inline_worker {
    struct worker worker;
    struct loop *loop;
};

static bool work_at_once(struct worker *worker, struct worker_job *job)
{
    struct inline_worker *w = CONTAINER_OF(worker, struct inline_worker, worker);
    job->work(job);
    worker_give_back(w->loop, job);
    return true;
}

static void inline_free(struct worker *worker)
{
    free(CONTAINER_OF(worker, struct inline_worker, worker));
}

struct worker *inline_worker_new(struct loop *loop)
{
    struct inline_worker *w = MEM_NEW(struct inline_worker);
    *w = (struct inline_worker){{work_at_once, inline_free}, loop};
    return &w->worker;
}
