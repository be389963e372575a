/* One cluster: reads from the view (the hot path), and actions. */
#include "api/resources/handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/fresh.h"
#include "api/reads.h"
#include "base/mem.h"
#include "view/cluster_facts.h"

struct problem *handle_cluster(struct request *r)
{
    struct view_blob *blob;
    struct problem *p = read_cluster_body(r, &blob);
    if (p)
        return p;
    fresh_set_age(r, blob->observed_at, atomic_load(&blob->heard_at), blob->observed_text);
    fresh_set_source(r);
    return answer_with_blob(r, blob);
}

/* An operation that changes the spec or deletes the cluster has its own method. */
static bool is_action(int type)
{
    return type >= 0 && type != OPERATION_CREATE && type != OPERATION_UPDATE && type != OPERATION_DELETE;
}

static struct problem *no_such_action(void)
{
    char *names = NULL;
    for (int type = 0; type < OPERATION_TYPE_MAX_; type++) {
        if (!is_action(type))
            continue;
        char *more = mem_printf("%s%s%s", names ? names : "", names ? ", " : "",
                                operation_type_name((enum operation_type)type));
        free(names);
        names = more;
    }
    struct problem *p =
        problem_new(PROBLEM_NOT_FOUND, "There is no action of this name; the actions are %s.", names);
    free(names);
    return p;
}

struct problem *handle_cluster_action(struct request *r)
{
    int type = operation_type_from_name(r->item);
    if (!is_action(type))
        return no_such_action();
    struct command *cmd = request_command(r, COMMAND_CLUSTER_ACTION);
    cmd->write.action = (enum operation_type)type;
    return request_park(r, cmd);
}
