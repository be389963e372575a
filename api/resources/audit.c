/* The audit log: pages of what is stored, read by the deciding side. */
#include "api/resources/handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/reads.h"
#include "api/request.h"
#include "base/mem.h"

static struct problem *finish_audit_page(struct request *r, struct command *cmd)
{
    char next[24] = "";
    if (!cmd->reply.text)
        return NULL;
    if (cmd->audit.next)
        (void)snprintf(next, sizeof(next), "%lld", (long long)cmd->audit.next);
    return list_answer_array(r, cmd->reply.text, next);
}

struct problem *handle_audit(struct request *r)
{
    struct cursor_place place;
    struct problem *p = list_place(r, &place);
    if (p)
        return p;
    struct command *cmd = request_command(r, COMMAND_AUDIT);
    cmd->audit.query = (struct audit_query){
        .before = strtoll(place.key, NULL, 10),
        .limit = (int)param_number(&r->params, PARAM_LIMIT),
        .projects = list_projects(r),
        .clusters = list_words(r, PARAM_CLUSTER),
        .actions = list_words(r, PARAM_ACTION),
        .tokens = list_words(r, PARAM_TOKEN),
        .own = r->params.given[PARAM_PROJECT] ? NULL : mem_strdup(r->token->id),
        .outcomes = (unsigned)(r->params.given[PARAM_OUTCOME] ? r->params.numbers[PARAM_OUTCOME] : 0),
    };
    r->finish = finish_audit_page;
    return request_park(r, cmd);
}
