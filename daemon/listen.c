#include "daemon/daemon_private.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/mem.h"

enum { BACKLOG = 1024 };

static bool take_systemd(struct listener *l, char **ret_error)
{
    int count = sd_listen_fds(1);
    if (count <= 0)
        return false;
    int fd = SD_LISTEN_FDS_START;
    if (count != 1 || sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, 1) <= 0) {
        *ret_error = mem_strdup("systemd must pass exactly one listening stream socket");
        return true;
    }
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    *l = (struct listener){.fd = fd, .from_systemd = true, .address = mem_strdup("a socket of systemd")};
    return true;
}

static int bind_and_listen(const struct sockaddr *address, socklen_t len)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, address, len) < 0 || listen(fd, BACKLOG) < 0) {
        int r = -errno;
        (void)close(fd);
        return r;
    }
    return fd;
}

/* Removes a socket that has no listener. A process that was killed leaves such a socket. The caller has
 * checked that it is one, because connect() fails in the same way for other files. */
static void remove_leftover(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 && errno == ECONNREFUSED)
        (void)unlink(address->sun_path);
    (void)close(fd);
}

static int open_unix(const char *path, struct listener *l)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path));
    struct stat st;
    if (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
        return -EEXIST;
    remove_leftover(&address);
    mode_t mask = umask(0117);
    int fd = bind_and_listen((const struct sockaddr *)&address, sizeof(address));
    (void)umask(mask);
    if (fd >= 0) {
        if (lstat(path, &st) == 0) {
            l->device = st.st_dev;
            l->inode = st.st_ino;
        }
        l->unix_path = mem_strdup(path);
        l->address = mem_printf("unix:%s", path);
    }
    return fd;
}

static char *describe_listener(int fd, const char *scheme)
{
    struct sockaddr_storage bound;
    socklen_t len = sizeof(bound);
    char text[INET6_ADDRSTRLEN] = "";
    if (getsockname(fd, (struct sockaddr *)&bound, &len) < 0)
        return mem_strdup("?");
    if (bound.ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&bound;
        (void)inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
        return mem_printf("%s://[%s]:%u", scheme, text, ntohs(in6->sin6_port));
    }
    const struct sockaddr_in *in = (const struct sockaddr_in *)&bound;
    (void)inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
    return mem_printf("%s://%s:%u", scheme, text, ntohs(in->sin_port));
}

static int open_inet(const char *where, const char *scheme, struct listener *l)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    const char *colon = strrchr(where, ':');
    if (!colon)
        return -EINVAL;
    long port = strtol(colon + 1, NULL, 10);
    bool bracketed = where[0] == '[' && colon > where && colon[-1] == ']';
    char *host CLEANUP_FREE = bracketed ? mem_strndup(where + 1, (size_t)(colon - where) - 2)
                                        : mem_strndup(where, (size_t)(colon - where));
    if (port < 0 || port > 65535)
        return -EINVAL;
    in.sin_port = htons((uint16_t)port);
    in6.sin6_port = htons((uint16_t)port);
    int fd = -EINVAL;
    if (inet_pton(AF_INET, host, &in.sin_addr) == 1)
        fd = bind_and_listen((const struct sockaddr *)&in, sizeof(in));
    else if (inet_pton(AF_INET6, host, &in6.sin6_addr) == 1)
        fd = bind_and_listen((const struct sockaddr *)&in6, sizeof(in6));
    if (fd >= 0)
        l->address = describe_listener(fd, scheme);
    return fd;
}

bool listener_open(const char *where, const char *scheme, struct listener *ret_listener, char **ret_error)
{
    struct listener l = {.fd = -1};
    *ret_error = NULL;
    if (take_systemd(&l, ret_error)) {
        *ret_listener = l;
        return *ret_error == NULL;
    }
    l.fd = strncmp(where, "unix:", 5) ? open_inet(where, scheme, &l) : open_unix(where + 5, &l);
    if (l.fd < 0) {
        *ret_error =
            mem_printf("cannot listen on %s: %s; set another address with `listen` in the configuration, "
                       "or with SHOOTD_LISTEN when there is no configuration",
                       where, strerror(-l.fd));
        return false;
    }
    assert(l.address);
    *ret_listener = l;
    return true;
}

void listener_close(struct listener *l)
{
    assert(l->fd >= 0 || (!l->unix_path && !l->address));
    if (l->fd >= 0 && !l->from_systemd)
        (void)close(l->fd);
    struct stat st;
    if (l->unix_path && lstat(l->unix_path, &st) == 0 && st.st_dev == l->device && st.st_ino == l->inode)
        (void)unlink(l->unix_path);
    free(l->unix_path);
    free(l->address);
    *l = (struct listener){.fd = -1};
}
