/*
 * The changes of a configuration that was read again, key by key. Main thread, before it is put into force.
 */
#ifndef CONFIG_CHANGES_H
#define CONFIG_CHANGES_H

#include "config/config.h"

struct config_changes {
    json_t *applied;        /* array of keys, as "polling.idle", "accounts.main", "projects.team-a" */
    json_t *restart_needed; /* of those that a running process cannot change */
};

/*
 * Compares by the table of keys. A key that needs a restart gets the value in force, in `next`: it is the one
 * that the process goes on with. config_changes_done frees what *ret holds.
 */
void config_compare(const struct config *now, struct config *next, struct config_changes *ret);
void config_changes_done(struct config_changes *changes);
/* Whether both say the same of an issuer. Any thread. */
bool config_issuer_equal(const struct config_issuer *a, const struct config_issuer *b);
/* Whether a restart is needed to change the key, as it is written in the sample. */
bool config_key_needs_restart(const char *path);

#endif
