#include "api/resources/handlers.h"

#include "api/commands.h"

struct problem *handle_last_reload(struct request *r)
{
    return request_park(r, request_command(r, COMMAND_LAST_RELOAD));
}

struct problem *handle_reload(struct request *r)
{
    return request_park(r, request_command(r, COMMAND_RELOAD));
}
