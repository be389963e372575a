#include "base/timefmt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const day_names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char *const month_names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static void time_split(wall_us at, struct tm *tm, long *fraction_us)
{
    time_t seconds = (time_t)(at / US_PER_S);
    long us = (long)(at % US_PER_S);
    if (us < 0) {
        us += (long)US_PER_S;
        seconds--;
    }
    (void)gmtime_r(&seconds, tm);
    *fraction_us = us;
}

const char *time_rfc3339(wall_us at, bool with_fraction, char text[static TIME_TEXT_BYTES])
{
    struct tm tm;
    long us;
    time_split(at, &tm, &us);
    size_t n = strftime(text, TIME_TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
    if (with_fraction && us)
        (void)snprintf(text + n, TIME_TEXT_BYTES - n, ".%06ldZ", us);
    else
        (void)snprintf(text + n, TIME_TEXT_BYTES - n, "Z");
    return text;
}

const char *time_text(struct time_text *last, wall_us at)
{
    enum { FRACTION_DIGITS = 6 };
    int64_t second = at / US_PER_S;
    long us = (long)(at % US_PER_S);
    if (us < 0) {
        us += (long)US_PER_S;
        second--;
    }
    if (!last->len || last->second != second) {
        last->len = strlen(time_rfc3339(second * US_PER_S, false, last->text)) - strlen("Z");
        last->second = second;
    }
    char *end = last->text + last->len;
    if (us) {
        *end = '.';
        for (int digit = FRACTION_DIGITS; digit; us /= 10)
            end[digit--] = (char)('0' + us % 10);
        end += 1 + FRACTION_DIGITS;
    }
    memcpy(end, "Z", sizeof("Z"));
    return last->text;
}

static const char *parse_fraction(const char *p, long *us)
{
    *us = 0;
    if (*p != '.')
        return p;
    long scale = 100000;
    for (p++; *p >= '0' && *p <= '9'; p++) {
        *us += (*p - '0') * scale;
        scale /= 10;
    }
    return p;
}

/* Whether the month has this day: timegm would take 30 February as 2 March. */
static bool day_exists(const struct tm *tm)
{
    struct tm day = {.tm_year = tm->tm_year, .tm_mon = tm->tm_mon, .tm_mday = tm->tm_mday};
    (void)timegm(&day);
    return day.tm_mday == tm->tm_mday;
}

/* Reads a date and a time. Between them are `T` in either case, or a blank (RFC 3339, 5.6). */
static const char *parse_date_and_time(const char *text, struct tm *ret)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dt%H:%M:%S", "%Y-%m-%d %H:%M:%S"};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        *ret = (struct tm){0};
        const char *behind = strptime(text, forms[i], ret);
        if (behind)
            return day_exists(ret) ? behind : NULL;
    }
    return NULL;
}

bool time_parse_rfc3339(const char *text, wall_us *ret_at)
{
    struct tm tm;
    const char *p = parse_date_and_time(text, &tm);
    if (!p)
        return false;
    long us;
    p = parse_fraction(p, &us);
    int64_t offset_s = 0;
    if (*p == 'Z' || *p == 'z') {
        p++;
    } else if (*p == '+' || *p == '-') {
        int hours, minutes, used = 0;
        if (sscanf(p + 1, "%2d:%2d%n", &hours, &minutes, &used) != 2 || used != 5 || hours < 0 ||
            hours > 23 || minutes < 0 || minutes > 59)
            return false;
        offset_s = (hours * 60 + minutes) * 60;
        if (*p == '-')
            offset_s = -offset_s;
        p += 6;
    } else {
        return false;
    }
    if (*p)
        return false;
    *ret_at = ((int64_t)timegm(&tm) - offset_s) * US_PER_S + us;
    return true;
}

const char *time_http(wall_us at, char text[static TIME_TEXT_BYTES])
{
    struct tm tm;
    long us;
    time_split(at, &tm, &us);
    (void)snprintf(text, TIME_TEXT_BYTES, "%s, %02d %s %04d %02d:%02d:%02d GMT", day_names[tm.tm_wday],
                   tm.tm_mday, month_names[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
    return text;
}

bool time_parse_http(const char *text, wall_us *ret_at)
{
    static const char *const forms[] = {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT",
                                        "%a %b %e %H:%M:%S %Y"};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct tm tm = {0};
        const char *end = strptime(text, forms[i], &tm);
        if (end && !*end && day_exists(&tm)) {
            *ret_at = (int64_t)timegm(&tm) * US_PER_S;
            return true;
        }
    }
    return false;
}

/* Returns the number at the beginning of `text`, rounded up: 6 for "5.5", 60 for "60, 60". The text begins
 * with a digit. */
static int64_t leading_seconds(const char *text, int64_t max_s)
{
    static const char digits[] = "0123456789";
    const size_t whole = strspn(text, digits);
    const bool has_fraction =
        text[whole] == '.' && strspn(text + whole + 1, digits) > strspn(text + whole + 1, "0");
    return whole > 9 ? max_s : strtoll(text, NULL, 10) + has_fraction;
}

int64_t time_parse_retry_after(const char *text, wall_us now, int64_t max_s)
{
    wall_us at;
    int64_t seconds;
    if (time_parse_http(text, &at) || time_parse_rfc3339(text, &at))
        seconds = at <= now ? 0 : (at - now + US_PER_S - 1) / US_PER_S;
    else if (text[0] >= '0' && text[0] <= '9')
        seconds = leading_seconds(text, max_s);
    else
        return -1;
    return seconds > max_s ? max_s : seconds;
}

const char *time_for_name(wall_us at, char text[static TIME_TEXT_BYTES])
{
    const time_t seconds = (time_t)(at / US_PER_S);
    struct tm utc;
    (void)gmtime_r(&seconds, &utc);
    size_t len = strftime(text, TIME_TEXT_BYTES, "%Y%m%dT%H%M%S", &utc);
    (void)snprintf(text + len, TIME_TEXT_BYTES - len, ".%03dZ", (int)(at % US_PER_S / US_PER_MS));
    return text;
}

bool time_of_name(const char *text, wall_us *ret_at)
{
    char again[TIME_TEXT_BYTES];
    struct tm utc = {0};
    int ms = 0;
    if (sscanf(text, "%4d%2d%2dT%2d%2d%2d.%3dZ", &utc.tm_year, &utc.tm_mon, &utc.tm_mday, &utc.tm_hour,
               &utc.tm_min, &utc.tm_sec, &ms) != 7)
        return false;
    utc.tm_year -= 1900;
    utc.tm_mon--;
    const wall_us at = (wall_us)timegm(&utc) * US_PER_S + ms * US_PER_MS;
    if (at < 0 || strncmp(text, time_for_name(at, again), strlen(again)) != 0)
        return false;
    *ret_at = at;
    return true;
}
