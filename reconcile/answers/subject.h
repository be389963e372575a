/* Whom a command is about. Loop thread. */
#ifndef RECONCILE_ANSWERS_SUBJECT_H
#define RECONCILE_ANSWERS_SUBJECT_H

#include "model/command.h"
#include "reconcile/world/entity.h"
#include "reconcile/world/project.h"

/* NULL when the command was answered: there is none, or it is set aside. */
struct project *command_project(struct reconcile *r, struct command *cmd);
struct entity *command_cluster(struct reconcile *r, struct command *cmd);
/* Answers what would need Cleura while the project is set aside; false: it is not. */
bool location_refuses(const struct project *p, struct command *cmd);

#endif
