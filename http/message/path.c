#include "http/message/path.h"

#include <string.h>
#include <strings.h>

#include "base/attrs.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The length of a well-formed UTF-8 sequence (no overlong forms, no surrogates), 0 when it is none. */
static size_t utf8_length(const unsigned char *p)
{
    static const struct {
        unsigned char first, last, second_min, second_max;
        size_t len;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (p[0] < forms[i].first || p[0] > forms[i].last)
            continue;
        for (size_t n = 1; n < forms[i].len; n++)
            if (p[n] < (n == 1 ? forms[i].second_min : 0x80) || p[n] > (n == 1 ? forms[i].second_max : 0xbf))
                return 0; /* the terminating NUL ends up here too */
        return forms[i].len;
    }
    return 0;
}

static bool is_utf8(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        size_t len = *p < 0x80 ? 1 : utf8_length(p);
        if (!len)
            return false;
        p += len;
    }
    return true;
}

bool percent_decode(char *text)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        if (*in != '%') {
            *out++ = *in;
            continue;
        }
        int high = hex_value(in[1]);
        int low = high < 0 ? -1 : hex_value(in[2]);
        if (low < 0 || high * 16 + low == 0)
            return false;
        *out++ = (char)(high * 16 + low);
        in += 2;
    }
    *out = '\0';
    return is_utf8(text);
}

/* Printable ASCII without an escape: nothing to decode, and nothing that is refused but dots. */
static bool is_plain(const char *segment)
{
    for (const unsigned char *p = (const unsigned char *)segment; *p; p++)
        if (*p < 0x20 || *p >= 0x7f || *p == '%')
            return false;
    return true;
}

static const char *decode_segment(char *segment)
{
    if (is_plain(segment) && *segment != '.')
        return NULL;
    if (!percent_decode(segment))
        return "The path holds a bad percent escape or is not UTF-8.";
    if (strchr(segment, '/'))
        return "The path holds an encoded slash.";
    if (!strcmp(segment, ".") || !strcmp(segment, ".."))
        return "The path holds a dot segment.";
    for (const char *p = segment; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return "The path holds a control character.";
    return NULL;
}

const char *path_split(char *path, struct path_segments *ret)
{
    char *rest = path + 1; /* it begins with a slash */
    ret->count = 0;
    if (!*rest)
        return NULL;
    while (rest) {
        char *segment = strsep(&rest, "/");
        const char *fault = decode_segment(segment);
        if (fault)
            return fault;
        if (ret->count == PATH_MAX_SEGMENTS) {
            ret->count = 0; /* longer than any that there is: unknown */
            return NULL;
        }
        ret->items[ret->count++] = segment;
    }
    return NULL;
}

const char *path_of_target(const char *target)
{
    if (*target == '/')
        return target;
    size_t scheme = !strncasecmp(target, "http://", 7) ? 7 : !strncasecmp(target, "https://", 8) ? 8 : 0;
    if (!scheme)
        return NULL;
    const char *path = strchr(target + scheme, '/');
    return path ? path : "/";
}
