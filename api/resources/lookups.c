/* Sub-resources that only Cleura knows, fetched by the loop thread when somebody asks. */
#include "api/resources/handlers.h"

#include "api/park.h"
#include "api/request.h"

static void ask(struct request *r, enum lookup_kind kind)
{
    struct command *cmd = request_command(r, COMMAND_LOOKUP);
    cmd->lookup = kind;
    request_park(r, cmd);
}

void handle_monitoring(struct request *r)
{
    ask(r, LOOKUP_MONITORING);
}

void handle_nodes(struct request *r)
{
    ask(r, LOOKUP_NODES);
}

void handle_ssh_key(struct request *r)
{
    ask(r, LOOKUP_SSH_KEY);
}

void handle_upgrades(struct request *r)
{
    ask(r, LOOKUP_UPGRADES);
}

void handle_quota(struct request *r)
{
    ask(r, LOOKUP_QUOTA);
}
