/*
 * The access log (OB-12): which requests get a line, and the thread that writes the lines. A worker copies
 * what its line says into a bounded ring and goes on; when the ring is full the line is dropped and counted.
 */
#ifndef API_ACCESS_LOG_H
#define API_ACCESS_LOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

enum {
    ACCESS_LOG_ENTRIES = 2048, /* lines that wait; about 1 MiB once it was full */
    ACCESS_LOG_SLOW_MS = 1000, /* a request that takes longer gets a line, unless it was asked to wait */
};

struct access_entry;
struct request;

struct access_log {
    _Atomic int mode; /* enum access_log_mode */
    pthread_t thread;
    pthread_mutex_t lock;   /* guards the ring below; never held while lines are written */
    pthread_cond_t changed; /* a first entry, enough for a batch, or the end */
    struct access_entry *entries;
    unsigned first, count;
    bool is_stopping;
    _Atomic uint64_t dropped;
};

/* Starts the thread; negative errno on failure. */
int access_log_start(struct access_log *log, enum access_log_mode mode);
/* From the next request on. Any thread. */
void access_log_set(struct access_log *log, enum access_log_mode mode);
/* When no request is left: writes what waits, ends the thread. */
void access_log_stop(struct access_log *log);
/*
 * The request has ended: adds its line when the mode and the log level want one. `outcome` is NULL when the
 * answer was sent whole; static. The worker of the request; does not block on writing.
 */
void access_log_add(struct access_log *log, struct request *r, int64_t duration_us, const char *outcome);

#endif
