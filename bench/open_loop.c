/*
 * Reads at a fixed rate. Request k is due k / rate after the start, independent of the requests before it. It
 * takes an idle connection or waits for one. Its time counts from the moment when it was due, so a server
 * that stalls does not get fewer requests (no coordinated omission). The program sleeps until a request is
 * due or answered. It has the highest priority on its core where that is allowed, or the lowest with -n.
 *
 *     open_loop -p PORT -t TOKEN_FILE [-c CONNECTIONS] [-r RATE] [-s SECONDS] [-H "Name: value"]
 *               [-o FILE] [-n] PATH...
 *
 * Several paths are requested in turn. Prints one line of JSON, times in microseconds, and writes all times
 * to FILE, in nanoseconds, 8 bytes each.
 *
 * Other programs on the same core may stop this program. That time does not belong to the server. The program
 * should run at least as often as a request is due. When it runs STOPPED_NS later than planned, the times of
 * the requests in flight are left out. The server then works on requests that were sent late. The times of
 * requests that are due before CATCH_UP times the delay has passed are therefore left out, too, and those of
 * the first WARM_UP_NS. `left_out` is the number of these requests.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_CONNECTIONS = 10000,
    MAX_PATHS = 16,
    HEAD_BYTES = 4096,
    REQUEST_BYTES = 4096,
    PIECE_BYTES = 1 << 18,
    EVENTS = 256
};
/* limit of the wait for the last answers */
static const uint64_t NS = 1000000000, GRACE_NS = UINT64_C(10000000000);
static const uint64_t STOPPED_NS = 100000, CATCH_UP = 3, WARM_UP_NS = 200000000;
static const char end_of_chunks[7] = "\r\n0\r\n\r\n"; /* JSON has no line end, so no body contains this */

struct connection {
    int fd;
    uint64_t due; /* of the request in flight; 0: none */
    bool is_left_out;
    char head[HEAD_BYTES + 1];
    size_t head_len;
    bool has_head, chunked;
    size_t left; /* bytes left of a body with a Content-Length */
    char tail[sizeof(end_of_chunks)];
};

static struct {
    uint16_t port;
    const char *token_file, *field, *times;
    bool is_behind;
    unsigned connections;
    double rate, seconds;
    size_t path_count;
} options = {.connections = 64, .rate = 1000, .seconds = 3};

static char requests[MAX_PATHS][REQUEST_BYTES];
static size_t request_len[MAX_PATHS];

static struct connection *connections;
static unsigned *idle; /* a ring: the connection that has waited longest is used next */
static unsigned idle_first, idle_count;
static int epoll_fd;

static uint64_t began, looked_at, leave_out_until;
static size_t total, sent, answered, refused, lost, timed;
static uint64_t *latencies;

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

static void *checked(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- connections ---- */

static void open_connection(unsigned i)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(options.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
        fail("connect");
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (fcntl(fd, F_SETFL, O_NONBLOCK) || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
        fail("epoll_ctl");
    connections[i].fd = fd;
}

static void release(unsigned i)
{
    idle[(idle_first + idle_count++) % options.connections] = i;
    connections[i].due = 0;
}

static void lose(unsigned i)
{
    if (connections[i].due)
        lost++;
    (void)close(connections[i].fd);
    open_connection(i);
    if (connections[i].due)
        release(i);
}

/* ---- requests ---- */

static uint64_t due_of(size_t k)
{
    return began + (uint64_t)((double)k / options.rate * (double)NS);
}

/* Reads the time. A time much later than `expected` means that other programs stopped this one. */
static uint64_t look(uint64_t expected)
{
    looked_at = now_ns();
    if (looked_at <= expected + STOPPED_NS)
        return looked_at;
    leave_out_until = looked_at + CATCH_UP * (looked_at - expected);
    /* the request in flight may have been answered long ago */
    for (unsigned i = 0; i < options.connections; i++)
        connections[i].is_left_out = true;
    return looked_at;
}

static void send_next(void)
{
    size_t path = sent % options.path_count;
    unsigned i = idle[idle_first];
    struct connection *c = &connections[i];
    idle_first = (idle_first + 1) % options.connections;
    idle_count--;
    c->due = due_of(sent++);
    c->head_len = 0;
    c->has_head = c->chunked = false;
    c->is_left_out = c->due < leave_out_until;
    if (send(c->fd, requests[path], request_len[path], MSG_NOSIGNAL) != (ssize_t)request_len[path])
        lose(i);
}

static void send_due(void)
{
    while (sent < total && idle_count) {
        if (due_of(sent) > look(looked_at))
            return;
        send_next();
    }
}

/* ---- answers ---- */

static const char *field_of(const struct connection *c, const char *name)
{
    size_t len = strlen(name);
    for (const char *line = strstr(c->head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (!strncasecmp(line + 2, name, len) && line[2 + len] == ':')
            return line + 2 + len + 1;
    return NULL;
}

static void read_head(struct connection *c)
{
    long status = strncmp(c->head, "HTTP/1.1 ", 9) != 0 ? 0 : strtol(c->head + 9, NULL, 10);
    const char *length = field_of(c, "content-length");
    c->has_head = true;
    c->chunked = field_of(c, "transfer-encoding");
    c->left = length && status != 304 ? (size_t)strtoull(length, NULL, 10) : 0;
    memcpy(c->tail, "\0\0\0\0\0\r\n", sizeof(c->tail));
    if ((status < 200 || status > 299) && status != 304)
        refused++;
}

/* Returns how many bytes of the piece belong to the head. */
static size_t take_head(struct connection *c, const char *piece, size_t len)
{
    size_t before = c->head_len, part = len < HEAD_BYTES - before ? len : HEAD_BYTES - before;
    memcpy(c->head + before, piece, part);
    c->head[before + part] = '\0';
    const char *end = strstr(c->head, "\r\n\r\n");
    if (!end) {
        c->head_len += part;
        return part;
    }
    c->head_len = (size_t)(end - c->head) + 4;
    c->head[c->head_len] = '\0';
    read_head(c);
    return c->head_len - before;
}

static void take_body(struct connection *c, const char *piece, size_t len)
{
    if (!c->chunked) {
        c->left -= len < c->left ? len : c->left;
        return;
    }
    size_t kept = len < sizeof(c->tail) ? sizeof(c->tail) - len : 0, added = sizeof(c->tail) - kept;
    memmove(c->tail, c->tail + sizeof(c->tail) - kept, kept);
    memcpy(c->tail + kept, piece + len - added, added);
}

static bool is_complete(const struct connection *c)
{
    return c->has_head && (c->chunked ? !memcmp(c->tail, end_of_chunks, sizeof(c->tail)) : !c->left);
}

static void on_readable(unsigned i)
{
    static char piece[PIECE_BYTES];
    struct connection *c = &connections[i];
    ssize_t len = recv(c->fd, piece, sizeof(piece), 0);
    if (len < 0 && errno == EAGAIN)
        return;
    if (len <= 0 || !c->due || (!c->has_head && c->head_len == HEAD_BYTES)) {
        lose(i);
        return;
    }
    size_t head = c->has_head ? 0 : take_head(c, piece, (size_t)len);
    if (c->has_head)
        take_body(c, piece + head, (size_t)len - head);
    if (is_complete(c)) {
        uint64_t now = look(looked_at);
        answered++;
        if (!c->is_left_out)
            latencies[timed++] = now - c->due;
        release(i);
    }
}

/* ---- the run ---- */

/* Waits until there is an answer, or the next request is due and has a connection. False: too late for the
 * last answers. */
static bool wait_for_something(void)
{
    static struct epoll_event events[EVENTS];
    uint64_t now = look(looked_at),
             until = sent < total && idle_count ? due_of(sent) : due_of(total) + GRACE_NS;
    if (sent == total && now >= until)
        return false;
    uint64_t left = until > now ? until - now : 0;
    struct timespec timeout = {(time_t)(left / NS), (long)(left % NS)};
    int count = epoll_pwait2(epoll_fd, events, EVENTS, &timeout, NULL);
    (void)look(until);
    for (int i = 0; i < count; i++)
        on_readable(events[i].data.u32);
    return true;
}

static void run(void)
{
    began = looked_at = now_ns();
    leave_out_until = began + WARM_UP_NS;
    while (answered + lost < total) {
        send_due();
        if (!wait_for_something())
            return;
    }
}

static int by_size(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static double percentile(const uint64_t *sorted, size_t count, double share)
{
    size_t i = (size_t)((double)count * share);
    return count ? (double)sorted[i < count ? i : count - 1] / 1e3 : 0;
}

static void write_times(void)
{
    FILE *file = fopen(options.times, "we");
    if (!file || fwrite(latencies, sizeof(*latencies), timed, file) != timed || fclose(file))
        fail(options.times);
}

static void print(void)
{
    qsort(latencies, timed, sizeof(*latencies), by_size);
    (void)printf("{\"sent\":%zu,\"answered\":%zu,\"refused\":%zu,\"lost\":%zu,\"left_out\":%zu,"
                 "\"p50\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%.1f}\n",
                 sent, answered, refused, lost, answered - timed, percentile(latencies, timed, 0.5),
                 percentile(latencies, timed, 0.99), percentile(latencies, timed, 0.999),
                 percentile(latencies, timed, 1));
}

/* ---- the beginning ---- */

static bool read_options(int argc, char **argv)
{
    for (int option; (option = getopt(argc, argv, "p:t:c:r:s:H:o:n")) != -1;) {
        switch (option) {
        case 'p':
            options.port = (uint16_t)strtoul(optarg, NULL, 10);
            break;
        case 't':
            options.token_file = optarg;
            break;
        case 'c':
            options.connections = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'r':
            options.rate = strtod(optarg, NULL);
            break;
        case 's':
            options.seconds = strtod(optarg, NULL);
            break;
        case 'H':
            options.field = optarg;
            break;
        case 'o':
            options.times = optarg;
            break;
        case 'n':
            options.is_behind = true;
            break;
        default:
            return false;
        }
    }
    options.path_count = (size_t)(argc - optind);
    total = (size_t)(options.rate * options.seconds);
    return options.port && options.token_file && options.connections &&
           options.connections <= MAX_CONNECTIONS && total && options.path_count &&
           options.path_count <= MAX_PATHS;
}

static void make_requests(char **paths)
{
    char token[256] = "";
    FILE *file = fopen(options.token_file, "re");
    if (!file || !fgets(token, sizeof(token), file))
        fail(options.token_file);
    (void)fclose(file);
    token[strcspn(token, "\n")] = '\0';
    for (size_t i = 0; i < options.path_count; i++) {
        int len = snprintf(requests[i], REQUEST_BYTES,
                           "GET %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n%s%s\r\n", paths[i],
                           token, options.field ? options.field : "", options.field ? "\r\n" : "");
        if (len < 0 || len >= REQUEST_BYTES)
            exit(64);
        request_len[i] = (size_t)len;
    }
}

/* Maps the memory before it is needed. */
static uint64_t *new_times(void)
{
    return memset(checked(malloc(total * sizeof(uint64_t))), 1, total * sizeof(uint64_t));
}

static void open_all(void)
{
    struct rlimit files;
    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    connections = checked(calloc(options.connections, sizeof(*connections)));
    idle = checked(calloc(options.connections, sizeof(*idle)));
    latencies = new_times();
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; i < options.connections; i++) {
        open_connection(i);
        idle[idle_count++] = i;
    }
}

/* Does not use SCHED_FIFO: Linux takes the processor from it for 50 ms when others have waited for long. */
static void go_first(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t slice_ns, unused[2];
    } first = {.size = sizeof(first), .nice = -20, .slice_ns = 100000};
    (void)syscall(SYS_sched_setattr, 0, &first, 0);
}

int main(int argc, char **argv)
{
    if (!read_options(argc, argv))
        return 64;
    make_requests(argv + optind);
    open_all();
    (void)prctl(PR_SET_TIMERSLACK, 1UL);
    if (!options.is_behind)
        go_first();
    run();
    print();
    if (options.times)
        write_times();
    return 0;
}
