/* Events. These are stored structs, see model/cluster.h. */
#ifndef MODEL_EVENT_H
#define MODEL_EVENT_H

#include <stdint.h>

#include "base/env.h"
#include "model/names.h"

/* One event. The store assigns `sequence`: the numbers begin at 1, and have gaps only after a restore. `body`
 * is the exact text that webhooks send. */
struct event {
    int64_t sequence;
    char id[40];
    enum event_type type;
    char *project; /* or NULL for account events */
    char *cluster; /* or NULL */
    wall_us at;
    char *body;
};

void event_free(struct event *e);

#endif
