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
