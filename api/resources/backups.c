#include "api/resources/handlers.h"

#include "api/api_private.h"
#include "api/commands.h"

/* The time limit of this answer. A copy of many gigabytes and its check take longer than other requests. */
enum { LONGEST_S = 600 };

struct problem *handle_backup_create(struct request *r)
{
    struct command *cmd = request_command(r, COMMAND_BACKUP);
    cmd->wait_until = env_mono(r->api->options.env) + LONGEST_S * US_PER_S;
    return request_park(r, cmd);
}

struct problem *handle_backups(struct request *r)
{
    return request_park(r, request_command(r, COMMAND_BACKUPS));
}
