/* Finds the word that was probably meant, and the texts about a word that a list of valid words does not
 * have. Pure; any thread. */
#ifndef BASE_NEAR_WORD_H
#define BASE_NEAR_WORD_H

#include <stddef.h>

#include "base/json.h"

/*
 * Returns the word of the list that is most similar to `typed`: at most one of three letters differs, or the
 * word begins with `typed`. Capitals are compared as words of these lists are written: "nodePools" as
 * "node_pools". NULL when no word is similar enough, and for long words, so that a caller cannot choose how
 * long this takes.
 */
const char *nearest_word(const char *typed, const char *const *words, size_t count);

/* Returns the word of the array that is most similar to `typed`, borrowed, or NULL. */
const char *word_near(const char *typed, const json_t *valid);
/* Returns "; did you mean 'failed'?", or "" when no word is similar. The caller frees it. */
char *word_hint(const char *typed, const json_t *valid);
/* Returns "'faild' is not <what>; did you mean 'failed'?", with the beginning of a long word. The caller
 * frees it. */
char *word_refusal(const char *typed, const char *what, const json_t *valid);

#endif
