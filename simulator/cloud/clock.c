#include "simulator/cloud/clock.h"

#include <string.h>
#include <time.h>

int64_t clock_monotonic_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

static int64_t wall_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

void clock_init(struct sim_clock *clock, double speed)
{
    clock->base_monotonic_us = clock_monotonic_us();
    clock->base_sim_us = wall_us();
    clock->started_sim_us = clock->base_sim_us;
    clock->speed = speed;
}

int64_t clock_now_us(const struct sim_clock *clock)
{
    int64_t passed_us = clock_monotonic_us() - clock->base_monotonic_us;
    return clock->base_sim_us + (int64_t)((double)passed_us * clock->speed);
}

void clock_advance(struct sim_clock *clock, int64_t delta_us)
{
    clock->base_sim_us += delta_us;
}

void clock_set_speed(struct sim_clock *clock, double speed)
{
    int64_t now_us = clock_now_us(clock);
    clock->base_monotonic_us = clock_monotonic_us();
    clock->base_sim_us = now_us;
    clock->speed = speed;
}

void clock_format(int64_t at_us, char *out, size_t size)
{
    time_t seconds = (time_t)(at_us / US_PER_SECOND);
    struct tm parts;
    if (size == 0)
        return;
    if (!gmtime_r(&seconds, &parts) || strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        out[0] = '\0';
}

json_t *clock_json(int64_t at_us)
{
    char text[CLOCK_TEXT_SIZE];
    clock_format(at_us, text, sizeof(text));
    return json_string(text);
}

int64_t clock_parse(const char *text)
{
    struct tm parts;
    const char *end;
    if (!text)
        return -1;
    memset(&parts, 0, sizeof(parts));
    end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (!end || *end)
        return -1;
    return (int64_t)timegm(&parts) * US_PER_SECOND;
}

int64_t clock_from_seconds(double seconds)
{
    return (int64_t)(seconds * (double)US_PER_SECOND);
}
