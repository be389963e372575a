#include "http/connection/acceptor.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "http/connection/connection.h"
#include "model/problem.h"

enum { BATCH = 64, PAUSE_MS = 100, COMPLAIN_EVERY_MS = 60 * 1000 };
static const int64_t COMPLAIN_EVERY_US = COMPLAIN_EVERY_MS * US_PER_MS;

static void wake(struct acceptor *a)
{
    (void)eventfd_write(a->wake_fd, 1);
}

static void complain(struct acceptor *a, enum acceptor_trouble trouble, const char *what, const char *why)
{
    int64_t now = env_mono(a->env);
    int64_t *last = &a->complained[trouble];
    if (*last && now - *last < COMPLAIN_EVERY_US)
        return;
    *last = now;
    log_warning(what, "cause", why, "connections", LOG_INT(atomic_load(&a->open)));
}

static void refuse_connection(struct acceptor *a, int fd, const struct sockaddr *address)
{
    char text[INET6_ADDRSTRLEN] = "";
    struct problem *p CLEANUP_PROBLEM =
        problem_new(PROBLEM_TOO_MANY_REQUESTS,
                    "This address has %u connections open, each with a request; more are not taken "
                    "(limits.connections_per_address).",
                    a->peers.limit);
    p->retry_after_s = 1;
    peers_refused(&a->peers);
    (void)getnameinfo(address, sizeof(struct sockaddr_in6), text, sizeof(text), NULL, 0, NI_NUMERICHOST);
    problem_send(a->env, a->has_tls ? -1 : fd, NULL, text, p);
    (void)close(fd);
}

/* Some clients leave one connection behind for each request. The one that was idle longest gives its place,
 * and its count, to the new one. */
static bool enters(struct acceptor *a, const struct sockaddr *address)
{
    return peers_enter(&a->peers, address) || reaper_close_idle(a->reaper, peers_network(&a->peers, address));
}

/*
 * When a worker has no memory for a connection, libmicrohttpd closes the connection without a callback, and
 * the counters `open` and `unseen` stay one too high. This does not matter, because without memory the
 * process cannot work anyway.
 */
static void hand_over(struct acceptor *a, int fd, const struct sockaddr *address, socklen_t len)
{
    if (!enters(a, address)) {
        refuse_connection(a, fd, address);
        return;
    }
    atomic_fetch_add(&a->open, 1);
    atomic_fetch_add(&a->unseen, 1);
    if (MHD_add_connection(a->daemon, fd, address, len) == MHD_YES)
        return;
    /* The library has closed the connection, which must no longer be counted. */
    atomic_fetch_sub(&a->unseen, 1);
    atomic_fetch_sub(&a->open, 1);
    peers_leave(&a->peers, address);
    complain(a, TROUBLE_DROPPED, "a connection was dropped", "libmicrohttpd did not accept it");
}

/* Whether the error concerns a single connection, see accept(2). Such an error is ignored, and the next
 * connection is accepted. */
static bool is_of_the_connection(int error)
{
    static const int errors[] = {EINTR,     ECONNABORTED, EPROTO,       ENETDOWN,   ENOPROTOOPT,
                                 EHOSTDOWN, ENONET,       EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH};
    for (size_t i = 0; i < ARRAY_LEN(errors); i++)
        if (errors[i] == error)
            return true;
    return false;
}

static bool is_full(const struct acceptor *a)
{
    return atomic_load(&a->open) >= a->limit;
}

/*
 * Returns the first descriptor that connections may not use. This descriptor and all higher descriptors are
 * reserved for calls to Cleura, webhooks and the store. (A new descriptor has the lowest free number.) The
 * limit of descriptors may change at run time.
 */
static int first_kept(void)
{
    enum { KEPT = 128, SHARE = 4 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > INT_MAX)
        return INT_MAX;
    const int all = (int)limit.rlim_cur;
    return all - (all / SHARE < KEPT ? all / SHARE : KEPT);
}

static bool has_descriptors(const struct acceptor *a, int before)
{
    int next = fcntl(a->wake_fd, F_DUPFD_CLOEXEC, 0);
    if (next >= 0)
        (void)close(next);
    return next >= 0 && next < before;
}

/* Accepts waiting connections, at most a batch. Returns true when a pause is needed. */
static bool accept_some(struct acceptor *a)
{
    const int end = first_kept();
    for (int i = 0; i < BATCH && !is_full(a); i++) {
        if (!has_descriptors(a, end)) {
            complain(a, TROUBLE_FAILED, "cannot accept connections",
                     "the remaining descriptors are reserved for Cleura and the store");
            return true;
        }
        struct sockaddr_storage address;
        socklen_t len = sizeof(address);
        int fd = accept4(a->listen_fd, (struct sockaddr *)&address, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            hand_over(a, fd, (struct sockaddr *)&address, len);
        else if (errno == EAGAIN)
            return false;
        else if (!is_of_the_connection(errno)) {
            complain(a, TROUBLE_FAILED, "cannot accept connections", strerror(errno));
            return true;
        }
    }
    return false;
}

static void *acceptor_run(void *arg)
{
    struct acceptor *a = arg;
    bool pause = false;
    (void)pthread_setname_np(pthread_self(), "accept");
    while (!atomic_load(&a->stopping)) {
        bool full = is_full(a);
        if (full)
            complain(a, TROUBLE_FULL, "no more connections are accepted", "limits.connections is reached");
        struct pollfd fds[] = {
            {.fd = a->wake_fd, .events = POLLIN},
            {.fd = full || pause ? -1 : a->listen_fd, .events = POLLIN},
        };
        (void)poll(fds, ARRAY_LEN(fds), pause ? PAUSE_MS : full ? COMPLAIN_EVERY_MS : -1);
        eventfd_t ignored;
        if (fds[0].revents)
            (void)eventfd_read(a->wake_fd, &ignored);
        pause = !atomic_load(&a->stopping) && fds[1].revents && accept_some(a);
    }
    return NULL;
}

int acceptor_start(struct acceptor *a, const struct acceptor_options *options)
{
    *a = (struct acceptor){.env = options->env,
                           .daemon = options->daemon,
                           .listen_fd = options->listen_fd,
                           .limit = options->limit,
                           .has_tls = options->has_tls,
                           .reaper = options->reaper};
    peers_init(&a->peers, options->trust, options->per_address);
    a->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (a->wake_fd < 0)
        return -errno;
    int r = pthread_create(&a->thread, NULL, acceptor_run, a);
    a->runs = r == 0;
    if (r)
        (void)close(a->wake_fd);
    return -r;
}

void acceptor_stop(struct acceptor *a)
{
    if (!a->runs)
        return;
    a->runs = false;
    atomic_store(&a->stopping, true);
    wake(a);
    (void)pthread_join(a->thread, NULL);
}

void acceptor_done(struct acceptor *a)
{
    assert(!a->runs);
    (void)close(a->wake_fd);
    peers_done(&a->peers);
}

void acceptor_seen(struct acceptor *a)
{
    unsigned before = atomic_fetch_sub(&a->unseen, 1);
    assert(before > 0);
    (void)before;
}

void acceptor_closed(struct acceptor *a, const struct sockaddr *address, bool gave_place)
{
    if (!gave_place)
        peers_leave(&a->peers, address);
    unsigned before = atomic_fetch_sub(&a->open, 1);
    assert(before > 0);
    if (before == a->limit)
        wake(a);
}

unsigned acceptor_unseen(const struct acceptor *a)
{
    return atomic_load(&a->unseen);
}
