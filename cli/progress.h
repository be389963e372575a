/*
 * Shows progress on standard error. On a terminal each item has a line with a bar, which is drawn again in
 * the same place. Otherwise each change prints a line, and from time to time a line shows that the program
 * still waits. While progress is shown, Ctrl-C sets a flag, and a second Ctrl-C ends the program at once. One
 * thread, one progress at a time.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"

struct cli;
struct progress;

enum progress_state { PROGRESS_GOES_ON, PROGRESS_SUCCEEDED, PROGRESS_FAILED };

/* Begins to show the progress of `count` items, one line each; prints nothing yet. The caller ends it with
 * progress_end. */
void progress_begin(struct cli *cli, size_t count);
/* Sets line `i` and copies the texts. A `percent` below 0 means that the progress is not known. `since` is an
 * RFC 3339 time or NULL. */
void progress_set(struct cli *cli, size_t i, const char *label, int percent, const char *message,
                  const char *since, enum progress_state state);
/* Prints a line that stays, above the bars. Foreign text is escaped. */
void progress_note(struct cli *cli, const char *format, ...) ATTR_PRINTF(2, 3);
/* Draws the last state, leaves it on the screen, and restores the usual effect of Ctrl-C. */
void progress_end(struct cli *cli);

/* Draws the progress again when enough time has passed; returns true after Ctrl-C. The HTTP client calls this
 * function while it waits; `ctx` is the struct cli. Without a progress, the function does nothing. */
bool progress_tick(void *ctx);

/* Makes one line with a bar, at most `width` columns wide. Pure, so that tests can call it. The caller frees
 * it. */
char *progress_line(const char *label, int percent, const char *message, const char *elapsed, size_t width);

#endif
