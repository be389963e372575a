/* What the threads of the daemon have in common. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

/*
 * For the calling thread, at its start: gives it a name, and lets those that answer requests go before it
 * where there are not processors enough for all (a higher nice value; refused by some sandboxes, which does
 * no harm). The name is static.
 */
void thread_in_background(const char *name);

#endif
