#include "model/command.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

enum payload {
    PAYLOAD_NONE,
    PAYLOAD_WRITE,
    PAYLOAD_WEBHOOK,
    PAYLOAD_EVENTS,
    PAYLOAD_AUDIT,
    PAYLOAD_OPERATIONS
};

/* Payloads without memory of their own are not named here. */
static const struct {
    bool writes;
    enum payload payload;
    bool reads_cleura;
} types[COMMAND_TYPE_MAX_] = {
    [COMMAND_CLUSTER_CREATE] = {true, PAYLOAD_WRITE, false},
    [COMMAND_CLUSTER_PUT] = {true, PAYLOAD_WRITE, false},
    [COMMAND_CLUSTER_PATCH] = {true, PAYLOAD_WRITE, false},
    [COMMAND_CLUSTER_DELETE] = {true, PAYLOAD_WRITE, false},
    [COMMAND_NODE_POOL] = {true, PAYLOAD_WRITE, false},
    [COMMAND_CLUSTER_ACTION] = {true, PAYLOAD_WRITE, false},
    [COMMAND_LOCATION_CONFIRM] = {true, PAYLOAD_NONE, false},
    [COMMAND_OPERATION_CANCEL] = {true, PAYLOAD_NONE, false},
    [COMMAND_WEBHOOK_CREATE] = {true, PAYLOAD_WEBHOOK, false},
    [COMMAND_WEBHOOK_PATCH] = {true, PAYLOAD_WEBHOOK, false},
    [COMMAND_WEBHOOK_DELETE] = {true, PAYLOAD_WEBHOOK, false},
    [COMMAND_WEBHOOK_ENABLE] = {true, PAYLOAD_WEBHOOK, false},
    [COMMAND_WEBHOOK_ROTATE] = {true, PAYLOAD_WEBHOOK, false},
    [COMMAND_WEBHOOK_TEST] = {true, PAYLOAD_WEBHOOK, false},
    [COMMAND_WEBHOOK_RECOVER] = {true, PAYLOAD_WEBHOOK, false},
    [COMMAND_KUBECONFIG] = {false, PAYLOAD_NONE, true},
    [COMMAND_LOOKUP] = {false, PAYLOAD_NONE, true},
    [COMMAND_FRESH] = {false, PAYLOAD_NONE, true},
    [COMMAND_CATALOG_REFRESH] = {false, PAYLOAD_NONE, true},
    [COMMAND_DELIVERIES] = {false, PAYLOAD_WEBHOOK, false},
    [COMMAND_DELIVERY] = {false, PAYLOAD_WEBHOOK, false},
    [COMMAND_REDELIVER] = {true, PAYLOAD_WEBHOOK, false},
    [COMMAND_EVENTS] = {false, PAYLOAD_EVENTS, false},
    [COMMAND_AUDIT] = {false, PAYLOAD_AUDIT, false},
    [COMMAND_OPERATIONS] = {false, PAYLOAD_OPERATIONS, false},
    [COMMAND_TOKEN_CREATE] = {true, PAYLOAD_NONE, false},
    [COMMAND_TOKEN_PATCH] = {true, PAYLOAD_NONE, false},
    [COMMAND_TOKEN_ROTATE] = {true, PAYLOAD_NONE, false},
    [COMMAND_TOKEN_DELETE] = {true, PAYLOAD_NONE, false},
    [COMMAND_ACCOUNT_LOGIN] = {true, PAYLOAD_NONE, false},
    [COMMAND_FREEZE] = {true, PAYLOAD_NONE, false},
    [COMMAND_UNFREEZE] = {true, PAYLOAD_NONE, false},
    [COMMAND_BACKUP] = {true, PAYLOAD_NONE, false},
    [COMMAND_RELOAD] = {false, PAYLOAD_NONE, false},
    [COMMAND_TOKEN_HAND_IN] = {true, PAYLOAD_NONE, false},
    [COMMAND_ACCOUNT_VERIFY] = {true, PAYLOAD_NONE, false},
};

bool command_writes(enum command_type type)
{
    assert(type < COMMAND_TYPE_MAX_);
    return types[type].writes;
}

bool command_reads_cleura(enum command_type type)
{
    assert(type < COMMAND_TYPE_MAX_);
    return types[type].reads_cleura;
}

const struct command_write *command_write_of(const struct command *cmd)
{
    return types[cmd->type].payload == PAYLOAD_WRITE ? &cmd->write : NULL;
}

struct command *command_new(enum command_type type)
{
    struct command *cmd = MEM_NEW(struct command);
    assert(type < COMMAND_TYPE_MAX_);
    cmd->type = type;
    return cmd;
}

static void payload_done(struct command *cmd)
{
    switch (types[cmd->type].payload) {
    case PAYLOAD_WRITE:
        free(cmd->write.pool_name);
        free(cmd->write.fault_pointer);
        free(cmd->write.if_match);
        free(cmd->write.if_none_match);
        break;
    case PAYLOAD_WEBHOOK:
        free(cmd->webhook.delivery);
        break;
    case PAYLOAD_EVENTS:
        string_list_free(cmd->events.types);
        string_list_free(cmd->events.projects);
        string_list_free(cmd->events.actors);
        string_list_free(cmd->events.targets);
        free(cmd->events.cluster);
        break;
    case PAYLOAD_AUDIT:
        audit_query_done(&cmd->audit.query);
        break;
    case PAYLOAD_OPERATIONS:
        operation_query_done(&cmd->operations.query);
        free(cmd->operations.items);
        free(cmd->operations.tags);
        break;
    case PAYLOAD_NONE:
        break;
    }
}

static void reply_done(struct command_reply *reply)
{
    problem_free(reply->problem);
    if (reply->is_secret)
        mem_free_secret(reply->text);
    else
        free(reply->text);
    free(reply->location);
}

void command_free(struct command *cmd)
{
    if (!cmd)
        return;
    free(cmd->caller.token_name);
    free(cmd->caller.issuer);
    free(cmd->caller.subject);
    string_list_free(cmd->caller.projects);
    free(cmd->request_id);
    free(cmd->project);
    free(cmd->name);
    json_decref(cmd->body);
    payload_done(cmd);
    reply_done(&cmd->reply);
    free(cmd);
}

void command_drop(struct command *cmd)
{
    assert(cmd->give_back);
    problem_free(cmd->reply.problem);
    cmd->reply.problem = problem_passing(PROBLEM_SHUTTING_DOWN, 5, "shootd is stopping");
    cmd->give_back(cmd);
}
