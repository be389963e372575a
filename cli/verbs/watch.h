/*
 * `--watch` of list and get: prints the rows, then a row for each change, until Ctrl-C. An event means that
 * the list may have changed; the rows come from the list. One thread.
 */
#ifndef CLI_VERBS_WATCH_H
#define CLI_VERBS_WATCH_H

#include "cli/api.h"

/* True when --watch is not given, or when the form of -o suits it. Else false after a report. */
bool watch_is_possible(const struct cli *cli);
/* Watches the clusters in the list of `target`. `project` is the only project in it, or NULL. Returns an
 * exit code, after reporting why it cannot continue. */
int watch_list(struct cli *cli, const struct api_target *target, const char *project);
/* Watches the clusters that the command line names. */
int watch_names(struct cli *cli, const char *project);

#endif
