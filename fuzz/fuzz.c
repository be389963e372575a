#include "fuzz/fuzz.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"

char *fuzz_text(const uint8_t *bytes, size_t len)
{
    char *text = mem_calloc(len + 1, 1);
    if (len)
        memcpy(text, bytes, len);
    return text;
}

char *fuzz_line(const uint8_t **bytes, size_t *len)
{
    const uint8_t *end = *len ? memchr(*bytes, '\n', *len) : NULL;
    size_t taken = end ? (size_t)(end - *bytes) : *len;
    char *line = fuzz_text(*bytes, taken);
    taken += end != NULL;
    *len -= taken;
    *bytes = *len ? *bytes + taken : NULL;
    return line;
}

const char *fuzz_word(char **line)
{
    char *word = *line + strspn(*line, " ");
    *line = word + strcspn(word, " ");
    if (**line)
        *(*line)++ = '\0';
    return word;
}

void fuzz_check_stored(const json_t *doc)
{
    char *text CLEANUP_FREE = json_text(doc);
    struct json_fault fault;
    FUZZ_CHECK(text != NULL);
    json_t *read CLEANUP_JSON = json_parse_strict(text, strlen(text), &fault);
    if (!read)
        (void)fprintf(stderr, "what is stored cannot be read back: %s\n", fault.text);
    FUZZ_CHECK(read != NULL);
    FUZZ_CHECK(json_equal(read, doc));
}

static void drop(enum log_level level, const char *message, const char *const *keys,
                 const char *const *values, unsigned count)
{
}

void fuzz_be_silent(void)
{
    log_set_sink(drop);
}
