/* Lists of words: membership, and the most similar word. Pure functions, any thread. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a list that ends with NULL has the word. */
bool is_word_of(const char *const *words, const char *word);
/* Returns the word of the list that is most similar to `typed`; NULL when no word is similar enough. */
const char *nearest_word(const char *typed, const char *const *words, size_t count);

#endif
