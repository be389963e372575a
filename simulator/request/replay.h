/* Recorded traffic: answers given back in order, before anything else is looked at. */
#ifndef SIMULATOR_REQUEST_REPLAY_H
#define SIMULATOR_REQUEST_REPLAY_H

#include <jansson.h>
#include <stdbool.h>

struct exchange;
struct sim;

/* Adds recorded answers; NULL, or what is wrong with them. */
const char *replay_load(struct sim *sim, const json_t *answers);
/* Uses up the first recorded answer for this operation; false when there is none. */
bool replay_answer(struct exchange *x);

#endif
