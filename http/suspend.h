/*
 * Requests that wait for a result, before their body is read (in `check`) or afterwards. An HTTP worker and
 * the thread that resumes the request share only a struct suspension, which has a reference count and a
 * lock. The request may end before the result comes (http_stop), or the result may come first. The later of
 * the two frees the struct (MH-10, MH-13).
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
    pthread_mutex_t lock; /* protects `waiting` */
    struct list waiting;
    atomic_uint count;
    atomic_uint owned; /* the number of suspended requests that have an owner (suspension_terms) */
};

void suspensions_init(struct suspensions *all);
void suspensions_done(struct suspensions *all);
/* Resumes all requests whose result did not come before their `due`; INT64_MAX: all requests. Only this
 * function ends a wait. `suspensions` points to a struct suspensions; it is a void pointer because the
 * reaper's tick passes one. Any thread. */
void suspensions_expire(void *suspensions, mono_us now);

struct suspension_terms {
    const char *owner; /* the name for which the wait is counted (http_suspended_of); NULL: the wait is not
                        * counted */
    mono_us due;       /* when the wait ends */
    /* Frees a result that comes after its request has ended. Any thread. */
    void (*discard)(void *result);
};

/*
 * Suspends the connection of a request until suspension_resume, or until the time terms->due. The caller gets
 * a reference, which it passes to the code that resumes. NULL when the server stops. Called by `check`,
 * `handle` and their continuations (http/http.h), on the worker of the request.
 */
struct suspension *http_suspend(struct server_request *r, const struct suspension_terms *terms);
/* Called once, on any thread: takes over the reference and the result, with which the application
 * continues. */
void suspension_resume(struct suspension *s, void *result);
/* Returns the number of suspended requests that have an owner: all, and those of this owner. Any thread. */
unsigned http_suspended(const struct server_request *r);
unsigned http_suspended_of(const struct server_request *r, const char *owner);

/* Removes the request from the list; returns its result, or NULL. Runs on its worker. */
void *suspension_leave(struct server_request *r);
/* Does the same as suspension_leave for a request that ends, and discards the result. */
void suspension_drop(struct server_request *r);

#endif
