/*
 * Makes changes of names durable: a file that got a name, or lost it. Blocks; any thread that may do I/O.
 */
#ifndef BASE_DIRECTORY_H
#define BASE_DIRECTORY_H

/*
 * Writes the names of an open directory to the disk. Returns 0 or a negative errno. 0 also when the file
 * system cannot sync directories (EINVAL): it then keeps names in its own way, and no repetition helps.
 */
int directory_sync(int directory);

#endif
