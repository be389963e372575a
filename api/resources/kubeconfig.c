/* Kubeconfigs: fetched by the loop thread, as JSON or as the file itself. Never stored, never cached on the
 * way. */
#include "api/resources/kubeconfig.h"

#include <string.h>

#include "api/commands.h"
#include "api/api_private.h"
#include "api/resources/handlers.h"
#include "api/request.h"
#include "base/mem.h"

/* The parameter wins over Accept. */
static enum param_format wanted_format(const struct request *r)
{
    int64_t given = r->params.numbers[PARAM_FORMAT]; /* one bit */
    if (r->params.given[PARAM_FORMAT])
        return given == 1 << FORMAT_EXEC   ? FORMAT_EXEC
               : given == 1 << FORMAT_YAML ? FORMAT_YAML
                                           : FORMAT_JSON;
    const char *accept = r->http.headers.values[HEADER_ACCEPT];
    bool yaml = accept && accept_quality(accept, TYPE_YAML) > accept_quality(accept, TYPE_JSON);
    return yaml ? FORMAT_YAML : FORMAT_JSON;
}

char *kubeconfig_take_file(const struct command *cmd, char **ret_expires_at)
{
    json_t *doc = cmd->reply.text ? json_loads(cmd->reply.text, 0, NULL) : NULL;
    char *text = mem_strdup(json_str(doc, "kubeconfig"));
    if (ret_expires_at)
        *ret_expires_at = mem_strdup(json_str(doc, "expires_at"));
    json_wipe(doc);
    json_decref(doc);
    return text;
}

static void answer_file(struct request *r, char *text)
{
    answer_text(&r->http.answer, MHD_HTTP_OK, TYPE_YAML, text, strlen(text));
    r->http.answer.secret = true;
    answer_header(&r->http.answer, "Cache-Control", "no-store");
}

static struct problem *finish_kubeconfig(struct request *r, struct command *cmd)
{
    enum param_format format = wanted_format(r);
    char *text = format == FORMAT_JSON ? NULL : kubeconfig_take_file(cmd, NULL);
    if (!text)
        return NULL;
    if (format == FORMAT_YAML) {
        answer_file(r, text);
        return NULL;
    }
    bool ok = credential_answer_exec(r, text);
    mem_free_secret(text);
    return ok ? NULL : problem_new(PROBLEM_UPSTREAM_ERROR, "Cleura's kubeconfig names no server.");
}

struct problem *kubeconfig_request(struct request *r)
{
    struct command *cmd = request_command(r, COMMAND_KUBECONFIG);
    cmd->kubeconfig.ttl_seconds = (int)param_number(&r->params, PARAM_TTL_SECONDS);
    cmd->kubeconfig.min_remaining_seconds = (int)param_number(&r->params, PARAM_MIN_REMAINING_SECONDS);
    return request_park(r, cmd);
}

struct problem *handle_kubeconfig(struct request *r)
{
    struct problem *p = credential_check_params(r);
    if (p)
        return p;
    answer_header(&r->http.answer, "Vary", "Accept");
    r->finish = finish_kubeconfig;
    return kubeconfig_request(r);
}
