/*
 * `shootd rotate-seal-key`: makes a new seal key and seals all sealed data of the store with it. Returns an
 * exit code. Blocking; nothing else runs in this process.
 */
#ifndef DAEMON_ROTATE_KEY_H
#define DAEMON_ROTATE_KEY_H

#include "config/config.h"

/*
 * The daemon must not run. After a kill at any moment, the old or the new key opens everything. The next
 * start, or the next call, finishes or removes an interrupted rotation (base/seal_key.h).
 */
int rotate_key(const struct config *config);

#endif
