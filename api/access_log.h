/*
 * The access log (OB-12): decides which requests are logged, and writes the lines on a separate thread. A
 * worker copies the content of a line into a bounded ring. When the ring is full, the line is dropped and
 * counted.
 */
#ifndef API_ACCESS_LOG_H
#define API_ACCESS_LOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

enum {
    ACCESS_LOG_ENTRIES = 2048, /* the limit of lines that wait; this many lines take about 1 MiB */
    ACCESS_LOG_SLOW_MS = 1000, /* a request that lasts longer is logged, unless its client asked to wait */
};

struct access_entry;
struct request;

struct access_log {
    _Atomic int mode; /* enum access_log_mode */
    pthread_t thread;
    pthread_mutex_t lock;   /* protects the members below; never held while lines are written */
    pthread_cond_t changed; /* signalled when the first entry comes, when a batch is full, and at the end */
    struct access_entry *entries;
    unsigned first, count;
    bool is_stopping;
    _Atomic uint64_t dropped;
};

/* Starts the thread; returns a negative errno on failure. */
int access_log_start(struct access_log *log, enum access_log_mode mode);
/* Changes the mode for all later requests. Any thread. */
void access_log_set(struct access_log *log, enum access_log_mode mode);
/* Called after the last request: writes the lines that still wait, and ends the thread. */
void access_log_stop(struct access_log *log);
/*
 * Called at the end of a request: adds a line if the mode and the log level require one. `outcome` is a
 * static text; NULL: the whole answer was sent. The worker of the request; does not block.
 */
void access_log_add(struct access_log *log, struct request *r, int64_t duration_us, const char *outcome);

#endif
