/* Times for people: on a terminal relative to now, otherwise as RFC 3339. Now is the time of the server,
 * because it wrote the times; the clock of this machine may be wrong. Text that is not a time is escaped. One
 * thread. */
#ifndef CLI_WHEN_H
#define CLI_WHEN_H

#include <stdint.h>

#include "base/env.h"

struct cli;

/* Takes the field Date of an answer of the server. */
void when_hear(const char *date);
/* Returns the time of the server; that of this machine before the first answer. */
wall_us when_now(void);
/* Returns a time for a column: "3m ago" or "in 12d" on a terminal, otherwise the time itself; NULL for NULL.
 * The caller frees it. */
char *when_column(const struct cli *cli, const char *rfc3339);
/* Returns a time for a line: "2026-11-21 06:51:20 CET (3m ago)" on a terminal, otherwise the time itself. The
 * text has local time unless --utc is given. NULL for NULL. The caller frees it. */
char *when_line(const struct cli *cli, const char *rfc3339);
/* Returns a number of seconds as "12m3s". The caller frees it. */
char *when_lasting(int64_t seconds);

#endif
