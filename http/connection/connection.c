#include "http/connection/connection.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <uthash.h>

#include "base/cidr.h"
#include "base/env.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "model/problem.h"

enum {
    LINGER_S = 5,
    PIECE = 16 * 1024,
    PIECES_AT_ONCE = 32,
    RECEIVE_BUFFER = 64 * 1024, /* a fixed size, because the kernel otherwise enlarges the buffer to megabytes
                                 * for each fast sender */
};
/* The pause between two reads of a lingering peer. This pause limits the speed at which the peer sends. */
static const int64_t LINGER_LOOK_US = 20 * US_PER_MS;

/* The value of `due` after the connection was shut down. No clock has this value. */
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
        return 0; /* there is no limit, because handlers do not block and commands have deadlines */
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
        next = due; /* the header limit includes the time until the first request line */
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

/* ---- lingering closes; the reaper's lock protects their list ---- */

void connection_close_lingering(struct connection *c)
{
    const int size = RECEIVE_BUFFER;
    struct reaper *reaper = c->reaper;
    struct lingering_closes *l = &reaper->lingering;
    mutex_lock(&reaper->lock);
    int own = l->count < LINGERING_CLOSES_MAX ? fcntl(c->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (own >= 0) {
        (void)setsockopt(own, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
        l->items[l->count].fd = own;
        l->items[l->count++].until = env_mono(reaper->env) + LINGER_S * US_PER_S;
    }
    cond_signal(&reaper->wake);
    mutex_unlock(&reaper->lock);
}

/* Discards received bytes without blocking. Closes a socket when the peer has closed the connection, or when
 * the time limit of the socket has passed. The caller holds the reaper's lock. */
static void check_lingering(struct lingering_closes *l, mono_us now)
{
    char piece[PIECE];
    size_t kept = 0;
    assert(l->count <= LINGERING_CLOSES_MAX);
    for (size_t i = 0; i < l->count; i++) {
        ssize_t n = 1;
        for (int pieces = 0; pieces < PIECES_AT_ONCE && n > 0; pieces++)
            n = recv(l->items[i].fd, piece, sizeof(piece), MSG_DONTWAIT);
        bool has_ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
        if (has_ended || l->items[i].until <= now)
            (void)close(l->items[i].fd);
        else
            l->items[kept++] = l->items[i];
    }
    l->count = kept;
}

/* ---- connections ---- */

bool connection_is_reaped(const struct connection *c)
{
    return atomic_load(&c->due) == REAPED;
}

static void describe_peer(struct connection *c, struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *sa = info ? info->client_addr : NULL;
    struct ip ip;
    const bool has_ip = sa && ip_from_sockaddr(sa, &ip);
    c->network = has_ip ? ip_network(&ip) : 0;
    (void)snprintf(c->address, sizeof(c->address), "%s", CLIENT_LOCAL);
    if (has_ip)
        ip_write(&ip, c->address);
}

struct address_connections {
    UT_hash_handle hh;
    uint64_t network;
    struct list connections;
};

/* The caller holds the reaper's lock, also in the next functions. */
static struct address_connections *find_address(struct reaper *reaper, uint64_t network)
{
    struct address_connections *found;
    HASH_FIND(hh, reaper->addresses, &network, sizeof(network), found);
    return found;
}

static void add_to_address(struct reaper *reaper, struct connection *c)
{
    struct address_connections *address = find_address(reaper, c->network);
    if (!address) {
        address = MEM_NEW(struct address_connections);
        address->network = c->network;
        list_init(&address->connections);
        HASH_ADD(hh, reaper->addresses, network, sizeof(address->network), address);
    }
    list_append(&address->connections, &c->of_address);
}

static void remove_from_address(struct reaper *reaper, struct connection *c)
{
    struct address_connections *address = find_address(reaper, c->network);
    list_remove(&c->of_address);
    if (!list_is_empty(&address->connections))
        return;
    HASH_DEL(reaper->addresses, address);
    free(address);
}

struct connection *connection_open(struct reaper *reaper, struct MHD_Connection *mhd)
{
    struct connection *c = MEM_NEW(struct connection);
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    c->reaper = reaper;
    c->mhd = mhd;
    c->fd = info ? info->connect_fd : -1;
    info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    c->tls = info ? (gnutls_session_t)info->tls_session : NULL;
    describe_peer(c, mhd);
    atomic_init(&c->phase, PHASE_CONN_NEW);
    atomic_init(&c->due, due_in(reaper, PHASE_CONN_NEW, env_mono(reaper->env)));
    mutex_lock(&reaper->lock);
    list_append(&reaper->connections, &c->link);
    add_to_address(reaper, c);
    reaper->connection_count++;
    mutex_unlock(&reaper->lock);
    return c;
}

const struct tls_client *connection_client(struct connection *c, struct tls *tls)
{
    if (c->tls && (!c->knows_client || c->client.generation != tls_clients_generation(tls))) {
        tls_client_done(&c->client);
        tls_client(tls, c->tls, &c->client);
        c->knows_client = true;
    }
    return &c->client;
}

bool connection_close(struct connection *c)
{
    struct reaper *reaper = c->reaper;
    mutex_lock(&reaper->lock);
    assert(!list_is_detached(&c->link)); /* other members of the list may write into this link while they hold
                                          * the lock */
    list_remove(&c->link);
    remove_from_address(reaper, c);
    const bool gave_place = c->gave_place;
    reaper->connection_count--;
    mutex_unlock(&reaper->lock);
    tls_client_done(&c->client);
    free(c->spare);
    free(c);
    return gave_place;
}

static void write_at_once(int fd, gnutls_session_t tls, const char *message)
{
    if (fd >= 0 && tls)
        (void)gnutls_record_send(tls, message, strlen(message));
    else if (fd >= 0)
        (void)send(fd, message, strlen(message), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void problem_send(const struct env *env, int fd, gnutls_session_t tls, const char *client,
                  const struct problem *problem)
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
    write_at_once(fd, tls, message);
    log_info("request refused before it was read", "request_id", id, "client", client, "status",
             LOG_INT(kind->status), "code", kind->code, "reason", problem->detail);
}

/* In the phases in which a problem is sent, no other code writes to the socket. When the worker later uses
 * the connection, it finds REAPED in `due` and stops. */
void connection_refuse(struct connection *c, struct problem *problem)
{
    struct problem *owned CLEANUP_PROBLEM = problem;
    assert(problem);
    int64_t due = atomic_load(&c->due);
    while (due != REAPED && !atomic_compare_exchange_weak(&c->due, &due, REAPED))
        ;
    if (due == REAPED)
        return;
    problem_send(c->reaper->env, c->fd, c->tls, c->address, owned);
    connection_close_lingering(c);
    (void)shutdown(c->fd, SHUT_RDWR);
}

/* The caller holds the reaper's lock, so the connection cannot be closed, and its descriptor is valid. */
static void check_connection(struct reaper *reaper, struct connection *c, mono_us now)
{
    int64_t due = atomic_load(&c->due);
    if (due == REAPED || due > now || !atomic_compare_exchange_strong(&c->due, &due, REAPED))
        return;
    int phase = atomic_load(&c->phase);
    if (phase == PHASE_CONN_HEADER || phase == PHASE_CONN_BODY) { /* the unfinished request gets an answer */
        struct problem *problem CLEANUP_PROBLEM =
            problem_new(PROBLEM_REQUEST_TIMEOUT, "The request was not complete in time.");
        problem_send(reaper->env, c->tls ? -1 : c->fd, NULL, c->address, problem);
    }
    (void)shutdown(c->fd, SHUT_RDWR);
    atomic_fetch_add(&reaper->reaped, 1);
}

/* All have the same time limit, so the one that is due first has waited longest. Sets *ret_due to its time;
 * NULL: no connection of the address is idle. */
static struct connection *longest_idle(struct reaper *reaper, uint64_t network, int64_t *ret_due)
{
    const struct address_connections *address = find_address(reaper, network);
    struct connection *found = NULL;
    if (!address)
        return NULL;
    LIST_FOR_EACH (it, &address->connections) {
        struct connection *c = CONTAINER_OF(it, struct connection, of_address);
        const int64_t due = atomic_load(&c->due);
        if (atomic_load(&c->phase) != PHASE_CONN_IDLE || due == REAPED || (found && due >= *ret_due))
            continue;
        found = c;
        *ret_due = due;
    }
    return found;
}

bool reaper_close_idle(struct reaper *reaper, uint64_t network)
{
    struct connection *c;
    int64_t due = 0;
    bool closes = false;
    mutex_lock(&reaper->lock);
    while (!closes && (c = longest_idle(reaper, network, &due))) /* a new request may win the race */
        closes = atomic_compare_exchange_strong(&c->due, &due, REAPED);
    if (closes) {
        c->gave_place = true;
        (void)shutdown(c->fd, SHUT_RDWR);
    }
    mutex_unlock(&reaper->lock);
    return closes;
}

/*
 * Each checked connection moves to the end of the list, because the list may change while the lock is
 * released. In this way every connection that stays open is checked.
 */
static void check_connections(struct reaper *reaper, mono_us now)
{
    enum { PIECE_CONNECTIONS = 64 };
    for (size_t left = reaper->connection_count; left; left--) {
        struct list *it = list_pop(&reaper->connections);
        if (!it)
            return;
        list_append(&reaper->connections, it);
        check_connection(reaper, CONTAINER_OF(it, struct connection, link), now);
        if (left % PIECE_CONNECTIONS)
            continue;
        mutex_unlock(&reaper->lock);
        thread_step_aside();
        mutex_lock(&reaper->lock);
    }
}

static void *reaper_run(void *arg)
{
    struct reaper *reaper = arg;
    /* This thread keeps the normal priority, because workers need the reaper's lock. */
    (void)pthread_setname_np(pthread_self(), "reaper");
    mutex_lock(&reaper->lock);
    while (!reaper->stopping) {
        mono_us now = env_mono(reaper->env);
        check_connections(reaper, now);
        check_lingering(&reaper->lingering, now);
        const struct timespec until =
            cond_until(reaper->lingering.count ? LINGER_LOOK_US : reaper->limits.reap_us);
        (void)pthread_cond_timedwait(&reaper->wake, &reaper->lock, &until);
        mutex_unlock(&reaper->lock);
        reaper->tick(reaper->tick_ctx, env_mono(reaper->env));
        mutex_lock(&reaper->lock);
    }
    mutex_unlock(&reaper->lock);
    return NULL;
}

size_t reaper_lingering(struct reaper *reaper)
{
    mutex_lock(&reaper->lock);
    size_t count = reaper->lingering.count;
    mutex_unlock(&reaper->lock);
    return count;
}

unsigned reaper_unread(struct reaper *reaper)
{
    unsigned count = 0;
    mutex_lock(&reaper->lock);
    LIST_FOR_EACH (it, &reaper->connections) {
        int phase = atomic_load(&CONTAINER_OF(it, struct connection, link)->phase);
        count += phase == PHASE_CONN_NEW || phase == PHASE_CONN_HEADER;
    }
    mutex_unlock(&reaper->lock);
    return count;
}

int reaper_start(struct reaper *reaper, const struct env *env, const struct connection_limits *limits)
{
    reaper->env = env;
    reaper->limits = *limits;
    list_init(&reaper->connections);
    mutex_init(&reaper->lock);
    cond_init(&reaper->wake);
    int r = pthread_create(&reaper->thread, NULL, reaper_run, reaper);
    return -r;
}

void reaper_stop(struct reaper *reaper)
{
    mutex_lock(&reaper->lock);
    reaper->stopping = true;
    cond_signal(&reaper->wake);
    mutex_unlock(&reaper->lock);
    (void)pthread_join(reaper->thread, NULL);
    assert(list_is_empty(&reaper->connections));
    for (size_t i = 0; i < reaper->lingering.count; i++)
        (void)close(reaper->lingering.items[i].fd);
    cond_done(&reaper->wake);
    mutex_done(&reaper->lock);
}
