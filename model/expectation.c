#include "model/expectation.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct sample {
    int64_t *us; /* the durations, `count` of them */
    size_t count;
};

struct of_type {
    struct sample whole;
    struct sample steps[STEP_TYPE_MAX_];
};

struct expectation {
    size_t count;
    struct of_type types[OPERATION_TYPE_MAX_];
};

struct expectation *expectation_new(void)
{
    return MEM_NEW(struct expectation);
}

void expectation_free(struct expectation *x)
{
    for (size_t type = 0; x && type < OPERATION_TYPE_MAX_; type++) {
        free(x->types[type].whole.us);
        for (size_t step = 0; step < STEP_TYPE_MAX_; step++)
            free(x->types[type].steps[step].us);
    }
    free(x);
}

/* Doubles the array when it is full, up to its limit. */
static void add(struct sample *s, int64_t us)
{
    assert(s->count <= EXPECTATION_OF_A_TYPE);
    if (s->count == EXPECTATION_OF_A_TYPE)
        return;
    if ((s->count & (s->count - 1)) == 0)
        s->us = mem_realloc_array(s->us, s->count ? 2 * s->count : 1, sizeof(*s->us));
    s->us[s->count++] = us > 0 ? us : 0; /* the result may be negative, because wall clocks may be set back */
}

void expectation_add(struct expectation *x, const struct operation *op)
{
    assert(op->status == OPERATION_SUCCEEDED);
    struct of_type *type = &x->types[op->type];
    x->count++;
    add(&type->whole, op->finished_at - op->created_at);
    for (unsigned i = 0; i < op->step_count; i++) {
        const struct step_times times = operation_step_times(op, i);
        if (op->steps[i].status == STEP_DONE && times.running_us >= 0)
            add(&type->steps[op->steps[i].type], times.running_us);
    }
}

size_t expectation_count(const struct expectation *x)
{
    return x->count;
}

static int by_length(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Returns the percentile of a sorted sample by nearest rank, in milliseconds: the smallest value of the
 * sample for which at least `percent` percent of all values are less than or equal to it. */
static int64_t percentile_ms(const struct sample *s, size_t percent)
{
    assert(s->count);
    const size_t rank = (s->count * percent + 99) / 100;
    return (s->us[rank - 1] + US_PER_MS / 2) / US_PER_MS;
}

static json_t *summary(const char *type, struct sample *s)
{
    json_t *doc = json_object();
    qsort(s->us, s->count, sizeof(*s->us), by_length);
    json_set_str(doc, "type", type);
    json_set_int(doc, "count", (int64_t)s->count);
    json_set_int(doc, "p50_ms", percentile_ms(s, 50));
    json_set_int(doc, "p90_ms", percentile_ms(s, 90));
    return doc;
}

static json_t *item(enum operation_type type, struct of_type *of)
{
    json_t *doc = summary(operation_type_name(type), &of->whole), *steps = json_array();
    for (int step = 0; step < STEP_TYPE_MAX_; step++)
        if (of->steps[step].count)
            json_append_take(steps, summary(step_type_name((enum step_type)step), &of->steps[step]));
    json_set_take(doc, "steps", steps);
    return doc;
}

json_t *expectation_to_json(struct expectation *x)
{
    json_t *doc = json_object(), *items = json_array();
    for (int type = 0; type < OPERATION_TYPE_MAX_; type++)
        if (x->types[type].whole.count)
            json_append_take(items, item((enum operation_type)type, &x->types[type]));
    json_set_int(doc, "window_days", EXPECTATION_DAYS);
    json_set_take(doc, "items", items);
    return doc;
}
