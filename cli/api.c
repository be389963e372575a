#include "cli/api.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/problem.h"
#include "cli/repeat.h"

static const struct {
    const char *method, *path;
} calls[] = {
#define API_ROW(name, method, path) [API_##name] = {method, path},
    API_TABLE(API_ROW)
#undef API_ROW
};

enum { PATH_MAX_BYTES = 64 * 1024, PAGES_MAX = 1000 };

void api_target_init(struct api_target *target, enum api_call call, const char *first, const char *second,
                     const char *third)
{
    assert(call < ARRAY_LEN(calls));
    const char *values[] = {first, second, third}, *at = calls[call].path;
    size_t next = 0;
    target->call = call;
    buffer_init(&target->path, PATH_MAX_BYTES);
    for (const char *brace; (brace = strchr(at, '{')); at = strchr(brace, '}') + 1) {
        assert(next < ARRAY_LEN(values) && values[next]);
        buffer_add(&target->path, at, (size_t)(brace - at));
        url_add_escaped(&target->path, values[next++]);
    }
    buffer_add_str(&target->path, at);
    assert(next == ARRAY_LEN(values) || !values[next]);
}

void api_target_done(struct api_target *target)
{
    buffer_done(&target->path);
}

void api_query(struct api_target *target, const char *name, const char *value)
{
    assert(target->path.len && *name);
    if (!value)
        return;
    buffer_add_str(&target->path, strchr(target->path.data, '?') ? "&" : "?");
    buffer_add_str(&target->path, name);
    buffer_add_str(&target->path, "=");
    url_add_escaped(&target->path, value);
}

void api_call_raw(struct cli *cli, const struct api_target *target, const struct cli_request *request,
                  struct cli_answer *ret)
{
    struct cli_request rq = request ? *request : (struct cli_request){0};
    rq.is_api = true;
    rq.method = calls[target->call].method;
    rq.path = target->path.data;
    if (rq.body && !rq.content_type)
        rq.content_type = "application/json";
    repeat_call(cli, &rq, ret);
}

int api_call(struct cli *cli, const struct api_target *target, const struct cli_request *request,
             struct cli_answer *ret)
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
               : cli_fail(END_UNREACHABLE, "%s: the server is not shootd: its answer contains no object",
                          cli->settings.url.value);
}

int api_get(struct cli *cli, const struct api_target *target, json_t **ret_json)
{
    struct cli_answer answer CLEANUP_ANSWER = {0};
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
                       "the server is not shootd: it answered with a list that has no items");
    return items;
}

/* Reads the next page of the list, and sets list->items to its items. */
static void next_page(struct api_list *list)
{
    char *before CLEANUP_FREE = TAKE_PTR(list->cursor);
    struct api_target page CLEANUP_TARGET = {.call = list->target->call};
    struct cli_answer *answer = &list->failure;
    assert((before || !list->pages) && !list->stands_still);
    buffer_init(&page.path, PATH_MAX_BYTES);
    buffer_add_str(&page.path, list->target->path.data);
    api_query(&page, "cursor", before);
    api_call_raw(list->cli, &page, NULL, answer);
    list->code = (int)problem_code(answer);
    if (list->code != END_OK)
        return;
    list->code = api_check_object(list->cli, answer->json);
    json_t *items = list->code == END_OK ? api_items(answer->json) : NULL;
    if (!items)
        list->code = END_UNREACHABLE;
    json_decref(list->items);
    list->items = json_incref(items);
    list->at = 0;
    if (!list->pages)
        list->newest_sequence = json_int(answer->json, "newest_sequence", 0);
    list->pages++;
    list->cursor = mem_strdup(json_str(answer->json, "next_cursor"));
    list->stands_still = list->cursor && mem_same_str(list->cursor, before);
    http_answer_done(answer);
}

json_t *api_list_next(struct api_list *list)
{
    assert(list->cli && list->target);
    while (list->code == END_OK) {
        json_t *one = json_array_get(list->items, list->at++);
        if (json_is_object(one))
            return one;
        if (one)
            list->code = cli_fail(END_UNREACHABLE, "the server answered with an item that is no object");
        else if (list->pages && !list->cursor)
            break;
        else if (list->stands_still)
            list->code = cli_fail(END_UNREACHABLE, "the server answers with the same page again and again");
        else if (list->pages == PAGES_MAX)
            list->code = cli_fail(END_UNREACHABLE,
                                  "the list has more than %d pages: the server is not shootd", PAGES_MAX);
        else
            next_page(list);
    }
    return NULL;
}

int api_list_end_quiet(struct api_list *list, struct cli_answer *ret_failure)
{
    int code = list->code;
    *ret_failure = list->failure;
    json_decref(list->items);
    free(list->cursor);
    *list = (struct api_list){0};
    return code;
}

int api_list_end(struct api_list *list)
{
    const struct cli *cli = list->cli;
    struct cli_answer failure CLEANUP_ANSWER;
    int code = api_list_end_quiet(list, &failure);
    if (failure.end != HTTP_ANSWERED || failure.status)
        problem_say(cli, &failure);
    return code;
}
