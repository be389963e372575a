/* The state of a project. This is a stored struct, see model/cluster.h. */
#ifndef MODEL_PROJECT_STATE_H
#define MODEL_PROJECT_STATE_H

#include "base/env.h"
#include "base/json.h"

/* The state of a project that survives a restart. */
struct project_state {
    char *name;
    wall_us bootstrapped_at; /* when the project was bootstrapped; 0: not yet, as far as shootd knows */
    json_t *location;        /* an object of strings with the location of the clusters at Cleura; NULL: not
                              * known */
    json_t *catalog;         /* the last catalog in shootd's format, or NULL */
    wall_us catalog_at;
    wall_us discovered_at; /* the time of the last complete list */
    wall_us settled_at;    /* only for PROJECT_ALL: the settled clock (base/settled_clock.h) at the last
                            * purge; 0: there was none */
    json_t *freeze; /* an active freeze: reason, by, since, until (times as numbers; until 0: no end); NULL:
                       no freeze */
};

void project_state_free(struct project_state *p);
struct project_state *project_state_copy(const struct project_state *p);
json_t *project_state_to_json(const struct project_state *p);
struct project_state *project_state_from_json(const json_t *doc);

#endif
