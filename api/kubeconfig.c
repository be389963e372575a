/* Kubeconfigs: fetched by the loop thread, as JSON or as the file itself. Never stored, never cached on the
 * way. */
#include "api/handlers.h"

#include <string.h>

#include "api/api_private.h"
#include "api/checks.h"
#include "api/request.h"
#include "base/mem.h"

enum { FORMAT_YAML_BIT = 2 }; /* `format` is a set of {json, yaml} */

static bool wants_yaml(const struct request *r)
{
    if (r->params.given[PARAM_FORMAT])
        return r->params.numbers[PARAM_FORMAT] == FORMAT_YAML_BIT;
    const char *accept = r->headers.values[HEADER_ACCEPT];
    return accept && accept_quality(accept, TYPE_YAML) > accept_quality(accept, TYPE_JSON);
}

/* The string of a kubeconfig as an own copy; the parsed one is overwritten before jansson frees it. */
static char *take_file(struct command *cmd)
{
    json_t *doc = json_loads(cmd->answer, 0, NULL);
    json_t *value = json_object_get(doc, "kubeconfig");
    char *text = mem_strdup(json_string_value(value));
    if (text)
        memset((char *)(uintptr_t)json_string_value(value), '*', json_string_length(value));
    json_decref(doc);
    return text;
}

static bool finish_kubeconfig(struct request *r, struct command *cmd)
{
    cmd->answer_is_secret = true;
    if (!cmd->answer || cmd->status != MHD_HTTP_OK || !wants_yaml(r))
        return false;
    char *text = take_file(cmd);
    if (!text)
        return false;
    answer_text(&r->answer, MHD_HTTP_OK, TYPE_YAML, text, strlen(text));
    r->answer.secret = true;
    answer_header(&r->answer, "Cache-Control", "no-store");
    return true;
}

void handle_kubeconfig(struct request *r)
{
    struct command *cmd = request_command(r, COMMAND_KUBECONFIG);
    cmd->ttl_seconds = (int)param_number(&r->params, PARAM_TTL_SECONDS);
    cmd->min_remaining_seconds = (int)param_number(&r->params, PARAM_MIN_REMAINING_SECONDS);
    answer_header(&r->answer, "Vary", "Accept");
    r->finish = finish_kubeconfig;
    request_park(r, cmd);
}
