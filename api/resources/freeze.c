/* Freezes: clusters are kept from being changed for a time. */
#include "api/resources/handlers.h"

#include "api/api_private.h"
#include "api/commands.h"
#include "base/mem.h"

struct problem *handle_freezes(struct request *r)
{
    return request_park(r, request_command(r, COMMAND_FREEZES));
}

struct problem *handle_freeze_put(struct request *r)
{
    return request_park(r, request_command(r, COMMAND_FREEZE));
}

struct problem *handle_freeze_delete(struct request *r)
{
    struct command *cmd = request_command(r, COMMAND_UNFREEZE);
    mem_set_str(&cmd->name, r->params.given[PARAM_SCOPE] ? r->params.texts[PARAM_SCOPE] : "all");
    return request_park(r, cmd);
}
