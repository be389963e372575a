#include "base/trace.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
    ID_DIGITS = 32,
    SPAN_DIGITS = TRACE_SPAN_BYTES - 1,
    ID_AT = 3, /* 00-<id>-<parent>-<flags> */
    PARENT_AT = ID_AT + ID_DIGITS + 1,
    FLAGS_AT = PARENT_AT + SPAN_DIGITS + 1,
    FIELD_LEN = FLAGS_AT + 2,
    KNOWN_FLAGS = TRACE_SAMPLED | TRACE_RANDOM,
    TEXT_LEN = ID_DIGITS + 3, /* the length without a span */
};

/* Whether the text begins with `count` lower-case hex digits. */
static bool is_hex(const char *text, size_t count)
{
    return strspn(text, "0123456789abcdef") >= count;
}

static bool is_zero(const char *text, size_t count)
{
    return strspn(text, "0") >= count;
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static uint8_t flags_of(const char *two)
{
    return (uint8_t)((digit(two[0]) << 4 | digit(two[1])) & KNOWN_FLAGS);
}

/* Checks length and form, and the text after the flags: none in version 00, any text after a dash in later
 * versions. */
static bool is_wellformed(const char *field)
{
    if (strlen(field) < FIELD_LEN || !is_hex(field, 2) || field[2] != '-' ||
        !is_hex(field + ID_AT, ID_DIGITS) || field[PARENT_AT - 1] != '-' ||
        !is_hex(field + PARENT_AT, SPAN_DIGITS) || field[FLAGS_AT - 1] != '-' ||
        !is_hex(field + FLAGS_AT, 2) || !strncmp(field, "ff", 2))
        return false;
    char next = field[FIELD_LEN];
    return !next || (next == '-' && strncmp(field, "00", 2) != 0);
}

bool trace_parse(const char *field, struct trace *ret)
{
    if (!is_wellformed(field) || is_zero(field + ID_AT, ID_DIGITS) || is_zero(field + PARENT_AT, SPAN_DIGITS))
        return false;
    memcpy(ret->id, field + ID_AT, ID_DIGITS);
    ret->id[ID_DIGITS] = '\0';
    memcpy(ret->span, field + PARENT_AT, SPAN_DIGITS);
    ret->span[SPAN_DIGITS] = '\0';
    ret->flags = flags_of(field + FLAGS_AT);
    return true;
}

/* Writes the bytes as hex. Digits that are all 0 are invalid; the last digit then becomes 1. */
static void write_hex(const unsigned char *bytes, char *text, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++)
        text[i] = digits[i % 2 ? bytes[i / 2] & 15 : bytes[i / 2] >> 4];
    text[count] = '\0';
    if (is_zero(text, count))
        text[count - 1] = '1';
}

static void random_hex(const struct env *env, char *text, size_t count)
{
    unsigned char bytes[ID_DIGITS / 2];
    env->random(env, bytes, count / 2);
    write_hex(bytes, text, count);
}

void trace_begin(const struct env *env, struct trace *ret)
{
    random_hex(env, ret->id, ID_DIGITS);
    ret->span[0] = '\0';
    ret->flags = TRACE_RANDOM;
}

void trace_new_span(const struct env *env, char span[static TRACE_SPAN_BYTES])
{
    random_hex(env, span, SPAN_DIGITS);
}

void trace_span_of(const char *id, unsigned part, char span[static TRACE_SPAN_BYTES])
{
    char text[64];
    unsigned char digest[crypto_generichash_BYTES_MIN];
    const int len = snprintf(text, sizeof(text), "%s/%u", id, part);
    assert(len > 0 && (size_t)len < sizeof(text));
    (void)crypto_generichash(digest, sizeof(digest), (const unsigned char *)text, (unsigned long long)len,
                             NULL, 0);
    write_hex(digest, span, SPAN_DIGITS);
}

void trace_parent(const struct trace *t, const char *span, char field[static TRACEPARENT_BYTES])
{
    assert(t->id[0] && strlen(span) == SPAN_DIGITS);
    (void)snprintf(field, TRACEPARENT_BYTES, "00-%s-%s-%02x", t->id, span, (unsigned)t->flags);
}

const char *trace_to_text(const struct trace *t, char text[static TRACE_TEXT_BYTES])
{
    if (!t->id[0])
        return NULL;
    (void)snprintf(text, TRACE_TEXT_BYTES, "%s-%02x%s%s", t->id, (unsigned)t->flags, t->span[0] ? "-" : "",
                   t->span);
    return text;
}

void trace_from_text(const char *text, struct trace *ret)
{
    *ret = (struct trace){0};
    const size_t len = text ? strlen(text) : 0;
    const char *span = len == TRACE_TEXT_BYTES - 1 ? text + TEXT_LEN + 1 : NULL;
    if ((len != TEXT_LEN && !span) || !is_hex(text, ID_DIGITS) || text[ID_DIGITS] != '-' ||
        !is_hex(text + ID_DIGITS + 1, 2) || (span && (span[-1] != '-' || !is_hex(span, SPAN_DIGITS))))
        return;
    memcpy(ret->id, text, ID_DIGITS);
    ret->flags = flags_of(text + ID_DIGITS + 1);
    if (span)
        memcpy(ret->span, span, SPAN_DIGITS);
}
