/* Handles /_sim/: requests of tests to the simulator. These requests are never logged, counted or delayed. */
#include "simulator/cloud/sim.h"
#include "simulator/handlers/handlers.h"
#include "simulator/request/answers.h"
#include "simulator/request/sim_exchange.h"

#include <stdlib.h>

static void control_refuse(struct sim_exchange *x, const char *reason)
{
    answer_error(x, 400, reason);
}

void control_healthz(struct sim_exchange *x)
{
    answer_json(x, 200, json_pack("{s:b}", "ok", 1));
}

void control_counters(struct sim_exchange *x)
{
    answer_json(x, 200, request_log_counters(&x->sim->log));
}

void control_requests(struct sim_exchange *x)
{
    const char *since = exchange_query(x, "since");
    answer_json(x, 200, request_log_items(&x->sim->log, since ? strtoll(since, NULL, 10) : 0));
}

void control_requests_clear(struct sim_exchange *x)
{
    request_log_clear(&x->sim->log);
    answer_empty(x, 204);
}

void control_clock(struct sim_exchange *x)
{
    answer_json(x, 200,
                json_pack("{s:o, s:f}", "now", clock_json(clock_now_us(&x->sim->clock)), "speed",
                          x->sim->clock.speed));
}

void control_clock_set(struct sim_exchange *x)
{
    const json_t *advance = json_object_get(x->json, "advance_seconds");
    const json_t *speed = json_object_get(x->json, "speed");
    if (!advance && !speed) {
        control_refuse(x, "advance_seconds or speed is needed");
        return;
    }
    if (advance &&
        (!json_is_number(advance) || json_number_value(advance) < 0 || json_number_value(advance) > 1e9)) {
        control_refuse(x, "advance_seconds must be a number from 0 to 1e9");
        return;
    }
    if (speed && (!json_is_number(speed) || json_number_value(speed) < 0 || json_number_value(speed) > 1e9)) {
        control_refuse(x, "speed must be a number from 0 to 1e9");
        return;
    }
    if (speed)
        clock_set_speed(&x->sim->clock, json_number_value(speed));
    if (advance)
        clock_advance(&x->sim->clock, clock_from_seconds(json_number_value(advance)));
    lifecycle_advance_all(x->sim);
    control_clock(x);
}

void control_faults(struct sim_exchange *x)
{
    answer_json(x, 200, json_pack("{s:o}", "items", faults_render(&x->sim->faults)));
}

void control_faults_add(struct sim_exchange *x)
{
    json_t *errors = json_array();
    const struct fault *fault = faults_add(&x->sim->faults, x->json, errors);
    if (!fault)
        answer_invalid(x, json_incref(errors));
    else
        answer_json(x, 201, json_pack("{s:I}", "id", (json_int_t)fault->id));
    json_decref(errors);
}

void control_faults_clear(struct sim_exchange *x)
{
    faults_clear(&x->sim->faults);
    sim_release(x->sim);
    answer_empty(x, 204);
}

void control_fault_remove(struct sim_exchange *x)
{
    if (faults_remove(&x->sim->faults, strtoll(x->params[PARAM_ID], NULL, 10)))
        answer_empty(x, 204);
    else
        answer_error(x, 404, "No such fault");
}

void control_tokens(struct sim_exchange *x)
{
    answer_json(x, 200, json_pack("{s:I}", "live", (json_int_t)tokens_live_count(x->sim)));
}

void control_tokens_expire(struct sim_exchange *x)
{
    tokens_expire_all(x->sim);
    answer_empty(x, 204);
}

void control_settings(struct sim_exchange *x)
{
    answer_json(x, 200, settings_render(&x->sim->settings));
}

void control_settings_set(struct sim_exchange *x)
{
    const char *wrong = json_is_object(x->json) ? settings_apply(&x->sim->settings, x->json) : "body";
    if (wrong)
        answer_invalid(x, json_pack("[{s:s, s:s}]", "key", wrong, "value", "is unknown or not usable"));
    else
        control_settings(x);
}

void control_down(struct sim_exchange *x)
{
    const json_t *down = json_object_get(x->json, "down");
    if (!json_is_boolean(down)) {
        control_refuse(x, "down must be true or false");
        return;
    }
    x->sim->down = json_is_true(down);
    answer_json(x, 200, json_pack("{s:b}", "down", x->sim->down));
}

void control_replay(struct sim_exchange *x)
{
    const char *reason = replay_load(x->sim, json_object_get(x->json, "answers"));
    if (reason)
        control_refuse(x, reason);
    else
        answer_json(x, 201, json_pack("{s:I}", "waiting", (json_int_t)json_array_size(x->sim->replay)));
}

void control_replay_clear(struct sim_exchange *x)
{
    (void)json_array_clear(x->sim->replay);
    answer_empty(x, 204);
}
