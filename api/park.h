/*
 * Requests that wait for their command. The parking lot has the only data that an HTTP worker and the loop
 * thread share: a struct parking, reference counted, with a lock. The request may vanish first (api_stop), or
 * the command may come back first; whoever is second cleans up (MH-10, MH-13).
 */
#ifndef API_PARK_H
#define API_PARK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/list.h"
#include "model/command.h"

struct request;

struct lot {
    pthread_mutex_t lock; /* guards `parked` */
    struct list parked;
    atomic_uint count;
};

void lot_init(struct lot *lot);
void lot_done(struct lot *lot);

/* A command with who asks filled in; the deadline is the default one. */
struct command *request_command(struct request *r, enum command_type type);
/* Suspends the connection and posts `cmd`, which it takes. The request is answered with the command's answer.
 */
struct problem *request_park(struct request *r, struct command *cmd);
/* Posts a command whose answer nobody waits for. It is left out while the server stops. */
void request_tell(struct request *r, struct command *cmd);
/* Second call after resume: turns the command's answer into r->answer. */
struct problem *request_unpark(struct request *r);
/*
 * The client left while its request was parked: libmicrohttpd ends it without calling the handler again.
 * Harmless for a request that is not parked. Its HTTP thread.
 */
void request_abandon(struct request *r);
/* Over the caps nobody else may wait long: the current state is answered at once (AO-16). */
bool request_may_wait(struct request *r);
/*
 * Resumes what waits although its command's deadline is over: the store does not answer, or the loop is held
 * up. The command goes on; what becomes of it can be read. The one place where waiting ends. The reaper's
 * thread.
 */
void lot_expire(struct lot *lot, mono_us now);
/* Resumes everything; what has no answer yet gets 503 shutting_down. */
void lot_evict(struct lot *lot);

#endif
