/* The simulated clock. The clock starts at the real time, runs at its own speed, and can be moved. All times
 * are microseconds since 1970 on this clock, unless their name contains monotonic. */
#ifndef SIMULATOR_CLOUD_CLOCK_H
#define SIMULATOR_CLOUD_CLOCK_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define US_PER_SECOND   INT64_C(1000000)
#define CLOCK_TEXT_SIZE 40

struct sim_clock {
    int64_t base_monotonic_us;
    int64_t base_sim_us;
    int64_t started_sim_us;
    double speed;
};

int64_t clock_monotonic_us(void);
void clock_init(struct sim_clock *clock, double speed);
int64_t clock_now_us(const struct sim_clock *clock);
void clock_advance(struct sim_clock *clock, int64_t delta_us);
void clock_set_speed(struct sim_clock *clock, double speed);

/* Writes the time as RFC 3339 in UTC, in whole seconds. */
void clock_format(int64_t at_us, char *out, size_t size);
json_t *clock_json(int64_t at_us);
/* Reads the form of clock_format; returns -1 for any other text. */
int64_t clock_parse(const char *text);
int64_t clock_from_seconds(double seconds);

#endif
