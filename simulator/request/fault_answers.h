/* What a fault makes of an answer. */
#ifndef SIMULATOR_REQUEST_FAULT_ANSWERS_H
#define SIMULATOR_REQUEST_FAULT_ANSWERS_H

#include "simulator/request/exchange.h"
#include "simulator/cloud/faults.h"

#include <jansson.h>

/* Answers the exchange under a fault; `act` does the real work when the fault lets it happen. */
void faults_apply(const struct fault *fault, struct exchange *x, void (*act)(struct exchange *));

/* Changes to a whole JSON answer; each returns a new value. */
json_t *mangle_wrong_types(const json_t *value);
json_t *mangle_unknown_enum(const json_t *value);
json_t *mangle_reorder(const json_t *value);
json_t *mangle_omit_optional(const json_t *value);

#endif
