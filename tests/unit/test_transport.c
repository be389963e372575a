/*
 * The real transport with test listeners on loopback, and with the webhooks' address policy. A trap proves
 * that nothing was sent, whatever the URL is and whatever address a name resolves to. This program replaces
 * the resolver.
 */
#include "tests/support/check.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/config.h"
#include "webhook/webhook.h"

enum { WAIT_S = 10, ANSWER_MAX = 16 * 1024 };

/* ---- the resolver ---- */

/* The next address of "rebind.test", and possibly a second one. libcurl resolves on a thread of its own. */
static const char *_Atomic first_address;
static const char *_Atomic second_address;

static _Atomic unsigned slow_names_resolved;

typedef int resolver(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static int numeric(const char *address, const char *service, const struct addrinfo *hints,
                   struct addrinfo **ret)
{
    static _Atomic(resolver *) real;
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
        resolver *found;
        memcpy(&found, &symbol, sizeof(found));
        real = found;
    }
    return real(address, service, hints, ret);
}

/* Replaces the function of the C library. */
int getaddrinfo(const char *restrict host, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict ret)
{
    if (host && !strcmp(host, "slow.test")) {
        static const struct timespec long_time = {.tv_sec = 2};
        (void)nanosleep(&long_time, NULL);
        slow_names_resolved++;
    }
    if (!host || strcmp(host, "rebind.test") != 0)
        return numeric(host, service, hints, ret);
    struct addrinfo wide = *hints;
    wide.ai_family = AF_UNSPEC;
    int r = numeric(first_address, service, &wide, ret);
    if (!r && second_address)
        r = numeric(second_address, service, &wide, &(*ret)->ai_next);
    return r;
}

/* ---- listeners ---- */

struct listener {
    int fd;
    int port;
    pthread_t thread;
    const char *_Atomic answer; /* the header section; valid until the listener has stopped */
    _Atomic size_t body_bytes;
    _Atomic unsigned connections;
    _Atomic unsigned requests;
    _Atomic bool stop;
};

/* Reads one request. A body must come together with its header section. False: the peer has closed the
 * connection. */
static bool read_request(struct listener *l, int fd)
{
    char text[8192];
    size_t len = 0;
    while (len < sizeof(text) - 1) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (l->stop || poll(&p, 1, 20) < 0)
            return false;
        if (!p.revents)
            continue;
        ssize_t n = recv(fd, text + len, sizeof(text) - 1 - len, 0);
        if (n <= 0)
            return false;
        len += (size_t)n;
        text[len] = '\0';
        if (strstr(text, "\r\n\r\n"))
            return true;
    }
    return false;
}

static bool send_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static void serve(struct listener *l, int fd)
{
    static const char block[4096];
    while (read_request(l, fd)) {
        l->requests++;
        const char *answer = l->answer;
        bool ok = send_all(fd, answer, strlen(answer));
        for (size_t left = l->body_bytes; ok && left; left -= left < sizeof(block) ? left : sizeof(block))
            ok = send_all(fd, block, left < sizeof(block) ? left : sizeof(block));
        if (!ok)
            return;
    }
}

static void *listen_main(void *ctx)
{
    struct listener *l = ctx;
    while (!l->stop) {
        struct pollfd p = {.fd = l->fd, .events = POLLIN};
        if (poll(&p, 1, 20) <= 0)
            continue;
        int fd = accept(l->fd, NULL, NULL);
        l->connections++;
        serve(l, fd);
        (void)close(fd);
    }
    return NULL;
}

/* Listens at `address`. `port` 0: any port. */
static void listener_start(struct listener *l, const char *address, int port, const char *answer)
{
    struct sockaddr_storage name = {0};
    struct sockaddr_in *four = (struct sockaddr_in *)(void *)&name;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)&name;
    bool is_six = inet_pton(AF_INET6, address, &six->sin6_addr) == 1;
    socklen_t len = is_six ? sizeof(*six) : sizeof(*four);
    name.ss_family = is_six ? AF_INET6 : AF_INET;
    if (is_six)
        six->sin6_port = htons((uint16_t)port);
    else
        four->sin_port = htons((uint16_t)port);
    if (!is_six)
        assert_int_equal(inet_pton(AF_INET, address, &four->sin_addr), 1);
    *l = (struct listener){.answer = answer};
    l->fd = socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(l->fd, (struct sockaddr *)&name, len), 0);
    assert_int_equal(listen(l->fd, 16), 0);
    assert_int_equal(getsockname(l->fd, (struct sockaddr *)&name, &len), 0);
    l->port = ntohs(is_six ? six->sin6_port : four->sin_port);
    assert_int_equal(pthread_create(&l->thread, NULL, listen_main, l), 0);
}

static void listener_stop(struct listener *l)
{
    l->stop = true;
    (void)pthread_join(l->thread, NULL);
    (void)close(l->fd);
}

/* ---- requests ---- */

#define NO_CONTENT "HTTP/1.1 204 No Content\r\n\r\n"

struct fixture {
    struct loop *loop;
    struct transport *transport;
    struct config config;
    struct listener trap;  /* 127.0.0.1: no request may arrive here */
    struct listener other; /* 127.0.0.2, at the same port */
    bool refuse;           /* the policy refuses every address */
    char *answer;          /* the answer of `other`, when the test makes it */
    int64_t timeout_us;
    char host[128]; /* the host in the last call of the policy */
    bool done;
    enum http_outcome outcome;
    int status;
    size_t body_len;
    char error[32];
};

static bool policy(void *ctx, const char *host, const struct sockaddr *address)
{
    struct fixture *f = ctx;
    (void)snprintf(f->host, sizeof(f->host), "%s", host);
    return !f->refuse && webhook_address_allowed(&f->config, host, address);
}

/* Makes a new transport, which resolves names again. libcurl caches names for a minute. */
static void transport_renew(struct fixture *f)
{
    const struct transport_options options = {
        .user_agent = "test", .max_connections = 8, .address_allowed = policy, .address_ctx = f};
    if (f->transport)
        f->transport->free(f->transport);
    f->transport = transport_curl_new(f->loop, &options);
}

static int setup(void **state)
{
    struct fixture *f = MEM_NEW(struct fixture);
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    f->loop = loop_new(env_real());
    f->timeout_us = WAIT_S * US_PER_S;
    transport_renew(f);
    listener_start(&f->trap, "127.0.0.1", 0, NO_CONTENT);
    listener_start(&f->other, "127.0.0.2", f->trap.port, NO_CONTENT);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    f->transport->free(f->transport);
    loop_free(f->loop);
    listener_stop(&f->trap);
    listener_stop(&f->other);
    free(f->answer);
    free(f);
    return 0;
}

static void on_done(void *ctx, const struct http_answer *answer)
{
    struct fixture *f = ctx;
    f->done = true;
    f->outcome = answer->outcome;
    f->status = answer->status;
    f->body_len = answer->body_len;
    (void)snprintf(f->error, sizeof(f->error), "%s", answer->error ? answer->error : "");
}

static void post(struct fixture *f, const char *url, bool fresh)
{
    const struct http_header headers[] = {{"content-type", "application/json"}, {NULL, NULL}};
    const struct http_request request = {.method = "POST",
                                         .url = url,
                                         .headers = headers,
                                         .body = "{}",
                                         .body_len = 2,
                                         .connect_timeout_us = WAIT_S * US_PER_S,
                                         .timeout_us = f->timeout_us,
                                         .max_body = ANSWER_MAX,
                                         .fresh_connection = fresh};
    f->done = false;
    (void)f->transport->start(f->transport, &request, on_done, f);
    mono_us end = env_mono(env_real()) + 2 * WAIT_S * US_PER_S;
    while (!f->done && env_mono(env_real()) < end)
        loop_turn(f->loop, end);
    assert_true(f->done);
}

static void post_to(struct fixture *f, const char *host, bool fresh)
{
    char *url CLEANUP_FREE = mem_printf("http://%s:%d/", host, f->trap.port);
    post(f, url, fresh);
}

static void expect(const struct fixture *f, enum http_outcome outcome, int status, const char *error)
{
    assert_string_equal(http_outcome_name(f->outcome), http_outcome_name(outcome));
    assert_int_equal(f->status, status);
    assert_string_equal(f->error, error);
}

/* ---- nothing is sent ---- */

static void wh19_wh20_no_spelling_of_a_host_reaches_loopback(void **state)
{
    static const char *const hosts[] = {
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "127%2e0%2e0%2e1",
        "127.0.0.1.",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "0.0.0.0",
        "0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[0:0:0:0:0:ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "rebind.test",
        "user:pw@127.0.0.1",
        /* circled digits, which IDNA converts to plain digits */
        "\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.0.0.1",
        "127\xe3\x80\x82"
        "0\xe3\x80\x82"
        "0\xe3\x80\x82"
        "1",
    };
    struct fixture *f = *state;
    struct listener six;
    listener_start(&six, "::1", f->trap.port, NO_CONTENT);
    first_address = "127.0.0.1";
    second_address = NULL;
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        post_to(f, hosts[i], true);
        if (f->outcome != HTTP_NOT_SENT)
            fail_msg("%s: %s", hosts[i], http_outcome_name(f->outcome));
    }
    assert_int_equal(f->trap.connections, 0);
    assert_int_equal(six.connections, 0);
    listener_stop(&six);
}

static void wh20_no_address_of_the_list_is_connected_to(void **state)
{
    static const char *const hosts[] = {
        "10.0.0.1",        "172.16.0.1", "192.168.0.1",     "100.64.0.1",
        "169.254.169.254", "224.0.0.1",  "255.255.255.255", "[fe80::1]",
        "[fc00::1]",       "[ff02::1]",  "[fd00:ec2::254]", "[::ffff:169.254.169.254]",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        post_to(f, hosts[i], true);
        expect(f, HTTP_NOT_SENT, 0, "address_refused");
    }
}

static void wh18_no_other_protocol_is_spoken(void **state)
{
    static const char *const schemes[] = {"ftp",  "gopher", "dict", "telnet", "ldap",
                                          "smtp", "tftp",   "ws",   "imap"};
    struct fixture *f = *state;
    char *allow[] = {(char[]){"127.0.0.0/8"}, NULL};
    f->config.webhooks.allow = allow;
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        char *url CLEANUP_FREE = mem_printf("%s://127.0.0.1:%d/", schemes[i], f->trap.port);
        post(f, url, true);
        expect(f, HTTP_NOT_SENT, 0, "protocol");
    }
    post(f, "file:///etc/hostname", true);
    expect(f, HTTP_NOT_SENT, 0, "protocol");
    assert_int_equal(f->trap.connections, 0);
}

/* ---- names that change ---- */

static void wh19_a_name_that_changes_is_judged_by_its_new_address(void **state)
{
    struct fixture *f = *state;
    char *allow[] = {(char[]){"127.0.0.2"}, NULL};
    f->config.webhooks.allow = allow;
    second_address = NULL;
    first_address = "127.0.0.2";
    post_to(f, "rebind.test", true);
    expect(f, HTTP_ANSWERED, 204, "");
    assert_string_equal(f->host, "rebind.test");
    first_address = "127.0.0.1";
    post_to(f, "rebind.test", true); /* the checked address is used, even when the name has changed */
    expect(f, HTTP_ANSWERED, 204, "");
    transport_renew(f);
    post_to(f, "rebind.test", true);
    expect(f, HTTP_NOT_SENT, 0, "address_refused");
    assert_int_equal(f->other.requests, 2);
    assert_int_equal(f->trap.connections, 0);
}

static void wh19_of_two_addresses_only_the_allowed_one_is_used(void **state)
{
    struct fixture *f = *state;
    char *allow[] = {(char[]){"127.0.0.2"}, NULL};
    f->config.webhooks.allow = allow;
    first_address = "127.0.0.1";
    second_address = "127.0.0.2";
    post_to(f, "rebind.test", true);
    expect(f, HTTP_ANSWERED, 204, "");
    assert_int_equal(f->other.requests, 1);
    assert_int_equal(f->trap.connections, 0);
    second_address = NULL;
}

static void wh19_an_allowed_host_may_be_private(void **state)
{
    struct fixture *f = *state;
    char *allow[] = {(char[]){"rebind.test"}, NULL};
    f->config.webhooks.allow = allow;
    first_address = "127.0.0.2";
    second_address = NULL;
    post_to(f, "rebind.test", true);
    expect(f, HTTP_ANSWERED, 204, "");
    post_to(f, "127.0.0.2", true);
    expect(f, HTTP_NOT_SENT, 0, "address_refused");
    first_address = "169.254.169.254";
    transport_renew(f);
    post_to(f, "rebind.test", true);
    expect(f, HTTP_NOT_SENT, 0, "address_refused");
}

/* A kept connection is checked again before a request is sent on it. */
static void wh19_a_kept_connection_is_judged_again(void **state)
{
    struct fixture *f = *state;
    char *allow[] = {(char[]){"127.0.0.2"}, NULL};
    f->config.webhooks.allow = allow;
    post_to(f, "127.0.0.2", false);
    post_to(f, "127.0.0.2", false);
    expect(f, HTTP_ANSWERED, 204, "");
    assert_int_equal(f->other.connections, 1);
    assert_int_equal(f->other.requests, 2);
    f->refuse = true;
    post_to(f, "127.0.0.2", false);
    expect(f, HTTP_NOT_SENT, 0, "address_refused");
    assert_int_equal(f->other.requests, 2);
}

static void the_policy_sees_hosts_without_brackets(void **state)
{
    struct fixture *f = *state;
    post_to(f, "[2001:DB8::1]", true);
    expect(f, HTTP_NOT_SENT, 0, "address_refused");
    assert_string_equal(f->host, "2001:DB8::1");
}

/* ---- influences of the environment and of the receiver ---- */

static void wh21_the_environment_names_no_proxy(void **state)
{
    static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    struct fixture *f = *state;
    char *allow[] = {(char[]){"127.0.0.0/8"}, NULL};
    f->config.webhooks.allow = allow;
    char *proxy CLEANUP_FREE = mem_printf("http://127.0.0.1:%d", f->trap.port);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)setenv(names[i], proxy, 1);
    post_to(f, "127.0.0.2", true);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)unsetenv(names[i]);
    expect(f, HTTP_ANSWERED, 204, "");
    assert_int_equal(f->trap.connections, 0);
}

static void wh21_redirects_are_not_followed(void **state)
{
    struct fixture *f = *state;
    char *allow[] = {(char[]){"127.0.0.0/8"}, NULL};
    f->config.webhooks.allow = allow;
    f->answer = mem_printf("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:%d/\r\n"
                           "Refresh: 0; url=http://127.0.0.1:%d/\r\nContent-Length: 0\r\n\r\n",
                           f->trap.port, f->trap.port);
    f->other.answer = f->answer;
    post_to(f, "127.0.0.2", true);
    expect(f, HTTP_ANSWERED, 307, "");
    assert_int_equal(f->trap.connections, 0);
}

static void an_answer_of_10_mb_is_read_to_its_cap(void **state)
{
    struct fixture *f = *state;
    char *allow[] = {(char[]){"127.0.0.0/8"}, NULL};
    f->config.webhooks.allow = allow;
    f->other.answer = "HTTP/1.1 200 OK\r\nContent-Length: 10485760\r\n\r\n";
    f->other.body_bytes = 10485760;
    post_to(f, "127.0.0.2", true);
    expect(f, HTTP_TOO_LARGE, 200, "too_large");
    assert_int_equal(f->body_len, ANSWER_MAX);
}

static void wh13_an_answer_that_does_not_end_is_a_timeout(void **state)
{
    struct fixture *f = *state;
    char *allow[] = {(char[]){"127.0.0.0/8"}, NULL};
    f->config.webhooks.allow = allow;
    f->timeout_us = 300 * US_PER_MS;
    f->other.answer = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
    f->other.body_bytes = 10;
    post_to(f, "127.0.0.2", true);
    expect(f, HTTP_TIMEOUT, 0, "timeout");
    assert_int_equal(f->other.requests, 1);
}

/* libcurl reports an unsupported protocol. libcurl reports the same error when it has sent nothing, but here
 * the receiver may have acted on the request. */
static void an_answer_that_is_no_http_came_after_the_request(void **state)
{
    struct fixture *f = *state;
    char *allow[] = {(char[]){"127.0.0.0/8"}, NULL};
    f->config.webhooks.allow = allow;
    f->other.answer = "SSH-2.0-OpenSSH_9.2\r\n";
    post_to(f, "127.0.0.2", true);
    expect(f, HTTP_BROKEN, 0, "protocol_error");
    assert_int_equal(f->other.requests, 1);
}

/* The loop must not wait for the thread that resolves a name. */
static void a_name_that_resolves_slowly_holds_up_nobody(void **state)
{
    struct fixture *f = *state;
    f->timeout_us = 200 * US_PER_MS;
    mono_us began = env_mono(env_real());
    post_to(f, "slow.test", true);
    expect(f, HTTP_NOT_SENT, 0, "timeout");
    assert_true(env_mono(env_real()) - began < US_PER_S);
    assert_int_equal(slow_names_resolved, 0);
    static const struct timespec moment = {.tv_nsec = 20000000};
    for (int i = 0; i < 500 && !slow_names_resolved; i++)
        (void)nanosleep(&moment, NULL);
    assert_int_equal(slow_names_resolved, 1);
    (void)nanosleep(&moment, NULL); /* time for the resolver's thread to end */
}

static void an_endless_header_section_is_cut(void **state)
{
    struct fixture *f = *state;
    char *allow[] = {(char[]){"127.0.0.0/8"}, NULL};
    struct buffer answer;
    buffer_init(&answer, 1 << 20);
    buffer_add_str(&answer, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 20000; i++)
        buffer_printf(&answer, "X-%d: y\r\n", i);
    f->config.webhooks.allow = allow;
    f->other.answer = f->answer = buffer_take(&answer, NULL);
    post_to(f, "127.0.0.2", true);
    expect(f, HTTP_TOO_LARGE, 200, "too_large");
}

/* ---- a peer that sends nothing more ---- */

enum {
    H2_CONNECTIONS = 8,
    H2_PREFACE_BYTES = 24,
    H2_HEAD_BYTES = 9,
    H2_DATA = 0,
    H2_HEADERS = 1,
    H2_SETTINGS = 4
};
enum { H2_ACK = 1, H2_END_STREAM = 1, H2_END_HEADERS = 4 };

/*
 * The necessary part of an HTTP/2 server. On the first connection it answers only the first stream at once.
 * It never answers the second stream. The other streams wait until `speaks_again` is set.
 */
struct h2_server {
    SSL_CTX *tls;
    int fd, port;
    pthread_t thread, served[H2_CONNECTIONS];
    _Atomic unsigned connections, requests, closed;
    _Atomic bool speaks_again, stop;
    char ca_file[32];
};

struct h2_connection {
    struct h2_server *server;
    SSL *ssl;
    bool is_first;
    unsigned streams;
};

static bool h2_read(struct h2_connection *c, void *bytes, size_t len)
{
    for (char *to = bytes; len;) {
        int n = SSL_read(c->ssl, to, (int)len);
        if (n > 0) {
            to += n;
            len -= (size_t)n;
        } else if (SSL_get_error(c->ssl, n) != SSL_ERROR_WANT_READ || c->server->stop) {
            return false;
        }
    }
    return true;
}

static bool h2_send(struct h2_connection *c, uint8_t type, uint8_t flags, uint32_t stream,
                    const char *payload)
{
    uint8_t frame[H2_HEAD_BYTES + 1] = {0, 0, (uint8_t)strlen(payload), type, flags};
    for (int i = 0; i < 4; i++)
        frame[5 + i] = (uint8_t)(stream >> (24 - 8 * i));
    frame[H2_HEAD_BYTES] = (uint8_t)payload[0];
    const int len = H2_HEAD_BYTES + (int)strlen(payload);
    return SSL_write(c->ssl, frame, len) == len;
}

/* Status 204 is the 9th entry of HPACK's static table. */
static bool h2_answer(struct h2_connection *c, uint32_t stream)
{
    static const struct timespec moment = {.tv_nsec = 5000000};
    c->server->requests++;
    c->streams++;
    if (c->is_first && c->streams == 2)
        return true;
    while (c->is_first && c->streams > 2 && !c->server->speaks_again && !c->server->stop)
        (void)nanosleep(&moment, NULL);
    return h2_send(c, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, stream, "\x89");
}

static void h2_serve(struct h2_connection *c)
{
    uint8_t head[H2_HEAD_BYTES], payload[16 * 1024];
    int accepted = SSL_accept(c->ssl);
    while (accepted != 1 && SSL_get_error(c->ssl, accepted) == SSL_ERROR_WANT_READ && !c->server->stop)
        accepted = SSL_accept(c->ssl);
    if (accepted != 1 || !h2_read(c, payload, H2_PREFACE_BYTES) || !h2_send(c, H2_SETTINGS, 0, 0, ""))
        return;
    while (h2_read(c, head, sizeof(head))) {
        const size_t len = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        const uint8_t type = head[3], flags = head[4];
        const uint32_t stream = (uint32_t)head[7] << 8 | head[8];
        bool ok = len <= sizeof(payload) && h2_read(c, payload, len);
        if (ok && type == H2_SETTINGS && !(flags & H2_ACK))
            ok = h2_send(c, H2_SETTINGS, H2_ACK, 0, "");
        else if (ok && (type == H2_HEADERS || type == H2_DATA) && flags & H2_END_STREAM)
            ok = h2_answer(c, stream);
        if (!ok)
            return;
    }
}

static void *h2_connection_main(void *ctx)
{
    struct h2_connection *c = ctx;
    const int fd = SSL_get_fd(c->ssl);
    h2_serve(c);
    SSL_free(c->ssl);
    (void)close(fd);
    c->server->closed++;
    free(c);
    return NULL;
}

static void *h2_main(void *ctx)
{
    struct h2_server *s = ctx;
    while (!s->stop) {
        struct pollfd p = {.fd = s->fd, .events = POLLIN};
        if (poll(&p, 1, 20) <= 0)
            continue;
        static const struct timeval wait = {.tv_usec = 20000};
        const int fd = accept(s->fd, NULL, NULL);
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
        struct h2_connection *c = MEM_NEW(struct h2_connection);
        *c = (struct h2_connection){.server = s, .ssl = SSL_new(s->tls), .is_first = s->connections == 0};
        (void)SSL_set_fd(c->ssl, fd);
        (void)pthread_create(&s->served[s->connections++], NULL, h2_connection_main, c);
    }
    return NULL;
}

static int h2_choose(SSL *ssl, const unsigned char **ret, unsigned char *ret_len,
                     const unsigned char *offered, unsigned offered_len, void *ctx)
{
    static const unsigned char h2[] = "\x02h2";
    unsigned char *chosen;
    const int r = SSL_select_next_proto(&chosen, ret_len, h2, sizeof(h2) - 1, offered, offered_len);
    *ret = chosen;
    return r == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Makes a certificate for the server, and writes it to ca_file. */
static void h2_certify(struct h2_server *s)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *own = X509_new();
    X509_EXTENSION *names = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");
    assert_true(key && own && names);
    (void)X509_set_version(own, X509_VERSION_3);
    (void)ASN1_INTEGER_set(X509_get_serialNumber(own), 1);
    (void)X509_gmtime_adj(X509_getm_notBefore(own), -3600);
    (void)X509_gmtime_adj(X509_getm_notAfter(own), 3600);
    (void)X509_NAME_add_entry_by_txt(X509_get_subject_name(own), "CN", MBSTRING_ASC,
                                     (const unsigned char *)"peer", -1, -1, 0);
    (void)X509_set_issuer_name(own, X509_get_subject_name(own));
    (void)X509_set_pubkey(own, key);
    (void)X509_add_ext(own, names, -1);
    assert_true(X509_sign(own, key, EVP_sha256()) > 0);
    s->tls = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate(s->tls, own), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(s->tls, key), 1);
    SSL_CTX_set_alpn_select_cb(s->tls, h2_choose, NULL);
    (void)snprintf(s->ca_file, sizeof(s->ca_file), "/tmp/shootd-test-XXXXXX");
    FILE *file = fdopen(mkstemp(s->ca_file), "w");
    assert_int_equal(PEM_write_X509(file, own), 1);
    (void)fclose(file);
    X509_EXTENSION_free(names);
    X509_free(own);
    EVP_PKEY_free(key);
}

static void h2_start(struct h2_server *s)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(name);
    *s = (struct h2_server){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    h2_certify(s);
    (void)signal(SIGPIPE, SIG_IGN);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&name, len), 0);
    assert_int_equal(listen(s->fd, 16), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&name, &len), 0);
    s->port = ntohs(name.sin_port);
    assert_int_equal(pthread_create(&s->thread, NULL, h2_main, s), 0);
}

static void h2_stop(struct h2_server *s)
{
    s->stop = true;
    (void)pthread_join(s->thread, NULL);
    for (unsigned i = 0; i < s->connections; i++)
        (void)pthread_join(s->served[i], NULL);
    (void)close(s->fd);
    (void)unlink(s->ca_file);
    SSL_CTX_free(s->tls);
}

static struct transport *transport_to(const struct fixture *f, const struct h2_server *s)
{
    const struct transport_options options = {
        .user_agent = "test", .max_connections = 8, .https_only = true, .ca_file = s->ca_file};
    return transport_curl_new(f->loop, &options);
}

struct asked {
    bool done;
    enum http_outcome outcome;
};

static void on_asked(void *ctx, const struct http_answer *answer)
{
    *(struct asked *)ctx = (struct asked){true, answer->outcome};
}

static void ask(struct transport *t, const struct h2_server *s, int64_t timeout_us, bool fresh,
                struct asked *ret)
{
    const struct http_header none[] = {{NULL, NULL}};
    char *url CLEANUP_FREE = mem_printf("https://127.0.0.1:%d/", s->port);
    const struct http_request request = {.method = "GET",
                                         .url = url,
                                         .headers = none,
                                         .connect_timeout_us = WAIT_S * US_PER_S,
                                         .timeout_us = timeout_us,
                                         .max_body = ANSWER_MAX,
                                         .fresh_connection = fresh};
    *ret = (struct asked){.done = false};
    (void)t->start(t, &request, on_asked, ret);
}

static bool turn_until(const struct fixture *f, const bool *done, const _Atomic unsigned *closed,
                       unsigned count)
{
    const mono_us end = env_mono(env_real()) + WAIT_S * US_PER_S;
    while (!(done ? *done : *closed == count) && env_mono(env_real()) < end)
        loop_turn(f->loop, env_mono(env_real()) + 10 * US_PER_MS);
    return done ? *done : *closed == count;
}

static void expect_outcome(const struct fixture *f, const struct asked *one, enum http_outcome outcome)
{
    assert_true(turn_until(f, &one->done, NULL, 0));
    assert_string_equal(http_outcome_name(one->outcome), http_outcome_name(outcome));
}

/* Without rule UP-10 libcurl would keep the silent connection while another call on it is open, and use it
 * for all new calls. */
static void up10_a_connection_that_went_silent_is_not_used_again(void **state)
{
    struct fixture *f = *state;
    struct h2_server s;
    struct asked one;
    h2_start(&s);
    struct transport *t = transport_to(f, &s);
    ask(t, &s, WAIT_S * US_PER_S, false, &one);
    expect_outcome(f, &one, HTTP_ANSWERED);
    ask(t, &s, 200 * US_PER_MS, false, &one);
    expect_outcome(f, &one, HTTP_TIMEOUT);
    assert_int_equal(s.connections, 1);
    for (int i = 0; i < 3; i++) {
        ask(t, &s, WAIT_S * US_PER_S, false, &one);
        expect_outcome(f, &one, HTTP_ANSWERED);
    }
    assert_int_equal(s.connections, 2);
    assert_true(turn_until(f, NULL, &s.closed, 1));
    t->free(t);
    h2_stop(&s);
}

static void up10_who_waits_on_it_gets_an_answer_that_comes_late(void **state)
{
    struct fixture *f = *state;
    struct h2_server s;
    struct asked first, silent, late, next;
    h2_start(&s);
    struct transport *t = transport_to(f, &s);
    ask(t, &s, WAIT_S * US_PER_S, false, &first);
    expect_outcome(f, &first, HTTP_ANSWERED);
    ask(t, &s, 300 * US_PER_MS, false, &silent);
    ask(t, &s, WAIT_S * US_PER_S, false, &late);
    expect_outcome(f, &silent, HTTP_TIMEOUT);
    assert_int_equal(s.connections, 1);
    ask(t, &s, WAIT_S * US_PER_S, false, &next);
    expect_outcome(f, &next, HTTP_ANSWERED);
    assert_int_equal(s.connections, 2);
    assert_int_equal(s.closed, 0);
    assert_false(late.done);
    s.speaks_again = true;
    expect_outcome(f, &late, HTTP_ANSWERED);
    assert_true(turn_until(f, NULL, &s.closed, 1));
    t->free(t);
    h2_stop(&s);
}

/* Webhooks and writes use such a connection. */
static void up10_a_fresh_connection_is_nobody_elses(void **state)
{
    struct fixture *f = *state;
    struct h2_server s;
    struct asked one;
    h2_start(&s);
    struct transport *t = transport_to(f, &s);
    for (unsigned i = 1; i <= 3; i++) {
        ask(t, &s, WAIT_S * US_PER_S, true, &one);
        expect_outcome(f, &one, HTTP_ANSWERED);
        assert_int_equal(s.connections, i);
        assert_true(turn_until(f, NULL, &s.closed, i));
    }
    t->free(t);
    h2_stop(&s);
}

static int option_of(int fd, int level, int option)
{
    int value = 0;
    socklen_t len = sizeof(value);
    assert_int_equal(getsockopt(fd, level, option, &value, &len), 0);
    return value;
}

static bool leads_to(int fd, int port)
{
    struct sockaddr_in peer = {.sin_family = AF_UNSPEC};
    socklen_t len = sizeof(peer);
    return getpeername(fd, (struct sockaddr *)&peer, &len) == 0 && peer.sin_family == AF_INET &&
           ntohs(peer.sin_port) == port;
}

static void the_kernel_notices_a_peer_that_is_gone(void **state)
{
    enum { MOST_DESCRIPTORS = 256 };
    struct fixture *f = *state;
    struct h2_server s;
    struct asked one;
    int found = 0;
    h2_start(&s);
    struct transport *t = transport_to(f, &s);
    ask(t, &s, WAIT_S * US_PER_S, false, &one);
    expect_outcome(f, &one, HTTP_ANSWERED);
    for (int fd = 0; fd < MOST_DESCRIPTORS; fd++) {
        if (!leads_to(fd, s.port))
            continue;
        found++;
        assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 20000);
        assert_int_equal(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
        assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 15);
        assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL), 5);
    }
    assert_int_equal(found, 1);
    t->free(t);
    h2_stop(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(wh19_wh20_no_spelling_of_a_host_reaches_loopback),
        TEST(wh20_no_address_of_the_list_is_connected_to),
        TEST(wh18_no_other_protocol_is_spoken),
        TEST(a_name_that_resolves_slowly_holds_up_nobody),
        TEST(wh19_a_name_that_changes_is_judged_by_its_new_address),
        TEST(wh19_of_two_addresses_only_the_allowed_one_is_used),
        TEST(wh19_an_allowed_host_may_be_private),
        TEST(wh19_a_kept_connection_is_judged_again),
        TEST(the_policy_sees_hosts_without_brackets),
        TEST(wh21_the_environment_names_no_proxy),
        TEST(wh21_redirects_are_not_followed),
        TEST(an_answer_of_10_mb_is_read_to_its_cap),
        TEST(wh13_an_answer_that_does_not_end_is_a_timeout),
        TEST(an_answer_that_is_no_http_came_after_the_request),
        TEST(an_endless_header_section_is_cut),
        TEST(up10_a_connection_that_went_silent_is_not_used_again),
        TEST(up10_who_waits_on_it_gets_an_answer_that_comes_late),
        TEST(up10_a_fresh_connection_is_nobody_elses),
        TEST(the_kernel_notices_a_peer_that_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
