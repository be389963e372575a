#include "cli/yaml_out.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/mem.h"
#include "cli/glyphs.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether YAML 1.1 reads the word as something other than text. */
static bool is_word_of_yaml(const char *text)
{
    static const char *const words[] = {"y",    "n",     "yes",  "no",  "on", "off",
                                        "true", "false", "null", "nan", "inf"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

/* Whether the text needs no quotes. The text must begin with a letter, so that it is not a number, a date or
 * a sign, and all its characters must be harmless. */
static bool is_plain(const char *text)
{
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    return is_letter(text[0]) && text[strspn(text, harmless)] == '\0' && !is_word_of_yaml(text);
}

static void write_text(struct buffer *out, const char *text)
{
    if (is_plain(text)) {
        buffer_add_str(out, text);
        return;
    }
    json_t *value CLEANUP_JSON = json_string(text);
    char *quoted CLEANUP_FREE = json_dumps(value, JSON_ENCODE_ANY);
    glyphs_show_json(out, quoted ? quoted : "\"\"");
}

static void write_scalar(struct buffer *out, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        write_text(out, json_string_value(value));
        break;
    case JSON_INTEGER:
        buffer_printf(out, "%" PRId64, (int64_t)json_integer_value(value));
        break;
    case JSON_REAL:
        buffer_printf(out, "%.17g", json_real_value(value));
        break;
    case JSON_TRUE:
        buffer_add_str(out, "true");
        break;
    case JSON_FALSE:
        buffer_add_str(out, "false");
        break;
    case JSON_NULL:
        buffer_add_str(out, "null");
        break;
    case JSON_OBJECT:
        buffer_add_str(out, "{}");
        break;
    case JSON_ARRAY:
        buffer_add_str(out, "[]");
        break;
    }
}

static bool is_block(const json_t *value)
{
    return json_object_size(value) > 0 || json_array_size(value) > 0;
}

static void write_block(struct buffer *out, const json_t *value, unsigned depth, bool goes_on);

/* Writes a value after "key:" or "-", on the same line where possible. */
static void write_below(struct buffer *out, const json_t *value, unsigned depth, bool in_sequence)
{
    if (!is_block(value)) {
        buffer_add_str(out, " ");
        write_scalar(out, value);
        buffer_add_str(out, "\n");
    } else if (in_sequence && json_is_object(value)) {
        buffer_add_str(out, " ");
        write_block(out, value, depth + 1, true);
    } else {
        buffer_add_str(out, "\n");
        write_block(out, value, json_is_array(value) && !in_sequence ? depth : depth + 1, false);
    }
}

/* With `goes_on` the first line needs no indentation, because the value follows "- ". */
static void write_block(struct buffer *out, const json_t *value, unsigned depth, bool goes_on)
{
    size_t i;
    const char *key;
    json_t *item;
    assert(is_block(value)); /* an empty object or array is written as a scalar */
    json_array_foreach (value, i, item) {
        buffer_printf(out, "%*s-", (int)(depth * 2), "");
        write_below(out, item, depth, true);
    }
    json_object_foreach ((json_t *)(uintptr_t)value, key, item) {
        if (!goes_on)
            buffer_printf(out, "%*s", (int)(depth * 2), "");
        goes_on = false;
        write_text(out, key);
        buffer_add_str(out, ":");
        write_below(out, item, depth, false);
    }
}

void yaml_write(struct buffer *out, const json_t *value)
{
    if (is_block(value)) {
        write_block(out, value, 0, false);
    } else {
        write_scalar(out, value);
        buffer_add_str(out, "\n");
    }
}
