#include "base/text.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

static bool is_inside_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

size_t utf8_cut(const char *text, size_t max)
{
    size_t len = strnlen(text, max);
    if (text[len] == '\0' || !is_inside_character(text[len]))
        return len;
    while (len && is_inside_character(text[len]))
        len--;
    return len;
}

char *utf8_cut_copy(const char *text, size_t max)
{
    return text ? mem_strndup(text, utf8_cut(text, max)) : NULL;
}

/* Returns the length of the UTF-8 sequence that begins here, and its code point; 0 when no valid sequence
 * begins here. */
static size_t utf8_decode(const uint8_t *text, size_t len, uint32_t *ret_point)
{
    static const struct {
        uint8_t mask, lead, count;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
    for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
        if ((text[0] & forms[f].mask) != forms[f].lead)
            continue;
        if (forms[f].count > len)
            return 0;
        uint32_t point = text[0] & (uint8_t)~forms[f].mask;
        for (size_t i = 1; i < forms[f].count; i++) {
            if ((text[i] & 0xc0) != 0x80)
                return 0;
            point = point << 6 | (text[i] & 0x3f);
        }
        *ret_point = point;
        bool valid = point >= forms[f].least && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
        return valid ? forms[f].count : 0;
    }
    return 0;
}

/* Whether the character is a control character, or would reverse or break a printed line. */
static bool is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x061c || point == 0x200e ||
           point == 0x200f || (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

size_t printable_write(char *to, size_t size, const char *text, size_t len)
{
    assert(size > 0);
    const uint8_t *from = (const uint8_t *)text, *end = from + len;
    char *out = to, *last = to + size - 1;
    while (from < end) {
        uint32_t point = 0;
        size_t n = utf8_decode(from, (size_t)(end - from), &point);
        size_t written = n && !is_control(point) ? n : 1;
        if (written > (size_t)(last - out))
            break;
        if (!n)
            *out = '?';
        else if (is_control(point))
            *out = ' ';
        else
            memmove(out, from, n);
        out += written;
        from += n ? n : 1;
    }
    *out = '\0';
    return (size_t)(out - to);
}

bool http_is_token(const char *text, size_t len)
{
    static const char signs[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool letter = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9');
        if (!letter && (!c || !strchr(signs, c)))
            return false;
    }
    return len > 0;
}

size_t text_mark_length(const char *bytes, size_t len)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t mark_len = sizeof(mark) - 1;
    return len >= mark_len && !memcmp(bytes, mark, mark_len) ? mark_len : 0;
}

int word_index(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; word && i < count; i++)
        if (words[i] && !strcmp(words[i], word))
            return (int)i;
    return -1;
}

char *text_secret_line(char *text)
{
    static const char blanks[] = " \t\r\n\v\f";
    text += text_mark_length(text, strlen(text));
    text[strcspn(text, "\r\n")] = '\0';
    text += strspn(text, blanks);
    size_t len = strlen(text);
    while (len && strchr(blanks, text[len - 1]))
        len--;
    text[len] = '\0';
    return text;
}

bool text_next_item(const char **cursor, const char **ret_item, size_t *ret_len)
{
    const char *p = *cursor + strspn(*cursor, ", \t");
    if (!*p)
        return false;
    const char *end = p;
    for (bool quoted = false; *end && (quoted || *end != ','); end++) {
        if (*end == '"')
            quoted = !quoted;
        else if (quoted && *end == '\\' && end[1])
            end++;
    }
    *cursor = end;
    while (end > p && strchr(" \t", end[-1]))
        end--;
    *ret_item = p;
    *ret_len = (size_t)(end - p);
    return true;
}
