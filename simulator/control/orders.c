#include "simulator/control/orders.h"

#include "simulator/cloud/conditions.h"
#include "simulator/cloud/sim.h"
#include "simulator/request/sim_exchange.h"

#include <stdio.h>

bool control_refuse_faults(struct sim_exchange *x, json_t *errors)
{
    if (json_array_size(errors) > 0) {
        answer_invalid(x, errors);
        return true;
    }
    json_decref(errors);
    return false;
}

bool control_is_good(struct sim_exchange *x, const struct rule *rules, size_t count)
{
    json_t *errors = json_array();
    check_order(errors, "", x->json, rules, count);
    return !control_refuse_faults(x, errors);
}

struct sim_shoot *control_shoot(struct sim_exchange *x)
{
    struct sim_shoot *shoot = shoot_find(x->sim->shoots, NULL, NULL, x->params[PARAM_SHOOT]);
    if (!shoot)
        answer_error(x, 404, "No such shoot");
    return shoot;
}

void control_check_codes(json_t *errors, const char *key, const json_t *codes)
{
    const json_t *code;
    size_t i;
    json_array_foreach (codes, i, code) {
        char item[100];
        (void)snprintf(item, sizeof(item), "%s[%zu]", key, i);
        check_word(errors, item, json_is_string(code) ? json_string_value(code) : "", error_codes);
    }
}
