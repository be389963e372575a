/*
 * Requests that wait for a result. A struct suspension is the only data that an HTTP worker and the thread
 * that resumes share: reference counted, with a lock. The request may vanish first (http_stop), or the result
 * may come first; whoever is second cleans up (MH-10, MH-13).
 */
#ifndef HTTP_SUSPEND_H
#define HTTP_SUSPEND_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/env.h"
#include "base/list.h"

enum { SUSPENSION_OWNER_BYTES = 40 };

struct http;
struct server_request;
struct suspension;

/* All suspended requests of a server. */
struct suspensions {
    pthread_mutex_t lock; /* guards `waiting` */
    struct list waiting;
    atomic_uint count;
};

void suspensions_init(struct suspensions *all);
void suspensions_done(struct suspensions *all);
/* Resumes what is due: its result did not come in time; INT64_MAX: everything. The one place where waiting
 * ends. `suspensions` is a struct suspensions: the function is the tick of the reaper. Any thread. */
void suspensions_expire(void *suspensions, mono_us now);

/*
 * Suspends the connection of a request until suspension_resume, or until it is due. The caller gets a
 * reference, which it hands on to whoever resumes. `owner` is whom the wait counts for. NULL when the server
 * is being stopped. The worker of the request.
 */
struct suspension *http_suspend(struct server_request *r, const char *owner, mono_us due);
/* Any thread, once: takes the reference and the result, with which the application goes on. */
void suspension_resume(struct suspension *s, void *result);
/* How many requests are suspended, in all and of an owner. Any thread. */
unsigned http_suspended(const struct server_request *r);
unsigned http_suspended_of(const struct server_request *r, const char *owner);

/* Takes the request off the list; its result, or NULL. Its worker. */
void *suspension_leave(struct server_request *r);

#endif
