#include "exchange.h"

#include "faults.h"
#include "json_text.h"
#include "lifecycle.h"
#include "replay.h"
#include "routes.h"
#include "shoot.h"
#include "sim.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct exchange *exchange_new(struct sim *sim, struct MHD_Connection *connection, const char *method,
                              const char *path)
{
    struct exchange *x = sim_alloc(sizeof *x);

    x->sim = sim;
    x->connection = connection;
    x->method = sim_strdup(method);
    x->path = sim_strdup(path);
    x->decoded = sim_strdup(path);
    x->control = strncmp(path, "/_sim/", 6) == 0;
    x->begun_us = clock_monotonic_us();
    routes_match(x);
    x->shoot_name = x->params[PARAM_SHOOT];
    if (x->control)
        return x;
    pthread_mutex_lock(&sim->lock);
    x->in_flight = request_log_begin(&sim->log, exchange_operation(x));
    x->begun_sim_us = clock_now_us(&sim->clock);
    x->counted = true;
    pthread_mutex_unlock(&sim->lock);
    return x;
}

struct exchange *exchange_free(struct exchange *x)
{
    if (x == NULL)
        return NULL;
    exchange_finish(x, 0);
    /* Its documents have parts in common with the state, which other threads work on. */
    pthread_mutex_lock(&x->sim->lock);
    answer_reset(x);
    json_decref(x->json);
    pthread_mutex_unlock(&x->sim->lock);
    free(x->content_type_owned);
    free(x->body);
    free(x->decoded);
    free(x->path);
    free(x->method);
    free(x);
    return NULL;
}

enum operation exchange_operation(const struct exchange *x)
{
    return x->route != NULL ? x->route->operation : OPERATION_OTHER;
}

int exchange_generation(const struct exchange *x)
{
    return x->route != NULL ? x->route->generation : 2;
}

const char *exchange_header(const struct exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

const char *exchange_query(const struct exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_GET_ARGUMENT_KIND, name);
}

static char *copy_header(const struct exchange *x, const char *name)
{
    const char *value = exchange_header(x, name);

    return value != NULL ? sim_strdup(value) : NULL;
}

void exchange_finish(struct exchange *x, int status)
{
    struct request_entry entry = {0};

    if (!x->counted)
        return;
    x->counted = false;
    entry.at_us = x->begun_us - x->sim->log.started_us;
    entry.sim_us = x->begun_sim_us;
    entry.duration_us = clock_monotonic_us() - x->begun_us;
    entry.operation = exchange_operation(x);
    entry.status = status;
    entry.in_flight = x->in_flight;
    entry.client_left = x->client_left;
    snprintf(entry.method, sizeof entry.method, "%s", x->method);
    entry.path = sim_strdup(x->path);
    entry.shoot = x->shoot_name != NULL ? sim_strdup(x->shoot_name) : NULL;
    entry.traceparent = copy_header(x, "traceparent");
    entry.tracestate = copy_header(x, "tracestate");
    entry.request_id = copy_header(x, "X-Request-Id");
    pthread_mutex_lock(&x->sim->lock);
    request_log_end(&x->sim->log, &entry);
    pthread_mutex_unlock(&x->sim->lock);
}

void answer_reset(struct exchange *x)
{
    json_decref(x->answer);
    x->answer = NULL;
    free(x->text);
    x->text = NULL;
    x->text_size = 0;
    json_decref(x->headers);
    x->headers = NULL;
    x->content_type = NULL;
    x->status = 0;
}

void answer_json(struct exchange *x, int status, json_t *value)
{
    answer_reset(x);
    x->status = status;
    x->content_type = "application/json";
    x->answer = value;
}

void answer_text(struct exchange *x, int status, const char *content_type, char *text)
{
    answer_reset(x);
    x->status = status;
    x->content_type = content_type;
    x->text = text;
    x->text_size = strlen(text);
}

void answer_empty(struct exchange *x, int status)
{
    answer_reset(x);
    x->status = status;
}

void answer_error(struct exchange *x, int status, const char *message)
{
    answer_json(x, status, json_pack("{s:{s:i, s:s}}", "error", "code", status, "message", message));
}

void answer_invalid(struct exchange *x, json_t *errors)
{
    answer_json(x, 400,
                json_pack("{s:{s:i, s:s, s:o}}", "error", "code", 400, "message",
                          "One or more properties are invalid", "errors", errors));
}

static bool find_project(struct exchange *x)
{
    const char *tag = x->params[PARAM_REGION];

    x->region = sim_region(x->sim, tag, exchange_generation(x) == 1);
    if (x->region == NULL) {
        char message[256];

        snprintf(message, sizeof message, "OpenStack region %s was not found", tag);
        answer_error(x, 404, message);
        return false;
    }
    x->project = sim_project(x->sim, x->params[PARAM_PROJECT]);
    if (x->project == NULL) {
        answer_error(x, 404, "Not Found: Project not found");
        return false;
    }
    return true;
}

static bool find_shoot(struct exchange *x)
{
    x->shoot = shoot_find(x->sim, x->region, x->project, x->params[PARAM_SHOOT]);
    if (x->shoot == NULL)
        answer_error(x, 404, "Shoot not found");
    return x->shoot != NULL;
}

static bool is_missing_v3(const struct exchange *x)
{
    return x->route->operation == OPERATION_KUBECONFIG_V3 && !x->sim->settings.v3_kubeconfig;
}

static bool check_route(struct exchange *x)
{
    unsigned flags = x->route->flags;

    if ((flags & ROUTE_AUTH) != 0 &&
        !auth_is_valid(x->sim, exchange_header(x, "X-AUTH-LOGIN"), exchange_header(x, "X-AUTH-TOKEN"))) {
        answer_error(x, x->sim->settings.invalid_token_status, "Invalid token");
        return false;
    }
    if (!routes_check_params(x))
        return false;
    if ((flags & ROUTE_REGION) != 0 && !find_project(x))
        return false;
    return (flags & ROUTE_SHOOT) == 0 || find_shoot(x);
}

/* The real work, without faults. */
static void act(struct exchange *x)
{
    if (x->body_too_large) {
        answer_error(x, 413, "Request body too large");
    } else if (x->route == NULL || is_missing_v3(x)) {
        answer_error(x, 404, "Not Found");
    } else if (check_route(x)) {
        x->no_effect = false;
        x->route->handle(x);
        if (x->status / 100 == 2 && !x->no_effect && !x->control)
            x->sim->log.effects[exchange_operation(x)]++;
    }
}

/* The shoot a body names, for faults and the log; v1 wraps it. */
static void name_from_body(struct exchange *x)
{
    const json_t *named = x->json;

    if (x->shoot_name != NULL || exchange_operation(x) != OPERATION_CREATE_SHOOT)
        return;
    if (exchange_generation(x) == 1)
        named = json_object_get(named, "shoot");
    x->shoot_name = json_string_value(json_object_get(named, "name"));
}

/* Turns the JSON answer into bytes; done under the lock because answers share values with the state. */
static void write_answer(struct exchange *x)
{
    size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;

    if (x->answer == NULL)
        return;
    if (exchange_generation(x) == 1 || x->sim->settings.escape_slashes)
        flags |= JSON_ESCAPE_SLASH;
    free(x->text);
    x->text = json_text(x->answer, flags);
    if (x->text == NULL)
        x->text = sim_strdup("null");
    x->text_size = strlen(x->text);
    json_decref(x->answer);
    x->answer = NULL;
}

static void answer_exchange(struct exchange *x)
{
    struct sim *sim = x->sim;

    lifecycle_advance_all(sim);
    if (x->control) {
        act(x);
    } else if (!replay_answer(x)) {
        const struct fault *fault = faults_take(&sim->faults, exchange_operation(x), x->shoot_name);

        if (fault != NULL)
            faults_apply(fault, x, act);
        else
            act(x);
    }
    write_answer(x);
    x->shoot = NULL; /* not ours once the lock is gone */
}

void exchange_process(struct exchange *x)
{
    struct sim *sim = x->sim;
    unsigned latency_ms;

    if (x->body_size > 0)
        x->json = json_loadb(x->body, x->body_size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    name_from_body(x);
    pthread_mutex_lock(&sim->lock);
    latency_ms = x->control ? 0 : sim->settings.latency_ms;
    pthread_mutex_unlock(&sim->lock);
    if (latency_ms > 0)
        (void)sim_sleep_ms(sim, latency_ms);

    pthread_mutex_lock(&sim->lock);
    answer_exchange(x);
    pthread_mutex_unlock(&sim->lock);

    if (x->delay_ms > 0 && x->delivery != DELIVER_SLOW)
        (void)sim_sleep_ms(sim, x->delay_ms);
}
