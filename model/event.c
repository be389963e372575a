#include "model/event.h"

#include <stdlib.h>

void event_free(struct event *e)
{
    if (!e)
        return;
    free(e->project);
    free(e->cluster);
    free(e->body);
    free(e);
}
