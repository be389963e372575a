/* Freezes: while a freeze is active, shootd refuses changes of clusters. */
#include "api/resources/handlers.h"

#include "api/api_private.h"
#include "api/commands.h"
#include "base/mem.h"

struct problem *handle_freeze_delete(struct request *r)
{
    struct command *cmd = request_command(r, COMMAND_UNFREEZE);
    const bool is_named = r->params.given[PARAM_PROJECT];
    const enum param_id given = is_named ? PARAM_PROJECT : PARAM_SCOPE;
    mem_set_str(&cmd->name, r->params.given[given] ? r->params.texts[given] : "all");
    return request_park(r, cmd);
}
