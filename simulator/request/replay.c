#include "simulator/request/replay.h"

#include "simulator/request/exchange.h"
#include "simulator/cloud/sim.h"

static const char *check_answer(const json_t *answer)
{
    json_int_t status = json_integer_value(json_object_get(answer, "status"));
    const json_t *headers = json_object_get(answer, "headers");

    if (operation_find(json_string_value(json_object_get(answer, "operation"))) == OPERATION_INVALID)
        return "unknown operation";
    if (status < 200 || status > 599)
        return "status must be 200 to 599";
    return headers == NULL || json_is_object(headers) ? NULL : "headers must be an object";
}

const char *replay_load(struct sim *sim, const json_t *answers)
{
    size_t i;
    json_t *answer;

    if (!json_is_array(answers))
        return "answers must be an array";
    json_array_foreach (answers, i, answer) {
        const char *reason = check_answer(answer);

        if (reason != NULL)
            return reason;
    }
    json_array_extend(sim->replay, (json_t *)(uintptr_t)answers);
    return NULL;
}

static void give(struct exchange *x, const json_t *recorded)
{
    int status = (int)json_integer_value(json_object_get(recorded, "status"));
    json_t *body = json_object_get(recorded, "body");
    json_t *headers = json_object_get(recorded, "headers");

    if (body == NULL)
        answer_empty(x, status);
    else if (json_is_string(body))
        answer_text(x, status, "text/plain", sim_strdup(json_string_value(body)));
    else
        answer_json(x, status, json_incref(body));
    x->headers = json_incref(headers);
}

bool replay_answer(struct exchange *x)
{
    size_t i;
    json_t *recorded;

    json_array_foreach (x->sim->replay, i, recorded) {
        enum operation wanted = operation_find(json_string_value(json_object_get(recorded, "operation")));

        if (wanted != OPERATION_ANY && wanted != exchange_operation(x))
            continue;
        give(x, recorded);
        json_array_remove(x->sim->replay, i);
        return true;
    }
    return false;
}
