/* Conditions and constraints that a test has set for a shoot. Each is shown in place of what the runs would
 * make of it, in every state of the shoot, until it is set again or cleared. */
#ifndef SIMULATOR_CLOUD_CONDITIONS_H
#define SIMULATOR_CLOUD_CONDITIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_shoot;

enum condition_group { CONDITIONS, CONSTRAINTS, CONDITION_GROUP_MAX_ };

struct condition_times {
    int64_t since_us;   /* when the status changed */
    int64_t updated_us; /* when anything of the condition changed */
};

/* The words that Cleura's contract allows; each list ends with NULL. */
extern const char *const condition_types[CONDITION_GROUP_MAX_][10];
extern const char *const condition_statuses[];
extern const char *const error_codes[];

/* The name of the group in answers and orders. */
const char *condition_group_name(enum condition_group group);
/* Sets a condition {type, status, reason, message, codes}. `shown` is what the shoot showed of this type
 * before, since `before`, or NULL. */
void conditions_hold(struct sim_shoot *shoot, const json_t *given, const json_t *shown,
                     struct condition_times before, int64_t now_us);
/* Clears one. Returns false when it is not set. */
bool conditions_release(struct sim_shoot *shoot, const char *type, int64_t now_us);
/* Puts those of the group that are set into the list of all that are shown. */
void conditions_put_held(const struct sim_shoot *shoot, enum condition_group group, json_t *list);
/* Corrects the times of a condition that is set, or was set until later than those times. */
void conditions_times(const struct sim_shoot *shoot, const char *type, struct condition_times *times);
bool conditions_forbid_hibernation(const struct sim_shoot *shoot);

#endif
