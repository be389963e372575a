#include "cli/glyphs.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

#include "base/buffer.h"
#include "base/mem.h"

enum { EMOJI_FORM = 0xfe0f, SHOWN_MAX = 16 * 1024 * 1024 };

static utf8proc_ssize_t next_point(const char *text, size_t len, utf8proc_int32_t *ret_point)
{
    return utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)len, ret_point);
}

bool glyphs_are_text(const char *text)
{
    utf8proc_int32_t point = 0;
    for (size_t len = strlen(text); len;) {
        utf8proc_ssize_t n = next_point(text, len, &point);
        if (n <= 0)
            return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

static bool is_regional(utf8proc_int32_t point)
{
    return point >= 0x1f1e6 && point <= 0x1f1ff;
}

/* Returns the length in bytes of the grapheme cluster that begins here, and its width. */
static size_t next_cluster(const char *text, size_t len, size_t *ret_width)
{
    utf8proc_int32_t point = 0, previous = 0, state = 0;
    size_t used = 0, width = 0;
    unsigned regional = 0;
    while (used < len) {
        utf8proc_ssize_t n = next_point(text + used, len - used, &point);
        if (n <= 0 && used == 0) {
            *ret_width = 1;
            return 1;
        }
        if (n <= 0 || (used && utf8proc_grapheme_break_stateful(previous, point, &state)))
            break;
        int own = utf8proc_charwidth(point);
        regional += is_regional(point);
        if (point == EMOJI_FORM || regional == 2)
            own = 2;
        if (own > 0 && (size_t)own > width)
            width = (size_t)own;
        previous = point;
        used += (size_t)n;
    }
    assert(used); /* callers advance by this number of bytes, so it must not be 0 */
    *ret_width = width;
    return used;
}

size_t glyphs_width(const char *text)
{
    size_t sum = 0, len = strlen(text), width = 0;
    while (len) {
        size_t n = next_cluster(text, len, &width);
        sum += width;
        text += n;
        len -= n;
    }
    return sum;
}

size_t glyphs_fit(const char *text, size_t width)
{
    size_t at = 0, len = strlen(text), sum = 0, own = 0;
    while (at < len) {
        size_t n = next_cluster(text + at, len - at, &own);
        if (sum + own > width)
            break;
        sum += own;
        at += n;
    }
    return at;
}

/* Whether the code point is a control character, or a mark that changes the direction of text. Such marks
 * have width 0. */
static bool is_hidden(utf8proc_int32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x061c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff || c == 0xfffe ||
           c == 0xffff; /* code points that are not characters */
}

static void show_escape(struct buffer *out, utf8proc_int32_t c)
{
    if (c == '\n')
        buffer_add_str(out, "\\n");
    else if (c == '\t')
        buffer_add_str(out, "\\t");
    else if (c == '\r')
        buffer_add_str(out, "\\r");
    else
        buffer_printf(out, c < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)c);
}

void glyphs_show(struct buffer *out, const char *text)
{
    size_t len = strlen(text);
    while (len) {
        utf8proc_int32_t point = 0;
        utf8proc_ssize_t n = next_point(text, len, &point);
        size_t used = n > 0 ? (size_t)n : 1;
        if (n <= 0)
            buffer_printf(out, "\\x%02x", (unsigned)(unsigned char)*text);
        else if (is_hidden(point))
            show_escape(out, point);
        else
            buffer_add(out, text, used);
        text += used;
        len -= used;
    }
}

char *glyphs_shown(const char *text)
{
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, SHOWN_MAX);
    if (text)
        glyphs_show(&out, text);
    else
        buffer_add_str(&out, "-");
    return buffer_take(&out, NULL);
}

void glyphs_show_json(struct buffer *out, const char *json)
{
    size_t len = strlen(json), plain = 0;
    for (size_t at = 0; at < len;) {
        utf8proc_int32_t point = 0;
        utf8proc_ssize_t n = next_point(json + at, len - at, &point);
        size_t used = n > 0 ? (size_t)n : 1;
        if (n > 0 && point != '\n' && is_hidden(point)) {
            buffer_add(out, json + plain, at - plain);
            buffer_printf(out, "\\u%04x", (unsigned)point);
            plain = at + used;
        }
        at += used;
    }
    buffer_add(out, json + plain, len - plain);
}
