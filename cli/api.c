#include "cli/api.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "cli/problem.h"

static const struct {
    const char *method, *path;
} calls[] = {
#define API_ROW(name, method, path) [API_##name] = {method, path},
    API_TABLE(API_ROW)
#undef API_ROW
};

enum { PATH_MAX_BYTES = 64 * 1024, PAGES_MAX = 1000 };

void api_add_escaped(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~", c);
        (void)(plain ? buffer_add(out, text, 1) : buffer_printf(out, "%%%02X", c));
    }
}

void api_target_init(struct api_target *target, enum api_call call, const char *first, const char *second,
                     const char *third)
{
    const char *values[] = {first, second, third}, *at = calls[call].path;
    size_t next = 0;
    target->call = call;
    buffer_init(&target->path, PATH_MAX_BYTES);
    for (const char *brace; (brace = strchr(at, '{')); at = strchr(brace, '}') + 1) {
        assert(next < ARRAY_LEN(values) && values[next]);
        (void)buffer_add(&target->path, at, (size_t)(brace - at));
        api_add_escaped(&target->path, values[next++]);
    }
    (void)buffer_add_str(&target->path, at);
    assert(next == ARRAY_LEN(values) || !values[next]);
}

void api_target_done(struct api_target *target)
{
    buffer_done(&target->path);
}

void api_query(struct api_target *target, const char *name, const char *value)
{
    if (!value)
        return;
    (void)buffer_add_str(&target->path, strchr(target->path.data, '?') ? "&" : "?");
    (void)buffer_add_str(&target->path, name);
    (void)buffer_add_str(&target->path, "=");
    api_add_escaped(&target->path, value);
}

void api_call_raw(struct cli *cli, const struct api_target *target, const struct http_request *request,
                  struct http_answer *ret)
{
    struct http_request rq = request ? *request : (struct http_request){0};
    rq.method = calls[target->call].method;
    rq.path = target->path.data;
    if (rq.body && !rq.content_type)
        rq.content_type = "application/json";
    http_call(cli->http, &rq, ret);
}

int api_call(struct cli *cli, const struct api_target *target, const struct http_request *request,
             struct http_answer *ret)
{
    api_call_raw(cli, target, request, ret);
    int code = (int)problem_code(ret);
    if (code != END_OK)
        problem_say(cli, ret);
    return code;
}

int api_check_object(const struct cli *cli, const json_t *json)
{
    return json_is_object(json)
               ? END_OK
               : cli_fail(END_UNREACHABLE, "%s: the server is not shootd: a success without an object",
                          cli->settings.url.value);
}

int api_get(struct cli *cli, const struct api_target *target, json_t **ret_json)
{
    struct http_answer answer CLEANUP_ANSWER = {0};
    int code = api_call(cli, target, NULL, &answer);
    if (code == END_OK)
        code = api_check_object(cli, answer.json);
    *ret_json = code == END_OK ? TAKE_PTR(answer.json) : NULL;
    return code;
}

json_t *api_items(const json_t *page)
{
    json_t *items = json_arr(page, "items");
    if (!items)
        (void)cli_fail(END_UNREACHABLE,
                       "the server answered with a list that has no items: it is not shootd");
    return items;
}

static int each_item(json_t *page, int (*item)(void *ctx, json_t *one), void *ctx)
{
    json_t *items = api_items(page), *one;
    int code = items ? END_OK : END_UNREACHABLE;
    size_t i;
    json_array_foreach (items, i, one) {
        code = json_is_object(one)
                   ? item(ctx, one)
                   : cli_fail(END_UNREACHABLE, "the server answered with an item that is no object");
        if (code != END_OK)
            break;
    }
    return code;
}

/* Reads one page. *ret_cursor is the cursor of the next page, or NULL. */
static int one_page(struct cli *cli, const struct api_target *target, const char *cursor,
                    int (*item)(void *ctx, json_t *one), void *ctx, char **ret_cursor,
                    struct http_answer *answer)
{
    struct api_target page CLEANUP_TARGET = {.call = target->call};
    buffer_init(&page.path, PATH_MAX_BYTES);
    (void)buffer_add_str(&page.path, target->path.data);
    api_query(&page, "cursor", cursor);
    *ret_cursor = NULL;
    api_call_raw(cli, &page, NULL, answer);
    int code = (int)problem_code(answer);
    if (code != END_OK)
        return code;
    code = api_check_object(cli, answer->json);
    if (code == END_OK)
        code = each_item(answer->json, item, ctx);
    *ret_cursor = mem_strdup(json_str(answer->json, "next_cursor"));
    http_answer_done(answer);
    return code;
}

int api_pages_quiet(struct cli *cli, const struct api_target *target, int (*item)(void *ctx, json_t *one),
                    void *ctx, struct http_answer *ret_failure)
{
    char *cursor = NULL;
    int code = END_OK;
    size_t pages = 0;
    *ret_failure = (struct http_answer){0};
    do {
        char *before CLEANUP_FREE = TAKE_PTR(cursor);
        code = one_page(cli, target, before, item, ctx, &cursor, ret_failure);
        if (code == END_OK && cursor && mem_same_str(cursor, before))
            code = cli_fail(END_UNREACHABLE, "the server answers with the same page again and again");
        else if (code == END_OK && cursor && ++pages == PAGES_MAX)
            code = cli_fail(END_UNREACHABLE, "the list has more than %d pages: the server is not shootd",
                            PAGES_MAX);
    } while (code == END_OK && cursor);
    free(cursor);
    return code;
}

int api_pages(struct cli *cli, const struct api_target *target, int (*item)(void *ctx, json_t *one),
              void *ctx)
{
    struct http_answer failure CLEANUP_ANSWER;
    int code = api_pages_quiet(cli, target, item, ctx, &failure);
    if (failure.end != HTTP_ANSWERED || failure.status)
        problem_say(cli, &failure);
    return code;
}
