#include "http/connection/handshakes.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/mem.h"
#include "http/connection/connection.h"

enum { EVENTS_AT_ONCE = 64 };

/* The pause after each batch. After a resume the library checks all suspended connections of the worker.
 * Therefore connections whose bytes come within one millisecond are resumed together. */
static const struct timespec gather = {.tv_nsec = 1000000};

/* Called when the worker uses the connection again, or closes it. */
static void notice(struct connection *c)
{
    if (!c->is_held)
        return;
    c->is_held = false;
    unsigned before = atomic_fetch_sub(&c->handshakes->held, 1);
    assert(before > 0);
    (void)before;
}

/* Suspends the connection and adds it to epoll while the lock is held, so that no thread resumes it before it
 * is suspended. */
static void hold(struct handshakes *h, struct connection *c)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = c};
    mutex_lock(&h->lock);
    if (!h->stopping && epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, c->fd, &event) < 0) {
        (void)shutdown(c->fd, SHUT_RDWR); /* epoll has no memory; without this shutdown the library would try
                                           * the handshake again and again */
    } else if (!h->stopping) {
        assert(!c->is_held && list_is_detached(&c->handshake));
        c->is_held = true;
        atomic_fetch_add(&h->held, 1);
        list_append(&h->waiting, &c->handshake);
        MHD_suspend_connection(c->mhd);
    }
    mutex_unlock(&h->lock);
}

/*
 * Called on the thread of the handshakes. After the resume the worker may free the connection, so all
 * references to the connection are removed before the resume. The lock of the handshakes is not held during
 * the resume, because the resume takes the library's lock and writes to the worker.
 */
static void resume(struct handshakes *h, struct connection *c)
{
    struct MHD_Connection *mhd = c->mhd;
    mutex_lock(&h->lock);
    (void)epoll_ctl(h->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
    list_remove(&c->handshake);
    mutex_unlock(&h->lock);
    MHD_resume_connection(mhd);
}

/* GnuTLS reads with this function. When it finds no bytes during a handshake, the handshake waits. After the
 * handshake the library itself detects that there is no data. */
static ssize_t pull(gnutls_transport_ptr_t ptr, void *bytes, size_t size)
{
    struct connection *c = ptr;
    notice(c);
    ssize_t n = recv(c->fd, bytes, size, 0);
    const int error = errno;
    if (n < 0 && error == EAGAIN && !c->handshake_ended)
        hold(c->handshakes, c);
    errno = error;
    return n;
}

/* Called when the client's Finished was received, the last message of a handshake that the server reads. */
static int on_finished(gnutls_session_t session, unsigned type ATTR_UNUSED, unsigned when ATTR_UNUSED,
                       unsigned incoming, const gnutls_datum_t *message ATTR_UNUSED)
{
    struct connection *c = gnutls_transport_get_ptr(session);
    c->handshake_ended = c->handshake_ended || incoming;
    return 0;
}

static struct connection *first_of(struct handshakes *h)
{
    mutex_lock(&h->lock);
    h->stopping = true;
    struct list *first = list_is_empty(&h->waiting) ? NULL : h->waiting.next;
    mutex_unlock(&h->lock);
    return first ? CONTAINER_OF(first, struct connection, handshake) : NULL;
}

static void resume_all(struct handshakes *h)
{
    for (struct connection *c = first_of(h); c; c = first_of(h))
        resume(h, c);
}

static void *handshakes_run(void *arg)
{
    struct handshakes *h = arg;
    struct epoll_event events[EVENTS_AT_ONCE];
    (void)pthread_setname_np(pthread_self(), "handshakes");
    for (;;) {
        int count = epoll_wait(h->epoll_fd, events, EVENTS_AT_ONCE, -1);
        for (int i = 0; i < count; i++) {
            if (!events[i].data.ptr) {
                resume_all(h); /* the connections after this one in the batch are resumed, too */
                return NULL;
            }
            resume(h, events[i].data.ptr);
        }
        (void)nanosleep(&gather, NULL);
    }
}

static int start_thread(struct handshakes *h)
{
    struct epoll_event event = {.events = EPOLLIN};
    if (h->epoll_fd < 0 || h->wake_fd < 0 || epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, h->wake_fd, &event) < 0)
        return -errno;
    return -pthread_create(&h->thread, NULL, handshakes_run, h);
}

static void free_all(struct handshakes *h)
{
    if (h->epoll_fd >= 0)
        (void)close(h->epoll_fd);
    if (h->wake_fd >= 0)
        (void)close(h->wake_fd);
    mutex_done(&h->lock);
}

int handshakes_start(struct handshakes *h)
{
    *h = (struct handshakes){.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
                             .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    mutex_init(&h->lock);
    list_init(&h->waiting);
    int r = start_thread(h);
    if (r < 0)
        free_all(h);
    return r;
}

void handshakes_stop(struct handshakes *h)
{
    static const struct timespec moment = {.tv_nsec = 2000000};
    (void)eventfd_write(h->wake_fd, 1);
    (void)pthread_join(h->thread, NULL);
    while (atomic_load(&h->held))
        (void)nanosleep(&moment, NULL);
}

void handshakes_done(struct handshakes *h)
{
    assert(!atomic_load(&h->held) && list_is_empty(&h->waiting));
    free_all(h);
}

void handshakes_add(struct handshakes *h, struct connection *c)
{
    c->handshakes = h;
    gnutls_transport_set_ptr2(c->tls, c, (gnutls_transport_ptr_t)(intptr_t)c->fd);
    gnutls_transport_set_pull_function(c->tls, pull);
    gnutls_handshake_set_hook_function(c->tls, GNUTLS_HANDSHAKE_FINISHED, GNUTLS_HOOK_POST, on_finished);
}

void handshakes_remove(struct connection *c)
{
    assert(list_is_detached(&c->handshake));
    notice(c);
}
