#include "model/command.h"

#include <stdlib.h>

#include "base/mem.h"

bool command_writes(enum command_type type)
{
    static const bool writes[COMMAND_TYPE_MAX_] = {
        [COMMAND_CLUSTER_CREATE] = true,   [COMMAND_CLUSTER_PUT] = true,
        [COMMAND_CLUSTER_PATCH] = true,    [COMMAND_CLUSTER_DELETE] = true,
        [COMMAND_NODE_POOL] = true,        [COMMAND_CLUSTER_ACTION] = true,
        [COMMAND_LOCATION_CONFIRM] = true, [COMMAND_OPERATION_CANCEL] = true,
        [COMMAND_WEBHOOK_CREATE] = true,   [COMMAND_WEBHOOK_PATCH] = true,
        [COMMAND_WEBHOOK_DELETE] = true,   [COMMAND_WEBHOOK_ENABLE] = true,
        [COMMAND_WEBHOOK_ROTATE] = true,   [COMMAND_WEBHOOK_TEST] = true,
        [COMMAND_WEBHOOK_RECOVER] = true,  [COMMAND_REDELIVER] = true,
        [COMMAND_TOKEN_CREATE] = true,     [COMMAND_TOKEN_DELETE] = true,
        [COMMAND_ACCOUNT_LOGIN] = true,    [COMMAND_ACCOUNT_VERIFY] = true,
    };
    return writes[type];
}

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
