/* Times for people: on a terminal how long ago, elsewhere as RFC 3339. Text that is no time is
 * escaped. One thread. */
#ifndef CLI_WHEN_H
#define CLI_WHEN_H

#include <stdint.h>

struct cli;

/* For a column: "3m ago" or "in 12d" on a terminal, else the time itself; NULL for none. The caller frees it.
 */
char *when_column(const struct cli *cli, const char *rfc3339);
/* For a line: "2026-11-21 06:51:20 CET (3m ago)" on a terminal, else the time itself; in local time unless
 * --utc. NULL for none. The caller frees it. */
char *when_line(const struct cli *cli, const char *rfc3339);
/* "12m3s" of so many seconds. The caller frees it. */
char *when_lasting(int64_t seconds);

#endif
