#include "fuzz/http_input.h"

#include <string.h>

#include "api/api_private.h"
#include "api/routes.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "fuzz/fuzz.h"
#include "http/http_private.h"
#include "view/render.h"

struct MHD_Connection {
    struct http_pairs fields, arguments;
    union MHD_ConnectionInfo size;
};

static struct MHD_Connection connection;

static void add(struct http_pairs *pairs, const char *key, const char *value, size_t value_len)
{
    if (pairs->count < HTTP_INPUT_MAX)
        pairs->items[pairs->count++] = (struct http_pair){key, value, strlen(key), value_len};
}

/* Replaces the end of the line at `at` with NULs. Returns a pointer to the next line; NULL when the line has
 * no end. */
static char *end_line(char *at)
{
    char *end = strchr(at, '\n');
    if (!end)
        return NULL;
    *end = '\0';
    if (end > at && end[-1] == '\r')
        end[-1] = '\0';
    return end + 1;
}

static void add_field(char *line)
{
    char *value = strchr(line, ':');
    if (!value)
        return;
    *value++ = '\0';
    value += strspn(value, " \t"); /* like the library, removes blanks only before the value */
    add(&connection.fields, line, value, strlen(value));
}

void http_input_query(char *query, struct http_input *ret)
{
    if (ret)
        *ret = (struct http_input){.mhd = &connection};
    connection.arguments.count = 0;
    for (char *item = strsep(&query, "&"); item; item = strsep(&query, "&")) {
        char *value = strchr(item, '=');
        if (value)
            *value++ = '\0';
        add(&connection.arguments, item, value, value ? strlen(value) : 0);
    }
}

static bool read_request_line(char *line, struct http_input *ret)
{
    char *target = strchr(line, ' ');
    char *version = target ? strrchr(target + 1, ' ') : NULL;
    if (!version || target == line)
        return false;
    *target++ = *version++ = '\0';
    *ret = (struct http_input){.method = line, .target = target, .version = version, .mhd = &connection};
    ret->target_len = strlen(target);
    return !strncmp(version, "HTTP/1.", 7);
}

bool http_input_read(char *text, struct http_input *ret)
{
    char *next = end_line(text), *line;
    connection.fields.count = 0;
    if (!next || !read_request_line(text, ret))
        return false;
    while ((line = next) && (next = end_line(line)) && *line)
        add_field(line);
    if (!next)
        return false;
    connection.size.header_size = (size_t)(next - text);
    ret->body = next;
    return true;
}

/* ---- the library's answers ---- */

int MHD_get_connection_values_n(struct MHD_Connection *mhd, enum MHD_ValueKind kind, MHD_KeyValueIteratorN it,
                                void *cls)
{
    const struct http_pairs *pairs = kind == MHD_HEADER_KIND ? &mhd->fields : &mhd->arguments;
    for (size_t i = 0; i < pairs->count; i++) {
        const struct http_pair *p = &pairs->items[i];
        if (it(cls, kind, p->key, p->key_len, p->value, p->value_len) != MHD_YES)
            return (int)i + 1;
    }
    return (int)pairs->count;
}

const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *mhd,
                                                        enum MHD_ConnectionInfoType type, ...)
{
    return type == MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE ? &mhd->size : NULL;
}

const char *MHD_lookup_connection_value(struct MHD_Connection *mhd, enum MHD_ValueKind kind, const char *key)
{
    const struct http_pairs *pairs = kind == MHD_HEADER_KIND ? &mhd->fields : &mhd->arguments;
    for (size_t i = 0; i < pairs->count; i++)
        if (!strcmp(pairs->items[i].key, key))
            return pairs->items[i].value;
    return NULL;
}

/* ---- a server for the request ---- */

static wall_us fixed_wall(const struct env *env)
{
    return FUZZ_NOW;
}

static mono_us fixed_mono(const struct env *env)
{
    return US_PER_S;
}

static void fixed_random(const struct env *env, void *bytes, size_t len)
{
    memset(bytes, 7, len);
}

static const struct env env = {.now_wall = fixed_wall, .now_mono = fixed_mono, .random = fixed_random};

static void drop_command(void *ctx, struct command *cmd)
{
    cmd->give_back(cmd);
}

static void add_token(struct view *view)
{
    static char all[] = "*", *projects[] = {all, NULL};
    struct api_token token = {
        .id = "tok_1", .name = (char[]){"fuzz"}, .role = ROLE_ADMIN, .projects = projects};
    char hex[TOKEN_HEX_BYTES];
    FUZZ_CHECK(token_is_wellformed(HTTP_INPUT_TOKEN));
    token_digest(HTTP_INPUT_TOKEN, token.digest);
    token_digest_hex(HTTP_INPUT_TOKEN, hex);
    view_set(view, VIEW_TOKENS, hex, render_api_token_blob(&token));
    view_publish(view);
}

struct http *http_input_server(void)
{
    static struct http *http;
    static struct config_account account;
    static char name[] = "team-a";
    static struct config_project project = {.name = name, .account = &account};
    static struct config config = {.projects = &project, .project_count = 1};
    if (http)
        return http;
    struct api *api = MEM_NEW(struct api);
    access_log_set(&api->access_log, ACCESS_LOG_OFF);
    routes_prepare();
    api->options = (struct api_options){.config = config_current_new(&config),
                                        .view = view_new(),
                                        .env = &env,
                                        .post = drop_command,
                                        .version = "0"};
    api->limits = api_limits_default();
    rate_limit_init(&api->requests, "requests", 0);
    rate_limit_init(&api->auth_failures, "auth_failures", 0);
    tickets_init(&api->tickets);
    metrics_init(&api->metrics);
    log_set_level(LOG_LEVEL_ERROR);
    add_token(api->options.view);
    http = MEM_NEW(struct http);
    http->options = (struct http_options){.env = &env, .application = &api_application, .ctx = api};
    trust_init(&http->trust, (char *[]){(char[]){"127.0.0.0/8"}, NULL});
    return http;
}
