#include "http/connection/lingering_close.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINGER_S = 5,
    PIECE = 16 * 1024,
    PIECES_AT_ONCE = 32,
    RECEIVE_BUFFER = 64 * 1024, /* else the kernel lets it grow to megabytes for each that sends fast */
};

void lingering_close_add(struct lingering_closes *l, int fd, mono_us now)
{
    const int size = RECEIVE_BUFFER;
    int own = l->count < LINGERING_CLOSES_MAX ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (own < 0)
        return;
    (void)setsockopt(own, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    l->items[l->count].fd = own;
    l->items[l->count++].until = now + LINGER_S * US_PER_S;
}

/* True when the other end has closed, too. */
static bool throw_away(int fd)
{
    char piece[PIECE];
    ssize_t n = 1;
    for (int i = 0; i < PIECES_AT_ONCE && n > 0; i++)
        n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

void lingering_close_check(struct lingering_closes *l, mono_us now)
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

void lingering_close_done(struct lingering_closes *l)
{
    for (size_t i = 0; i < l->count; i++)
        (void)close(l->items[i].fd);
    l->count = 0;
}
