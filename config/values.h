/* What the plain values of the configuration mean. Any thread. */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* A whole number from low to high, and nothing behind it. */
bool value_integer(const char *text, int64_t low, int64_t high, int64_t *ret);
/* 250ms, 15s, 5m, 2h, 30d; in microseconds. */
bool value_duration(const char *text, int64_t *ret_us);
enum { DURATION_BYTES = 24 };
/* The same as a person writes it, in the largest unit that gives a whole number: 24h is 1d. */
void value_duration_write(int64_t us, char text[static DURATION_BYTES]);
bool value_bool(const char *text, bool *ret);

#endif
