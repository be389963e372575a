#include "api/resources/handlers.h"

#include <string.h>

#include "api/api_private.h"
#include "api/commands.h"
#include "api/reads.h"

struct problem *handle_projects(struct request *r)
{
    struct list_view list;
    struct problem *p = list_view_begin(&list, r, &(struct list_query){.section = VIEW_PROJECTS});
    if (p)
        return p;
    for (const struct view_entry *e = list_view_next(&list); e; e = list_view_next(&list))
        if (api_token_sees_project(r->token, e->key))
            list_view_add(&list, e);
    return list_view_end(&list);
}

struct problem *handle_project(struct request *r)
{
    struct view_blob *blob = read_blob(r, VIEW_PROJECTS, r->project);
    return blob ? answer_with_blob(r, blob) : problem_no_project(r->project);
}

struct problem *handle_catalog(struct request *r)
{
    struct view_blob *blob = read_blob(r, VIEW_CATALOGS, r->project);
    return blob ? answer_with_blob(r, blob) : request_park(r, request_command(r, COMMAND_CATALOG_REFRESH));
}
