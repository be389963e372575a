/* The state directory: made when it is missing, opened once, and refused when others could change what is in
 * it. */
#ifndef DAEMON_STATE_DIR_H
#define DAEMON_STATE_DIR_H

/* A descriptor, or -1 with *ret_error (the caller frees it) saying what is wrong and what to do. Main thread.
 */
int state_dir_open(const char *path, char **ret_error);

#endif
