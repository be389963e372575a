/* The process_* families that every Prometheus client library has, from /proc/self. */
#include "api/metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { FIELD_THREADS, FIELD_START, FIELD_VSIZE, FIELD_RSS, FIELD_MAX_ };

/* Numbers of /proc/self/stat by their place after the command name (proc(5), counted from `state` = 3). */
static bool read_stat(uint64_t values[static FIELD_MAX_])
{
    static const int places[FIELD_MAX_] = {
        [FIELD_THREADS] = 20, [FIELD_START] = 22, [FIELD_VSIZE] = 23, [FIELD_RSS] = 24};
    char text[1024];
    FILE *file = fopen("/proc/self/stat", "re");
    if (!file)
        return false;
    size_t n = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[n] = '\0';
    char *rest = strrchr(text, ')');
    if (!rest || !rest[1])
        return false;
    rest += 2;
    int place = 3;
    for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "), place++)
        for (int i = 0; i < FIELD_MAX_; i++)
            if (places[i] == place)
                values[i] = strtoull(word, NULL, 10);
    return place > places[FIELD_RSS];
}

static unsigned count_open_files(void)
{
    unsigned count = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return 0;
    for (const struct dirent *d = readdir(dir); d; d = readdir(dir))
        count += d->d_name[0] != '.';
    (void)closedir(dir);
    return count - 1; /* the directory itself */
}

static double boot_time(void)
{
    struct timespec wall;
    struct timespec up;
    (void)clock_gettime(CLOCK_REALTIME, &wall);
    (void)clock_gettime(CLOCK_BOOTTIME, &up);
    return (double)(wall.tv_sec - up.tv_sec) + (double)(wall.tv_nsec - up.tv_nsec) / 1e9;
}

static void one(struct buffer *out, const char *name, const char *type, const char *help, double value)
{
    (void)buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.15g\n", name, help, name, type, name, value);
}

void process_metrics_write(struct buffer *out)
{
    uint64_t stat[FIELD_MAX_] = {0};
    struct timespec cpu;
    struct rlimit files;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    one(out, "process_cpu_seconds_total", "counter", "Total user and system CPU time spent in seconds.",
        (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    one(out, "process_open_fds", "gauge", "Number of open file descriptors.", count_open_files());
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        one(out, "process_max_fds", "gauge", "Maximum number of open file descriptors.",
            (double)files.rlim_cur);
    if (!read_stat(stat))
        return;
    one(out, "process_virtual_memory_bytes", "gauge", "Virtual memory size in bytes.",
        (double)stat[FIELD_VSIZE]);
    one(out, "process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
        (double)stat[FIELD_RSS] * (double)sysconf(_SC_PAGESIZE));
    one(out, "process_start_time_seconds", "gauge", "Start time of the process since unix epoch in seconds.",
        boot_time() + (double)stat[FIELD_START] / (double)sysconf(_SC_CLK_TCK));
    one(out, "process_threads", "gauge", "Number of OS threads in the process.", (double)stat[FIELD_THREADS]);
}
