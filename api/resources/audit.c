/* The audit log: stored pages that the decider reads, or the whole log in one answer. */
#include "api/resources/handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/export.h"
#include "api/reads.h"
#include "api/request.h"
#include "base/attrs.h"
#include "base/mem.h"
#include "http/message/content.h"

static struct problem *finish_audit_page(struct request *r, struct command *cmd)
{
    char next[24] = "";
    if (!cmd->reply.text)
        return NULL;
    if (cmd->audit.next)
        (void)snprintf(next, sizeof(next), "%lld", (long long)cmd->audit.next);
    answer_field(&r->http.answer, "Vary", "Accept");
    return list_answer_array(r, cmd->reply.text, next);
}

static void read_query(const struct request *r, struct audit_query *ret)
{
    *ret = (struct audit_query){
        .oldest_first = param_asks_for(&r->params, PARAM_ORDER, ORDER_ASC),
        .limit = (int)param_number(&r->params, PARAM_LIMIT),
        .projects = list_projects(r),
        .clusters = list_words(r, PARAM_CLUSTER),
        .actions = list_words(r, PARAM_ACTION),
        .since = r->params.numbers[PARAM_SINCE],
        .until = r->params.numbers[PARAM_UNTIL],
        .tokens = list_words(r, PARAM_TOKEN),
        .actors = list_words(r, PARAM_ACTOR),
        .targets = list_words(r, PARAM_TARGET),
        .own = r->params.given[PARAM_PROJECT] ? NULL : mem_strdup(r->token->id),
        .outcomes = (unsigned)(r->params.given[PARAM_OUTCOME] ? r->params.numbers[PARAM_OUTCOME] : 0),
    };
}

static bool wants_lines(const struct request *r)
{
    const char *accept = r->http.headers.values[HEADER_ACCEPT];
    if (r->params.given[PARAM_AUDIT_FORMAT])
        return param_asks_for(&r->params, PARAM_AUDIT_FORMAT, AUDIT_FORMAT_LINES);
    return accept && accept_quality(accept, TYPE_LINES) > accept_quality(accept, TYPE_JSON);
}

static struct problem *export_all(struct request *r)
{
    static const enum param_id of_pages[] = {PARAM_LIMIT, PARAM_CURSOR};
    struct problem *faults = NULL;
    for (size_t i = 0; i < ARRAY_LEN(of_pages); i++)
        if (r->params.given[of_pages[i]])
            problem_add_fault(&faults, PROBLEM_INVALID_PARAMETER, FAULT_AT_QUERY, param_name(of_pages[i]),
                              "not_for_exports", NULL, "applies to pages only; an export has all entries");
    if (faults)
        return faults;
    struct audit_query query;
    read_query(r, &query);
    return export_open(r, &query);
}

struct problem *handle_audit(struct request *r)
{
    struct cursor_place place;
    if (wants_lines(r))
        return export_all(r);
    struct problem *p = list_place(r, &place);
    if (p)
        return p;
    struct command *cmd = request_command(r, COMMAND_AUDIT);
    read_query(r, &cmd->audit.query);
    cmd->audit.query.place = strtoll(place.key, NULL, 10);
    r->finish = finish_audit_page;
    return request_park(r, cmd);
}
