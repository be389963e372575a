/* Checks of the orders of tests. */
#ifndef SIMULATOR_CONTROL_ORDERS_H
#define SIMULATOR_CONTROL_ORDERS_H

#include "simulator/cloud/check.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct sim_exchange;
struct sim_shoot;

/* Answers 400 unless the request has only known members of the right type. */
bool control_is_good(struct sim_exchange *x, const struct rule *rules, size_t count);
/* Answers 400 when there are faults. Takes over the list. */
bool control_refuse_faults(struct sim_exchange *x, json_t *errors);
/* Returns the shoot of the path; answers 404 and returns NULL when there is none. */
struct sim_shoot *control_shoot(struct sim_exchange *x);
/* Adds a fault for each item of `codes` that is no error code of Cleura. */
void control_check_codes(json_t *errors, const char *key, const json_t *codes);

#endif
