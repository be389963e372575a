/* Gardener's error codes: what they mean for the user (GA-2). One table; pure, any thread. */
#ifndef MODEL_ERRORS_H
#define MODEL_ERRORS_H

#include <stdbool.h>

#include "base/json.h"

struct error_meaning {
    const char *code;
    bool user_error; /* the account's owner can mend it */
    bool retryable;  /* Gardener tries again by itself */
    const char *action;
};

/* The row of a code; unknown codes get a row that says so (never NULL). */
const struct error_meaning *model_error_meaning(const char *code);

/*
 * Appends one upstream last error {description, codes} to `errors` in our form, an entry per code:
 * {code, description, user_error, retryable, action} (status.errors).
 */
void model_append_errors(json_t *errors, const json_t *last_error);

#endif
