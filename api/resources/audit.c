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

/* The words of a parameter; NULL: it was not given, and everything is wanted. */
static char **words_of(const struct request *r, enum param_id id)
{
    if (!r->params.given[id])
        return NULL;
    char *copy CLEANUP_FREE = mem_strdup(r->params.texts[id]);
    char *rest = copy;
    char **list = NULL;
    size_t count = 0;
    for (char *word = strsep(&rest, ","); word; word = strsep(&rest, ",")) {
        list = mem_realloc_array(list, count + 2, sizeof(char *));
        list[count++] = mem_strdup(word);
        list[count] = NULL;
    }
    return list;
}

/* Who sees all projects sees also what is about none, and what is about those that are no longer there. */
static char **wanted_projects(const struct request *r)
{
    char *none[] = {NULL};
    char **wanted = words_of(r, PARAM_PROJECT);
    char **list = wanted ? wanted : string_list_copy(r->token->projects ? r->token->projects : none);
    size_t kept = 0;
    for (size_t i = 0; list[i]; i++) {
        if (!wanted && !strcmp(list[i], "*")) {
            string_list_free(list);
            return NULL;
        }
        if (api_token_sees_project(r->token, list[i]))
            list[kept++] = list[i];
        else
            free(list[i]);
    }
    list[kept] = NULL;
    return list;
}

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
        .projects = wanted_projects(r),
        .clusters = words_of(r, PARAM_CLUSTER),
        .actions = words_of(r, PARAM_ACTION),
        .tokens = words_of(r, PARAM_TOKEN),
        .own = r->params.given[PARAM_PROJECT] ? NULL : mem_strdup(r->token->id),
        .outcomes = (unsigned)(r->params.given[PARAM_OUTCOME] ? r->params.numbers[PARAM_OUTCOME] : 0),
    };
    r->finish = finish_audit_page;
    return request_park(r, cmd);
}
