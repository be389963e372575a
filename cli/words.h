/* Lists of words: is one in it, and which one was meant. Pure functions, any thread. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the word is in a list that ends with NULL. */
bool is_word_of(const char *const *words, const char *word);
/* The word of the list that is nearest to what was typed, NULL when none is near. */
const char *nearest_word(const char *typed, const char *const *words, size_t count);

#endif
