/* Dates as text. Pure functions, any thread. Formats: RFC 3339 in UTC, IMF-fixdate (RFC
 * 9110 5.6.7). */
#ifndef BASE_TIMEFMT_H
#define BASE_TIMEFMT_H

#include <stdbool.h>

#include "base/env.h"

enum { TIME_TEXT_BYTES = 40 };

/* Writes "2026-03-01T12:05:00Z"; with microseconds only when they are not zero and `with_fraction` is set. */
const char *time_rfc3339(wall_us at, bool with_fraction, char text[static TIME_TEXT_BYTES]);

/* The text of a time. The part up to the second is used again for other times of the same second: one poll
 * reads hundreds of clusters in a second, and the date costs most of the processor time. A zeroed struct is
 * empty. */
struct time_text {
    int64_t second;
    size_t len; /* the length of the text without fraction and Z; 0: no text yet */
    char text[TIME_TEXT_BYTES];
};

/* Returns the text of `at` with its fraction, as time_rfc3339 writes it. `last` contains the text until the
 * next call. */
const char *time_text(struct time_text *last, wall_us at);
/* Writes "20260301T120500.123Z": for names of files; such names sort by time. */
const char *time_for_name(wall_us at, char text[static TIME_TEXT_BYTES]);
/* Reads the form of time_for_name; false when `text` does not begin with this form. */
bool time_of_name(const char *text, wall_us *ret_at);
/* Reads a date with any offset and fraction; false when `text` is not an RFC 3339 date-time. */
bool time_parse_rfc3339(const char *text, wall_us *ret_at);
/* Writes "Sun, 06 Nov 1994 08:49:37 GMT". */
const char *time_http(wall_us at, char text[static TIME_TEXT_BYTES]);
/* Reads the three forms of HTTP-date. */
bool time_parse_http(const char *text, wall_us *ret_at);
/*
 * Reads Retry-After (RFC 9110 10.2.3): seconds or a date, clamped to [0, max_s] seconds from `now` (UP-14).
 * Because servers also send other forms, an RFC 3339 date is accepted, too. When a text begins with a number,
 * the result is that number, rounded up. Returns -1 for any other text; the caller then waits as if the field
 * were absent.
 */
int64_t time_parse_retry_after(const char *text, wall_us now, int64_t max_s);

#endif
