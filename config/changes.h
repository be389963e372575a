/*
 * Finds the changes of a configuration that was read again, key by key. Called on the main thread, before the
 * new configuration is used.
 */
#ifndef CONFIG_CHANGES_H
#define CONFIG_CHANGES_H

#include "config/config.h"

struct config_changes {
    json_t *applied; /* array of keys, for example "polling.idle", "accounts.main", "projects.team-a" */
    json_t *restart_needed; /* array of the changed keys that need a restart, in the same form */
};

/*
 * Compares both configurations by the table of keys. A key that needs a restart gets its current value in
 * `next`, because the process continues with that value. config_changes_done frees the content of *ret.
 */
void config_compare(const struct config *now, struct config *next, struct config_changes *ret);
void config_changes_done(struct config_changes *changes);
/* Whether both describe the same issuer. Any thread. */
bool config_issuer_equal(const struct config_issuer *a, const struct config_issuer *b);
/* Whether a change of the key needs a restart; `path` is the key in the spelling of the sample. */
bool config_key_needs_restart(const char *path);

#endif
