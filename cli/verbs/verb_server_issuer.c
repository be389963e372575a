#include "cli/verbs/verb_server_issuer.h"

#include <string.h>

#include "base/mem.h"
#include "cli/api.h"
#include "cli/problem.h"

enum { SCOPE_MAX_BYTES = 64 * 1024, PEEK_TIMEOUT_MS = 3000 };

static char *joined(const json_t *scopes)
{
    struct buffer text CLEANUP_BUFFER;
    size_t i;
    json_t *scope;
    buffer_init(&text, SCOPE_MAX_BYTES);
    json_array_foreach (scopes, i, scope)
        if (json_is_string(scope))
            buffer_printf(&text, "%s%s", text.len ? " " : "", json_string_value(scope));
    return buffer_take(&text, NULL);
}

static const json_t *choose(const json_t *auth, const char *wanted)
{
    size_t i;
    json_t *one;
    json_array_foreach (json_arr(auth, "issuers"), i, one) {
        const char *url = json_str(one, "issuer");
        if (url && json_str(one, "client_id") && (!wanted || strcmp(url, wanted) == 0))
            return one;
    }
    return NULL;
}

static int say_none(const struct cli *cli, const char *wanted)
{
    return cli_fail(END_REFUSED,
                    "%s names no issuer%s%s with a client for command lines: log in with a token",
                    cli->settings.url.value, wanted ? " " : "", wanted ? wanted : "");
}

int issuer_of_server(struct cli *cli, const char *wanted, bool quiet, struct cli_issuer *ret)
{
    struct api_target target CLEANUP_TARGET;
    struct cli_answer answer CLEANUP_ANSWER = {0};
    const struct cli_request request = {.once = quiet, .timeout_ms = quiet ? PEEK_TIMEOUT_MS : 0};
    *ret = (struct cli_issuer){0};
    api_target_init(&target, API_AUTH, NULL, NULL, NULL);
    api_call_raw(cli, &target, &request, &answer);
    int code = (int)problem_code(&answer);
    const json_t *one = code == END_OK ? choose(answer.json, wanted) : NULL;
    if (one) {
        ret->url = mem_strdup(json_str(one, "issuer"));
        ret->client_id = mem_strdup(json_str(one, "client_id"));
        ret->scope = joined(json_arr(one, "scopes"));
        return END_OK;
    }
    if (quiet)
        return END_REFUSED;
    if (code != END_OK)
        problem_say(cli, &answer);
    return code != END_OK ? code : say_none(cli, wanted);
}
