#include "cli/when.h"

#include <inttypes.h>
#include <time.h>

#include "base/env.h"
#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/glyphs.h"
#include "cli/shootctl.h"

enum { LEAST_S = 2 };

static const struct {
    int64_t seconds;
    char letter;
} units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};

/* Writes a duration. The text has at most two units, as in "3h12m", and only one when the time is longer than
 * a week. */
char *when_lasting(int64_t seconds)
{
    for (size_t i = 0; i + 1 < ARRAY_LEN(units); i++) {
        if (seconds < units[i].seconds)
            continue;
        int64_t first = seconds / units[i].seconds;
        int64_t second = seconds % units[i].seconds / units[i + 1].seconds;
        if (!second || (i == 0 && first >= 7))
            return mem_printf("%" PRId64 "%c", first, units[i].letter);
        return mem_printf("%" PRId64 "%c%" PRId64 "%c", first, units[i].letter, second, units[i + 1].letter);
    }
    return mem_printf("%" PRId64 "s", seconds > 0 ? seconds : 0);
}

/* How far the clock of the server is ahead. */
static int64_t ahead_us;

void when_hear(const char *date)
{
    wall_us at;
    if (!time_parse_http(date, &at))
        return;
    const int64_t difference = at - env_wall(env_real());
    /* A smaller difference is that of the way: the field has whole seconds. */
    ahead_us = difference > -LEAST_S * US_PER_S && difference < LEAST_S * US_PER_S ? 0 : difference;
}

wall_us when_now(void)
{
    return env_wall(env_real()) + ahead_us;
}

static char *relative(wall_us at)
{
    int64_t ago = (when_now() - at) / US_PER_S;
    char *lasting CLEANUP_FREE = when_lasting(ago < 0 ? -ago : ago);
    return ago < 0 ? mem_printf("in %s", lasting) : mem_printf("%s ago", lasting);
}

/* Returns the text in escaped form, because it may come from the server and contain any characters. */
static char *as_it_is(const char *text)
{
    return text ? glyphs_shown(text) : NULL;
}

char *when_column(const struct cli *cli, const char *rfc3339)
{
    wall_us at;
    if (!rfc3339 || !cli->out.is_terminal || !time_parse_rfc3339(rfc3339, &at))
        return as_it_is(rfc3339);
    return relative(at);
}

char *when_line(const struct cli *cli, const char *rfc3339)
{
    wall_us at;
    if (!rfc3339 || !cli->out.is_terminal || !time_parse_rfc3339(rfc3339, &at))
        return as_it_is(rfc3339);
    char date[64] = "";
    time_t seconds = (time_t)(at / US_PER_S);
    struct tm parts;
    if (cli->utc ? gmtime_r(&seconds, &parts) : localtime_r(&seconds, &parts))
        (void)strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %Z", &parts);
    char *ago CLEANUP_FREE = relative(at);
    return mem_printf("%s (%s)", date, ago);
}
