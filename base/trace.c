#include "base/trace.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    ID_DIGITS = 32,
    PARENT_DIGITS = 16,
    ID_AT = 3, /* 00-<id>-<parent>-<flags> */
    PARENT_AT = ID_AT + ID_DIGITS + 1,
    FLAGS_AT = PARENT_AT + PARENT_DIGITS + 1,
    FIELD_LEN = FLAGS_AT + 2,
    FLAG_RANDOM = 2,
    KNOWN_FLAGS = 3,
};

/* Exactly `count` lower-case hex digits. */
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

/* Length and form, and what may follow: nothing in version 00, more after a dash in later ones. */
static bool is_wellformed(const char *field)
{
    if (strlen(field) < FIELD_LEN || !is_hex(field, 2) || field[2] != '-' ||
        !is_hex(field + ID_AT, ID_DIGITS) || field[PARENT_AT - 1] != '-' ||
        !is_hex(field + PARENT_AT, PARENT_DIGITS) || field[FLAGS_AT - 1] != '-' ||
        !is_hex(field + FLAGS_AT, 2) || !strncmp(field, "ff", 2))
        return false;
    char next = field[FIELD_LEN];
    return !next || (next == '-' && strncmp(field, "00", 2) != 0);
}

bool trace_parse(const char *field, struct trace *ret)
{
    if (!is_wellformed(field) || is_zero(field + ID_AT, ID_DIGITS) ||
        is_zero(field + PARENT_AT, PARENT_DIGITS))
        return false;
    memcpy(ret->id, field + ID_AT, ID_DIGITS);
    ret->id[ID_DIGITS] = '\0';
    ret->flags = flags_of(field + FLAGS_AT);
    return true;
}

/* Random digits, not all zero. */
static void random_hex(const struct env *env, char *text, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[ID_DIGITS / 2];
    env->random(env, bytes, count / 2);
    for (size_t i = 0; i < count; i++)
        text[i] = digits[i % 2 ? bytes[i / 2] & 15 : bytes[i / 2] >> 4];
    text[count] = '\0';
    if (is_zero(text, count))
        text[count - 1] = '1';
}

void trace_begin(const struct env *env, struct trace *ret)
{
    random_hex(env, ret->id, ID_DIGITS);
    ret->flags = FLAG_RANDOM;
}

void trace_parent(const struct env *env, const struct trace *t, char field[static TRACEPARENT_BYTES])
{
    char parent[PARENT_DIGITS + 1];
    assert(t->id[0]);
    random_hex(env, parent, PARENT_DIGITS);
    (void)snprintf(field, TRACEPARENT_BYTES, "00-%s-%s-%02x", t->id, parent, (unsigned)t->flags);
}

const char *trace_to_text(const struct trace *t, char text[static TRACE_TEXT_BYTES])
{
    if (!t->id[0])
        return NULL;
    (void)snprintf(text, TRACE_TEXT_BYTES, "%s-%02x", t->id, (unsigned)t->flags);
    return text;
}

void trace_from_text(const char *text, struct trace *ret)
{
    *ret = (struct trace){0};
    if (!text || strlen(text) != TRACE_TEXT_BYTES - 1 || !is_hex(text, ID_DIGITS) || text[ID_DIGITS] != '-' ||
        !is_hex(text + ID_DIGITS + 1, 2))
        return;
    memcpy(ret->id, text, ID_DIGITS);
    ret->flags = flags_of(text + ID_DIGITS + 1);
}
