/*
 * `shootd rotate-seal-key`: makes a new seal key and seals all sealed data of the store with it. The function
 * blocks; nothing else runs in this process.
 */
#ifndef DAEMON_ROTATE_KEY_H
#define DAEMON_ROTATE_KEY_H

#include "config/config.h"

/*
 * Rotates the key and returns an exit code. The daemon must not run. After a kill at any moment, the old key
 * or the new key opens all data. The next start, or the next call, finishes or removes an interrupted
 * rotation (base/seal_key.h).
 */
int rotate_key(const struct config *config);

#endif
