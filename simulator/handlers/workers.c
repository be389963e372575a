/* Creates, updates and deletes worker groups. During a run, other requests are answered with 409. */
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"
#include "simulator/handlers/handlers.h"
#include "simulator/request/sim_exchange.h"
#include "simulator/wire/wire.h"

static json_t *worker_body(const struct sim_exchange *x)
{
    if (exchange_generation(x) == 1)
        return decode_v1_worker(json_object_get(x->json, "worker"));
    return json_incref(x->json);
}

static void answer_shoot(struct sim_exchange *x)
{
    answer_json(x, 202,
                exchange_generation(x) == 1 ? render_v1(x->sim, x->shoot) : render_v2(x->sim, x->shoot));
}

static void add_worker(struct sim_exchange *x, json_t *worker)
{
    const char *name = json_string_value(json_object_get(worker, "name"));
    if (shoot_worker(x->shoot, name)) {
        answer_error(x, 409, "A worker group with this name exists already");
        json_decref(worker);
        return;
    }
    (void)json_array_append_new(json_object_get(x->shoot->spec, "workers"), worker);
    lifecycle_accept(x->sim, x->shoot, RUN_WORKER_CREATE);
    answer_shoot(x);
}

void handle_create_worker(struct sim_exchange *x)
{
    json_t *errors = json_array();
    json_t *body = worker_body(x);
    json_t *worker = decode_worker(x->sim, x->region, body, "", errors);
    if (!worker)
        answer_invalid(x, json_incref(errors));
    else if (refuse_when_busy(x))
        json_decref(worker);
    else
        add_worker(x, worker);
    json_decref(body);
    json_decref(errors);
}

static bool find_worker(struct sim_exchange *x, size_t *ret_index)
{
    json_t *workers = json_object_get(x->shoot->spec, "workers");
    *ret_index = shoot_worker_index(x->shoot, x->params[PARAM_WORKER]);
    if (*ret_index < json_array_size(workers))
        return true;
    answer_error(x, 404, "Worker group not found");
    return false;
}

static void change_worker(struct sim_exchange *x, size_t index, const json_t *body)
{
    json_t *workers = json_object_get(x->shoot->spec, "workers");
    json_t *errors = json_array();
    enum run_kind kind = RUN_SCALE;
    json_t *worker =
        decode_worker_change(x->sim, x->shoot, json_array_get(workers, index), body, errors, &kind);
    if (!worker) {
        answer_invalid(x, json_incref(errors));
    } else {
        x->no_effect = json_equal(worker, json_array_get(workers, index));
        (void)json_array_set_new(workers, index, worker);
        if (!x->no_effect)
            lifecycle_accept(x->sim, x->shoot, kind);
        answer_shoot(x);
    }
    json_decref(errors);
}

void handle_update_worker(struct sim_exchange *x)
{
    size_t index;
    json_t *body;
    if (!find_worker(x, &index) || refuse_when_busy(x))
        return;
    body = worker_body(x);
    change_worker(x, index, body);
    json_decref(body);
}

void handle_delete_worker(struct sim_exchange *x)
{
    json_t *workers = json_object_get(x->shoot->spec, "workers");
    size_t index;
    if (!find_worker(x, &index) || refuse_when_busy(x))
        return;
    if (json_array_size(workers) == 1) {
        answer_error(x, 400, "The last worker group cannot be deleted");
        return;
    }
    (void)json_array_remove(workers, index);
    lifecycle_accept(x->sim, x->shoot, RUN_WORKER_DELETE);
    if (exchange_generation(x) == 1)
        answer_shoot(x);
    else
        answer_action(x);
}
