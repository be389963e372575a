/* The plain values of the configuration: numbers, durations, hosts, ports and web origins. Pure; any
 * thread. */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Accepts a whole number from low to high, with no text after it. */
bool value_integer(const char *text, int64_t low, int64_t high, int64_t *ret);
/* Accepts 250ms, 15s, 5m, 2h, 30d; the result is in microseconds. */
bool value_duration(const char *text, int64_t *ret_us);
enum { DURATION_BYTES = 24 };
/* Writes a duration in the largest unit that gives a whole number: 24h becomes 1d. */
void value_duration_write(int64_t us, char text[static DURATION_BYTES]);
/* Accepts 0 to 1, such as 0.05, with at most six decimals. */
bool value_ratio(const char *text, int *ret_millionths);
bool value_bool(const char *text, bool *ret);

/* Whether `text` is a host name: labels of letters, digits, '-' and '_'. A name that consists only of digits
 * and dots is not valid. */
bool host_name_is_valid(const char *text);

/*
 * Returns the fault of the first `len` characters of `text` as host[:port] with a port from `lowest_port` to
 * 65535. An IPv6 address is in brackets. With `address_only` a host name is refused and the port is required.
 * NULL when valid. Static text.
 */
const char *authority_fault(const char *text, size_t len, bool address_only, int lowest_port);

/* Checks that `text` is a web origin in the form of the Origin field. Returns the fault, a static text; NULL
 * when valid. */
const char *origin_fault(const char *text);

#endif
