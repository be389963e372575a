/*
 * The HTTP side over real sockets: a server on a loopback port, and a view that the test fills. A thread in
 * place of the loop answers the commands. Requests are raw bytes, because no client library sends malformed
 * requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/api_private.h"
#include "api/caller.h"
#include "api/routes.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/mem.h"
#include "http/connection/tls.h"
#include "model/string_list.h"
#include "view/place_facts.h"
#include "view/render.h"

enum { ANSWER_BYTES = 4 * 1024 * 1024, WAITERS = 12 };

/* The thread in place of the loop: answers posted commands when the test allows it. */
static struct loop {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    struct command *queue[64];
    unsigned count;
    bool hold;
    bool stop;
} loop = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static struct env env; /* has the real clocks; a test can set the wall clock ahead */
static int64_t ahead_us;
static struct config_account account = {.name = (char *)(uintptr_t) "main"};
static struct config_project projects[2];
static struct config config;
static struct config_current *current;
static struct view *view;
static struct feed *feed;
static struct api *api;
static int listen_fd;
static uint16_t port;
static char admin[TOKEN_BYTES];
static char viewer[TOKEN_BYTES];
static char expired[TOKEN_BYTES];
static char *answer; /* the last answer of the server */

static wall_us wall_ahead(const struct env *e)
{
    return env_wall(env_real()) + ahead_us;
}

static struct operation *make_operation(const char *id, enum operation_status status)
{
    struct operation *op = operation_new();
    memcpy(op->id, id, strlen(id) + 1);
    op->status = status;
    op->project = mem_strdup("team-a");
    op->cluster = mem_strdup("dev");
    op->version = 1;
    return op;
}

static struct operation_query asked; /* the last query of the store */

/* The store contains one operation that is older than those in the view. */
static void answer_operations(struct command_operations *c)
{
    static const char id[] = "op_00000000000000";
    operation_query_done(&asked);
    asked = operation_query_copy(&c->query);
    bool is_there = (!*c->query.id || !strcmp(c->query.id, id)) &&
                    (!c->query.projects || projects_include(c->query.projects, "team-a"));
    c->items = is_there ? mem_printf("{\"id\":\"%s\"}", id) : mem_strdup("");
    c->tags = mem_strdup(is_there ? "\"older-1\"" : "");
}

static void answer_command(struct command *cmd)
{
    switch (cmd->type) {
    case COMMAND_AUDIT_REFUSED: /* no request waits for the result of these commands */
    case COMMAND_TOKEN_HAND_IN:
    case COMMAND_TOKEN_USED:
        break;
    case COMMAND_CLUSTER_CREATE:
        cmd->reply.status = 202;
        cmd->reply.text = mem_printf("{\"name\":\"%s\",\"project\":\"%s\"}",
                                     json_str_or(cmd->body, "name", "?"), cmd->project);
        cmd->reply.location = mem_strdup("/v1/operations/op_1");
        cmd->reply.retry_after_s = 7;
        break;
    case COMMAND_KUBECONFIG:
        cmd->reply.status = 200;
        cmd->reply.text =
            mem_strdup("{\"kubeconfig\":\"apiVersion: v1\\n\",\"expires_at\":null,\"cached\":false}");
        cmd->reply.is_secret = true;
        break;
    case COMMAND_CLUSTER_PUT:
        cmd->reply.status = 200;
        cmd->reply.text =
            mem_printf("{\"any\":%s,\"if_match\":\"%s\"}",
                       cmd->preconditions && cmd->preconditions->none_match.is_any ? "true" : "false",
                       cmd->preconditions && cmd->preconditions->match.text ? "set" : "");
        break;
    case COMMAND_EVENTS:
        cmd->reply.status = 200;
        cmd->reply.text = mem_printf("[{\"first\":\"%s\",\"limit\":%d}]",
                                     cmd->events.types ? cmd->events.types[0] : "", cmd->events.limit);
        break;
    case COMMAND_OPERATIONS:
        cmd->reply.status = 200;
        answer_operations(&cmd->operations);
        break;
    case COMMAND_OPERATION_WAIT:
        cmd->reply.status = 200;
        cmd->reply.text = mem_strdup("{\"status\":\"succeeded\"}");
        break;
    default:
        cmd->reply.problem = problem_new(PROBLEM_UPSTREAM_TIMEOUT, "no answer");
        cmd->reply.problem->retry_after_s = 3;
        break;
    }
}

static void *loop_run(void *arg)
{
    mutex_lock(&loop.lock);
    while (!loop.stop || (loop.count && !loop.hold)) {
        if (!loop.count || loop.hold) {
            cond_wait(&loop.wake, &loop.lock);
            continue;
        }
        struct command *cmd = loop.queue[--loop.count];
        mutex_unlock(&loop.lock);
        answer_command(cmd);
        cmd->give_back(cmd);
        mutex_lock(&loop.lock);
    }
    mutex_unlock(&loop.lock);
    return NULL;
}

static void loop_post(void *ctx, struct command *cmd)
{
    mutex_lock(&loop.lock);
    loop.queue[loop.count++] = cmd;
    cond_broadcast(&loop.wake);
    mutex_unlock(&loop.lock);
}

static void loop_hold(bool hold)
{
    mutex_lock(&loop.lock);
    loop.hold = hold;
    cond_broadcast(&loop.wake);
    mutex_unlock(&loop.lock);
}

static void add_token(char token[static TOKEN_BYTES], const char *name, enum role role, const char *project,
                      wall_us expires_at)
{
    char hex[TOKEN_HEX_BYTES];
    struct api_token t = {.role = role, .expires_at = expires_at, .created_at = 1};
    token_make(env_real(), token);
    token_digest(token, t.digest);
    token_digest_hex(token, hex);
    (void)id_new(env_real(), ID_TOKEN, t.id);
    t.name = mem_strdup(name);
    t.projects = string_list_copy((char *[]){(char *)(uintptr_t)project, NULL});
    view_set(view, VIEW_TOKENS, hex, render_api_token_blob(&t));
    free(t.name);
    string_list_free(t.projects);
}

/* `age` in seconds; 0: never observed. */
static void add_observed(const char *project, const char *name, enum phase phase, int64_t age)
{
    struct cluster *c = cluster_new();
    (void)id_new(env_real(), ID_CLUSTER, c->id);
    c->project = mem_strdup(project);
    c->name = mem_strdup(name);
    c->phase = phase;
    c->upstream_exists = true;
    c->observed_at = age ? env_wall(env_real()) - age * US_PER_S : 0;
    cluster_observed_before(c, env_real());
    c->version = 1;
    char *key CLEANUP_FREE = mem_printf("%s/%s", project, name);
    view_set(view, VIEW_CLUSTERS, key, render_cluster_blob(c, NULL, &(struct issue_world){0}));
    cluster_free(c);
}

static void add_cluster(const char *project, const char *name, enum phase phase)
{
    add_observed(project, name, phase, 10);
}

static void add_operation(const char *id, enum operation_status status)
{
    struct operation *op = make_operation(id, status);
    view_set(view, VIEW_OPERATIONS, id, render_operation_blob(op));
    operation_free(op);
}

static void fill_view(void)
{
    view = view_new();
    feed = feed_new(16, 64 * 1024);
    add_token(admin, "root", ROLE_ADMIN, "*", 0);
    add_token(viewer, "dash", ROLE_VIEWER, "team-b", 0);
    add_token(expired, "old", ROLE_ADMIN, "*", 1);
    add_cluster("team-a", "dev", PHASE_READY);
    add_cluster("team-a", "prod", PHASE_FAILED);
    add_cluster("team-b", "web", PHASE_READY);
    add_operation("op_00000000000001", OPERATION_RUNNING);
    add_operation("op_00000000000002", OPERATION_SUCCEEDED);
    for (size_t i = 0; i < 2; i++)
        view_set(view, VIEW_PROJECTS, projects[i].name,
                 place_blob_new("\"p\"", mem_printf("{\"name\":\"%s\"}", projects[i].name), false, NULL));
    view_set_flags(view, true, false);
    view_publish(view);
}

static bool always_live(void *ctx, char *why, size_t size)
{
    return true;
}

static void open_socket(void)
{
    struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(sa);
    listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listen_fd, (struct sockaddr *)&sa, len), 0);
    assert_int_equal(listen(listen_fd, 64), 0);
    assert_int_equal(getsockname(listen_fd, (struct sockaddr *)&sa, &len), 0);
    port = ntohs(sa.sin_port);
}

static int start(void **state)
{
    log_set_level(LOG_LEVEL_ERROR);
    static struct api_limits limits;
    limits = api_limits_default();
    limits.connection.header_us = 300 * US_PER_MS;
    limits.connection.body_us = 300 * US_PER_MS;
    limits.connection.idle_us = 2 * US_PER_S;
    limits.connection.send_us = 500 * US_PER_MS;
    limits.connection.reap_us = 20 * US_PER_MS;
    limits.overdue_us = 300 * US_PER_MS;
    limits.waiters_per_token = WAITERS;
    projects[0] = (struct config_project){
        .name = (char *)(uintptr_t) "team-a", .account = &account, .region = (char *)(uintptr_t) "Sto2"};
    projects[1] = (struct config_project){
        .name = (char *)(uintptr_t) "team-b", .account = &account, .region = (char *)(uintptr_t) "Kna1"};
    config =
        (struct config){.accounts = &account, .account_count = 1, .projects = projects, .project_count = 2};
    config.limits.http_threads = 2;
    open_socket();
    fill_view();
    loop.count = 0;
    loop.hold = false;
    loop.stop = false;
    env = *env_real();
    env.now_wall = wall_ahead;
    ahead_us = 0;
    assert_int_equal(pthread_create(&loop.thread, NULL, loop_run, NULL), 0);
    char *error = NULL;
    current = config_current_new(&config);
    api = api_start(&(struct api_options){.config = current,
                                          .view = view,
                                          .feed = feed,
                                          .env = &env,
                                          .listen_fd = listen_fd,
                                          .post = loop_post,
                                          .live = always_live,
                                          .version = "1.2.3",
                                          .revision = "abc",
                                          .limits = &limits},
                    &error);
    assert_non_null(api);
    answer = mem_calloc(ANSWER_BYTES, 1);
    return 0;
}

static int stop(void **state)
{
    if (api)
        api_stop(api);
    config_current_free(current);
    mutex_lock(&loop.lock);
    loop.stop = true;
    cond_broadcast(&loop.wake);
    mutex_unlock(&loop.lock);
    (void)pthread_join(loop.thread, NULL);
    view_free(view);
    feed_free(feed);
    (void)close(listen_fd);
    free(answer);
    return 0;
}

static int dial(void)
{
    struct sockaddr_in sa = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    return fd;
}

/* Reads until the peer closes the connection or sends nothing for `ms`; true when it closed. */
static bool read_answer(int fd, int ms)
{
    size_t len = 0;
    bool closed = false;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (!closed && poll(&p, 1, ms) == 1) {
        ssize_t n = recv(fd, answer + len, ANSWER_BYTES - 1 - len, 0);
        closed = n <= 0;
        len += n > 0 ? (size_t)n : 0;
    }
    answer[len] = '\0';
    return closed;
}

static void send_text(int fd, const char *text, size_t len)
{
    assert_int_equal(send(fd, text, len, MSG_NOSIGNAL), (ssize_t)len);
}

/* Sends one request on its own connection; returns the status code. */
static int exchange(const char *text, size_t len)
{
    int fd = dial();
    send_text(fd, text, len);
    (void)read_answer(fd, 3000);
    (void)close(fd);
    return strncmp(answer, "HTTP/1.1 ", 9) ? 0 : (int)strtol(answer + 9, NULL, 10);
}

/* Does the same as exchange, but with a token, further fields ("A: b\r\n" each) and a body. */
static int ask(const char *method, const char *target, const char *token, const char *fields,
               const char *body)
{
    char *text CLEANUP_FREE =
        mem_printf("%s %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n%s%s%s%s%s%zu\r\n\r\n%s", method,
                   target, token ? "Authorization: Bearer " : "", token ? token : "", token ? "\r\n" : "",
                   fields, "Content-Length: ", strlen(body), body);
    return exchange(text, strlen(text));
}

static int get(const char *target)
{
    return ask("GET", target, admin, "", "");
}

static void has(const char *text)
{
    if (!strstr(answer, text))
        fail_msg("\"%s\" is not in:\n%s", text, answer);
}

static void lacks(const char *text)
{
    if (strstr(answer, text))
        fail_msg("\"%s\" is in:\n%s", text, answer);
}

static void public_routes(void **state)
{
    assert_int_equal(ask("GET", "/livez", NULL, "", ""), 200);
    has("X-Request-Id: req_");
    assert_int_equal(ask("GET", "/healthz", NULL, "", ""), 200);
    assert_int_equal(ask("GET", "/readyz?verbose", NULL, "", ""), 200);
    has("[+]store ok");
    assert_int_equal(ask("GET", "/version", NULL, "", ""), 200);
    has("\"version\":\"1.2.3\"");
    assert_int_equal(ask("GET", "/openapi.json", NULL, "", ""), 200);
    assert_int_equal(ask("GET", "/openapi.yaml", NULL, "", ""), 200);
    assert_int_equal(ask("GET", "/metrics", NULL, "", ""), 200);
    has("shootd_build_info{version=\"1.2.3\",revision=\"abc\"} 1");
    has("shootd_http_requests_total{method=\"GET\",route=\"/livez\",code=\"200\"} ");
}

static void tokens_are_checked(void **state)
{
    assert_int_equal(ask("GET", "/v1/whoami", NULL, "", ""), 401);
    has("WWW-Authenticate: Bearer realm=\"shootd\"\r\n");
    has("\"code\":\"unauthenticated\"");
    assert_int_equal(ask("GET", "/v1/whoami", expired, "", ""), 401);
    has("error=\"invalid_token\"");
    assert_int_equal(ask("GET", "/v1/whoami", "shd_nonsense", "", ""), 401);
    assert_int_equal(ask("GET", "/v1/whoami", admin, "Authorization: Bearer x\r\n", ""), 400);
    has("error=\"invalid_request\"");
    assert_int_equal(get("/v1/whoami"), 200);
    has("\"role\":\"admin\"");
    assert_int_equal(ask("GET", "/v1/tokens", viewer, "", ""), 403);
    has("scope=\"admin\"");
    assert_int_equal(ask("GET", "/v1/whoami", NULL, "Authorization: Basic eDp5\r\n", ""), 401);
    has("\"code\":\"unauthenticated\"");
    lacks("eDp5");
}

static void projects_are_hidden(void **state)
{
    assert_int_equal(ask("GET", "/v1/projects/team-a", viewer, "", ""), 404);
    has("\"code\":\"project_not_found\"");
    assert_int_equal(ask("GET", "/v1/projects/nobody", viewer, "", ""), 404);
    has("\"code\":\"project_not_found\"");
    assert_int_equal(ask("GET", "/v1/projects", viewer, "", ""), 200);
    has("{\"items\":[{\"name\":\"team-b\"}],\"next_cursor\":null}");
    assert_int_equal(ask("GET", "/v1/clusters", viewer, "", ""), 200);
    has("\"name\":\"web\"");
    lacks("team-a");
    assert_int_equal(ask("GET", "/v1/operations/op_00000000000001", viewer, "", ""), 404);
}

static void ht19_ht24_ht28_clusters_are_read(void **state)
{
    assert_int_equal(get("/v1/projects/team-a/clusters/dev"), 200);
    has("\r\nETag: \"");
    has("\r\nAge: 10\r\n");
    has("\r\nCache-Status: shootd; hit\r\n");
    has("\r\nCache-Control: private, no-cache\r\n");
    has("\r\nDate: ");
    char etag[80];
    char *at = strstr(answer, "ETag: ") + 6;
    (void)snprintf(etag, sizeof(etag), "%.*s", (int)strcspn(at, "\r"), at);
    char *length = strstr(answer, "Content-Length: ");
    char *same CLEANUP_FREE = mem_strndup(length, strcspn(length, "\r"));
    char *field CLEANUP_FREE = mem_printf("If-None-Match: \"x\", W/%s\r\n", etag);
    assert_int_equal(ask("GET", "/v1/projects/team-a/clusters/dev", admin, field, ""), 304);
    has(etag);
    has(same);
    assert_null(strstr(answer, "{"));
    assert_int_equal(ask("GET", "/v1/projects/team-a/clusters/dev", admin, "If-Match: \"x\"\r\n", ""), 412);
    assert_int_equal(ask("HEAD", "/v1/projects/team-a/clusters/dev", admin, "", ""), 200);
    has(same);
    assert_null(strstr(answer, "{"));
    assert_int_equal(get("/v1/projects/team-a/clusters/none"), 404);
    has("cluster_not_found");
    assert_int_equal(get("/v1/projects/team%2Da/clusters/d%65v"), 200);
}

static void ht37_lists_are_paged_and_filtered(void **state)
{
    assert_int_equal(get("/v1/clusters?limit=2"), 200);
    has("],\"total\":3,\"next_cursor\":\"");
    has("\"name\":\"dev\"");
    has("\"name\":\"prod\"");
    lacks("\"name\":\"web\"");
    char *cursor = strstr(answer, "\"next_cursor\":\"") + 15;
    *strchr(cursor, '"') = '\0';
    char *next CLEANUP_FREE = mem_printf("/v1/clusters?limit=2&cursor=%s", cursor);
    char *other CLEANUP_FREE = mem_printf("/v1/clusters?limit=2&phase=ready&cursor=%s", cursor);
    assert_int_equal(get(next), 200);
    has("\"name\":\"web\"");
    lacks("\"name\":\"dev\"");
    has("\"next_cursor\":null");
    assert_int_equal(get(other), 400);
    has("invalid_cursor");
    assert_int_equal(get("/v1/clusters?phase=failed,deleting"), 200);
    has("\"name\":\"prod\"");
    lacks("\"name\":\"dev\"");
    assert_int_equal(get("/v1/clusters?phase=failed&phase=deleting"), 200); /* the same in another form */
    has("\"name\":\"prod\"");
    lacks("\"name\":\"dev\"");
    assert_int_equal(get("/v1/clusters?phase=ready&phase=failed,deleting&phase=ready"), 200);
    has("\"name\":\"prod\"");
    has("\"name\":\"dev\"");
    assert_int_equal(get("/v1/clusters?phase=ready&phase=odd"), 400);
    has("unknown_value");
    assert_int_equal(get("/v1/clusters?q=a&q=b"), 400);
    has("duplicate");
    assert_int_equal(get("/v1/clusters?region=Kna1&q=WE"), 200);
    has("\"name\":\"web\"");
    lacks("\"name\":\"dev\"");
    assert_int_equal(get("/v1/projects/team-a/clusters?managed=true"), 200);
    has("{\"items\":[],\"total\":0,\"next_cursor\":null}");
    assert_int_equal(get("/v1/operations"), 200);
    assert_true(strstr(answer, "op_00000000000002") < strstr(answer, "op_00000000000001"));
    assert_int_equal(get("/v1/tokens?limit=1"), 200);
    has("\"next_cursor\":\"");
    lacks("digest");
}

static void ht24_ht28_pages_state_the_age_of_their_oldest_item(void **state)
{
    static const struct {
        const char *path;
        const char *age;
    } rows[] = {
        {"/v1/clusters", "Age: 300\r\n"},
        {"/v1/clusters?fields=summary", "Age: 300\r\n"},
        {"/v1/clusters?limit=1", "Age: 10\r\n"},
        {"/v1/clusters?sort=-name&limit=1", "Age: 0\r\n"}, /* the cluster was never observed */
        {"/v1/clusters?sort=-name&limit=2", "Age: 300\r\n"},
        {"/v1/projects/team-b/clusters", "Age: 0\r\n"},
        {"/v1/clusters?q=nobody", "Age: 0\r\n"},
    };
    add_observed("team-a", "prod", PHASE_FAILED, 300);
    add_observed("team-b", "web", PHASE_READY, 0);
    view_publish(view);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(get(rows[i].path), 200);
        has(rows[i].age);
        has("\r\nCache-Status: shootd; hit\r\n");
    }
    assert_int_equal(ask("GET", "/v1/clusters", admin, "If-None-Match: *\r\n", ""), 304);
    has("\r\nAge: 300\r\n");
    assert_int_equal(get("/v1/operations"), 200);
    lacks("\r\nAge: ");
    lacks("Cache-Status");
    assert_int_equal(get("/v1/projects/team-b/clusters/web"), 200); /* a cluster that was never observed */
    has("\r\nAge: 0\r\n");
    lacks("Observed-At");
}

/* Returns the value of a header field or of a JSON string in the last answer. */
static char *after(const char *mark, const char *end)
{
    const char *at = strstr(answer, mark);
    assert_non_null(at);
    at += strlen(mark);
    return mem_strndup(at, strcspn(at, end));
}

static void lists_are_sorted(void **state)
{
    assert_int_equal(get("/v1/clusters?sort=-name&limit=2"), 200);
    assert_true(strstr(answer, "\"name\":\"web\"") < strstr(answer, "\"name\":\"prod\""));
    lacks("\"name\":\"dev\"");
    char *cursor CLEANUP_FREE = after("\"next_cursor\":\"", "\"");
    char *next CLEANUP_FREE = mem_printf("/v1/clusters?sort=-name&limit=1&fields=summary&cursor=%s", cursor);
    char *other CLEANUP_FREE = mem_printf("/v1/clusters?sort=name&limit=2&cursor=%s", cursor);
    char *unsorted CLEANUP_FREE = mem_printf("/v1/clusters?limit=2&cursor=%s", cursor);
    assert_int_equal(get(next), 200);
    has("\"name\":\"dev\"");
    has("\"node_pool_count\":0");
    lacks("\"node_pools\"");
    lacks("\"spec\"");
    has("\"next_cursor\":null");
    assert_int_equal(get(other), 400);
    assert_int_equal(get(unsorted), 400);
    assert_int_equal(get("/v1/projects/team-a/clusters?sort=phase"), 200);
    assert_true(strstr(answer, "\"name\":\"prod\"") < strstr(answer, "\"name\":\"dev\""));
    lacks("\"name\":\"web\"");
    assert_int_equal(ask("GET", "/v1/clusters?sort=name", viewer, "", ""), 200);
    lacks("team-a");
}

static void pages_have_tags(void **state)
{
    static const char *const targets[] = {
        "/v1/clusters?limit=1", "/v1/clusters?sort=name", "/v1/operations", "/v1/projects", "/v1/webhooks",
        "/v1/tokens",           "/v1/accounts",           "/v1/summary"};
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        assert_int_equal(get(targets[i]), 200);
        char *etag CLEANUP_FREE = after("\r\nETag: ", "\r");
        char *field CLEANUP_FREE = mem_printf("If-None-Match: %s\r\n", etag);
        assert_int_equal(ask("GET", targets[i], admin, field, ""), 304);
        has("\r\nCache-Control: private, no-cache\r\n");
        assert_int_equal(ask("GET", targets[i], admin, "If-None-Match: \"x\"\r\n", ""), 200);
    }
    char *etag CLEANUP_FREE = NULL;
    assert_int_equal(get("/v1/clusters"), 200);
    etag = after("\r\nETag: ", "\r");
    add_cluster("team-a", "dev", PHASE_UPDATING);
    view_publish(view);
    char *field CLEANUP_FREE = mem_printf("If-None-Match: %s\r\n", etag);
    assert_int_equal(ask("GET", "/v1/clusters", admin, field, ""), 200);
    assert_int_equal(get("/v1/clusters?limit=1"), 200);
    char *first CLEANUP_FREE = after("\r\nETag: ", "\r");
    add_cluster("team-b", "zoo", PHASE_READY);
    view_publish(view);
    char *same CLEANUP_FREE = mem_printf("If-None-Match: %s\r\n", first);
    assert_int_equal(ask("GET", "/v1/clusters?limit=1", admin, same, ""), 200); /* the total has changed */
    view_set(view, VIEW_CLUSTERS, "team-b/zoo", NULL);
    view_publish(view);
    assert_int_equal(ask("GET", "/v1/clusters?limit=1", admin, same, ""), 304);
}

static void ht36_cursors_expire(void **state)
{
    static const char *const lists[] = {"/v1/clusters?limit=1", "/v1/clusters?limit=1&sort=-name",
                                        "/v1/tokens?limit=1", "/v1/operations?limit=1"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        ahead_us = 0;
        assert_int_equal(get(lists[i]), 200);
        char *cursor CLEANUP_FREE = after("\"next_cursor\":\"", "\"");
        char *next CLEANUP_FREE = mem_printf("%s&cursor=%s", lists[i], cursor);
        ahead_us = 72 * 3600 * US_PER_S;
        assert_int_equal(get(next), 200);
        ahead_us += 3600 * US_PER_S;
        assert_int_equal(get(next), 400);
        has("\"code\":\"cursor_expired\"");
        has("\"parameter\":\"cursor\"");
    }
}

static void clusters_are_counted(void **state)
{
    assert_int_equal(get("/v1/summary"), 200);
    has("{\"total\":3,");
    has("\"ready\":2,");
    has("\"failed\":1,");
    has("\"by_kubernetes_version\":{\"unknown\":3},\"by_project\":{\"team-a\":2,\"team-b\":1},");
    has("\"open_operations\":1,\"frozen_projects\":0}");
    assert_int_equal(get("/v1/summary?project=team-b"), 200);
    has("\"by_project\":{\"team-b\":1},");
    has("\"open_operations\":0,\"frozen_projects\":0}");
    assert_int_equal(ask("GET", "/v1/summary", viewer, "", ""), 200);
    has("{\"total\":1,");
    lacks("team-a");
}

static void issues_are_reported(void **state)
{
    assert_int_equal(get("/v1/projects/team-a/clusters/dev/issues"), 200);
    has("{\"items\":[],\"next_cursor\":null}");
    assert_int_equal(get("/v1/projects/team-a/clusters/prod/issues"), 200);
    has("\"code\":\"cluster_failed\"");
    assert_int_equal(get("/v1/projects/team-a/clusters/none/issues"), 404);
    assert_int_equal(ask("GET", "/v1/projects/team-a/clusters/prod/issues", viewer, "", ""), 404);
    has("project_not_found");
}

static void parameters_are_checked(void **state)
{
    assert_int_equal(get("/v1/clusters?colour=red&limit=0&phase=odd"), 400);
    has("\"parameter\":\"colour\"");
    has("\"parameter\":\"limit\"");
    has("\"parameter\":\"phase\"");
    has("\"hibernating\"");
    assert_int_equal(get("/v1/clusters?limit=1&limit=2"), 400);
    assert_int_equal(get("/v1/clusters?sort=odd&label=a=b=c&expiring_before=soon&fields=few"), 400);
    has("\"parameter\":\"sort\"");
    has("\"parameter\":\"label\"");
    has("\"parameter\":\"expiring_before\"");
    has("\"parameter\":\"fields\"");
    assert_int_equal(get("/v1/clusters?label=a&label=b=c&label=d,e="), 200);
    assert_int_equal(get("/v1/clusters?label=a&label=b+c"), 400);
    assert_int_equal(get("/v1/clusters?limit=-1"), 400);
    assert_int_equal(get("/v1/clusters?limit=99999999999999999999"), 200);
    assert_int_equal(get("/v1/clusters?q=%ff"), 400);
    assert_int_equal(get("/v1/projects/team-a/clusters/dev/kubeconfig?ttl_seconds=10"), 400);
    assert_int_equal(get("/v1/events?type=cluster.odd"), 400);
}

static void empty_pieces_of_a_query_are_no_parameters(void **state)
{
    static const char *const taken[] = {"?", "?&", "?&&", "?&limit=1", "?limit=1&", "?limit=1&&sort=name&&"};
    for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
        char *target CLEANUP_FREE = mem_printf("/v1/clusters%s", taken[i]);
        if (get(target) != 200)
            fail_msg("%s\n%s", target, answer);
    }
    assert_int_equal(get("/livez?&verbose&"), 200);
    assert_int_equal(get("/v1/clusters?="), 400);
    assert_int_equal(get("/v1/clusters?&=1"), 400);
}

static void commands_are_posted(void **state)
{
    static const char json[] = "Content-Type: application/json; charset=utf-8\r\n";
    assert_int_equal(ask("POST", "/v1/projects/team-a/clusters", admin, json, "{\"name\":\"x1\"}"), 202);
    has("Location: /v1/operations/op_1\r\n");
    has("Retry-After: 7\r\n");
    has("{\"name\":\"x1\",\"project\":\"team-a\"}");
    assert_int_equal(ask("DELETE", "/v1/projects/team-a/clusters/dev", admin, "", ""), 504);
    has("application/problem+json");
    has("Retry-After: 3\r\n");
    assert_int_equal(ask("PUT", "/v1/projects/team-a/clusters/dev", admin,
                         "Content-Type: application/json\r\nIf-None-Match: *\r\nIf-Match: \"a\"\r\n", "{}"),
                     200);
    has("{\"any\":true,\"if_match\":\"set\"}");
    assert_int_equal(ask("PUT", "/v1/projects/team-a/clusters/dev", admin,
                         "Content-Type: application/json\r\nIf-None-Match: \"a\"\r\n", "{}"),
                     200);
    assert_int_equal(get("/v1/projects/team-a/clusters/dev/kubeconfig"), 200);
    has("Cache-Control: no-store\r\n");
    has("\"kubeconfig\":\"apiVersion");
    assert_int_equal(
        ask("GET", "/v1/projects/team-a/clusters/dev/kubeconfig", admin, "Accept: application/yaml\r\n", ""),
        200);
    has("\r\n\r\napiVersion: v1\n");
    assert_int_equal(get("/v1/projects/team-a/clusters/dev/kubeconfig?format=yaml"), 200);
    has("\r\n\r\napiVersion: v1\n");
    assert_int_equal(ask("GET", "/v1/projects/team-b/clusters/web/kubeconfig", viewer, "", ""), 403);
    assert_int_equal(get("/v1/events?type=cluster.*&limit=7"), 200);
    has("\"first\":\"cluster.created\",\"limit\":7");
    assert_int_equal(get("/v1/projects/team-a/catalog"), 504);
}

static void ao14_operations_are_waited_for(void **state)
{
    assert_int_equal(get("/v1/operations/op_00000000000001"), 200);
    has("Retry-After: 5\r\n");
    has("Vary: Accept-Encoding, Prefer\r\n");
    assert_int_equal(get("/v1/operations/op_00000000000001?wait=5"), 200);
    has("{\"status\":\"succeeded\"}");
    assert_int_equal(
        ask("GET", "/v1/operations/op_00000000000001", admin, "Prefer: handling=lenient, wait=900\r\n", ""),
        200);
    has("Preference-Applied: wait=55\r\n");
    has("{\"status\":\"succeeded\"}");
    assert_int_equal(get("/v1/operations/op_00000000000002?wait=5"), 200);
    has("\"id\":\"op_00000000000002\"");
    lacks("Retry-After");
    assert_int_equal(get("/v1/operations/none"), 404);
}

/* Pages of operations, and single operations. All open operations are in the view; ended operations may have
 * left it. */
static void ao6_what_has_left_the_view_is_read_from_the_store(void **state)
{
    assert_int_equal(get("/v1/operations/op_00000000000000"), 404);
    view_set_left_out(view, "op_00000000000000");
    view_publish(view);
    assert_int_equal(get("/v1/operations/op_00000000000000"), 200);
    has("\"id\":\"op_00000000000000\"");
    has("ETag: \"older-1\"");
    assert_int_equal(get("/v1/operations/op_0"), 404);
    assert_int_equal(ask("GET", "/v1/operations/op_00000000000000", viewer, "", ""), 404);
    assert_int_equal(get("/v1/operations/op_00000000000000?wait=5"), 200);
    assert_int_equal(get("/v1/operations?limit=1"), 200); /* the page is full with operations of the view */
    has("op_00000000000002");
    lacks("op_00000000000000");
    assert_int_equal(get("/v1/operations"), 200); /* the whole answer comes from the store */
    has("op_00000000000000");
    has("\"next_cursor\":null");
    assert_int_equal(get("/v1/operations?status=running"), 200);
    has("op_00000000000001");
    lacks("op_00000000000000");
    assert_int_equal(get("/v1/operations?status=succeeded,failed&cluster=Dev,,web&project=team-a&limit=7"),
                     200);
    has("op_00000000000000");
    assert_int_equal(asked.limit, 7);
    assert_int_equal(asked.statuses, 1U << OPERATION_SUCCEEDED | 1U << OPERATION_FAILED);
    assert_null(asked.clusters);
    assert_string_equal(asked.cluster_parts[0], "dev");
    assert_string_equal(asked.cluster_parts[1], "web");
    assert_null(asked.cluster_parts[2]);
    assert_string_equal(asked.projects[0], "team-a");
    assert_string_equal(asked.before, "");
    assert_int_equal(get("/v1/projects/team-a/clusters/dev/operations?limit=9"), 200);
    assert_string_equal(asked.clusters[0], "dev");
    assert_null(asked.clusters[1]);
    assert_null(asked.cluster_parts);
    assert_string_equal(asked.projects[0], "team-a");
    assert_int_equal(ask("GET", "/v1/operations", viewer, "", ""), 200);
    has("\"items\":[]");
    assert_string_equal(asked.projects[0], "team-b");
    assert_null(asked.projects[1]);
    operation_query_done(&asked);
}

static void ao16_who_comes_when_too_many_wait_is_answered_at_once(void **state)
{
    static const char target[] = "/v1/operations/op_00000000000001?wait=50";
    char *text CLEANUP_FREE =
        mem_printf("GET %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\n\r\n", target, admin);
    int waiting[WAITERS];
    loop_hold(true);
    for (unsigned i = 0; i < WAITERS; i++) {
        waiting[i] = dial();
        send_text(waiting[i], text, strlen(text));
    }
    while (api_parked(api) < WAITERS)
        (void)usleep(1000);
    assert_int_equal(get(target), 200);
    has("Retry-After: 5\r\n");
    has("\"id\":\"op_00000000000001\"");
    loop_hold(false);
    for (unsigned i = 0; i < WAITERS; i++) {
        (void)read_answer(waiting[i], 300);
        has("{\"status\":\"succeeded\"}");
        (void)close(waiting[i]);
    }
}

/* Each row has a header section and the expected status. */
static void ht14_framing_and_paths(void **state)
{
    static const struct {
        const char *text;
        int status;
    } rows[] = {
        {"POST /v1/webhooks HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: "
         "chunked\r\n\r\n0\r\n\r\n",
         400},
        {"POST /v1/webhooks HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd", 400},
        {"POST /v1/webhooks HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\nabcd", 501},
        {"POST /v1/webhooks HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\n\r\nabcd", 400},
        {"POST /v1/webhooks HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        {"GET /livez HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n", 400},
        {"GET /livez HTTP/1.1\r\nHost: h/x\r\n\r\n", 400},
        {"GET /livez HTTP/1.1\r\n\r\n", 400},
        {"GET /livez HTTP/1.1\r\nHost: h\r\nX-A: a\x01z\r\n\r\n", 400},
        {"get /livez HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 501},
        {"BREW /livez HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 501},
        {"TRACE /livez HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 405},
        {"OPTIONS * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 204},
        {"GET http://other/livez HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 200},
        {"GET /nothing HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 404},
        {"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 404},
        {"GET /livez/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 404},
        {"GET /v1/projects/a%2Fb HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 400},
        {"GET /v1/projects/a%00b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 400},
        {"GET /v1/projects/%2e%2e HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 400},
        {"GET /v1/projects/%ff HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 400},
        {"GET /v1/projects/%zz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 400},
        {"GET /livez HTTP/1.1\r\nHost: h\r\nExpect: magic\r\nConnection: close\r\n\r\n", 417},
        {"GET /version HTTP/1.1\r\nHost: h\r\nAccept: text/html\r\nConnection: close\r\n\r\n", 406},
        {"GET /version HTTP/1.1\r\nHost: h\r\nAccept: text/html, application/*;q=0.1\r\nConnection: "
         "close\r\n\r\n",
         200},
        {"GET /version HTTP/1.1\r\nHost: h\r\nAccept: */*, application/json;q=0\r\nConnection: close\r\n\r\n",
         406},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int status = exchange(rows[i].text, strlen(rows[i].text));
        if (status != rows[i].status)
            fail_msg("row %zu: %d instead of %d\n%s", i, status, rows[i].status, answer);
    }
}

/* RFC 9110 5.5. */
static void blanks_around_a_value_are_no_part_of_it(void **state)
{
    static const char request[] = "POST /v1/projects/team-a/clusters HTTP/1.1\r\nConnection: close\r\n"
                                  "Host: h%s\r\nAuthorization: Bearer %s%s\r\n"
                                  "Content-Type: application/json%s\r\n"
                                  "Idempotency-Key: 8e03978e-40d5-43e8-bc93-6894a57f9324%s\r\n"
                                  "X-Request-Id: abc-12345%s\r\n%s%s\r\n\r\n%s";
    static const char *const blanks[] = {"", " ", "\t", " \t \t"};
    static const char body[] = "{\"name\":\"x1\"}", in_chunks[] = "d\r\n{\"name\":\"x1\"}\r\n0\r\n\r\n";
    for (size_t i = 0; i < ARRAY_LEN(blanks); i++) {
        const char *b = blanks[i];
        char *text CLEANUP_FREE = mem_printf(request, b, admin, b, b, b, b, "Content-Length: 13", "", body);
        assert_int_equal(exchange(text, strlen(text)), 202);
        has("X-Request-Id: abc-12345\r\n");
    }
    char *length CLEANUP_FREE =
        mem_printf(request, "", admin, "", "", "", "", "Content-Length: 13", " ", body);
    assert_int_equal(exchange(length, strlen(length)), 400);
    char *coding CLEANUP_FREE =
        mem_printf(request, "", admin, "", "", "", "", "Transfer-Encoding: chunked", " ", in_chunks);
    assert_int_equal(exchange(coding, strlen(coding)), 400);
    has("malformed_request");
    has("Connection: close\r\n");
}

static void ht8_ht9_methods_are_reported(void **state)
{
    assert_int_equal(ask("POST", "/v1/projects/team-a/clusters/dev", admin, "", ""), 405);
    has("Allow: GET, HEAD, PUT, PATCH, DELETE, OPTIONS\r\n");
    assert_int_equal(ask("OPTIONS", "/v1/tokens", NULL, "", ""), 204);
    has("Allow: GET, HEAD, POST, OPTIONS\r\n");
    lacks("Content-Length");
}

static void ht10_ht13_bodies_are_checked(void **state)
{
    static const char path[] = "/v1/webhooks";
    static const char json[] = "Content-Type: application/json\r\n";
    assert_int_equal(ask("POST", path, admin, "", "{}"), 415);
    has("Accept: application/json\r\n");
    assert_int_equal(ask("POST", path, admin, "Content-Type: application/json; charset=latin1\r\n", "{}"),
                     415);
    assert_int_equal(
        ask("POST", path, admin, "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", "{}"), 415);
    has("Accept-Encoding: identity\r\n");
    assert_int_equal(ask("POST", path, admin, json, ""), 400);
    assert_int_equal(ask("POST", path, admin, json, "{\"a\":1,\n \"a\":2}"), 400);
    has("Line 2, column ");
    assert_int_equal(ask("POST", path, admin, json, "[]"), 400);
    assert_int_equal(ask("POST", path, admin, json, "\xef\xbb\xbf"), 400);
    has("The body is empty");
    assert_int_equal(ask("POST", path, admin, json, "\xef\xbb\xbf\xef\xbb\xbf{}"), 400);
    assert_int_equal(ask("POST", path, admin, json, "{\xef\xbb\xbf}"), 400);
    static const char *const good[] = {"", ";charset=utf8", "; charset=\"UTF8\"", ";charset=UTF-8; a=b"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        char *field CLEANUP_FREE = mem_printf("Content-Type: application/json%s\r\n", good[i]);
        assert_int_equal(
            ask("POST", "/v1/projects/team-a/clusters", admin, field, "\xef\xbb\xbf{\"name\":\"x1\"}"), 202);
        has("{\"name\":\"x1\",\"project\":\"team-a\"}");
    }
    static const char *const bad[] = {"charset=utf", "charset=utf80", "charset=utf-16", "charset=utf-8x",
                                      "charset="};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char *field CLEANUP_FREE = mem_printf("Content-Type: application/json;%s\r\n", bad[i]);
        assert_int_equal(ask("POST", path, admin, field, "{}"), 415);
    }
    char *big CLEANUP_FREE = mem_calloc(70001, 1);
    memset(big, ' ', 70000);
    assert_int_equal(ask("POST", path, admin, json, big), 413);
    char *chunked CLEANUP_FREE = mem_printf("POST %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\n%s"
                                            "Transfer-Encoding: chunked\r\n\r\n11170\r\n%s\r\n0\r\n\r\n",
                                            path, admin, json, big);
    assert_int_equal(exchange(chunked, strlen(chunked)), 413);
}

static void ht50_inbound_request_ids(void **state)
{
    assert_int_equal(ask("GET", "/livez", NULL, "X-Request-Id: abc-12345\r\n", ""), 200);
    has("X-Request-Id: abc-12345\r\n");
    assert_int_equal(ask("GET", "/livez", NULL, "X-Request-Id: short\r\n", ""), 200);
    has("X-Request-Id: req_");
}

static void ht13_limits_of_header_sections(void **state)
{
    struct buffer text;
    buffer_init(&text, 100000);
    buffer_add_str(&text, "GET /livez HTTP/1.1\r\nHost: h\r\n");
    for (int i = 0; i < 70; i++)
        buffer_printf(&text, "X-%d: a\r\n", i);
    buffer_add_str(&text, "\r\n");
    assert_int_equal(exchange(text.data, text.len), 431);
    buffer_done(&text);
    buffer_add_str(&text, "GET /livez HTTP/1.1\r\nHost: h\r\nX-A: ");
    for (int i = 0; i < 2000; i++)
        buffer_add_str(&text, "0123456789");
    buffer_add_str(&text, "\r\n\r\n");
    assert_int_equal(exchange(text.data, text.len), 431);
    buffer_done(&text);
}

static void connections_are_kept(void **state)
{
    static const char two[] = "GET /livez HTTP/1.1\r\nHost: h\r\n\r\nGET /nothing HTTP/1.1\r\nHost: h\r\n\r\n"
                              "GET /version HTTP/1.1\r\nHost: h\r\n\r\n";
    int fd = dial();
    send_text(fd, two, sizeof(two) - 1);
    assert_false(read_answer(fd, 300));
    has("HTTP/1.1 200 OK");
    has("HTTP/1.1 404 Not Found");
    has("\"version\":\"1.2.3\"");
    (void)close(fd);
}

static void ht15_slow_clients_are_dropped(void **state)
{
    int header = dial();
    send_text(header, "GET /livez HT", 13);
    assert_true(read_answer(header, 2000));
    assert_string_equal(answer, "");
    (void)close(header);

    char *text CLEANUP_FREE =
        mem_printf("POST /v1/webhooks HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\n"
                   "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
                   admin);
    int body = dial();
    send_text(body, text, strlen(text));
    assert_true(read_answer(body, 2000));
    has("HTTP/1.1 408 ");
    has("\"code\":\"request_timeout\"");
    (void)close(body);
}

/* Sends a byte every 50 ms until the server ends the connection, or for 3 s; true when the server ended
 * it. */
static bool drip(int fd, const char *byte)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (int i = 0; i < 60; i++) {
        if (send(fd, byte, 1, MSG_NOSIGNAL) != 1 || poll(&p, 1, 50) == 1)
            return read_answer(fd, 1000);
    }
    return false;
}

/* libmicrohttpd's own timeout only measures inactivity, so it never ends the connection of a client that
 * sends slowly. */
static void mh9_drips_are_ended(void **state)
{
    int header = dial();
    send_text(header, "GET /livez HTTP/1.1\r\nHost: h\r\nX: ", 33);
    assert_true(drip(header, "a"));
    has("HTTP/1.1 408 ");
    has("\"code\":\"request_timeout\"");
    has("Connection: close");
    (void)close(header);

    int line = dial();
    send_text(line, "GET /", 5);
    assert_true(drip(line, "a"));
    assert_string_equal(answer, ""); /* no answer: the request line is incomplete */
    (void)close(line);

    char *text CLEANUP_FREE =
        mem_printf("POST /v1/webhooks HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\n"
                   "Content-Type: application/json\r\nContent-Length: 10000\r\n\r\n{",
                   admin);
    int body = dial();
    send_text(body, text, strlen(text));
    assert_true(drip(body, " "));
    has("HTTP/1.1 408 ");
    (void)close(body);

    char *chunked CLEANUP_FREE =
        mem_printf("POST /v1/webhooks HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\n"
                   "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n{",
                   admin);
    int chunks = dial();
    send_text(chunks, chunked, strlen(chunked));
    assert_true(drip(chunks, " "));
    has("HTTP/1.1 408 ");
    (void)close(chunks);
}

static void mh9_idle_connections_are_closed(void **state)
{
    int fd = dial();
    send_text(fd, "GET /livez HTTP/1.1\r\nHost: h\r\n\r\n", 32);
    assert_false(read_answer(fd, 700)); /* the connection stays open for a while */
    has("HTTP/1.1 200 OK");
    assert_true(read_answer(fd, 4000));
    assert_string_equal(answer, ""); /* the connection ends without an answer */
    (void)close(fd);
}

/* The client sends requests repeatedly and reads no answer. */
static void mh9_readers_that_do_not_read(void **state)
{
    static const char one[] = "GET /openapi.json HTTP/1.1\r\nHost: h\r\n\r\n";
    int size = 4096;
    int fd = dial();
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    bool ended = false;
    for (int i = 0; i < 200 && !ended; i++) {
        while (!ended && poll(&p, 1, 0) == 1 && !(p.revents & (POLLERR | POLLHUP)))
            ended = send(fd, one, sizeof(one) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EAGAIN;
        ended = ended || (p.revents & (POLLERR | POLLHUP)) != 0;
        (void)usleep(20000);
    }
    assert_true(ended);
    (void)close(fd);
    assert_int_equal(ask("GET", "/livez", NULL, "", ""), 200);
}

static void ht15_parked_requests_survive_the_reaper(void **state)
{
    loop_hold(true);
    char *text CLEANUP_FREE =
        mem_printf("GET /v1/operations/op_00000000000001?wait=50 HTTP/1.1\r\nHost: h\r\n"
                   "Authorization: Bearer %s\r\n\r\n",
                   admin);
    int fd = dial();
    send_text(fd, text, strlen(text));
    assert_false(read_answer(fd, 700));
    assert_string_equal(answer, "");
    assert_int_equal(api_parked(api), 1);
    loop_hold(false);
    (void)read_answer(fd, 300);
    has("{\"status\":\"succeeded\"}");
    (void)close(fd);
}

/* The store or the loop does not answer. No request waits for ever, and a late end of the command does no
 * harm. */
static void an_overdue_request_hears_that_its_outcome_is_unknown(void **state)
{
    loop_hold(true);
    char *text CLEANUP_FREE = mem_printf("GET /v1/operations/op_00000000000001?wait=1 HTTP/1.1\r\nHost: h\r\n"
                                         "Authorization: Bearer %s\r\n\r\n",
                                         admin);
    int fd = dial();
    send_text(fd, text, strlen(text));
    (void)read_answer(fd, 5000);
    has("HTTP/1.1 503");
    has("\"code\":\"outcome_unknown\"");
    has("Retry-After: 5");
    assert_int_equal(api_parked(api), 0);
    loop_hold(false);
    (void)close(fd);
    assert_int_equal(ask("GET", "/v1/whoami", admin, "", ""), 200);
}

/* Reads, waits and writes on many connections while the view is replaced. */
static void *run_client(void *arg)
{
    int *good = arg;
    static const char *const targets[] = {"/v1/clusters", "/v1/operations/op_00000000000001?wait=5",
                                          "/v1/projects/team-a/clusters/dev", "/v1/events", "/nothing"};
    static const char *const wanted[] = {"HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 200",
                                         "HTTP/1.1 404"};
    for (size_t i = 0; i < 40; i++) {
        char *text CLEANUP_FREE = mem_printf("GET %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                                             "Authorization: Bearer %s\r\n\r\n",
                                             targets[i % ARRAY_LEN(targets)], admin);
        char head[13] = "";
        char rest[4096];
        int fd = dial();
        if (send(fd, text, strlen(text), MSG_NOSIGNAL) > 0 && recv(fd, head, 12, MSG_WAITALL) == 12)
            *good += !strcmp(head, wanted[i % ARRAY_LEN(wanted)]);
        while (recv(fd, rest, sizeof(rest), 0) > 0)
            ;
        (void)close(fd);
    }
    return NULL;
}

static void many_clients_at_once(void **state)
{
    enum { CLIENTS = 8 };
    pthread_t threads[CLIENTS];
    int good[CLIENTS] = {0};
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_client, &good[i]), 0);
    for (int i = 0; i < 100; i++) {
        add_cluster("team-a", "dev", PHASE_READY);
        view_publish(view);
        (void)usleep(500);
    }
    for (int i = 0; i < CLIENTS; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_int_equal(good[i], 40);
    }
    assert_int_equal(api_parked(api), 0);
}

/* Copies the cursor of the answer; false: the page was the last one. */
static bool next_cursor(char *cursor, size_t size)
{
    static const char member[] = "\"next_cursor\":\"";
    const char *at = strstr(answer, member);
    if (at)
        (void)snprintf(cursor, size, "%.*s", (int)strcspn(at + strlen(member), "\""), at + strlen(member));
    return at != NULL;
}

static unsigned occurrences(const char *text)
{
    unsigned count = 0;
    for (const char *at = strstr(answer, text); at; at = strstr(at + 1, text))
        count++;
    return count;
}

/* Clusters without issues are skipped, even ten thousand of them. One page reads only a few of the other
 * clusters. */
static void issues_of_all_clusters_come_in_pages_of_bounded_work(void **state)
{
    enum { CALM = 10000, TROUBLED = 101, MOST_BODIES = 40 };
    char name[40], cursor[500] = "";
    for (int i = 0; i < CALM; i++) {
        (void)snprintf(name, sizeof(name), "calm-%05d", i);
        add_cluster("team-a", name, PHASE_READY);
    }
    view_publish(view);
    assert_int_equal(get("/v1/issues"), 200);
    has("\"cluster\":\"prod\",\"code\":\"cluster_failed\",\"severity\":\"critical\",\"source\":\"cluster\"");
    has("\"next_cursor\":null");
    assert_int_equal(occurrences("\"cluster\":"), 1);
    for (int i = 0; i < TROUBLED; i++) {
        (void)snprintf(name, sizeof(name), "trouble-%05d", i);
        add_cluster("team-a", name, PHASE_FAILED);
    }
    view_publish(view);
    unsigned rows = 0, pages = 0;
    do {
        char *target CLEANUP_FREE =
            mem_printf("/v1/issues?limit=1000%s%s", *cursor ? "&cursor=" : "", cursor);
        assert_int_equal(get(target), 200);
        unsigned found = occurrences("\"code\":\"cluster_failed\"");
        assert_in_range(found, 1, MOST_BODIES);
        (void)snprintf(name, sizeof(name), "trouble-%05d", rows ? (int)rows - 1 : 0);
        has(name); /* no row is missing or shown twice */
        rows += found;
        pages++;
    } while (next_cursor(cursor, sizeof(cursor)) && pages < 10);
    assert_int_equal(rows, TROUBLED + 1);
    assert_int_equal(pages, 3);
    assert_int_equal(get("/v1/issues?limit=2&severity=critical"), 200);
    assert_int_equal(occurrences("\"cluster\":"), 2);
    assert_true(next_cursor(cursor, sizeof(cursor)));
    assert_int_equal(get("/v1/issues?severity=info,warning&source=version"), 200);
    assert_int_equal(occurrences("\"cluster\":"), 0);
    assert_int_equal(get("/v1/issues?project=team-b"), 200);
    has("{\"items\":[],\"next_cursor\":null}");
    assert_int_equal(ask("GET", "/v1/issues", viewer, "", ""), 200);
    has("{\"items\":[],\"next_cursor\":null}");
    assert_int_equal(get("/v1/issues?severity=bad"), 400);
    has("[\"critical\",\"warning\",\"info\"]");
    assert_int_equal(get("/v1/issues?source=bad"), 400);
    has("\"observation\"");
}

static void draining(void **state)
{
    loop_hold(true);
    char *text CLEANUP_FREE =
        mem_printf("GET /v1/operations/op_00000000000001?wait=50 HTTP/1.1\r\nHost: h\r\n"
                   "Authorization: Bearer %s\r\n\r\n",
                   admin);
    int fd = dial();
    send_text(fd, text, strlen(text));
    while (!api_parked(api))
        (void)usleep(1000);
    api_begin_drain(api);
    assert_int_equal(ask("POST", "/v1/webhooks", admin, "Content-Type: application/json\r\n", "{}"), 503);
    has("shutting_down");
    static const char ready[] = "GET /readyz HTTP/1.1\r\nHost: h\r\n\r\n";
    assert_int_equal(exchange(ready, sizeof(ready) - 1), 503);
    has("Connection: close\r\n");
    assert_false(api_drained(api, 50));
    api_stop(api);
    api = NULL;
    assert_true(read_answer(fd, 1000));
    has("HTTP/1.1 503 ");
    (void)close(fd);
    loop_hold(false); /* the late reply finds no request and frees its command */
    for (bool idle = false; !idle;) {
        (void)usleep(1000);
        mutex_lock(&loop.lock);
        idle = loop.count == 0;
        mutex_unlock(&loop.lock);
    }
    int again = dial(); /* the listening socket stays open (MH-15) */
    (void)close(again);
}

static void drained_when_nothing_is_in_flight(void **state)
{
    assert_int_equal(get("/v1/whoami"), 200);
    api_begin_drain(api);
    api_quiesce(api);
    assert_true(api_drained(api, 2000));
}

/* Whether the rules that accept this client now are those of the generation that callers must have. */
static bool is_accepted_by_rules_in_force(const struct tls_client *client)
{
    struct view_blob *caller = certificate_caller(api, client);
    const struct api_token *token = caller->subject;
    const bool is_same = token->found_by_generation == atomic_load(&api->clients_generation);
    view_blob_unref(caller);
    return is_same;
}

/* Between the two calls, a reload may need seconds to move projects. Meanwhile the old rules are in force. */
static void rules_for_certificates_change_with_their_generation(void **state)
{
    char name[] = "dns:ci.example.com", authority[] = "CN=clients", *names[] = {name, NULL};
    const struct tls_client client = {.names = names, .authority = authority, .ends_at = INT64_MAX};
    struct config next = config;
    next.tls.clients_generation = config.tls.clients_generation + 1;
    assert_true(is_accepted_by_rules_in_force(&client));
    api_configure(api, &next);
    assert_true(is_accepted_by_rules_in_force(&client));
    api_in_force(api, &next);
    assert_false(is_accepted_by_rules_in_force(&client)); /* the test does not replace the configuration */
}

#define HTTP_TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP_TEST(public_routes),
        HTTP_TEST(tokens_are_checked),
        HTTP_TEST(rules_for_certificates_change_with_their_generation),
        HTTP_TEST(projects_are_hidden),
        HTTP_TEST(ht19_ht24_ht28_clusters_are_read),
        HTTP_TEST(ht37_lists_are_paged_and_filtered),
        HTTP_TEST(ht24_ht28_pages_state_the_age_of_their_oldest_item),
        HTTP_TEST(lists_are_sorted),
        HTTP_TEST(pages_have_tags),
        HTTP_TEST(ht36_cursors_expire),
        HTTP_TEST(clusters_are_counted),
        HTTP_TEST(issues_are_reported),
        HTTP_TEST(parameters_are_checked),
        HTTP_TEST(empty_pieces_of_a_query_are_no_parameters),
        HTTP_TEST(commands_are_posted),
        HTTP_TEST(ao14_operations_are_waited_for),
        HTTP_TEST(ao16_who_comes_when_too_many_wait_is_answered_at_once),
        HTTP_TEST(ht14_framing_and_paths),
        HTTP_TEST(blanks_around_a_value_are_no_part_of_it),
        HTTP_TEST(ht8_ht9_methods_are_reported),
        HTTP_TEST(ht10_ht13_bodies_are_checked),
        HTTP_TEST(ht50_inbound_request_ids),
        HTTP_TEST(ht13_limits_of_header_sections),
        HTTP_TEST(connections_are_kept),
        HTTP_TEST(ht15_slow_clients_are_dropped),
        HTTP_TEST(mh9_drips_are_ended),
        HTTP_TEST(mh9_idle_connections_are_closed),
        HTTP_TEST(mh9_readers_that_do_not_read),
        HTTP_TEST(ht15_parked_requests_survive_the_reaper),
        HTTP_TEST(an_overdue_request_hears_that_its_outcome_is_unknown),
        HTTP_TEST(many_clients_at_once),
        HTTP_TEST(ao6_what_has_left_the_view_is_read_from_the_store),
        HTTP_TEST(issues_of_all_clusters_come_in_pages_of_bounded_work),
        HTTP_TEST(draining),
        HTTP_TEST(drained_when_nothing_is_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
