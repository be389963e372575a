/*
 * `shootd rotate-seal-key`: a new seal key, and everything that is sealed in the store sealed again with it.
 * An exit code. Blocking; nothing else runs in this process.
 */
#ifndef DAEMON_ROTATE_KEY_H
#define DAEMON_ROTATE_KEY_H

#include "config/config.h"

/*
 * The daemon must not run. Killed at any moment, the old or the new key opens everything; the next start, or
 * the next call, finishes what was begun or removes it (base/seal_key.h).
 */
int rotate_key(const struct config *config);

#endif
