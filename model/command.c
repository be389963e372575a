#include "model/command.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/expectation.h"
#include "model/string_list.h"

enum payload {
    PAYLOAD_NONE,
    PAYLOAD_WRITE,
    PAYLOAD_WEBHOOK,
    PAYLOAD_EVENTS,
    PAYLOAD_AUDIT,
    PAYLOAD_OPERATIONS,
    PAYLOAD_DURATIONS
};

enum effect {
    EFFECT_NONE,
    EFFECT_STORED,
    EFFECT_IN_PROCESS, /* a reload changes only the running process */
    EFFECT_NOTED       /* the command only reports something; no caller waits for an answer */
};

/* How payloads are freed. A payload that owns no memory has no row here. */
static const struct {
    enum effect effect;
    enum payload payload;
    bool reads_cleura;
} types[COMMAND_TYPE_MAX_] = {
    [COMMAND_CLUSTER_CREATE] = {EFFECT_STORED, PAYLOAD_WRITE, false},
    [COMMAND_CLUSTER_PUT] = {EFFECT_STORED, PAYLOAD_WRITE, false},
    [COMMAND_CLUSTER_PATCH] = {EFFECT_STORED, PAYLOAD_WRITE, false},
    [COMMAND_CLUSTER_DELETE] = {EFFECT_STORED, PAYLOAD_WRITE, false},
    [COMMAND_NODE_POOL] = {EFFECT_STORED, PAYLOAD_WRITE, false},
    [COMMAND_CLUSTER_ACTION] = {EFFECT_STORED, PAYLOAD_WRITE, false},
    [COMMAND_LOCATION_CONFIRM] = {EFFECT_STORED, PAYLOAD_NONE, false},
    [COMMAND_OPERATION_CANCEL] = {EFFECT_STORED, PAYLOAD_NONE, false},
    [COMMAND_WEBHOOK_CREATE] = {EFFECT_STORED, PAYLOAD_WEBHOOK, false},
    [COMMAND_WEBHOOK_PATCH] = {EFFECT_STORED, PAYLOAD_WEBHOOK, false},
    [COMMAND_WEBHOOK_DELETE] = {EFFECT_STORED, PAYLOAD_WEBHOOK, false},
    [COMMAND_WEBHOOK_ENABLE] = {EFFECT_STORED, PAYLOAD_WEBHOOK, false},
    [COMMAND_WEBHOOK_ROTATE] = {EFFECT_STORED, PAYLOAD_WEBHOOK, false},
    [COMMAND_WEBHOOK_TEST] = {EFFECT_STORED, PAYLOAD_WEBHOOK, false},
    [COMMAND_WEBHOOK_RECOVER] = {EFFECT_STORED, PAYLOAD_WEBHOOK, false},
    [COMMAND_KUBECONFIG] = {EFFECT_NONE, PAYLOAD_NONE, true},
    [COMMAND_LOOKUP] = {EFFECT_NONE, PAYLOAD_NONE, true},
    [COMMAND_FRESH] = {EFFECT_NONE, PAYLOAD_NONE, true},
    [COMMAND_CATALOG_REFRESH] = {EFFECT_NONE, PAYLOAD_NONE, true},
    [COMMAND_DELIVERIES] = {EFFECT_NONE, PAYLOAD_WEBHOOK, false},
    [COMMAND_DELIVERY] = {EFFECT_NONE, PAYLOAD_WEBHOOK, false},
    [COMMAND_REDELIVER] = {EFFECT_STORED, PAYLOAD_WEBHOOK, false},
    [COMMAND_EVENTS] = {EFFECT_NONE, PAYLOAD_EVENTS, false},
    [COMMAND_AUDIT] = {EFFECT_NONE, PAYLOAD_AUDIT, false},
    [COMMAND_OPERATIONS] = {EFFECT_NONE, PAYLOAD_OPERATIONS, false},
    [COMMAND_DURATIONS] = {EFFECT_NONE, PAYLOAD_DURATIONS, false},
    [COMMAND_TOKEN_CREATE] = {EFFECT_STORED, PAYLOAD_NONE, false},
    [COMMAND_TOKEN_PATCH] = {EFFECT_STORED, PAYLOAD_NONE, false},
    [COMMAND_TOKEN_ROTATE] = {EFFECT_STORED, PAYLOAD_NONE, false},
    [COMMAND_TOKEN_DELETE] = {EFFECT_STORED, PAYLOAD_NONE, false},
    [COMMAND_ACCOUNT_LOGIN] = {EFFECT_STORED, PAYLOAD_NONE, false},
    [COMMAND_FREEZE] = {EFFECT_STORED, PAYLOAD_NONE, false},
    [COMMAND_UNFREEZE] = {EFFECT_STORED, PAYLOAD_NONE, false},
    [COMMAND_BACKUP] = {EFFECT_STORED, PAYLOAD_NONE, false},
    [COMMAND_RELOAD] = {EFFECT_IN_PROCESS, PAYLOAD_NONE, false},
    [COMMAND_TOKEN_HAND_IN] = {EFFECT_STORED, PAYLOAD_NONE, false},
    [COMMAND_AUDIT_REFUSED] = {EFFECT_NOTED, PAYLOAD_NONE, false},
    [COMMAND_TOKEN_USED] = {EFFECT_NOTED, PAYLOAD_NONE, false},
    [COMMAND_ACCOUNT_VERIFY] = {EFFECT_STORED, PAYLOAD_NONE, false},
};

bool command_writes(enum command_type type)
{
    assert(type < COMMAND_TYPE_MAX_);
    return types[type].effect == EFFECT_STORED;
}

bool command_only_reads(enum command_type type)
{
    assert(type < COMMAND_TYPE_MAX_);
    return types[type].effect == EFFECT_NONE;
}

bool command_is_note(enum command_type type)
{
    assert(type < COMMAND_TYPE_MAX_);
    return types[type].effect == EFFECT_NOTED;
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
    case PAYLOAD_DURATIONS:
        operation_query_done(&cmd->durations.query);
        expectation_free(cmd->durations.so_far);
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
    free(cmd->if_match);
    free(cmd->if_none_match);
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
