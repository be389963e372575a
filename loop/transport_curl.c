/*
 * Uses the multi socket API of libcurl on the epoll set of the loop (UP-1 to UP-4). Only the loop thread uses
 * it. Callbacks of libcurl only store data or arm timers; they never call libcurl.
 */
#include "loop/transport.h"

#include <arpa/inet.h>
#include <assert.h>
#include <curl/curl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"

enum {
    HEADERS_MAX_BYTES = 64 * 1024,
    /* With this limit the kernel usually detects a silent peer before a call's deadline. */
    UNACKNOWLEDGED_MS = 20000,
    KEEPALIVE_IDLE_S = 15,
    KEEPALIVE_EVERY_S = 5,
};

/* A job that moves to the worker and back. */
struct authorities_job {
    struct worker_job job;
    struct curl_transport *owner; /* NULL: the transport was freed meanwhile */
    char *file;
    X509_STORE *store;
    bool any;
};

/*
 * A set of connections that calls share. When a call on HTTP/2 gets no answer in time, libcurl keeps the
 * connection open, because other calls on it may still get answers. libcurl would then send all later calls
 * on this silent connection. Therefore, after a timeout, new calls use a new set of connections, and the old
 * set is closed after its last call.
 */
struct connections {
    struct curl_transport *owner;
    CURLM *multi;
    struct loop_timer timer;
    unsigned calls; /* the number of calls that began on these connections and have not ended */
    bool is_acting; /* libcurl is running, or its messages are being handled */
};

struct curl_transport {
    struct transport transport;
    struct loop *loop;
    struct transport_options options;
    struct connections *current;
    struct list calls;
    X509_STORE *authorities; /* NULL until the worker has read them */
    struct authorities_job *reading;
};

struct http_call {
    struct list link;
    struct curl_transport *owner;
    struct connections *connections; /* NULL while the call waits for the authorities */
    bool shares_connection;
    bool has_proxy;
    CURL *easy;
    struct curl_slist *headers;
    struct buffer body;
    char *request_body;
    char *host; /* the host, for the address policy; NULL when there is no policy */
    size_t header_bytes;
    char retry_after[64];
    char date[64];
    char coding[16];
    char cache_control[128];
    bool refused; /* the address policy refused an address */
    mono_us started;
    void (*on_done)(void *ctx, const struct http_answer *answer);
    void *ctx;
};

struct socket_watch {
    struct loop_watch watch;
    struct connections *owner;
};

static const char *const outcome_names[] = {
    [HTTP_ANSWERED] = "answered", [HTTP_NOT_SENT] = "not_sent",   [HTTP_TIMEOUT] = "timeout",
    [HTTP_BROKEN] = "broken",     [HTTP_TOO_LARGE] = "too_large", [HTTP_CANCELLED] = "cancelled",
};

const char *http_outcome_name(enum http_outcome outcome)
{
    return outcome_names[outcome];
}

static void call_free(struct http_call *call)
{
    list_remove(&call->link);
    curl_easy_cleanup(call->easy);
    for (struct curl_slist *line = call->headers; line; line = line->next)
        explicit_bzero(line->data, strlen(line->data)); /* some header fields are credentials */
    curl_slist_free_all(call->headers);
    curl_free(call->host);
    buffer_done(&call->body);
    mem_free_secret(call->request_body);
    free(call);
}

static void call_leave(struct http_call *call)
{
    if (!call->connections)
        return;
    (void)curl_multi_remove_handle(call->connections->multi, call->easy);
    assert(call->connections->calls > 0);
    call->connections->calls--;
    call->connections = NULL;
}

/* Whether the code of a call that was not sent says that its proxy did not make the connection. */
static bool is_of_proxy(CURLcode code)
{
    static const CURLcode codes[] = {CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_RECV_ERROR,
                                     CURLE_SEND_ERROR, CURLE_GOT_NOTHING};
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (codes[i] == code)
            return true;
    return false;
}

/* Returns the outcome of a failed request: whether the peer may have executed it, or did not receive it
 * (UP-13). */
static enum http_outcome classify(const struct http_call *call, CURLcode code, const char **error)
{
    static const struct {
        CURLcode code;
        enum http_outcome outcome;
        const char *error;
    } rows[] = {
        {CURLE_OK, HTTP_ANSWERED, NULL},
        {CURLE_COULDNT_RESOLVE_HOST, HTTP_NOT_SENT, "resolve"},
        {CURLE_COULDNT_RESOLVE_PROXY, HTTP_NOT_SENT, "resolve"},
        {CURLE_COULDNT_CONNECT, HTTP_NOT_SENT, "connect"},
        {CURLE_SSL_CONNECT_ERROR, HTTP_NOT_SENT, "tls"},
        {CURLE_PEER_FAILED_VERIFICATION, HTTP_NOT_SENT, "certificate"},
        {CURLE_SSL_CACERT_BADFILE, HTTP_NOT_SENT, "certificate"},
        {CURLE_SSL_ISSUER_ERROR, HTTP_NOT_SENT, "certificate"},
        {CURLE_SSL_INVALIDCERTSTATUS, HTTP_NOT_SENT, "certificate"},
        {CURLE_URL_MALFORMAT, HTTP_NOT_SENT, "url"},
        {CURLE_UNSUPPORTED_PROTOCOL, HTTP_NOT_SENT, "protocol"},
        {CURLE_WRITE_ERROR, HTTP_TOO_LARGE, "too_large"},
        {CURLE_OPERATION_TIMEDOUT, HTTP_TIMEOUT, "timeout"},
        {CURLE_GOT_NOTHING, HTTP_BROKEN, "empty_answer"},
        {CURLE_PARTIAL_FILE, HTTP_BROKEN, "partial_answer"},
        {CURLE_RECV_ERROR, HTTP_BROKEN, "reset"},
        {CURLE_SEND_ERROR, HTTP_BROKEN, "reset"},
    };
    *error = "protocol_error";
    /* The policy may refuse some addresses of a host and allow others. Therefore the call counts as refused
     * only when no connection was made. */
    if (call->refused && (code == CURLE_COULDNT_CONNECT || code == CURLE_ABORTED_BY_CALLBACK)) {
        *error = "address_refused";
        return HTTP_NOT_SENT;
    }
    curl_off_t pretransfer_us = 0;
    (void)curl_easy_getinfo(call->easy, CURLINFO_PRETRANSFER_TIME_T, &pretransfer_us);
    if (call->has_proxy && pretransfer_us == 0 && is_of_proxy(code)) {
        *error = "proxy";
        return HTTP_NOT_SENT;
    }
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].code != code)
            continue;
        /* libcurl also returns the code of an unsupported protocol when the answer is not HTTP; the request
         * was sent then. */
        if (rows[i].outcome == HTTP_NOT_SENT && pretransfer_us > 0)
            break;
        *error = rows[i].error;
        /* When the time limit ends before the request was sent, the request has no effect at the peer, as
         * after a refused connection. */
        if (rows[i].outcome == HTTP_TIMEOUT && pretransfer_us == 0)
            return HTTP_NOT_SENT;
        return rows[i].outcome;
    }
    return HTTP_BROKEN;
}

static struct connections *connections_new(struct curl_transport *t);

static void retire_connections(struct connections *c)
{
    struct curl_transport *t = c->owner;
    if (t->current == c)
        t->current = connections_new(t);
}

static void call_finish(struct http_call *call, CURLcode code)
{
    struct curl_transport *t = call->owner;
    struct connections *c = call->connections;
    struct http_answer answer = {0};
    answer.outcome = classify(call, code, &answer.error);
    if (answer.outcome == HTTP_ANSWERED || answer.outcome == HTTP_TOO_LARGE) {
        long status = 0;
        char *content_type = NULL;
        (void)curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
        (void)curl_easy_getinfo(call->easy, CURLINFO_CONTENT_TYPE, &content_type);
        answer.status = (int)status;
        answer.content_type = content_type;
        answer.retry_after = call->retry_after[0] ? call->retry_after : NULL;
        answer.date = call->date[0] ? call->date : NULL;
        answer.coding = call->coding[0] ? call->coding : NULL;
        answer.cache_control = call->cache_control[0] ? call->cache_control : NULL;
    }
    char *body CLEANUP_FREE = buffer_take(&call->body, &answer.body_len);
    answer.body = body;
    answer.owned_body = &body;
    answer.duration_us = env_mono(loop_env(t->loop)) - call->started;
    call_leave(call);
    if (code == CURLE_OPERATION_TIMEDOUT && call->shares_connection)
        retire_connections(c);
    call->on_done(call->ctx, &answer);
    call_free(call);
}

static void drain_messages(struct connections *c)
{
    int left;
    for (CURLMsg *m = curl_multi_info_read(c->multi, &left); m; m = curl_multi_info_read(c->multi, &left)) {
        struct http_call *call = NULL;
        (void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        call_finish(call, m->data.result);
    }
}

static struct http_call *any_call_on(const struct connections *c)
{
    LIST_FOR_EACH (it, &c->owner->calls) {
        struct http_call *call = CONTAINER_OF(it, struct http_call, link);
        if (call->connections == c)
            return call;
    }
    return NULL;
}

/* Fails all transfers and makes a new multi: after a failure of the multi, the state of every transfer is
 * undefined (UP-3). */
static void fail_all(struct connections *c, const char *error)
{
    log_error("HTTP client failed: all its calls end with an error", "error", error);
    retire_connections(c);
    for (struct http_call *call = any_call_on(c); call; call = any_call_on(c))
        call_finish(call, CURLE_RECV_ERROR);
}

/* Closes the old connections when their last call has ended. No new call uses them. */
static void connections_release(struct connections *c)
{
    if (c == c->owner->current || c->calls || c->is_acting)
        return;
    (void)curl_multi_cleanup(c->multi);
    loop_timer_clear(c->owner->loop, &c->timer);
    free(c);
}

static void act(struct connections *c, curl_socket_t fd, int mask)
{
    int running;
    assert(!c->is_acting);
    c->is_acting = true;
    CURLMcode code = curl_multi_socket_action(c->multi, fd, mask, &running);
    if (code != CURLM_OK && code != CURLM_BAD_SOCKET)
        fail_all(c, curl_multi_strerror(code));
    drain_messages(c);
    c->is_acting = false;
    connections_release(c);
}

static void on_timer(struct loop_timer *timer)
{
    act(CONTAINER_OF(timer, struct connections, timer), CURL_SOCKET_TIMEOUT, 0);
}

static int arm_timer(CURLM *multi ATTR_UNUSED, long timeout_ms, void *ctx)
{
    struct connections *c = ctx;
    struct loop *loop = c->owner->loop;
    if (timeout_ms < 0)
        loop_timer_clear(loop, &c->timer);
    else
        loop_timer_set(loop, &c->timer, env_mono(loop_env(loop)) + timeout_ms * US_PER_MS);
    return 0;
}

static void on_socket_ready(struct loop_watch *watch, uint32_t events)
{
    struct socket_watch *sw = CONTAINER_OF(watch, struct socket_watch, watch);
    int mask = (events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
               (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) | (events & EPOLLERR ? CURL_CSELECT_ERR : 0);
    act(sw->owner, watch->fd, mask);
}

static int watch_socket(CURL *easy ATTR_UNUSED, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
    struct connections *c = ctx;
    struct socket_watch *sw = socket_ctx;
    if (what == CURL_POLL_REMOVE) {
        if (sw) {
            loop_watch_clear(c->owner->loop, &sw->watch);
            (void)curl_multi_assign(c->multi, fd, NULL);
            free(sw);
        }
        return 0;
    }
    if (!sw) {
        sw = MEM_NEW(struct socket_watch);
        sw->owner = c;
        sw->watch.fd = fd;
        sw->watch.ready = on_socket_ready;
        (void)curl_multi_assign(c->multi, fd, sw);
    }
    uint32_t events =
        (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) | (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
    loop_watch_set(c->owner->loop, &sw->watch, events);
    return 0;
}

static struct connections *connections_new(struct curl_transport *t)
{
    struct connections *c = MEM_NEW(struct connections);
    c->owner = t;
    c->multi = curl_multi_init();
    if (!c->multi)
        abort();
    c->timer.fire = on_timer;
    c->timer.name = "transfers";
    (void)curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    (void)curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    (void)curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, arm_timer);
    (void)curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    (void)curl_multi_setopt(c->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)t->options.max_connections);
    (void)curl_multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)t->options.max_connections);
    return c;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *ctx)
{
    struct http_call *call = ctx;
    size_t len = size * count, room = call->body.max - call->body.len;
    buffer_add(&call->body, bytes, len < room ? len : room);
    thread_step_aside();
    return len <= room ? len : 0;
}

/* When the line belongs to the header field, copies its value, cut to the size of `value`. */
static void keep_field(const char *line, size_t len, const char *name, char *value, size_t size)
{
    size_t name_len = strlen(name);
    if (len <= name_len || strncasecmp(line, name, name_len) != 0)
        return;
    const char *start = line + name_len, *end = line + len;
    while (start < end && (*start == ' ' || *start == '\t'))
        start++;
    while (end > start && strchr("\r\n \t", end[-1]))
        end--;
    const size_t n = (size_t)(end - start) < size ? (size_t)(end - start) : size - 1;
    memcpy(value, start, n);
    value[n] = '\0';
}

static size_t on_header(char *line, size_t size, size_t count, void *ctx)
{
    struct http_call *call = ctx;
    size_t len = size * count;
    call->header_bytes += len;
    if (call->header_bytes > HEADERS_MAX_BYTES)
        return 0;
    keep_field(line, len, "retry-after:", call->retry_after, sizeof(call->retry_after));
    keep_field(line, len, "date:", call->date, sizeof(call->date));
    keep_field(line, len, "content-encoding:", call->coding, sizeof(call->coding));
    keep_field(line, len, "cache-control:", call->cache_control, sizeof(call->cache_control));
    return len;
}

static bool address_is_allowed(struct http_call *call, const struct sockaddr *address)
{
    const struct transport_options *o = &call->owner->options;
    bool ok =
        !o->address_allowed || o->address_allowed(o->address_ctx, call->host ? call->host : "", address);
    call->refused |= !ok;
    return ok;
}

static curl_socket_t open_checked_socket(void *ctx, curlsocktype purpose ATTR_UNUSED,
                                         struct curl_sockaddr *address)
{
    if (!address_is_allowed(ctx, &address->addr))
        return CURL_SOCKET_BAD;
    const int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd >= 0)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &(unsigned){UNACKNOWLEDGED_MS}, sizeof(unsigned));
    return fd;
}

/* Reads a numeric address; false for any other text. */
static bool parse_address(const char *text, struct sockaddr_storage *ret_address)
{
    struct sockaddr_in *four = (struct sockaddr_in *)(void *)ret_address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)(void *)ret_address;
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1)
        ret_address->ss_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1)
        ret_address->ss_family = AF_INET6;
    return ret_address->ss_family != AF_UNSPEC;
}

/* Applies the address policy. libcurl calls this function before it sends a request, on a new or a reused
 * connection. */
static int check_connection(void *ctx, char *peer, char *local ATTR_UNUSED, int peer_port ATTR_UNUSED,
                            int local_port ATTR_UNUSED)
{
    struct http_call *call = ctx;
    struct sockaddr_storage address = {0};
    if (parse_address(peer, &address) && address_is_allowed(call, (struct sockaddr *)(void *)&address))
        return CURL_PREREQFUNC_OK;
    call->refused = true;
    return CURL_PREREQFUNC_ABORT;
}

static char *host_of(const char *url)
{
    char *host = NULL;
    CURLU *parsed = curl_url();
    if (!parsed)
        abort();
    if (curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK)
        (void)curl_url_get(parsed, CURLUPART_HOST, &host, CURLU_URLDECODE);
    curl_url_cleanup(parsed);
    size_t len = host ? strlen(host) : 0;
    if (len > 2 && host[0] == '[') {
        memmove(host, host + 1, len - 2);
        host[len - 2] = '\0';
    }
    return host;
}

static void set_limits(CURL *easy, const struct http_request *request, const struct transport_options *o)
{
    const char *protocols = o->https_only ? "https" : "http,https";
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, protocols);
    (void)curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(request->connect_timeout_us / US_PER_MS));
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(request->timeout_us / US_PER_MS));
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* When a transfer ends, libcurl must not wait for the thread that still resolves its host, because this
     * wait would block the loop. */
    (void)curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    if (o->ca_file)
        (void)curl_easy_setopt(easy, CURLOPT_CAINFO, o->ca_file);
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    (void)curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)(o->max_age_s ? o->max_age_s : 30));
    (void)curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, 600L);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_IDLE_S);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_EVERY_S);
    /* The caller decides, and not the environment. */
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, request->proxy ? request->proxy : "");
    (void)curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    /* Header fields of the proxy's own answer are not those of the peer. */
    (void)curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_USERAGENT, o->user_agent ? o->user_agent : "shootd");
    if (request->fresh_connection) {
        (void)curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        (void)curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    }
}

static void set_message(struct http_call *call, const struct http_request *request)
{
    CURL *easy = call->easy;
    call->headers = curl_slist_append(NULL, "Expect:");
    for (const struct http_header *h = request->headers; h && h->name; h++) {
        char *line CLEANUP_SECRET = mem_printf("%s: %s", h->name, h->value);
        call->headers = curl_slist_append(call->headers, line);
    }
    (void)curl_easy_setopt(easy, CURLOPT_URL, request->url);
    (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    if (request->body) {
        call->request_body = mem_strndup(request->body, request->body_len);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->request_body);
    } else if (!strcmp(request->method, "GET")) {
        (void)curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    } else {
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "");
        /* without this line, libcurl would send the content type of a form for a request without a body */
        call->headers = curl_slist_append(call->headers, "Content-Type:");
    }
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers);
}

/*
 * ---- the certificates of the authorities: read once by the worker, before the first TLS connection. Reading
 * takes tens of milliseconds, in which libcurl would block the loop ----
 */

static CURLcode use_authorities(CURL *easy ATTR_UNUSED, void *ssl_ctx, void *store)
{
    SSL_CTX_set1_cert_store(ssl_ctx, store);
    return CURLE_OK;
}

static void begin_transfer(struct http_call *call)
{
    X509_STORE *authorities = call->owner->authorities;
    assert(!call->connections);
    if (authorities) {
        (void)curl_easy_setopt(call->easy, CURLOPT_CAINFO, NULL);
        (void)curl_easy_setopt(call->easy, CURLOPT_CAPATH, NULL);
        (void)curl_easy_setopt(call->easy, CURLOPT_SSL_CTX_FUNCTION, use_authorities);
        (void)curl_easy_setopt(call->easy, CURLOPT_SSL_CTX_DATA, authorities);
    }
    call->connections = call->owner->current;
    call->connections->calls++;
    (void)curl_multi_add_handle(call->connections->multi, call->easy);
}

static void authorities_job_free(struct authorities_job *a)
{
    X509_STORE_free(a->store);
    free(a->file);
    free(a);
}

/* Worker thread. No peer is trusted when the file cannot be read or contains no certificate. */
static void read_authorities(struct worker_job *job)
{
    struct authorities_job *a = CONTAINER_OF(job, struct authorities_job, job);
    a->store = X509_STORE_new();
    if (!a->store)
        abort();
    /* Each certificate in the file is trusted, also one that is not self-signed (an intermediate or a server
     * certificate). libcurl does the same. */
    (void)X509_STORE_set_flags(a->store, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
    a->any = a->file && X509_STORE_load_locations(a->store, a->file, NULL) == 1;
    ERR_clear_error();
}

static void on_authorities(struct worker_job *job)
{
    struct authorities_job *a = CONTAINER_OF(job, struct authorities_job, job);
    struct curl_transport *t = a->owner;
    if (t) {
        assert(t->reading == a && !t->authorities);
        if (!a->any)
            log_error("no CA certificates could be read from {file}: outgoing TLS connections will fail",
                      "file", a->file);
        t->authorities = TAKE_PTR(a->store);
        t->reading = NULL;
        LIST_FOR_EACH_SAFE (it, next, &t->calls) {
            struct http_call *call = CONTAINER_OF(it, struct http_call, link);
            if (!call->connections)
                begin_transfer(call);
        }
    }
    authorities_job_free(a);
}

static void drop_authorities(struct worker_job *job)
{
    struct authorities_job *a = CONTAINER_OF(job, struct authorities_job, job);
    assert(!a->owner || a->owner->reading == a);
    if (a->owner)
        a->owner->reading = NULL;
    authorities_job_free(a);
}

/* Whether calls must wait for the authorities; false when there is no worker, or its queue is full. */
static bool awaits_authorities(struct curl_transport *t, const char *url)
{
    struct worker *worker = t->options.worker;
    if (!worker || t->authorities || strncasecmp(url, "https:", 6) != 0)
        return false;
    if (t->reading)
        return true;
    struct authorities_job *a = MEM_NEW(struct authorities_job);
    a->job = (struct worker_job){
        .work = read_authorities, .done = on_authorities, .drop = drop_authorities, .goes_on = true};
    a->owner = t;
    /*
     * The first choice is the file that SSL_CERT_FILE names, because every OpenSSL program uses that file.
     * Without SSL_CERT_FILE, libcurl's default is used; NULL: libcurl has no default.
     */
    const char *named = getenv(X509_get_default_cert_file_env());
    const char *usual = named && *named ? named : curl_version_info(CURLVERSION_NOW)->cainfo;
    a->file = mem_strdup(t->options.ca_file ? t->options.ca_file : usual);
    t->reading = a;
    if (worker->submit(worker, &a->job))
        return true;
    t->reading = NULL;
    authorities_job_free(a);
    return false;
}

static struct http_call *curl_start(struct transport *transport, const struct http_request *request,
                                    void (*on_done)(void *ctx, const struct http_answer *answer), void *ctx)
{
    struct curl_transport *t = CONTAINER_OF(transport, struct curl_transport, transport);
    loop_assert_owner(t->loop);
    struct http_call *call = MEM_NEW(struct http_call);
    call->owner = t;
    call->easy = curl_easy_init();
    if (!call->easy)
        abort();
    call->on_done = on_done;
    call->ctx = ctx;
    call->shares_connection = !request->fresh_connection;
    assert(!request->proxy || !t->options.address_allowed);
    call->has_proxy = request->proxy;
    call->started = env_mono(loop_env(t->loop));
    buffer_init(&call->body, request->max_body);
    list_append(&t->calls, &call->link);
    set_limits(call->easy, request, &t->options);
    set_message(call, request);
    (void)curl_easy_setopt(call->easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl_easy_setopt(call->easy, CURLOPT_WRITEDATA, call);
    (void)curl_easy_setopt(call->easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(call->easy, CURLOPT_HEADERDATA, call);
    (void)curl_easy_setopt(call->easy, CURLOPT_OPENSOCKETFUNCTION, open_checked_socket);
    (void)curl_easy_setopt(call->easy, CURLOPT_OPENSOCKETDATA, call);
    (void)curl_easy_setopt(call->easy, CURLOPT_PRIVATE, call);
    if (t->options.address_allowed) {
        call->host = host_of(request->url);
        (void)curl_easy_setopt(call->easy, CURLOPT_PREREQFUNCTION, check_connection);
        (void)curl_easy_setopt(call->easy, CURLOPT_PREREQDATA, call);
    }
    if (!awaits_authorities(t, request->url))
        begin_transfer(call);
    return call;
}

static void curl_cancel(struct transport *transport, struct http_call *call)
{
    struct curl_transport *t = CONTAINER_OF(transport, struct curl_transport, transport);
    loop_assert_owner(t->loop);
    assert(call->owner == t && !list_is_detached(&call->link));
    struct connections *c = call->connections;
    call_leave(call);
    call_free(call);
    if (c)
        connections_release(c);
}

static void curl_free_transport(struct transport *transport)
{
    struct curl_transport *t = CONTAINER_OF(transport, struct curl_transport, transport);
    LIST_FOR_EACH_SAFE (it, next, &t->calls)
        curl_cancel(transport, CONTAINER_OF(it, struct http_call, link));
    assert(list_is_empty(&t->calls));
    connections_release(TAKE_PTR(t->current));
    if (t->reading)
        t->reading->owner = NULL;
    X509_STORE_free(t->authorities);
    free(t);
}

struct transport *transport_curl_new(struct loop *loop, const struct transport_options *options)
{
    struct curl_transport *t = MEM_NEW(struct curl_transport);
    t->transport = (struct transport){curl_start, curl_cancel, curl_free_transport};
    t->loop = loop;
    t->options = *options;
    list_init(&t->calls);
    t->current = connections_new(t);
    return &t->transport;
}

void transport_curl_set_https_only(struct transport *transport, bool https_only)
{
    CONTAINER_OF(transport, struct curl_transport, transport)->options.https_only = https_only;
}
