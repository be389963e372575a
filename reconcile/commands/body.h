/* Functions that commands about webhooks and tokens share for their bodies. Loop thread. */
#ifndef RECONCILE_COMMANDS_BODY_H
#define RECONCILE_COMMANDS_BODY_H

#include "model/command.h"
#include "reconcile/world/world.h"

#define BODY_FAULT(faults, pointer, code, valid, ...) \
    problem_add_fault(faults, PROBLEM_VALIDATION_FAILED, FAULT_AT_BODY, pointer, code, valid, __VA_ARGS__)

/* Members that do not exist. */
void body_check_members(const json_t *body, const char *const *known, size_t count, struct problem **faults);
/* `member` must be a list of projects that exist and that the caller sees: nobody gives more than it has. */
void body_check_projects(struct reconcile *r, const struct command *cmd, const char *member,
                         struct problem **faults);
/* A list of event types and families such as "cluster.*"; null is one, too. */
void body_check_event_types(const json_t *body, const char *member, struct problem **faults);
/* A member that is a string of at most `max` characters, or null, or not there. */
void body_check_text(const json_t *body, const char *member, size_t max, struct problem **faults);
/* A member that is a whole number, or not there; null when `nullable`. */
void body_check_number(const json_t *body, const char *member, int64_t min, int64_t max, bool nullable,
                       struct problem **faults);
/* Prepares an answer with a secret (taken, may be NULL) that is shown this once; takes `doc`. */
void body_prepare_secret(struct command *cmd, int status, json_t *doc, const char *member, char *secret);

#endif
