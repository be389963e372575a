/*
 * The file of the seal key: finds, makes and replaces it. During a replacement the old or the new key exists
 * at every moment. Directories are passed as descriptors. The functions block; they are called at the start,
 * and by commands.
 *
 * A rotation writes the new key to `seal.key.next` beside the old one. Then it commits all newly sealed
 * values together with the id of the new key. Then it renames the new file over the old one. A
 * `seal.key.next` that is found later belongs to an interrupted rotation. When the store contains the id of
 * that key, it is the current key; otherwise it was never used.
 */
#ifndef BASE_SEAL_KEY_H
#define BASE_SEAL_KEY_H

#include "base/seal.h"

/*
 * Loads the key from $CREDENTIALS_DIRECTORY/shootd-seal-key when that file exists. Otherwise loads `seal.key`
 * in the state directory; when this file is absent, makes it (mode 0600). Returns 0, or a negative errno with
 * the reason in *ret_error (the caller frees it).
 */
int seal_key_load(int state_dir, const struct env *env, struct seal_key *ret_key, char **ret_error);
/* Reads only `seal.key` and does not make it. Returns 0 or a negative errno. */
int seal_key_read(int state_dir, struct seal_key *ret_key);
/* Whether systemd passes the key as a credential. */
bool seal_key_is_credential(void);

/* Writes a new key beside the current one, and syncs the file. Returns 0 or a negative errno. */
int seal_key_write_next(int state_dir, const struct seal_key *key);
/*
 * Ends an interrupted rotation. `store_key_id` is the id of the key in the store, or "". Returns 1 when the
 * next key replaced the old one; the old file was then overwritten. Returns 0 when there was no next key, or
 * when it was removed. Otherwise returns a negative errno.
 */
int seal_key_settle(int state_dir, const char *store_key_id);

#endif
