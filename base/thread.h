/* What the threads of the daemon have in common. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

/*
 * For the calling thread, at its start: gives it a name, and lets those that answer requests go before it
 * where there are not processors enough for all (a higher nice value; refused by some sandboxes, which does
 * no harm). The name is static.
 */
void thread_in_background(const char *name);

/*
 * For the calling thread, between two small pieces of much work, without a lock: lets others run that wait
 * for this processor, when it has not done so for 150 microseconds. Else Linux lets it go on until the next
 * tick of its clock, 4 or 10 ms, also beside threads of a higher share. Cheap enough for each of thousands of
 * pieces.
 */
void thread_step_aside(void);

#endif
