#include "api/linger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINGER_S = 5, MOST_AT_ONCE = 1024 * 1024 };

void linger_add(struct lingering *l, int fd, mono_us now)
{
    int own = l->count < LINGER_MAX ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (own < 0)
        return;
    l->items[l->count].fd = own;
    l->items[l->count++].until = now + LINGER_S * US_PER_S;
}

/* True when the other end has closed, too. */
static bool throw_away(int fd)
{
    /* With MSG_TRUNC the bytes of a stream are dropped, not copied. */
    ssize_t n = recv(fd, NULL, MOST_AT_ONCE, MSG_DONTWAIT | MSG_TRUNC);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

void linger_look(struct lingering *l, mono_us now)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (throw_away(l->items[i].fd) || l->items[i].until <= now)
            (void)close(l->items[i].fd);
        else
            l->items[kept++] = l->items[i];
    }
    l->count = kept;
}

void linger_done(struct lingering *l)
{
    for (size_t i = 0; i < l->count; i++)
        (void)close(l->items[i].fd);
    l->count = 0;
}
