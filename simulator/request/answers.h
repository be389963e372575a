/* Makes answers that do not come from a handler: recorded answers, and answers that a fault changes. Also
 * writes answers as text. Called with the lock. */
#ifndef SIMULATOR_REQUEST_ANSWERS_H
#define SIMULATOR_REQUEST_ANSWERS_H

#include "simulator/request/sim_exchange.h"
#include "simulator/cloud/faults.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Adds recorded answers, which are used in order before all other answers. Returns NULL, or the reason why
 * the recorded answers are not valid. */
const char *replay_load(struct sim *sim, const json_t *answers);
/* Uses the first recorded answer for this operation; false when there is none. */
bool replay_answer(struct sim_exchange *x);

/* Answers the exchange with a fault; `act` does the real work when the fault allows it. */
void faults_apply(const struct fault *fault, struct sim_exchange *x, void (*act)(struct sim_exchange *));

/* Change a whole JSON answer; each returns a new value. */
json_t *mangle_wrong_types(const json_t *value);
json_t *mangle_unknown_enum(const json_t *value);
json_t *mangle_reorder(const json_t *value);
json_t *mangle_omit_optional(const json_t *value);

/* Writes JSON as text, in which numbers have as few digits as necessary. */
#define REAL_TEXT_SIZE 32

/* Writes the fewest digits that give the same number when they are read (jansson always writes 17). */
void real_text(double value, char out[REAL_TEXT_SIZE]);
/* Does the same as json_dumps, but writes numbers in the form of real_text. Returns NULL if the value cannot
 * be written. The caller frees the text. */
char *json_text(const json_t *value, size_t flags);

#endif
