#include "model/command.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/expectation.h"
#include "model/string_list.h"

static const struct command_kind kinds[COMMAND_TYPE_MAX_] = {
#define COMMAND(name, decider, payload, traits, longest_s) {PAYLOAD_##payload, (traits), (longest_s)},
#include "model/commands.def"
#undef COMMAND
};

const struct command_kind *command_kind(enum command_type type)
{
    assert(type < COMMAND_TYPE_MAX_);
    return &kinds[type];
}

bool command_is(const struct command *cmd, unsigned traits)
{
    return (command_kind(cmd->type)->traits & traits) != 0;
}

bool command_only_reads(const struct command *cmd)
{
    return !command_is(cmd, COMMAND_STORES | COMMAND_ACTS_OUTSIDE | COMMAND_NOTES);
}

const char *command_new_name(const struct command *cmd)
{
    return cmd->name && *cmd->name ? cmd->name : json_str_or(cmd->body, "name", "");
}

const struct command_write *command_write_of(const struct command *cmd)
{
    return command_kind(cmd->type)->payload == PAYLOAD_WRITE ? &cmd->write : NULL;
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
    switch (command_kind(cmd->type)->payload) {
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
    case PAYLOAD_KUBECONFIG:
    case PAYLOAD_FRESH:
    case PAYLOAD_TOKEN:
    case PAYLOAD_RELOAD:
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
    free(cmd->preconditions);
    free(cmd->facts.ca_stage);
    json_decref(cmd->facts.quota);
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
