/* Lists of words. Pure functions, any thread. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stdbool.h>

/* Whether a list that ends with NULL has the word. */
bool is_word_of(const char *const *words, const char *word);

#endif
