/* Settings that the threads of the daemon share. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

/*
 * For the calling thread and the threads that it starts. On Linux 6.12 and later, such a thread runs before
 * background threads as soon as it has work, unless it has used up its slice.
 */
void thread_answers(void);

/*
 * Called by a thread at its start. Names the thread and raises its nice value. When there are fewer
 * processors than busy threads, the threads that answer requests then run first. Some sandboxes refuse the
 * nice value, which does no harm. The name is static.
 */
void thread_in_background(const char *name);

/*
 * Called without a lock, between small pieces of a long work: yields the processor to threads that wait for
 * it. It acts only after 50 microseconds of work, so thousands of pieces can call it. While the threads that
 * answer requests use more than a quarter of the processors, the caller sleeps nine times as long as it has
 * worked. Otherwise reads would wait, because Linux lets the caller run up to 4 ms at a time after such a
 * wait, whatever its priority. Where other processes compute, the caller works longer before it yields, to
 * keep about its share.
 */
void thread_step_aside(void);

/* The number of processors that the process may use, as found at the first call. Any thread. */
int thread_processors(void);

#endif
