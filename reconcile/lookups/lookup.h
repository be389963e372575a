/* Sub-resources that only Cleura knows: fetched on demand (fetch.h). Loop thread. */
#ifndef RECONCILE_LOOKUPS_LOOKUP_H
#define RECONCILE_LOOKUPS_LOOKUP_H

#include "model/command.h"
#include "reconcile/world/entity.h"

/* Reads the stage of the CA rotation, then calls `known` with it. */
typedef void stage_known(struct entity *e, struct command *cmd, const char *stage);
void lookup_stage(struct entity *e, struct command *cmd, stage_known *known);
void command_lookup(struct reconcile *r, struct command *cmd);

#endif
