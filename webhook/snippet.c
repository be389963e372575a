/* How an answer's body begins, for the delivery log (WH-22). Pure functions, any thread. */
#include "webhook/engine_private.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"

enum {
    SNIPPET_BYTES = DELIVERY_SNIPPET_BYTES - 1,
    SECRET_SHORTEST = 8, /* a shorter value is no secret, and would blot out words */
};

/* Length of the UTF-8 sequence that begins here, and the code point in it; 0 when it is none. */
static size_t decode(const uint8_t *text, size_t len, uint32_t *ret_point)
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

/* Controls, and what reverses or breaks the line that it is printed in. */
static bool is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point <= 0x9f) || (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069);
}

static void write_printable(char *to, size_t room, const char *body, size_t len)
{
    const uint8_t *from = (const uint8_t *)body, *end = from + len;
    char *out = to;
    while (from < end) {
        uint32_t point = 0;
        size_t n = decode(from, (size_t)(end - from), &point);
        size_t written = n && !is_control(point) ? n : 1;
        if (written > room - (size_t)(out - to))
            break;
        if (!n)
            *out = '?';
        else if (is_control(point))
            *out = ' ';
        else
            memcpy(out, from, n);
        out += written;
        from += n ? n : 1;
    }
    *out = '\0';
}

static void mask_value(char *text, size_t len, const char *value)
{
    size_t value_len = strlen(value);
    if (value_len < SECRET_SHORTEST)
        return;
    char *end = text + len;
    for (char *at = memmem(text, len, value, value_len); at;
         at = memmem(at, (size_t)(end - at), value, value_len)) {
        memset(at, '*', value_len);
        at += value_len;
    }
}

void snippet_write(char to[static DELIVERY_SNIPPET_BYTES], const char *body, size_t body_len,
                   const struct subscription *s, const struct seal_key *key)
{
    /* Secrets are looked for in all of it: one may begin before the cut and end behind it. */
    char *copy CLEANUP_FREE = mem_strndup(body, body_len);
    for (unsigned i = 0; body_len && i < s->header_count; i++) {
        char *value CLEANUP_SECRET = webhook_header_open(key, s->id, &s->headers[i]);
        if (value)
            mask_value(copy, body_len, value);
    }
    write_printable(to, SNIPPET_BYTES, copy, body_len);
    log_mask_secrets(to);
}
