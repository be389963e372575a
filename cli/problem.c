#include "cli/problem.h"

#include <string.h>

#include "base/mem.h"
#include "cli/glyphs.h"

enum exit_code problem_code(const struct cli_answer *answer)
{
    static const struct {
        long status;
        enum exit_code code;
    } codes[] = {
        {401, END_NOT_ALLOWED}, {403, END_NOT_ALLOWED}, {404, END_NOT_FOUND}, {409, END_CONFLICT},
        {410, END_NOT_FOUND},   {412, END_CONFLICT},    {423, END_CONFLICT},
    };
    switch (answer->end) {
    case HTTP_ANSWERED:
        break;
    case HTTP_UNREACHABLE:
    case HTTP_SLOW:
    case HTTP_MISTAKEN:
    case HTTP_FOREIGN:
    case HTTP_TOO_LARGE:
        return END_UNREACHABLE;
    case HTTP_STOPPED:
        return END_REFUSED;
    }
    if ((answer->status >= 200 && answer->status < 300) || answer->status == 304)
        return END_OK;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (codes[i].status == answer->status)
            return codes[i].code;
    return END_REFUSED;
}

bool problem_may_pass(const struct cli_answer *answer)
{
    bool away = answer->end == HTTP_UNREACHABLE && !answer->unknown_host;
    bool broken = away || answer->end == HTTP_SLOW || (answer->end == HTTP_FOREIGN && answer->status >= 500);
    return broken || (answer->end == HTTP_ANSWERED && (answer->status >= 500 || answer->status == 429));
}

bool problem_is_absent_cluster(const struct cli_answer *answer)
{
    return answer->end == HTTP_ANSWERED && answer->status == 404 &&
           mem_same_str(json_str(answer->json, "code"), "cluster_not_found");
}

int64_t problem_pause_ms(const struct cli_answer *answer)
{
    return answer->retry_after_s > 0 ? answer->retry_after_s * 1000 : 0;
}

static void print_text(const struct terminal *to, const char *before, const char *text)
{
    char *shown CLEANUP_FREE = glyphs_shown(text);
    (void)fprintf(to->file, "%s%s\n", before, shown);
}

enum { VALID_SHOWN = 20 };

static void print_valid(const struct terminal *to, const json_t *valid)
{
    size_t count = json_array_size(valid);
    if (!count)
        return;
    (void)fprintf(to->file, "    valid: ");
    for (size_t i = 0; i < count && i < VALID_SHOWN; i++) {
        char *text CLEANUP_FREE = json_text(json_array_get(valid, i));
        char *shown CLEANUP_FREE = glyphs_shown(
            json_is_string(json_array_get(valid, i)) ? json_string_value(json_array_get(valid, i)) : text);
        (void)fprintf(to->file, "%s%s", i ? ", " : "", shown);
    }
    if (count > VALID_SHOWN)
        (void)fprintf(to->file, " and %zu more", count - VALID_SHOWN);
    (void)fputc('\n', to->file);
}

/* Turns "#/spec/node_pools/0/name" into spec.node_pools.0.name for people. */
static char *place_of(const json_t *error)
{
    const char *pointer = json_str(error, "pointer");
    if (!pointer)
        return mem_strdup(json_str_or(error, "parameter", json_str_or(error, "header", "request")));
    char *place = mem_strdup(pointer[0] == '#' && pointer[1] == '/' ? pointer + 2 : pointer);
    for (char *c = place; *c; c++)
        if (*c == '/')
            *c = '.';
    return place;
}

static void print_errors(const struct terminal *to, const json_t *errors)
{
    size_t i;
    json_t *error;
    json_array_foreach (errors, i, error) {
        char *place CLEANUP_FREE = place_of(error);
        char *shown CLEANUP_FREE = glyphs_shown(place);
        char *before CLEANUP_FREE = mem_printf("  %s: ", shown);
        print_text(to, before, json_str_or(error, "detail", json_str_or(error, "code", "is wrong")));
        print_valid(to, json_arr(error, "valid"));
    }
}

void problem_print(const struct terminal *to, const json_t *problem, const char *request_id)
{
    const char *detail = json_str(problem, "detail"), *advice = json_str(problem, "advice");
    const json_t *errors = json_arr(problem, "errors");
    char *title CLEANUP_FREE = glyphs_shown(json_str_or(problem, "title", "Refused"));
    (void)fprintf(to->file, "%sshootctl: %s%s", terminal_begin(to, STYLE_BAD), title,
                  terminal_end(to, STYLE_BAD));
    if (detail && json_array_size(errors) != 1)
        print_text(to, ": ", detail);
    else
        (void)fputc('\n', to->file);
    print_errors(to, errors);
    if (json_str(problem, "operation_id"))
        print_text(to, "  operation: ", json_str(problem, "operation_id"));
    if (request_id)
        print_text(to, "  request: ", request_id);
    if (advice)
        print_text(to, "  ", advice);
}

void problem_say(const struct cli *cli, const struct cli_answer *answer)
{
    const char *url = cli->settings.url.value;
    const char *where = url ? url : "the server";
    if (answer->end != HTTP_ANSWERED) {
        (void)cli_fail(END_UNREACHABLE, "%s: %s", where, answer->error);
        return;
    }
    const char *id = json_str_or(answer->json, "request_id", answer->request_id);
    problem_print(&cli->err, answer->json, id);
    if (answer->retry_after_s > 0)
        cli_note("  try again in %lld s", (long long)answer->retry_after_s);
    if (answer->status == 401 && cli->settings.token.value)
        cli_note("  %s does not accept the token of %s: 'shootctl login %s' stores another one", where,
                 cli->settings.token.source, where);
    else if (answer->status == 401)
        cli_note("  you are not logged in: use 'shootctl login %s', or set SHOOTD_TOKEN", where);
    else if (answer->status == 403)
        cli_note("  you are logged in, and the token may not do this");
    else if (answer->status == 412)
        cli_note("  it changed meanwhile%s: check it, and repeat the command if you still want the change",
                 answer->repeated ? ", perhaps by this request, whose first answer was lost" : "");
}
