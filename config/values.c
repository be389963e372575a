#include "config/values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/env.h"

bool value_integer(const char *text, int64_t low, int64_t high, int64_t *ret)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        return false;
    *ret = value;
    return true;
}

static const struct {
    const char *suffix;
    int64_t us;
} units[] = {{"ms", US_PER_MS},
             {"s", US_PER_S},
             {"m", 60 * US_PER_S},
             {"h", 3600 * US_PER_S},
             {"d", 86400 * US_PER_S}};

void value_duration_write(int64_t us, char text[static DURATION_BYTES])
{
    size_t i = 0;
    while (us && i + 1 < ARRAY_LEN(units) && us % units[i + 1].us == 0)
        i++;
    (void)snprintf(text, DURATION_BYTES, "%" PRId64 "%s", us / units[i].us, us ? units[i].suffix : "");
}

bool value_duration(const char *text, int64_t *ret_us)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || number < 0 || number > 1000000)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (!strcmp(end, units[i].suffix)) {
            *ret_us = number * units[i].us;
            return true;
        }
    return false;
}

bool value_bool(const char *text, bool *ret)
{
    *ret = !strcmp(text, "true");
    return *ret || !strcmp(text, "false");
}
