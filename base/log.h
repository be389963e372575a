/*
 * Structured logging: one line for each fact, with a message and key/value pairs. Any thread; lines do not
 * interleave. No caller waits for a reader of the log while its writer runs (base/log_writer.h). Values are
 * escaped (AU-22), and text that has the form of a secret is masked (AU-21). This is only the last protection
 * against leaks: callers never pass secrets.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/log_writer.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG, LOG_LEVEL_MAX_ };

/* Sets the highest level that is written. Default: info. */
void log_set_level(enum log_level level);
/* Whether lines of this level are written. Callers use this function before they compute an expensive
 * value. */
bool log_is_written(enum log_level level);
/* Returns how many lines of a level were written since the start (metric log_messages_total). */
uint64_t log_count(enum log_level level);

/*
 * Writes one finished line. `message` is a sentence: the logged message with the values of {keys} in it, then
 * in brackets its subject (project, cluster, account, ...), then a colon and the reason (reason, error,
 * cause, ...). `keys` and `values` have `count` entries, already masked and escaped. The default sink writes
 * to stderr. The sink is set before threads start.
 */
typedef void (*log_sink)(enum log_level level, const char *message, const char *const *keys,
                         const char *const *values, unsigned count);
/* A NULL sink selects the default. */
void log_set_sink(log_sink sink);
/* For sinks: hands the formatted line over. `send` writes it, on this thread or on that of the writer. */
void log_hand_over(log_send send, const void *line, size_t len);

/* Sets the form of the lines of the default sink: logfmt for people and grep, or one JSON object per line.
 * The values of the object are all strings: `time`, `level`, `message`, and the keys. Default: text. Called
 * before threads start. */
enum log_lines { LOG_LINES_TEXT, LOG_LINES_JSON };
void log_set_lines(enum log_lines lines);

/*
 * Between log_hold and log_release the lines of the calling thread are written together, with few system
 * calls. Used by threads that write many lines at a time. With `waits`, when there is no room for them, the
 * thread waits up to five seconds once. Calls must not be nested.
 */
void log_hold(bool waits);
void log_release(void);

/* Arguments: the message, then pairs of (const char *key, const char *value), then NULL. A pair with a NULL
 * value is omitted. */
void log_write(enum log_level level, const char *message, ...) ATTR_SENTINEL;

#define log_error(...)   log_write(LOG_LEVEL_ERROR, __VA_ARGS__, NULL)
#define log_warning(...) log_write(LOG_LEVEL_WARNING, __VA_ARGS__, NULL)
#define log_info(...)    log_write(LOG_LEVEL_INFO, __VA_ARGS__, NULL)
#define log_debug(...)   log_write(LOG_LEVEL_DEBUG, __VA_ARGS__, NULL)

/* A number as a value: log_info("listening", "port", LOG_INT(8080)). */
#define LOG_INT(number) log_format_int((int64_t)(number), (char[24]){0})
const char *log_format_int(int64_t number, char text[static 24]);

/* Masks tokens, webhook secrets and bearer values in a string, in place. */
void log_mask_secrets(char *text);

#endif
