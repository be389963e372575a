#include "model/cron.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "model/pattern.h"

static const struct field {
    const char *name;
    int low, high;
} fields[] = {
    {"minute", 0, 59}, {"hour", 0, 23}, {"day of month", 1, 31}, {"month", 1, 12}, {"weekday", 0, 7},
};

/*
 * Gardener's parser has descriptors switched on and knows exactly these out of Cleura's list. @reboot it does
 * not know. @every it would take, but an interval counts from the start of Gardener's controller, so it names
 * no time at which a cluster sleeps.
 */
static const char *const shortcuts[] = {"@annually", "@yearly", "@monthly", "@weekly", "@daily", "@hourly"};

static char *shortcut_fault(const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(shortcuts); i++)
        if (!strcmp(text, shortcuts[i]))
            return NULL;
    return mem_strdup("only the shortcuts @annually, @yearly, @monthly, @weekly, @daily and @hourly name a "
                      "time here; use five fields, for example '0 20 * * 1-5'");
}

/* A number of at most four digits at *text, which moves behind it; -1 when there is none. */
static int take_number(const char **text)
{
    size_t len = strspn(*text, "0123456789");
    if (len < 1 || len > 4)
        return -1;
    int number = (int)strtol(*text, NULL, 10);
    *text += len;
    return number;
}

/* One item of a list: `*`, a number or a range, then perhaps a step. */
static char *item_fault(const struct field *field, const char *item)
{
    const char *rest = item;
    int low = field->low, high = field->high;
    if (*rest == '*') {
        rest++;
    } else {
        low = high = take_number(&rest);
        if (low >= 0 && *rest == '-') {
            rest++;
            high = take_number(&rest);
        }
    }
    int step = 1;
    if (low >= 0 && high >= 0 && *rest == '/') {
        rest++;
        step = take_number(&rest);
    }
    if (low < 0 || high < 0 || step < 0 || *rest)
        return mem_printf("%s '%s' is not a number, a range such as 1-5, or either with a step", field->name,
                          item);
    if (low < field->low || high > field->high)
        return mem_printf("%s '%s' is not within %d to %d", field->name, item, field->low, field->high);
    if (low > high)
        return mem_printf("%s '%s' ends before it begins", field->name, item);
    return step ? NULL : mem_printf("%s '%s' has a step of 0", field->name, item);
}

static char *field_fault(const struct field *field, const char *text)
{
    for (const char *c = text; *c; c++)
        if (isalpha((unsigned char)*c))
            return mem_printf("%s '%s': names are not taken, use numbers (weekday 0 is Sunday)", field->name,
                              text);
    for (const char *item = text;; item++) {
        size_t len = strcspn(item, ",");
        char *one CLEANUP_FREE = mem_strndup(item, len);
        char *fault = item_fault(field, one);
        item += len;
        if (fault || !*item)
            return fault;
    }
}

char *cron_fault(const char *text)
{
    if (*text == '@')
        return shortcut_fault(text);
    const char *rest = text;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        size_t len = strcspn(rest, " ");
        bool last = i + 1 == ARRAY_LEN(fields);
        if (!len || (rest[len] == '\0') != last)
            return mem_strdup("must have five fields with one blank between them: minute, hour, day of "
                              "month, month, weekday");
        char *one CLEANUP_FREE = mem_strndup(rest, len);
        char *fault = field_fault(&fields[i], one);
        if (fault)
            return fault;
        rest += len + !last;
    }
    return pattern_matches(PATTERN_CRON, text)
               ? NULL
               : mem_strdup("Cleura does not take this mix of ranges and steps; name the "
                            "values, for example 0,3,6,9");
}
