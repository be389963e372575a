/* The server itself, as its parts see it. Members without a remark do not change after api_start. */
#ifndef API_API_PRIVATE_H
#define API_API_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "api/acceptor.h"
#include "api/api.h"
#include "api/client.h"
#include "api/conditional.h"
#include "api/cursor.h"
#include "api/metrics.h"
#include "api/park.h"
#include "api/quota.h"
#include "api/reaper.h"
#include "api/streams.h"
#include "api/tickets.h"

struct api {
    struct api_options options;
    struct api_limits limits;
    struct MHD_Daemon *daemon;
    struct acceptor acceptor;
    struct reaper reaper;
    struct lot lot;
    struct streams streams;
    struct tickets tickets;
    struct metrics metrics;
    struct trust trust;
    struct quota requests;      /* by token */
    struct quota auth_failures; /* by client address */
    struct quota fresh_reads;   /* by token */
    uint8_t cursor_secret[CURSOR_SECRET_BYTES];
    uint8_t print_key[TOKEN_PRINT_KEY_BYTES];
    char openapi_etag[ETAG_DIGEST_BYTES];
    _Atomic(struct view_coded *) openapi_coded[2]; /* YAML, JSON; any worker sets them once */
    atomic_bool draining;
    atomic_bool stopping;        /* nothing may park any more */
    pthread_mutex_t flight_lock; /* guards in_flight against api_drained; uncontended but at drain */
    pthread_cond_t landed;
    atomic_uint in_flight; /* first handler call to NOTIFY_COMPLETED (MH-17, MH-18) */
};

#endif
