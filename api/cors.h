/*
 * Browsers of other origins (HT-39 to HT-41): off unless the configuration names origins. Answers may be read
 * by exactly these; credentials are tokens in Authorization, never cookies. The worker of the request.
 */
#ifndef API_CORS_H
#define API_CORS_H

#include <stdbool.h>

#include "api/request.h"

/* Whether answers depend on Origin at all. */
bool cors_is_on(const struct api *api);
/* The origin that may read the answer, or NULL. */
const char *cors_origin(const struct request *r);
/* What script may read of an answer, beside what every one has. */
extern const char cors_exposed[];
/* Adds to the answer of an OPTIONS request what a preflight asks; `allow` are the methods of the resource. */
void cors_answer_preflight(struct request *r, const char *allow);

#endif
