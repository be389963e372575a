/*
 * Requests that wait for a result. An HTTP worker and the thread that resumes share only a struct suspension:
 * reference counted, with a lock. The request may end first (http_stop), or the result may come first. The
 * later of the two frees the struct (MH-10, MH-13).
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
/* Resumes all requests whose result did not come before their `due`; INT64_MAX: all requests. Only this
 * function ends a wait. `suspensions` is a struct suspensions, as the reaper's tick passes it. Any thread. */
void suspensions_expire(void *suspensions, mono_us now);

/*
 * Suspends the connection of a request until suspension_resume, or until it is due. The caller gets a
 * reference, which it passes to the code that resumes. The wait counts for `owner`. NULL when the server
 * stops. The worker of the request.
 */
struct suspension *http_suspend(struct server_request *r, const char *owner, mono_us due);
/* Any thread, once: takes over the reference and the result, with which the application continues. */
void suspension_resume(struct suspension *s, void *result);
/* The number of suspended requests, in total and of an owner. Any thread. */
unsigned http_suspended(const struct server_request *r);
unsigned http_suspended_of(const struct server_request *r, const char *owner);

/* Removes the request from the list; returns its result, or NULL. Its worker. */
void *suspension_leave(struct server_request *r);

#endif
