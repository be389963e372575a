/*
 * Paths and the route table. The table is small enough that comparing segment counts and then literals row by
 * row costs less than a microsecond; it is walked as it stands.
 */
#include "api/match.h"

#include <stdio.h>
#include <string.h>

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

static const char *decode_segment(char *segment)
{
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

const char *path_split(struct request *r)
{
    char *rest = r->path + 1; /* it begins with a slash */
    r->segment_count = 0;
    if (!*rest)
        return NULL;
    while (rest) {
        char *segment = strsep(&rest, "/");
        const char *fault = decode_segment(segment);
        if (fault)
            return fault;
        if (r->segment_count == REQUEST_MAX_SEGMENTS) {
            r->segment_count = 0; /* longer than any template: unknown */
            return NULL;
        }
        r->segments[r->segment_count++] = segment;
    }
    return NULL;
}

/* Where the template goes on after a segment that fits, else NULL. */
static const char *after_segment(const char *template, const char *segment)
{
    if (*template == '{')
        return *segment ? strchr(template, '}') + 1 : NULL;
    while (*segment && *template == *segment) {
        template ++;
        segment++;
    }
    return *segment || (*template && *template != '/') ? NULL : template;
}

static bool path_fits(const char *template, const struct request *r)
{
    for (unsigned i = 0; i < r->segment_count; i++) {
        template = *template == '/' ? after_segment(template + 1, r->segments[i]) : NULL;
        if (!template)
            return false;
    }
    return !*template && r->segment_count > 0;
}

static void bind_parameters(struct request *r, const char *template)
{
    for (unsigned i = 0; i < r->segment_count; i++) {
        size_t len = strcspn(++template, "/");
        if (!strncmp(template, "{project}", len))
            r->project = r->segments[i];
        else if (!strncmp(template, "{cluster}", len))
            r->name = r->segments[i];
        else if (!strncmp(template, "{delivery}", len))
            r->delivery = r->segments[i];
        else if (template[0] == '{')
            r->item = r->segments[i];
        template += len;
    }
}

const struct route *route_match(struct request *r, unsigned *ret_allowed)
{
    enum method wanted = r->method == METHOD_HEAD ? METHOD_GET : r->method;
    *ret_allowed = 0;
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (!path_fits(routes[i].template, r))
            continue;
        if (routes[i].method == wanted) {
            bind_parameters(r, routes[i].template);
            return &routes[i];
        }
        *ret_allowed |= 1U << routes[i].method | 1U << METHOD_OPTIONS;
        if (routes[i].method == METHOD_GET)
            *ret_allowed |= 1U << METHOD_HEAD;
    }
    return NULL;
}

void route_allow(unsigned allowed, char *text, size_t size)
{
    size_t len = 0;
    text[0] = '\0';
    for (int m = 0; m < METHOD_MAX_; m++) {
        if (!(allowed & 1U << m))
            continue;
        int n = snprintf(text + len, size - len, "%s%s", len ? ", " : "", method_name((enum method)m));
        len += (size_t)n;
    }
}
