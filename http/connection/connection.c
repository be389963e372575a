#include "http/connection/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/env.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/problem.h"

static const int64_t LINGER_LOOK_US = 20 * US_PER_MS;

/* `due` of a connection that was shut down; no clock shows it. */
static const int64_t REAPED = -1;

static int64_t phase_limit(const struct connection_limits *limits, enum connection_phase phase)
{
    switch (phase) {
    case PHASE_CONN_NEW:
    case PHASE_CONN_HEADER:
        return limits->header_us;
    case PHASE_CONN_BODY:
        return limits->body_us;
    case PHASE_CONN_WORK:
        return 0; /* ours to finish: handlers do not block and commands have deadlines */
    case PHASE_CONN_SEND:
        return limits->send_us;
    case PHASE_CONN_IDLE:
        return limits->idle_us;
    }
    return 0;
}

static int64_t due_in(const struct reaper *reaper, enum connection_phase phase, mono_us now)
{
    int64_t limit = phase_limit(&reaper->limits, phase);
    return limit ? now + limit : INT64_MAX;
}

bool connection_enter(struct connection *c, enum connection_phase phase, mono_us now)
{
    int64_t due = atomic_load(&c->due);
    int64_t next = due_in(c->reaper, phase, now);
    if (phase == PHASE_CONN_HEADER && atomic_load(&c->phase) == PHASE_CONN_NEW)
        next = due; /* the first request line counts into the header limit */
    atomic_store(&c->phase, phase);
    while (due != REAPED)
        if (atomic_compare_exchange_weak(&c->due, &due, next))
            return true;
    return false;
}

void connection_expire(struct connection *c)
{
    int64_t due = atomic_load(&c->due);
    while (due != REAPED && !atomic_compare_exchange_weak(&c->due, &due, 0))
        ;
}

void connection_close_lingering(struct connection *c)
{
    struct reaper *reaper = c->reaper;
    (void)pthread_mutex_lock(&reaper->lock);
    lingering_close_add(&reaper->lingering, c->fd, env_mono(reaper->env));
    (void)pthread_cond_signal(&reaper->wake);
    (void)pthread_mutex_unlock(&reaper->lock);
}

bool connection_is_reaped(const struct connection *c)
{
    return atomic_load(&c->due) == REAPED;
}

static void describe_peer(struct connection *c, struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *sa = info ? info->client_addr : NULL;
    (void)snprintf(c->address, sizeof(c->address), "%s", CLIENT_LOCAL);
    if (sa && sa->sa_family == AF_INET)
        (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, c->address,
                        sizeof(c->address));
    else if (sa && sa->sa_family == AF_INET6)
        (void)inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, c->address,
                        sizeof(c->address));
}

struct connection *connection_open(struct reaper *reaper, struct MHD_Connection *mhd)
{
    struct connection *c = MEM_NEW(struct connection);
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    c->reaper = reaper;
    c->fd = info ? info->connect_fd : -1;
    describe_peer(c, mhd);
    atomic_init(&c->phase, PHASE_CONN_NEW);
    atomic_init(&c->due, due_in(reaper, PHASE_CONN_NEW, env_mono(reaper->env)));
    (void)pthread_mutex_lock(&reaper->lock);
    list_append(&reaper->connections, &c->link);
    (void)pthread_mutex_unlock(&reaper->lock);
    return c;
}

void connection_close(struct connection *c)
{
    struct reaper *reaper = c->reaper;
    (void)pthread_mutex_lock(&reaper->lock);
    list_remove(&c->link);
    (void)pthread_mutex_unlock(&reaper->lock);
    free(c->spare);
    free(c);
}

void problem_send(const struct env *env, int fd, const char *client, const struct problem *problem)
{
    char id[ID_BYTES];
    const struct problem_kind *kind = problem_kind(problem->code);
    json_t *doc CLEANUP_JSON = problem_to_json(problem, id_new(env, ID_REQUEST, id));
    char *content CLEANUP_FREE = json_text(doc);
    char *retry CLEANUP_FREE =
        problem->retry_after_s ? mem_printf("Retry-After: %d\r\n", problem->retry_after_s) : mem_strdup("");
    char *message CLEANUP_FREE = mem_printf(
        "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\n"
        "Content-Length: %zu\r\nConnection: close\r\nCache-Control: no-store\r\n%s"
        "X-Request-Id: %s\r\n\r\n%s",
        kind->status, MHD_get_reason_phrase_for((unsigned)kind->status), strlen(content), retry, id, content);
    (void)send(fd, message, strlen(message), MSG_DONTWAIT | MSG_NOSIGNAL);
    log_info("request refused unread", "request_id", id, "client", client, "status", LOG_INT(kind->status),
             "code", kind->code, "reason", problem->detail);
}

/* Nothing else writes to the socket in these phases: a worker that comes later finds `due` REAPED and gives
 * up. */
static void send_problem(const struct reaper *reaper, const struct connection *c,
                         const struct problem *problem)
{
    problem_send(reaper->env, c->fd, c->address, problem);
}

/* A client that began a request is told (408). */
static void send_timeout(const struct reaper *reaper, const struct connection *c)
{
    struct problem *problem CLEANUP_PROBLEM =
        problem_new(PROBLEM_REQUEST_TIMEOUT, "The request was not complete in time.");
    send_problem(reaper, c, problem);
}

static bool reap(struct connection *c)
{
    int64_t due = atomic_load(&c->due);
    while (due != REAPED)
        if (atomic_compare_exchange_weak(&c->due, &due, REAPED))
            return true;
    return false;
}

void connection_refuse(struct connection *c, struct problem *problem)
{
    struct problem *owned CLEANUP_PROBLEM = problem;
    if (!reap(c))
        return;
    send_problem(c->reaper, c, owned);
    connection_close_lingering(c);
    (void)shutdown(c->fd, SHUT_RDWR);
}

/* The reaper's lock is held: the connection cannot be closed meanwhile, so its descriptor is its own. */
static void check_connection(struct reaper *reaper, struct connection *c, mono_us now)
{
    int64_t due = atomic_load(&c->due);
    if (due == REAPED || due > now || !atomic_compare_exchange_strong(&c->due, &due, REAPED))
        return;
    int phase = atomic_load(&c->phase);
    if (phase == PHASE_CONN_HEADER || phase == PHASE_CONN_BODY)
        send_timeout(reaper, c);
    (void)shutdown(c->fd, SHUT_RDWR);
    atomic_fetch_add(&reaper->reaped, 1);
}

/* Who lingers sends as fast as it is read. */
static int64_t next_look(const struct reaper *reaper)
{
    return reaper->lingering.count ? LINGER_LOOK_US : reaper->limits.reap_us;
}

static void wait_a_while(struct reaper *reaper)
{
    const struct timespec until = cond_until(next_look(reaper));
    (void)pthread_cond_timedwait(&reaper->wake, &reaper->lock, &until);
}

static void *reaper_run(void *arg)
{
    struct reaper *reaper = arg;
    (void)pthread_mutex_lock(&reaper->lock);
    while (!reaper->stopping) {
        mono_us now = env_mono(reaper->env);
        LIST_FOR_EACH (it, &reaper->connections)
            check_connection(reaper, CONTAINER_OF(it, struct connection, link), now);
        lingering_close_check(&reaper->lingering, now);
        wait_a_while(reaper);
        (void)pthread_mutex_unlock(&reaper->lock);
        reaper->tick(reaper->tick_ctx, env_mono(reaper->env));
        (void)pthread_mutex_lock(&reaper->lock);
    }
    (void)pthread_mutex_unlock(&reaper->lock);
    return NULL;
}

size_t reaper_lingering(struct reaper *reaper)
{
    (void)pthread_mutex_lock(&reaper->lock);
    size_t count = reaper->lingering.count;
    (void)pthread_mutex_unlock(&reaper->lock);
    return count;
}

unsigned reaper_unread(struct reaper *reaper)
{
    unsigned count = 0;
    (void)pthread_mutex_lock(&reaper->lock);
    LIST_FOR_EACH (it, &reaper->connections) {
        int phase = atomic_load(&CONTAINER_OF(it, struct connection, link)->phase);
        count += phase == PHASE_CONN_NEW || phase == PHASE_CONN_HEADER;
    }
    (void)pthread_mutex_unlock(&reaper->lock);
    return count;
}

int reaper_start(struct reaper *reaper, const struct env *env, const struct connection_limits *limits)
{
    reaper->env = env;
    reaper->limits = *limits;
    list_init(&reaper->connections);
    (void)pthread_mutex_init(&reaper->lock, NULL);
    cond_init(&reaper->wake);
    int r = pthread_create(&reaper->thread, NULL, reaper_run, reaper);
    return -r;
}

void reaper_stop(struct reaper *reaper)
{
    (void)pthread_mutex_lock(&reaper->lock);
    reaper->stopping = true;
    (void)pthread_cond_signal(&reaper->wake);
    (void)pthread_mutex_unlock(&reaper->lock);
    (void)pthread_join(reaper->thread, NULL);
    lingering_close_done(&reaper->lingering);
    (void)pthread_cond_destroy(&reaper->wake);
    (void)pthread_mutex_destroy(&reaper->lock);
}
