/* Conditions on the monotonic clock, so that a wait lasts as long as it says when the wall clock is set. Any
 * thread. */
#ifndef BASE_COND_H
#define BASE_COND_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Ended with pthread_cond_destroy. */
void cond_init(pthread_cond_t *cond);
/* What pthread_cond_timedwait takes for a wait that ends this many microseconds from now. */
struct timespec cond_until(int64_t timeout_us);

#endif
