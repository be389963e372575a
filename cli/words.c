#include "cli/words.h"

#include <string.h>

enum { LONGEST_WORD = 40 };

static unsigned least_of(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

/* Returns the number of changes that turn one word into the other: inserted, deleted, replaced letters, and
 * letters that change places with the next letter. */
static unsigned distance(const char *a, const char *b)
{
    unsigned rows[3][LONGEST_WORD + 1];
    size_t a_len = strlen(a), b_len = strlen(b);
    if (a_len > LONGEST_WORD || b_len > LONGEST_WORD)
        return LONGEST_WORD;
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_len; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_len; j++) {
            unsigned differs = a[i - 1] != b[j - 1];
            row[j] = least_of(above[j] + 1, row[j - 1] + 1, above[j - 1] + differs);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && two_above[j - 2] + 1 < row[j])
                row[j] = two_above[j - 2] + 1;
        }
    }
    return rows[a_len % 3][b_len];
}

const char *nearest_word(const char *typed, const char *const *words, size_t count)
{
    const char *best = NULL;
    unsigned least = (unsigned)(strlen(typed) / 3) + 2;
    for (size_t i = 0; i < count; i++) {
        unsigned d = distance(typed, words[i]);
        bool begins = strlen(typed) >= 2 && strncmp(words[i], typed, strlen(typed)) == 0;
        if (begins && d > 1)
            d = 1;
        if (d < least) {
            least = d;
            best = words[i];
        }
    }
    return best;
}

bool is_word_of(const char *const *words, const char *word)
{
    for (; *words; words++)
        if (strcmp(*words, word) == 0)
            return true;
    return false;
}
