/* Makes the answer to a request: finds its route, then uses recorded traffic, faults, or the real work. */
#include "simulator/process.h"

#include "base/lock.h"
#include "base/mem.h"
#include "simulator/cloud/lifecycle.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"
#include "simulator/request/answers.h"

#include <assert.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_exchange *process_begin(struct sim *sim, struct MHD_Connection *connection, const char *method,
                                   const char *path)
{
    struct sim_exchange *x = mem_calloc(1, sizeof(*x));
    x->sim = sim;
    x->connection = connection;
    x->method = mem_strdup(method);
    x->path = mem_strdup(path);
    x->decoded = mem_strdup(path);
    x->control = !strncmp(path, "/_sim/", 6);
    x->begun_us = clock_monotonic_us();
    routes_match(x);
    x->shoot_name = x->params[PARAM_SHOOT];
    if (x->control)
        return x;
    mutex_lock(&sim->lock);
    x->in_flight = request_log_begin(&sim->log, exchange_operation(x));
    x->begun_sim_us = clock_now_us(&sim->clock);
    x->counted = true;
    mutex_unlock(&sim->lock);
    return x;
}

static bool exchange_find_project(struct sim_exchange *x)
{
    const char *tag = x->params[PARAM_REGION];
    x->region = sim_region(x->sim, tag, exchange_generation(x) == 1);
    if (!x->region) {
        char message[256];
        (void)snprintf(message, sizeof(message), "OpenStack region %s was not found", tag);
        answer_error(x, 404, message);
        return false;
    }
    x->project = sim_project(x->sim, x->params[PARAM_PROJECT]);
    if (!x->project) {
        answer_error(x, 404, "Not Found: Project not found");
        return false;
    }
    return true;
}

static bool exchange_check(struct sim_exchange *x)
{
    unsigned flags = x->route->flags;
    if ((flags & ROUTE_AUTH) != 0 &&
        !tokens_is_live(x->sim, exchange_header(x, "X-AUTH-LOGIN"), exchange_header(x, "X-AUTH-TOKEN"))) {
        answer_error(x, x->sim->settings.invalid_token_status, "Invalid token");
        return false;
    }
    if (!routes_check_params(x))
        return false;
    if ((flags & ROUTE_REGION) != 0 && !exchange_find_project(x))
        return false;
    if ((flags & ROUTE_SHOOT) == 0)
        return true;
    assert(x->region && x->project); /* each route to a shoot also has a region and a project */
    x->shoot = shoot_find(x->sim->shoots, x->region, x->project, x->params[PARAM_SHOOT]);
    if (!x->shoot)
        answer_error(x, 404, "Shoot not found");
    return x->shoot;
}

/* Does the real work, without faults. */
static void exchange_work(struct sim_exchange *x)
{
    bool is_missing =
        !x->route || (x->route->operation == OPERATION_KUBECONFIG_V3 && !x->sim->settings.v3_kubeconfig);
    if (x->body_too_large) {
        answer_error(x, 413, "Request body too large");
    } else if (is_missing) {
        answer_error(x, 404, "Not Found");
    } else if (exchange_check(x)) {
        assert(!(x->route->flags & ROUTE_SHOOT) || x->shoot);
        x->no_effect = false;
        x->route->handle(x);
        if (x->status / 100 == 2 && !x->no_effect && !x->control)
            x->sim->log.effects[exchange_operation(x)]++;
    }
}

/* Reads the name of the shoot from the body, for faults and the log. In v1 the name is inside a named
 * object. */
static void exchange_name_from_body(struct sim_exchange *x)
{
    const json_t *named = x->json;
    if (x->shoot_name || exchange_operation(x) != OPERATION_CREATE_SHOOT)
        return;
    if (exchange_generation(x) == 1)
        named = json_object_get(named, "shoot");
    x->shoot_name = json_string_value(json_object_get(named, "name"));
}

/* Writes the JSON answer as bytes. Called with the lock, because answers share values with the state. */
static void answer_write(struct sim_exchange *x)
{
    size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;
    if (!x->answer)
        return;
    if (exchange_generation(x) == 1 || x->sim->settings.escape_slashes)
        flags |= JSON_ESCAPE_SLASH;
    free(x->text);
    x->text = json_text(x->answer, flags);
    if (!x->text)
        x->text = mem_strdup("null");
    x->text_size = strlen(x->text);
    json_decref(x->answer);
    x->answer = NULL;
}

static void exchange_answer(struct sim_exchange *x)
{
    struct sim *sim = x->sim;
    lifecycle_advance_all(sim);
    if (x->control) {
        exchange_work(x);
    } else if (!replay_answer(x)) {
        const struct fault *fault = faults_take(&sim->faults, exchange_operation(x), x->shoot_name);
        if (fault)
            faults_apply(fault, x, exchange_work);
        else
            exchange_work(x);
    }
    answer_write(x);
    x->shoot = NULL; /* the shoot must not be used without the lock */
}

void process_finish(struct sim_exchange *x)
{
    struct sim *sim = x->sim;
    assert(x->control || x->counted);
    if (x->body_size > 0)
        x->json = json_loadb(x->body, x->body_size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    exchange_name_from_body(x);
    mutex_lock(&sim->lock);
    unsigned latency_ms = x->control ? 0 : sim->settings.latency_ms;
    mutex_unlock(&sim->lock);
    if (latency_ms > 0)
        (void)sim_sleep_ms(sim, latency_ms);
    mutex_lock(&sim->lock);
    exchange_answer(x);
    mutex_unlock(&sim->lock);
    if (x->delay_ms > 0 && x->delivery != DELIVER_SLOW)
        (void)sim_sleep_ms(sim, x->delay_ms);
}
