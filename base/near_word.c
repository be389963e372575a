#include "base/near_word.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { LONGEST_WORD = 40, TYPED_MAX = 64 };

static unsigned least_of(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

/* Fills one row of the table of distances; the two rows above are there. Returns the least number of it. */
static unsigned fill_row(unsigned rows[3][LONGEST_WORD + 1], size_t i, const char *a, const char *b)
{
    unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
    unsigned least = row[0] = (unsigned)i;
    for (size_t j = 1; b[j - 1]; j++) {
        unsigned differs = a[i - 1] != b[j - 1];
        row[j] = least_of(above[j] + 1, row[j - 1] + 1, above[j - 1] + differs);
        bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
        if (swapped && two_above[j - 2] + 1 < row[j])
            row[j] = two_above[j - 2] + 1;
        if (row[j] < least)
            least = row[j];
    }
    return least;
}

/* Returns the number of changes that turn one word into the other: inserted, deleted, replaced letters, and
 * letters that change places with the next letter. Stops at `enough`. */
static unsigned distance(const char *a, const char *b, unsigned enough)
{
    unsigned rows[3][LONGEST_WORD + 1];
    size_t a_len = strlen(a), b_len = strnlen(b, LONGEST_WORD + 1);
    if (b_len > LONGEST_WORD || a_len + enough <= b_len || b_len + enough <= a_len)
        return enough;
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_len; i++)
        if (fill_row(rows, i, a, b) >= enough)
            return enough;
    return rows[a_len % 3][b_len];
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Writes "nodePools" as "node_pools"; false when the word is too long. */
static bool write_plain(char to[static LONGEST_WORD + 1], const char *typed)
{
    size_t len = 0;
    for (const char *c = typed; *c; c++) {
        bool begins_word = is_capital(*c) && c > typed && !is_capital(c[-1]) && c[-1] != '_' && c[-1] != '-';
        if (len + begins_word >= LONGEST_WORD)
            return false;
        if (begins_word)
            to[len++] = '_';
        to[len++] = is_capital(*c) ? (char)(*c | 0x20) : *c;
    }
    to[len] = '\0';
    return true;
}

const char *nearest_word(const char *typed, const char *const *words, size_t count)
{
    char plain[LONGEST_WORD + 1];
    if (!write_plain(plain, typed))
        return NULL;
    const char *best = NULL;
    const size_t len = strlen(plain);
    unsigned least = (unsigned)(len / 3) + 1;
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(words[i], typed) || !strcmp(words[i], plain))
            return words[i];
        bool begins = len >= 2 && !strncmp(words[i], plain, len);
        unsigned d = begins ? 1 : distance(plain, words[i], least);
        if (d < least || (begins && !best)) {
            least = d;
            best = words[i];
        }
    }
    return best;
}

const char *word_near(const char *typed, const json_t *valid)
{
    const char **words CLEANUP_FREE = mem_calloc(json_array_size(valid) + 1, sizeof(*words));
    size_t i, count = 0;
    json_t *word;
    json_array_foreach (valid, i, word)
        if (json_is_string(word))
            words[count++] = json_string_value(word);
    return nearest_word(typed, words, count);
}

char *word_hint(const char *typed, const json_t *valid)
{
    const char *near = word_near(typed, valid);
    return near && strcmp(near, typed) != 0 ? mem_printf("; did you mean '%s'?", near) : mem_strdup("");
}

char *word_refusal(const char *typed, const char *what, const json_t *valid)
{
    char *hint CLEANUP_FREE = word_hint(typed, valid);
    char *shown CLEANUP_FREE = utf8_cut_copy(typed, TYPED_MAX);
    return mem_printf("'%s' is not %s%s", shown, what, hint);
}
