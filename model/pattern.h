/* The regular expressions of the domain, each compiled once. Pure; any thread. */
#ifndef MODEL_PATTERN_H
#define MODEL_PATTERN_H

#include <stdbool.h>

#define PATTERN_DNS_LABEL   "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
#define PATTERN_VERSION     "^[0-9]+([.][0-9]+)*$"
#define PATTERN_UUID        "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
#define PATTERN_WINDOW_TIME "^([01][0-9]|2[0-3])[0-5][0-9][0-5][0-9]([+](0[0-9]|1[0-4])|-(0[0-9]|1[0-2]))00$"
/* The five-field part of Cleura's P-CRON; it need only occur somewhere in the string. */
#define PATTERN_CRON "((([0-9]+,)+[0-9]+|[0-9*]+(/|-)[0-9]+|[0-9]+|[*]) ?){5,7}"

/* `pattern` is one of the above. */
bool pattern_matches(const char *pattern, const char *text);

#endif
