/* The meaning of the plain values of the configuration: numbers, durations, hosts, ports and web origins.
 * Pure; any thread. */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A whole number from low to high, and nothing behind it. */
bool value_integer(const char *text, int64_t low, int64_t high, int64_t *ret);
/* 250ms, 15s, 5m, 2h, 30d; in microseconds. */
bool value_duration(const char *text, int64_t *ret_us);
enum { DURATION_BYTES = 24 };
/* The same as a person writes it, in the largest unit that gives a whole number: 24h is 1d. */
void value_duration_write(int64_t us, char text[static DURATION_BYTES]);
/* 0 to 1, such as 0.05, at most six decimals. */
bool value_ratio(const char *text, int *ret_millionths);
bool value_bool(const char *text, bool *ret);

/* Whether `text` is a host name: labels of letters, digits, '-' and '_'; an all-numeric one is no name. */
bool host_name_is_valid(const char *text);

/*
 * Why the first `len` characters of `text` are no host[:port] with a port from `lowest_port` to 65535; an
 * IPv6 address stands in brackets. With `address_only` a host name is refused and the port is required.
 * NULL when nothing is wrong. Static text.
 */
const char *authority_fault(const char *text, size_t len, bool address_only, int lowest_port);

/* Why `text` is no origin as browsers write it in the Origin field; NULL when it is one. Static text. */
const char *origin_fault(const char *text);

#endif
