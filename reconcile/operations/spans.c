#include "reconcile/operations/spans.h"

#include "base/mem.h"
#include "base/span.h"

enum { OF_THE_WHOLE = -1 };

_Static_assert((int)OPERATION_MAX_NOTES <= (int)SPAN_NOTES_MAX, "a span takes all notes of an operation");

static wall_us end_of(const struct operation *op, const struct operation_step *step)
{
    return step->finished_at ? step->finished_at : op->finished_at;
}

/* Returns the step that was in progress at that time. At the moment between two steps, returns the later
 * step. */
static int step_at(const struct operation *op, wall_us at)
{
    for (int i = (int)op->step_count - 1; i >= 0; i--)
        if (op->steps[i].started_at && op->steps[i].started_at <= at && at <= end_of(op, &op->steps[i]))
            return i;
    return OF_THE_WHOLE;
}

static size_t notes_of(const struct operation *op, const int *steps_of_notes, int step,
                       struct span_note notes[static OPERATION_MAX_NOTES])
{
    size_t count = 0;
    for (unsigned i = 0; i < op->note_count; i++)
        if (steps_of_notes[i] == step)
            notes[count++] = (struct span_note){op->notes[i].at, op->notes[i].text};
    return count;
}

/* A begun step without an end time ended with the operation. */
static void step_span(const struct operation *op, unsigned index, const int *steps_of_notes)
{
    const struct operation_step *step = &op->steps[index];
    if (!step->started_at)
        return;
    const struct trace whole = operation_trace(op), own = operation_trace_of_step(op, index);
    struct span_note notes[OPERATION_MAX_NOTES];
    const struct span_attribute attributes[] = {
        SPAN_STR("shootd.target", step->target[0] ? step->target : NULL),
        SPAN_STR("shootd.step_status", step_status_name(step->status)),
        SPAN_INT("shootd.attempts", step->attempts),
    };
    span_record(&(struct span){.trace = &whole,
                               .id = own.span,
                               .name = step_type_name(step->type),
                               .kind = SPAN_INTERNAL,
                               .begun = step->started_at,
                               .ended = end_of(op, step),
                               .error = step->status == STEP_FAILED ? op->message : NULL,
                               SPAN_ATTRIBUTES(attributes),
                               .notes = notes,
                               .note_count = notes_of(op, steps_of_notes, (int)index, notes)});
}

static void whole_span(const struct operation *op, const int *steps_of_notes)
{
    const struct trace own = operation_trace(op);
    struct span_note notes[OPERATION_MAX_NOTES];
    const struct span_attribute attributes[] = {
        SPAN_STR("shootd.operation", op->id),
        SPAN_STR("shootd.operation_status", operation_status_name(op->status)),
        SPAN_STR("shootd.project", op->project),
        SPAN_STR("shootd.cluster", op->cluster),
        SPAN_STR("shootd.requested_by", op->requested_by),
        SPAN_STR("shootd.request_id", op->request_id),
    };
    char *name CLEANUP_FREE = mem_printf("operation %s", operation_type_name(op->type));
    span_record(&(struct span){.trace = &op->trace,
                               .id = own.span,
                               .name = name,
                               .kind = SPAN_INTERNAL,
                               .begun = op->created_at,
                               .ended = op->finished_at,
                               .error = op->status == OPERATION_SUCCEEDED ? NULL : op->message,
                               SPAN_ATTRIBUTES(attributes),
                               .notes = notes,
                               .note_count = notes_of(op, steps_of_notes, OF_THE_WHOLE, notes),
                               .notes_dropped = op->notes_dropped});
}

void operation_spans(const struct operation *op)
{
    int steps_of_notes[OPERATION_MAX_NOTES];
    if (!span_is_recorded(&op->trace))
        return;
    for (unsigned i = 0; i < op->note_count; i++)
        steps_of_notes[i] = step_at(op, op->notes[i].at);
    for (unsigned i = 0; i < op->step_count; i++)
        step_span(op, i, steps_of_notes);
    whole_span(op, steps_of_notes);
}
