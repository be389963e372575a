/*
 * How far things are, on standard error: on a terminal a line with a bar for each, drawn
 * over the old ones; elsewhere a line for each change and a sign of life. While it is there Ctrl-C is a wish:
 * the first one sets a flag, a second one ends the program at once. One thread, one at a time.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"

struct cli;
struct progress;

enum progress_state { PROGRESS_GOES_ON, PROGRESS_SUCCEEDED, PROGRESS_FAILED };

/* Shows nothing yet. The caller ends it by progress_end. */
void progress_begin(struct cli *cli, size_t count);
/* Line `i`: its text is copied. `percent` below 0: not known. `since` is an RFC 3339 time or NULL. */
void progress_set(struct cli *cli, size_t i, const char *label, int percent, const char *message,
                  const char *since, enum progress_state state);
/* A line that stays, above those that move. Foreign text is escaped. */
void progress_note(struct cli *cli, const char *format, ...) ATTR_PRINTF(2, 3);
/* Shows the last state once more, leaves it there, and gives Ctrl-C its usual meaning back. */
void progress_end(struct cli *cli);

/* Draws what is due; true after Ctrl-C. `ctx` is the struct cli: what http calls while it waits. Without a
 * progress it does nothing. */
bool progress_tick(void *ctx);

/* One bar line of at most `width` columns: pure, for tests. The caller frees it. */
char *progress_line(const char *label, int percent, const char *message, const char *elapsed, size_t width);

#endif
