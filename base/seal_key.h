/*
 * The seal key as a file: found, made, and replaced without a moment in which neither the old nor the new one
 * is there. Directories are descriptors. Blocking; at the start, and in commands.
 *
 * A rotation puts the new key beside the old one (`seal.key.next`), commits what it sealed together with the
 * id of the new key, and then lets it take the place of the old one. A `seal.key.next` that is found later is
 * settled: it is the key when the store names it, else it was never used.
 */
#ifndef BASE_SEAL_KEY_H
#define BASE_SEAL_KEY_H

#include "base/seal.h"

/*
 * Loads the key: $CREDENTIALS_DIRECTORY/shootd-seal-key when it is there, else `seal.key` in the
 * state directory, which is made (mode 0600) on first use. 0, or a negative errno with *ret_error (the caller
 * frees it) saying what is wrong.
 */
int seal_key_load(int state_dir, const struct env *env, struct seal_key *ret_key, char **ret_error);
/* Only `seal.key`, which is not made. 0 or a negative errno. */
int seal_key_read(int state_dir, struct seal_key *ret_key);
/* Whether systemd hands a key over. */
bool seal_key_is_credential(void);

/* Puts a new key beside the one in use, synced. 0 or a negative errno. */
int seal_key_write_next(int state_dir, const struct seal_key *key);
/* Whether a rotation was begun and not settled. */
bool seal_key_has_next(int state_dir);
/*
 * `store_key_id`: the id of the key that the store names, or "". 1: the next key took the place of the old
 * one, which was overwritten; 0: there was none, or it was removed; or a negative errno.
 */
int seal_key_settle(int state_dir, const char *store_key_id);

#endif
