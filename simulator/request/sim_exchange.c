#include "simulator/request/sim_exchange.h"

#include "base/lock.h"
#include "base/mem.h"
#include "simulator/cloud/sim.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_exchange *exchange_free(struct sim_exchange *x)
{
    if (!x)
        return NULL;
    exchange_finish(x, 0);
    /* The documents of the exchange share parts with the state, and other threads use the state. */
    mutex_lock(&x->sim->lock);
    answer_reset(x);
    json_decref(x->json);
    mutex_unlock(&x->sim->lock);
    free(x->content_type_owned);
    free(x->body);
    free(x->decoded);
    free(x->path);
    free(x->method);
    free(x);
    return NULL;
}

enum operation exchange_operation(const struct sim_exchange *x)
{
    return x->route ? x->route->operation : OPERATION_OTHER;
}

int exchange_generation(const struct sim_exchange *x)
{
    return x->route ? x->route->generation : 2;
}

const char *exchange_header(const struct sim_exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

const char *exchange_query(const struct sim_exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_GET_ARGUMENT_KIND, name);
}

static char *copy_header(const struct sim_exchange *x, const char *name)
{
    const char *value = exchange_header(x, name);
    return mem_strdup(value);
}

void exchange_finish(struct sim_exchange *x, int status)
{
    struct request_entry entry = {0};
    if (!x->counted)
        return;
    assert(!x->control);
    x->counted = false;
    entry.at_us = x->begun_us - x->sim->log.started_us;
    entry.sim_us = x->begun_sim_us;
    entry.duration_us = clock_monotonic_us() - x->begun_us;
    entry.operation = exchange_operation(x);
    entry.status = status;
    entry.in_flight = x->in_flight;
    entry.client_left = x->client_left;
    (void)snprintf(entry.method, sizeof(entry.method), "%s", x->method);
    entry.path = mem_strdup(x->path);
    entry.shoot = mem_strdup(x->shoot_name);
    entry.traceparent = copy_header(x, "traceparent");
    entry.tracestate = copy_header(x, "tracestate");
    entry.request_id = copy_header(x, "X-Request-Id");
    mutex_lock(&x->sim->lock);
    request_log_end(&x->sim->log, &entry);
    mutex_unlock(&x->sim->lock);
}

void answer_reset(struct sim_exchange *x)
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

void answer_json(struct sim_exchange *x, int status, json_t *value)
{
    answer_reset(x);
    x->status = status;
    x->content_type = "application/json";
    x->answer = value;
}

void answer_text(struct sim_exchange *x, int status, const char *content_type, char *text)
{
    answer_reset(x);
    x->status = status;
    x->content_type = content_type;
    x->text = text;
    x->text_size = strlen(text);
}

void answer_empty(struct sim_exchange *x, int status)
{
    answer_reset(x);
    x->status = status;
}

void answer_error(struct sim_exchange *x, int status, const char *message)
{
    answer_json(x, status, json_pack("{s:{s:i, s:s}}", "error", "code", status, "message", message));
}

void answer_invalid(struct sim_exchange *x, json_t *errors)
{
    answer_json(x, 400,
                json_pack("{s:{s:i, s:s, s:o}}", "error", "code", 400, "message",
                          "One or more properties are invalid", "errors", errors));
}
