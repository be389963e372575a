/* Settings that the threads of the daemon share. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

/*
 * Sets the priority of the calling thread and of the threads that it starts. On Linux 6.12 and later, such a
 * thread runs before background threads as soon as it has work, until its time slice is used up.
 */
void thread_answers(void);

/*
 * Called by a thread at its start. Names the thread and raises its nice value. When there are fewer
 * processors than busy threads, the threads that answer requests then run first. Some sandboxes refuse the
 * nice value; that does no harm. The name is static.
 */
void thread_in_background(const char *name);

/*
 * Called without a lock, between small pieces of long work: yields the processor to threads that wait for it.
 * The function yields only after 50 microseconds of work, so callers may call it after thousands of small
 * pieces. While the threads that answer requests use more than a quarter of the processors, the caller sleeps
 * nine times as long as it has worked. Without these pauses, reads would wait: after a wait, Linux lets the
 * caller run for up to 4 ms at a time, whatever its priority. When other processes compute, the caller works
 * longer before it yields, so that its share remains about the same.
 */
void thread_step_aside(void);

/* Returns the number of processors that the process may use. The first call determines it. Any thread. */
int thread_processors(void);

#endif
