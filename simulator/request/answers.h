/* Answers not made by a handler: recorded ones, and answers changed by a fault; and the text form of answers.
 * Called with the lock. */
#ifndef SIMULATOR_REQUEST_ANSWERS_H
#define SIMULATOR_REQUEST_ANSWERS_H

#include "simulator/request/exchange.h"
#include "simulator/cloud/faults.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Adds recorded answers, which are used in order before anything else. Returns NULL, or the fault of the
 * answers. */
const char *replay_load(struct sim *sim, const json_t *answers);
/* Uses the first recorded answer for this operation; false when there is none. */
bool replay_answer(struct exchange *x);

/* Answers the exchange with a fault; `act` does the real work when the fault allows it. */
void faults_apply(const struct fault *fault, struct exchange *x, void (*act)(struct exchange *));

/* Changes to a whole JSON answer; each returns a new value. */
json_t *mangle_wrong_types(const json_t *value);
json_t *mangle_unknown_enum(const json_t *value);
json_t *mangle_reorder(const json_t *value);
json_t *mangle_omit_optional(const json_t *value);

/* JSON as text, with as few digits in numbers as necessary. */
#define REAL_TEXT_SIZE 32

/* The fewest digits that give the same number when read (jansson always writes 17). */
void real_text(double value, char out[REAL_TEXT_SIZE]);
/* json_dumps with such numbers. NULL if the value cannot be written; the caller frees it. */
char *json_text(const json_t *value, size_t flags);

#endif
