/* Answers that no handler made: recorded ones, and what a fault makes of one; and how an answer becomes text.
 * Called with the lock. */
#ifndef SIMULATOR_REQUEST_ANSWERS_H
#define SIMULATOR_REQUEST_ANSWERS_H

#include "simulator/request/exchange.h"
#include "simulator/cloud/faults.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Adds recorded answers, given back in order before anything else is looked at; NULL, or what is wrong with
 * them. */
const char *replay_load(struct sim *sim, const json_t *answers);
/* Uses up the first recorded answer for this operation; false when there is none. */
bool replay_answer(struct exchange *x);

/* Answers the exchange under a fault; `act` does the real work when the fault lets it happen. */
void faults_apply(const struct fault *fault, struct exchange *x, void (*act)(struct exchange *));

/* Changes to a whole JSON answer; each returns a new value. */
json_t *mangle_wrong_types(const json_t *value);
json_t *mangle_unknown_enum(const json_t *value);
json_t *mangle_reorder(const json_t *value);
json_t *mangle_omit_optional(const json_t *value);

/* JSON as text, numbers with no more digits than they need. */
#define REAL_TEXT_SIZE 32

/* The fewest digits that read back as the same number (jansson's own way is always 17). */
void real_text(double value, char out[REAL_TEXT_SIZE]);
/* json_dumps with such numbers. NULL if the value cannot be written; to be freed. */
char *json_text(const json_t *value, size_t flags);

#endif
