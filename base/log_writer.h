/*
 * The way of log lines out of the process. While the writer runs, callers only copy a line into a bounded
 * queue, and a thread of its own writes it: nobody but this thread waits when a pipe or the journal is not
 * read. A line that does not fit is dropped and counted. While the writer does not run, callers write. Lines
 * keep their order. Any thread, except where it says otherwise.
 */
#ifndef BASE_LOG_WRITER_H
#define BASE_LOG_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum {
    LOG_QUEUE_BYTES = 2 * 1024 * 1024, /* the limit of lines that wait, with 16 bytes for each line */
    LOG_AT_ONCE = 64,                  /* the limit of lines of one send */
};

/* Writes whole lines, at most LOG_AT_ONCE. May wait. Returns how many were lost. It may change the array. */
typedef unsigned (*log_send)(struct iovec *lines, unsigned count);

/* Starts the thread. Without the thread, callers continue to write themselves. Called by the main thread. */
void log_writer_start(void);
/* Waits until the waiting lines are written, but not longer than `patience_us`, and ends the thread. Later
 * lines are written by their callers, or dropped when the thread still waits for a reader. Called by the main
 * thread. */
void log_writer_stop(int64_t patience_us);

/* Hands a line over; it is copied. `is_held`: more lines follow, and log_writer_flush or log_writer_wake
 * comes after the last one. With `patience_us` above 0 the caller waits that long for room, and half the
 * queue stays free for lines of others. Returns false when the line was dropped. */
bool log_writer_add(log_send send, const void *line, size_t len, bool is_held, int64_t patience_us);
/* Has the lines that were added as held written. */
void log_writer_wake(void);
/* Waits until all lines are written, but not longer than `patience_us`. */
void log_writer_flush(int64_t patience_us);
/* Returns how many lines were lost or dropped since the start (metric shootd_log_lines_dropped_total). */
uint64_t log_writer_dropped(void);

#endif
