#include "cli/words.h"

#include <string.h>

bool is_word_of(const char *const *words, const char *word)
{
    for (; *words; words++)
        if (strcmp(*words, word) == 0)
            return true;
    return false;
}
