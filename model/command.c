#include "model/command.h"

#include <stdlib.h>

#include "base/mem.h"

struct command *command_new(enum command_type type)
{
    struct command *cmd = MEM_NEW(struct command);
    cmd->type = type;
    return cmd;
}

void command_free(struct command *cmd)
{
    if (!cmd)
        return;
    free(cmd->token_name);
    string_list_free(cmd->token_projects);
    free(cmd->request_id);
    free(cmd->project);
    free(cmd->name);
    free(cmd->item);
    free(cmd->fault_pointer);
    json_decref(cmd->body);
    free(cmd->if_match);
    free(cmd->if_none_match);
    string_list_free(cmd->events.types);
    string_list_free(cmd->events.projects);
    free(cmd->events.cluster);
    audit_query_done(&cmd->audit);
    problem_free(cmd->problem);
    if (cmd->answer_is_secret)
        mem_free_secret(cmd->answer);
    else
        free(cmd->answer);
    free(cmd->location);
    free(cmd);
}

void command_drop(struct command *cmd)
{
    problem_free(cmd->problem);
    cmd->problem = problem_new(PROBLEM_SHUTTING_DOWN, "shootd is stopping");
    cmd->problem->retry_after_s = 5;
    cmd->reply(cmd);
}
