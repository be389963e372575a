#include "base/json.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/thread.h"

enum {
    STEP_VALUES = 1024
}; /* values that are scanned between two yields; they take some tens of
    * microseconds */

/* The tokens that may come next. */
enum expect { VALUE, VALUE_OR_END, NAME, NAME_OR_END, COLON, COMMA_OR_END };

struct scan {
    const char *at, *end;
    const struct json_limits *limits;
    enum expect expect;
    size_t values;
    unsigned depth;
    bool is_object[JSON_MAX_DEPTH];
    size_t members[JSON_MAX_DEPTH];
};

static const char *const texts[] = {
    [JSON_SCAN_OK] = "is as it should be",
    [JSON_SCAN_MALFORMED] = "is no JSON",
    [JSON_SCAN_TOO_MANY_BYTES] = "has too many bytes",
    [JSON_SCAN_TOO_MANY_VALUES] = "has too many values",
    [JSON_SCAN_TOO_MANY_MEMBERS] = "has an object or array with too many members",
    [JSON_SCAN_TOO_DEEP] = "is nested too deeply",
};

const char *json_scan_text(enum json_scan_end end)
{
    return texts[end];
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* Returns a pointer to the character after the string that begins at `at`; NULL when the string has no
 * end. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at < end ? at + 1 : NULL;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* Returns a pointer to the character after the number; NULL when the text is not a number. */
static const char *skip_number(const char *at, const char *end)
{
    const char *digits = at + (*at == '-');
    at = skip_digits(digits, end);
    if (at == digits || (*digits == '0' && at - digits > 1))
        return NULL;
    if (at < end && *at == '.') {
        digits = at + 1;
        if ((at = skip_digits(digits, end)) == digits)
            return NULL;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        digits = at + 1;
        if (digits < end && (*digits == '+' || *digits == '-'))
            digits++;
        if ((at = skip_digits(digits, end)) == digits)
            return NULL;
    }
    return at;
}

static const char *skip_word(const char *at, const char *end)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t len = strlen(words[i]);
        if ((size_t)(end - at) >= len && !memcmp(at, words[i], len))
            return at + len;
    }
    return NULL;
}

static const char *skip_scalar(const char *at, const char *end)
{
    return *at == '"'                                 ? skip_string(at, end)
           : *at == '-' || (*at >= '0' && *at <= '9') ? skip_number(at, end)
                                                      : skip_word(at, end);
}

/* Reads the beginning of a value. When the value is a container, enters it. */
static enum json_scan_end scan_begin_value(struct scan *s)
{
    if (++s->values > s->limits->values)
        return JSON_SCAN_TOO_MANY_VALUES;
    if (s->values % STEP_VALUES == 0)
        thread_step_aside();
    if (s->depth && ++s->members[s->depth - 1] > s->limits->members)
        return JSON_SCAN_TOO_MANY_MEMBERS;
    char c = *s->at;
    if (c == '{' || c == '[') {
        if (s->depth == JSON_MAX_DEPTH)
            return JSON_SCAN_TOO_DEEP;
        s->is_object[s->depth] = c == '{';
        s->members[s->depth++] = 0;
        s->expect = c == '{' ? NAME_OR_END : VALUE_OR_END;
        s->at++;
        return JSON_SCAN_OK;
    }
    s->at = skip_scalar(s->at, s->end);
    s->expect = COMMA_OR_END;
    return s->at ? JSON_SCAN_OK : JSON_SCAN_MALFORMED;
}

/* Reads one token. */
static enum json_scan_end scan_step(struct scan *s)
{
    assert(s->at < s->end && s->depth <= JSON_MAX_DEPTH);
    char c = *s->at;
    bool ends = s->depth && c == (s->is_object[s->depth - 1] ? '}' : ']');
    if (ends && (s->expect == COMMA_OR_END || s->expect == VALUE_OR_END || s->expect == NAME_OR_END)) {
        s->at++;
        s->depth--;
        s->expect = COMMA_OR_END;
        return JSON_SCAN_OK;
    }
    switch (s->expect) {
    case VALUE:
    case VALUE_OR_END:
        return scan_begin_value(s);
    case NAME:
    case NAME_OR_END:
        s->at = c == '"' ? skip_string(s->at, s->end) : NULL;
        s->expect = COLON;
        return s->at ? JSON_SCAN_OK : JSON_SCAN_MALFORMED;
    case COLON:
        s->expect = VALUE;
        break;
    case COMMA_OR_END:
        s->expect = s->depth && s->is_object[s->depth - 1] ? NAME : VALUE;
        break;
    }
    s->at++;
    return c == (s->expect == VALUE && s->depth && s->is_object[s->depth - 1] ? ':' : ',')
               ? JSON_SCAN_OK
               : JSON_SCAN_MALFORMED;
}

/* Moves s->at to the character after one value. */
static enum json_scan_end scan_value(struct scan *s)
{
    enum json_scan_end end = JSON_SCAN_OK;
    do {
        s->at = skip_blanks(s->at, s->end);
        end = s->at < s->end ? scan_step(s) : JSON_SCAN_MALFORMED;
    } while (end == JSON_SCAN_OK && (s->depth || s->expect != COMMA_OR_END));
    return end;
}

enum json_scan_end json_scan(const char *bytes, size_t len, const struct json_limits *limits)
{
    struct scan s = {.at = bytes, .end = bytes + len, .limits = limits};
    if (len > limits->bytes)
        return JSON_SCAN_TOO_MANY_BYTES;
    enum json_scan_end end = scan_value(&s);
    if (end == JSON_SCAN_OK && skip_blanks(s.at, s.end) != s.end)
        end = JSON_SCAN_MALFORMED;
    return end;
}

static bool items_begin(struct json_items *items, char opening, const char *bytes, size_t len)
{
    *items = (struct json_items){.at = skip_blanks(bytes, bytes + len), .end = bytes + len};
    return items->at < items->end && *items->at++ == opening;
}

/* Moves to the beginning of the next item; false after the last one. */
static bool items_go_on(struct json_items *items, char closing)
{
    items->at = skip_blanks(items->at, items->end);
    if (items->at < items->end && *items->at == ',')
        items->at = skip_blanks(items->at + 1, items->end);
    return items->at < items->end && *items->at != closing;
}

/* Returns a pointer to the character after the object or array that begins at `at`; NULL when it has no end.
 * The text has passed the scan. */
static const char *skip_container(const char *at, const char *end)
{
    size_t depth = 0;
    do {
        const char c = *at;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at = c == '"' ? skip_string(at, end) : at + 1;
    } while (depth && at && at < end);
    return depth ? NULL : at;
}

/* Returns the text of the value at items->at, and moves items->at to the character after the value. */
static bool items_value(struct json_items *items, const char **ret_bytes, size_t *ret_len)
{
    if (items->at == items->end)
        return false;
    const char *behind = *items->at == '{' || *items->at == '[' ? skip_container(items->at, items->end)
                                                                : skip_scalar(items->at, items->end);
    if (!behind)
        return false;
    *ret_bytes = items->at;
    *ret_len = (size_t)(behind - items->at);
    items->at = behind;
    return true;
}

bool json_items_begin(struct json_items *items, const char *bytes, size_t len)
{
    return items_begin(items, '[', bytes, len);
}

bool json_items_next(struct json_items *items, const char **ret_bytes, size_t *ret_len)
{
    return items_go_on(items, ']') && items_value(items, ret_bytes, ret_len);
}

bool json_members_begin(struct json_items *members, const char *bytes, size_t len)
{
    return items_begin(members, '{', bytes, len);
}

bool json_members_next(struct json_items *members, struct json_member *ret_member)
{
    if (!items_go_on(members, '}') || *members->at != '"')
        return false;
    const char *name = members->at + 1, *behind = skip_string(members->at, members->end);
    if (!behind)
        return false;
    *ret_member = (struct json_member){.name = name, .name_len = (size_t)(behind - 1 - name)};
    members->at = skip_blanks(behind, members->end);
    if (members->at == members->end || *members->at != ':')
        return false;
    members->at = skip_blanks(members->at + 1, members->end);
    return items_value(members, &ret_member->text, &ret_member->len);
}
