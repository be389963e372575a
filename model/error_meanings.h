/*
 * The meaning of Gardener's error codes for the user: whether the user can correct the error, who has to act,
 * and how (GA-2). Pure; any thread.
 */
#ifndef MODEL_ERROR_MEANINGS_H
#define MODEL_ERROR_MEANINGS_H

#include <jansson.h>
#include <stdbool.h>

/* Those who may have to act: whoever owns the cluster or its project, whoever runs shootd, Cleura. */
#define BY_USER     "user"
#define BY_OPERATOR "operator"
#define BY_CLEURA   "cleura"

/* The meaning of an error code of Gardener for the user (GA-2). */
struct error_meaning {
    const char *code;
    bool user_error;         /* the owner of the account can correct it */
    bool retryable;          /* Gardener tries again by itself */
    const char *responsible; /* BY_ */
    const char *action;
};

/* Returns the row of a code, never NULL: unknown codes have a row of their own. */
const struct error_meaning *model_error_meaning(const char *code);

/* Returns what to do about an error, and what follows; the caller owns the text. is_over: Cleura has given
 * up, and does not try again by itself. */
char *model_error_action(const struct error_meaning *meaning, bool is_over);
/* Returns who has to act: when Cleura has given up, somebody must request a retry. */
const char *model_error_actor(const struct error_meaning *meaning, bool is_over);

/*
 * Converts one last error of Cleura {description, codes} and appends it to `errors`, one entry per code:
 * {code, description, user_error, retryable, action} (status.errors).
 */
void model_append_errors(json_t *errors, const json_t *last_error, bool is_over);

#endif
