/* Checks of bodies shared by the commands for webhooks and tokens. Loop thread. */
#ifndef RECONCILE_COMMANDS_BODY_H
#define RECONCILE_COMMANDS_BODY_H

#include "model/command.h"
#include "reconcile/world/world.h"

#define BODY_FAULT(faults, pointer, code, valid, ...) \
    problem_add_fault(faults, PROBLEM_VALIDATION_FAILED, FAULT_AT_BODY, pointer, code, valid, __VA_ARGS__)

/* Adds faults for unknown members. */
void body_check_members(const json_t *body, const char *const *known, size_t count, struct problem **faults);
/* Checks that `member` is a list of existing projects, and that the caller may see all of them, because it
 * cannot give more rights than it has. */
void body_check_projects(struct reconcile *r, const struct command *cmd, const char *member,
                         struct problem **faults);
/* Checks a list of event types and families such as "cluster.*"; null is allowed. */
void body_check_event_types(const json_t *body, const char *member, struct problem **faults);
/* Checks that a member is a string of at most `max` characters, or null, or absent. */
void body_check_text(const json_t *body, const char *member, size_t max, struct problem **faults);
/* Checks that a member is a whole number, or absent, or (if `nullable`) null. */
void body_check_number(const json_t *body, const char *member, int64_t min, int64_t max, bool nullable,
                       struct problem **faults);
/* Prepares an answer with a secret (taken over, may be NULL) that is shown only once. The answer is the JSON
 * text of `object` (taken over), with the secret as its last member. */
void body_prepare_secret(struct command *cmd, int status, char *object, const char *member, char *secret);

#endif
