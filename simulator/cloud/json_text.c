#include "simulator/cloud/json_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 17 /* enough for every double */

void real_text(double value, char out[REAL_TEXT_SIZE])
{
    int digits = 0;
    int exponent;

    do
        snprintf(out, REAL_TEXT_SIZE, "%.*e", digits, value);
    while (++digits < DIGITS_MAX && strtod(out, NULL) != value);
    exponent = (int)strtol(strchr(out, 'e') + 1, NULL, 10);
    if (exponent >= -4 && exponent < 16)
        snprintf(out, REAL_TEXT_SIZE, "%.*f", digits - 1 > exponent ? digits - 1 - exponent : 1, value);
}

/* The end of the string that begins at `quote`. */
static const char *string_end(const char *quote)
{
    const char *at = quote + 1;

    while (*at != '"')
        at += *at == '\\' ? 2 : 1;
    return at + 1;
}

/* In place: a number is replaced only by a shorter one. */
static void shorten_reals(char *text)
{
    const char *in = text;
    char *out = text;

    while (*in != '\0') {
        char number[REAL_TEXT_SIZE] = "";
        const char *from = in;
        size_t size = 1;

        if (*in == '"') {
            size = (size_t)(string_end(in) - in);
        } else if (*in == '-' || (*in >= '0' && *in <= '9')) {
            size = strspn(in, "+-0123456789.eE");
            if (strcspn(in, ".eE") < size)
                real_text(strtod(in, NULL), number);
        }
        in += size;
        if (*number != '\0' && strlen(number) < size) {
            from = number;
            size = strlen(number);
        }
        memmove(out, from, size);
        out += size;
    }
    *out = '\0';
}

char *json_text(const json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags);

    if (text != NULL)
        shorten_reals(text);
    return text;
}
