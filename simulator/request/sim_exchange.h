/* One request and its answer. The thread of its connection owns it. */
#ifndef SIMULATOR_REQUEST_SIM_EXCHANGE_H
#define SIMULATOR_REQUEST_SIM_EXCHANGE_H

#include "simulator/cloud/request_log.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXCHANGE_SEGMENTS_MAX 16
#define EXCHANGE_BODY_MAX     (1024U * 1024U)
#define EXCHANGE_STATE_MAX    (256U * 1024U * 1024U)

struct MHD_Connection;
struct sim_exchange;
struct sim_shoot;
struct sim;

enum param {
    PARAM_TAG,
    PARAM_REGION,
    PARAM_PROJECT,
    PARAM_SHOOT,
    PARAM_WORKER,
    PARAM_NODE,
    PARAM_DOMAIN,
    PARAM_USER,
    PARAM_NAME,
    PARAM_ID,
    PARAM_MAX_
};

enum route_flag {
    ROUTE_AUTH = 1,   /* the route needs a valid login and token */
    ROUTE_REGION = 2, /* region and project must exist */
    ROUTE_SHOOT = 4   /* the shoot must exist, too */
};

struct sim_route {
    const char *method;
    /* Parameters: {t}ag {r}egion {p}roject {s}hoot {w}orker {n}ode {d}omain {u}ser na{m}e {i}d */
    const char *pattern;
    enum operation operation;
    int generation; /* the generation of the API; 0: a path below /_sim/ */
    unsigned flags;
    int success; /* the status of an answer to a successful request */
    void (*handle)(struct sim_exchange *x);
};

enum delivery {
    DELIVER_WHOLE,
    DELIVER_DROP,
    DELIVER_HANG,
    DELIVER_TRUNCATED,
    DELIVER_OVERSIZE,
    DELIVER_SLOW
};

struct sim_exchange {
    struct sim *sim;
    struct MHD_Connection *connection;
    char *method;
    char *path;    /* the path as received, without the query */
    char *decoded; /* a copy of the path; `segments` points into it */
    const char *segments[EXCHANGE_SEGMENTS_MAX];
    size_t segment_count;
    const struct sim_route *route; /* NULL: there is no such path */
    const char *params[PARAM_MAX_];
    bool control; /* a request to /_sim/ */

    char *body;
    size_t body_size;
    bool body_too_large;
    json_t *json; /* the parsed body; NULL if there is none, or if it is not JSON */

    const char *region; /* the region in the spelling of the configuration; set after the check */
    const char *project;
    struct sim_shoot *shoot;
    const char *shoot_name;

    int status;
    json_t *answer; /* the answer is JSON or text; both NULL: the answer has no body */
    char *text;
    size_t text_size;
    const char *content_type;
    char *content_type_owned;
    json_t *headers;
    bool no_effect; /* the answer is 2xx although nothing was changed */
    enum delivery delivery;
    unsigned delay_ms;

    bool counted; /* whether request_log_begin was called, and request_log_end was not yet called */
    int64_t begun_us;
    int64_t begun_sim_us;
    unsigned in_flight;
    bool client_left; /* the client left before the answer */
};

struct sim_exchange *exchange_free(struct sim_exchange *x);
enum operation exchange_operation(const struct sim_exchange *x);
int exchange_generation(const struct sim_exchange *x);

/* Counts the end of the request and logs the request, once. With `status` 0, no answer was sent. */
void exchange_finish(struct sim_exchange *x, int status);

const char *exchange_header(const struct sim_exchange *x, const char *name);
const char *exchange_query(const struct sim_exchange *x, const char *name);

/* These functions set the answer. A later call replaces the answer of an earlier call. Values are taken
 * over. */
void answer_json(struct sim_exchange *x, int status, json_t *value);
void answer_text(struct sim_exchange *x, int status, const char *content_type, char *text);
void answer_empty(struct sim_exchange *x, int status);
void answer_error(struct sim_exchange *x, int status, const char *message);
/* Answers 400 with the list of errors for each property. The list is taken over. */
void answer_invalid(struct sim_exchange *x, json_t *errors);
void answer_reset(struct sim_exchange *x);

#endif
