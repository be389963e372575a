#include "model/event.h"

#include <stdlib.h>

#include "base/mem.h"

void event_free(struct event *e)
{
    if (!e)
        return;
    free(e->project);
    free(e->cluster);
    free(e->body);
    free(e);
}

struct event *event_copy(const struct event *e)
{
    struct event *copy = MEM_NEW(struct event);
    *copy = *e;
    copy->project = mem_strdup(e->project);
    copy->cluster = mem_strdup(e->cluster);
    copy->body = mem_strdup(e->body);
    return copy;
}
