/* Settings that the threads of the daemon share. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

/*
 * For the calling thread and those that it starts: Linux 6.12 and later lets it run before a thread in the
 * background as soon as it has something to do, and not when that has used up its slice.
 */
void thread_answers(void);

/*
 * For the calling thread, at its start: gives it a name, and lets those that answer requests go before it
 * where there are not processors enough for all (a higher nice value; refused by some sandboxes, which does
 * no harm). The name is static.
 */
void thread_in_background(const char *name);

/*
 * For the calling thread, between two small pieces of much work, without a lock: lets others run that wait
 * for this processor. Does so when it has worked for 50 microseconds; cheap enough for each of thousands of
 * pieces. While the threads that answer take more than a quarter of the processors, the caller sleeps for
 * nine times as long as it has worked: Linux gives a thread that has waited for its share up to 4 ms of it at
 * a time, whatever its priority, and reads would wait for that. Where other processes compute, it works
 * longer before it gives way again, so that it keeps about its share.
 */
void thread_step_aside(void);

/* How many processors the process may use, as they were at the first call. Any thread. */
int thread_processors(void);

#endif
