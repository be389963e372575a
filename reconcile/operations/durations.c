#include "reconcile/operations/durations.h"

#include <assert.h>
#include <stdio.h>

static const struct histogram_edges edges = {10,
                                             {1 * US_PER_S, 5 * US_PER_S, 15 * US_PER_S, 30 * US_PER_S,
                                              60 * US_PER_S, 120 * US_PER_S, 300 * US_PER_S, 600 * US_PER_S,
                                              1200 * US_PER_S, 1800 * US_PER_S}};
static const enum operation_status outcomes[] = {OPERATION_SUCCEEDED, OPERATION_FAILED, OPERATION_CANCELLED};
static const enum step_status step_outcomes[] = {STEP_DONE, STEP_FAILED};

static struct histogram operations[OPERATION_TYPE_MAX_][OPERATION_STATUS_MAX_];
static struct histogram steps[STEP_TYPE_MAX_][STEP_STATUS_MAX_];

void durations_note(const struct operation *op)
{
    assert(operation_status_is_final(op->status) && op->finished_at);
    histogram_add(&operations[op->type][op->status], &edges, op->finished_at - op->created_at);
    for (unsigned i = 0; i < op->step_count; i++) {
        const struct operation_step *s = &op->steps[i];
        if (s->started_at && s->finished_at)
            histogram_add(&steps[s->type][s->status], &edges, s->finished_at - s->started_at);
    }
}

static void write_one(struct buffer *out, const char *name, const char *label, const char *which,
                      const char *outcome, const struct histogram *h)
{
    char labels[METRIC_LABELS_BYTES];
    (void)snprintf(labels, sizeof(labels), "%s=\"%s\",outcome=\"%s\"", label, which, outcome);
    histogram_write_one(out, name, labels, &edges, h);
}

void durations_metrics(struct buffer *out)
{
    static const char whole[] = "shootd_operation_duration_seconds",
                      part[] = "shootd_operation_step_duration_seconds";
    metric_family(out, whole);
    for (int type = 0; type < OPERATION_TYPE_MAX_; type++)
        for (size_t i = 0; i < ARRAY_LEN(outcomes); i++)
            write_one(out, whole, "type", operation_type_name((enum operation_type)type),
                      operation_status_name(outcomes[i]), &operations[type][outcomes[i]]);
    metric_family(out, part);
    for (int type = 0; type < STEP_TYPE_MAX_; type++)
        for (size_t i = 0; i < ARRAY_LEN(step_outcomes); i++)
            write_one(out, part, "step", step_type_name((enum step_type)type),
                      step_status_name(step_outcomes[i]), &steps[type][step_outcomes[i]]);
}
