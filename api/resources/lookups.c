/* Sub-resources that only Cleura knows, fetched by the loop thread when somebody asks. */
#include "api/resources/handlers.h"

#include "api/commands.h"
#include "api/request.h"

static struct problem *ask_cleura(struct request *r, enum lookup_kind kind)
{
    struct command *cmd = request_command(r, COMMAND_LOOKUP);
    cmd->lookup = kind;
    return request_park(r, cmd);
}

struct problem *handle_monitoring(struct request *r)
{
    return ask_cleura(r, LOOKUP_MONITORING);
}

struct problem *handle_nodes(struct request *r)
{
    return ask_cleura(r, LOOKUP_NODES);
}

struct problem *handle_ssh_key(struct request *r)
{
    return ask_cleura(r, LOOKUP_SSH_KEY);
}

struct problem *handle_upgrades(struct request *r)
{
    return ask_cleura(r, LOOKUP_UPGRADES);
}

struct problem *handle_quota(struct request *r)
{
    return ask_cleura(r, LOOKUP_QUOTA);
}
