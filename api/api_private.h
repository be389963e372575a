/* The state of the API that its files share. Members without a comment do not change after api_start. */
#ifndef API_API_PRIVATE_H
#define API_API_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "api/access_log.h"
#include "api/api.h"
#include "api/auth.h"
#include "api/cursor.h"
#include "api/caller.h"
#include "api/metrics.h"
#include "api/streams.h"
#include "api/tickets.h"
#include "api/verifier.h"
#include "base/etag.h"
#include "http/http.h"
#include "http/rate_limit.h"

struct api {
    struct api_options options;
    struct api_limits limits; /* limits that never change; those that a new configuration may change are in
                               * `live` */
    struct {
        _Atomic int64_t streams, streams_per_token, stream_lifetime_us, heartbeat_us;
    } live;
    int http_threads;
    struct http *http; /* code for requests uses r->http.server instead, because a request may exist before
                        * this member is set */
    struct streams streams;
    atomic_uint exports; /* number of running exports */
    struct tickets tickets;
    struct jwt_cache jwts;
    struct verifier verifier;
    struct metrics metrics;
    struct access_log access_log;
    struct rate_limit requests;      /* the limit of requests, per token */
    struct rate_limit auth_failures; /* the limit of wrong credentials, per client address */
    struct rate_limit fresh_reads;   /* the limit of fresh reads, per token */
    _Atomic uint64_t refused_credentials[AUTH_FAILURE_MAX_];
    _Atomic uint64_t clients_generation; /* the generation of the rules in the current configuration */
    uint8_t cursor_secret[CURSOR_SECRET_BYTES];
    uint8_t print_key[TOKEN_PRINT_KEY_BYTES];
    char openapi_etag[ETAG_BYTES];
    _Atomic(struct http_coded *) openapi_coded[2]; /* the compressed forms of YAML and JSON; a worker sets
                                                    * each once */
    atomic_bool stopping;                          /* set when the server no longer answers requests */
};

/* Returns the current configuration. Called by a worker between enter and leave (http/http.h). */
static inline const struct config *api_config(const struct api *api)
{
    return config_current_get(api->options.config);
}

/* openapi.yaml as part of the program, made by tools/embed_openapi.py. Constant, any thread. */
extern const unsigned char openapi_yaml[];
extern const size_t openapi_yaml_len;
extern const unsigned char openapi_json[];
extern const size_t openapi_json_len;

#endif
