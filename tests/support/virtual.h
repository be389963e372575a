/*
 * A virtual world for unit tests: a clock that jumps to the next deadline instead of sleeping, seeded
 * randomness, and a transport that answers from memory. Hours pass in milliseconds, always in the same order.
 */
#ifndef TESTS_SUPPORT_VIRTUAL_H
#define TESTS_SUPPORT_VIRTUAL_H

#include "base/env.h"
#include "loop/loop.h"
#include "loop/transport.h"
#include "loop/worker.h"

struct virtual_world {
    struct env env;
    _Atomic mono_us now; /* threads of the store read this clock */
    wall_us wall_offset;
    uint64_t seed;
    /*
     * Returns whether another thread still works on data of the loop; NULL: there is no such thread. The
     * clock stops while it works. A turn begins only when all results are in the mailbox, so each run of a
     * test is the same.
     */
    bool (*busy)(void *ctx);
    void *busy_ctx;
};

void virtual_init(struct virtual_world *w, uint64_t seed);
/* Runs the loop until `duration_us` of virtual time have passed. */
void virtual_run(struct virtual_world *w, struct loop *loop, int64_t duration_us);

/* One request to the fake transport. */
struct seen_request {
    mono_us at;
    char method[16];
    char url[256];
    char token[64]; /* the value of X-AUTH-TOKEN, or "" */
    int64_t timeout_us;
    char *body;
};

struct canned_answer {
    enum http_outcome outcome;
    int status;
    const char *body;        /* the body, which is copied; NULL: an empty body */
    const char *retry_after; /* the value of Retry-After, or NULL */
    int64_t latency_us;
};

/* Returns an answer that comes after 10 ms. */
struct canned_answer answer_with(int status, const char *body);

struct fake_transport {
    struct transport transport;
    struct loop *loop;
    struct virtual_world *world;
    /* Decides the answer of a request. */
    struct canned_answer (*respond)(void *ctx, const struct seen_request *request);
    void *ctx;
    struct seen_request seen[4096];
    unsigned count;
    unsigned in_flight;
    unsigned max_in_flight;
    const char *date;          /* the Date of all answers, or NULL */
    const char *cache_control; /* the Cache-Control of all answers, or NULL */
};

struct fake_transport *fake_transport_new(struct virtual_world *w, struct loop *loop);

/* Makes a worker that does each job when the job is submitted, and returns the job in the next turn; no time
 * passes. */
struct worker *inline_worker_new(struct loop *loop);

#endif
