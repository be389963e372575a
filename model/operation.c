#include "model/operation.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/json_values_private.h"
#include "model/problem.h"
#include "model/string_list.h"

struct operation *operation_new(void)
{
    struct operation *op = MEM_NEW(struct operation);
    op->status = OPERATION_PENDING;
    return op;
}

void operation_free(struct operation *op)
{
    if (!op)
        return;
    free(op->project);
    free(op->cluster);
    free(op->requested_by);
    free(op->request_id);
    free(op->cancelled_by);
    json_decref(op->body);
    json_decref(op->error);
    free(op->steps);
    free(op->message);
    operation_forget_notes(op);
    free(op);
}

void operation_forget_notes(struct operation *op)
{
    for (unsigned i = 0; i < op->note_count; i++)
        free(op->notes[i].text);
    free(TAKE_PTR(op->notes));
    op->note_count = op->notes_dropped = 0;
}

struct operation *operation_copy(const struct operation *op)
{
    struct operation *copy = MEM_NEW(struct operation);
    *copy = *op;
    copy->project = mem_strdup(op->project);
    copy->cluster = mem_strdup(op->cluster);
    copy->requested_by = mem_strdup(op->requested_by);
    copy->request_id = mem_strdup(op->request_id);
    copy->cancelled_by = mem_strdup(op->cancelled_by);
    copy->body = json_deep_copy(op->body);
    copy->error = json_deep_copy(op->error);
    copy->message = mem_strdup(op->message);
    copy->notes = mem_dup(op->notes, op->note_count * sizeof(*op->notes));
    for (unsigned i = 0; i < op->note_count; i++)
        copy->notes[i].text = mem_strdup(op->notes[i].text);
    copy->steps = mem_dup(op->steps, op->step_count * sizeof(*op->steps));
    return copy;
}

bool step_is_over(const struct operation_step *step)
{
    return step->status == STEP_DONE || step->status == STEP_SKIPPED;
}

struct operation_step *operation_delete_call(struct operation *op)
{
    assert(op->type == OPERATION_DELETE && op->step_count && op->steps[0].type == STEP_DELETE_SHOOT);
    return &op->steps[0];
}

struct operation_step *operation_add_step(struct operation *op, enum step_type type, const char *target)
{
    assert(op->step_count < OPERATION_MAX_STEPS && type < STEP_TYPE_MAX_ && target);
    op->steps = mem_realloc_array(op->steps, op->step_count + 1, sizeof(*op->steps));
    struct operation_step *step = &op->steps[op->step_count++];
    *step = (struct operation_step){.type = type, .status = STEP_PENDING};
    (void)snprintf(step->target, sizeof(step->target), "%s", target);
    return step;
}

enum {
    WHOLE = 0,
    FIRST_STEP = 1
}; /* the parts of an operation that have a span: the whole operation, and each step (step i is the part
    * FIRST_STEP + i) */

static struct trace trace_under(const struct operation *op, unsigned part)
{
    struct trace t = op->trace;
    if (t.id[0])
        trace_span_of(op->id, part, t.span);
    return t;
}

struct trace operation_trace(const struct operation *op)
{
    return trace_under(op, WHOLE);
}

struct trace operation_trace_of_step(const struct operation *op, unsigned index)
{
    assert(index < op->step_count);
    return trace_under(op, FIRST_STEP + index);
}

/* Appends a note. When the array is full, the oldest note is removed. */
static void add_note(struct operation *op, wall_us at, unsigned step, const char *text)
{
    if (op->note_count == OPERATION_MAX_NOTES) {
        free(op->notes[0].text);
        memmove(op->notes, op->notes + 1, --op->note_count * sizeof(*op->notes));
        op->notes_dropped++;
    }
    op->notes = mem_realloc_array(op->notes, op->note_count + 1, sizeof(*op->notes));
    op->notes[op->note_count++] =
        (struct operation_note){at, step, utf8_cut_copy(text, OPERATION_NOTE_BYTES)};
}

void operation_says(struct operation *op, wall_us now, const char *message)
{
    const bool is_of_step = op->note_count && op->notes[op->note_count - 1].step == op->step_index;
    const bool is_news = !mem_same_str(op->message, message) || !is_of_step;
    mem_set_str(&op->message, message);
    if (is_news && message)
        add_note(op, now, op->step_index, message);
}

/* Returns when the step could begin: at the end of the previous step, or at the acceptance of the
 * operation. */
static wall_us could_begin(const struct operation *op, unsigned index)
{
    for (unsigned i = index; i > 0; i--)
        if (op->steps[i - 1].finished_at)
            return op->steps[i - 1].finished_at;
    return op->created_at;
}

/* Returns when the first call of the step was sent. Returns the start of the step when that time is not
 * stored (the answer was lost, or an earlier version wrote the step), and for a step that only waits. */
static wall_us begun_at(const struct operation_step *step)
{
    const bool is_unsent = step->status == STEP_PENDING || step->status == STEP_SENDING;
    return step->sent_at ? step->sent_at : is_unsent ? 0 : step->started_at;
}

/* Returns the time from `from` to `to`; 0 when the wall clock was set back. */
static int64_t between(wall_us from, wall_us to)
{
    return to > from ? to - from : 0;
}

wall_us operation_counted_to(const struct operation *op)
{
    return op->counted_to > op->updated_at ? op->counted_to : op->updated_at;
}

struct step_times operation_step_times(const struct operation *op, unsigned index)
{
    enum { UNKNOWN = -1 };
    assert(index < op->step_count);
    const struct operation_step *step = &op->steps[index];
    const bool is_next = index == op->step_index && !operation_status_is_final(op->status);
    const wall_us from = could_begin(op, index), begun = begun_at(step);
    const wall_us end = step->finished_at ? step->finished_at
                        : op->finished_at ? op->finished_at
                                          : operation_counted_to(op);
    if (begun)
        return (struct step_times){between(from, begun), between(begun, end)};
    if (is_next && !step->finished_at)
        return (struct step_times){between(from, end), UNKNOWN};
    return (struct step_times){UNKNOWN, UNKNOWN};
}

void operation_clear_steps(struct operation *op)
{
    free(op->steps);
    op->steps = NULL;
    op->step_count = 0;
    op->step_index = 0;
}

/* Returns a new list whose elements have only these members; NULL for NULL. */
static json_t *list_of_members(const json_t *whole, const char *const *members)
{
    json_t *list = whole ? json_array() : NULL;
    size_t i;
    json_t *element;
    json_array_foreach (whole, i, element) {
        json_t *part = json_object();
        for (size_t m = 0; members[m]; m++)
            json_set_take(part, members[m], json_incref(json_object_get(element, members[m])));
        json_append_take(list, part);
    }
    return list;
}

void operation_trim(struct operation *op)
{
    static const char *const of_steps[] = {"rolls_nodes", "reason", NULL}, *const of_pools[] = {"name", NULL};
    const bool is_open = !operation_status_is_final(op->status);
    const bool is_list = json_arr(op->body, "steps") || (is_open && json_arr(op->body, "node_pools"));
    if (!op->body || (json_object_size(op->body) == 1 && is_list))
        return; /* the body was trimmed already */
    json_t *steps = list_of_members(json_arr(op->body, "steps"), of_steps);
    /* the pools of a create are shown until Cleura shows them */
    json_t *pools = is_open ? list_of_members(json_arr(op->body, "node_pools"), of_pools) : NULL;
    json_decref(op->body);
    op->body = steps || pools ? json_object() : NULL;
    if (steps)
        json_set_take(op->body, "steps", steps);
    if (pools)
        json_set_take(op->body, "node_pools", pools);
}

struct operation_query operation_query_copy(const struct operation_query *q)
{
    struct operation_query copy = *q;
    copy.projects = string_list_copy(q->projects);
    copy.clusters = string_list_copy(q->clusters);
    copy.cluster_parts = string_list_copy(q->cluster_parts);
    return copy;
}

void operation_query_done(struct operation_query *q)
{
    string_list_free(q->projects);
    string_list_free(q->clusters);
    string_list_free(q->cluster_parts);
    *q = (struct operation_query){.limit = 0};
}

void operation_page_free(struct operation_page *page)
{
    if (!page)
        return;
    for (size_t i = 0; i < page->count; i++)
        operation_free(page->operations[i]);
    free(page->operations);
    free(page);
}

static json_t *steps_to_json(const struct operation *op)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < op->step_count; i++) {
        const struct operation_step *step = &op->steps[i];
        json_t *doc = json_object();
        json_set_str(doc, "type", step_type_name(step->type));
        json_set_str(doc, "target", step->target);
        json_set_str(doc, "status", step_status_name(step->status));
        json_set_int(doc, "attempts", step->attempts);
        json_set_bool(doc, "uncertain", step->uncertain);
        json_set_int(doc, "started_at", step->started_at);
        json_set_int(doc, "sent_at", step->sent_at);
        json_set_int(doc, "accepted_at", step->accepted_at);
        json_set_int(doc, "finished_at", step->finished_at);
        json_append_take(array, doc);
    }
    return array;
}

static json_t *notes_to_json(const struct operation *op)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < op->note_count; i++) {
        json_t *doc = json_object();
        json_set_int(doc, "at", op->notes[i].at);
        json_set_int(doc, "step", op->notes[i].step);
        json_set_str(doc, "text", op->notes[i].text);
        json_append_take(array, doc);
    }
    return array;
}

json_t *operation_to_json(const struct operation *op)
{
    assert(op->project && op->cluster); /* otherwise operation_from_json could not read the document */
    json_t *doc = json_object();
    json_set_str(doc, "id", op->id);
    json_set_str(doc, "type", operation_type_name(op->type));
    json_set_str(doc, "status", operation_status_name(op->status));
    json_set_str(doc, "project", op->project);
    json_set_str(doc, "cluster", op->cluster);
    json_set_str(doc, "cluster_id", op->cluster_id);
    json_set_str(doc, "requested_by", op->requested_by);
    json_set_str(doc, "request_id", op->request_id);
    json_set_str(doc, "cancelled_by", op->cancelled_by);
    json_set_bool(doc, "restored", op->restored);
    char trace[TRACE_TEXT_BYTES];
    json_set_str(doc, "trace", trace_to_text(&op->trace, trace));
    json_set_take(doc, "body", json_incref(op->body));
    json_set_take(doc, "error", json_incref(op->error));
    json_set_int(doc, "progress", op->progress);
    json_set_str(doc, "message", op->message);
    json_set_take(doc, "notes", notes_to_json(op));
    json_set_int(doc, "notes_dropped", op->notes_dropped);
    json_set_take(doc, "steps", steps_to_json(op));
    json_set_int(doc, "step_index", op->step_index);
    json_set_int(doc, "version", op->version);
    json_set_int(doc, "created_at", op->created_at);
    json_set_int(doc, "updated_at", op->updated_at);
    json_set_int(doc, "finished_at", op->finished_at);
    return doc;
}

/* Real operations have far fewer attempts; a larger number shows that the row is damaged. */
enum { ATTEMPTS_MOST = 1000000 };

/* False when a step has an unknown type or status: a wrong guess could send its call again. */
static bool read_steps(struct operation *op, const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array) && i < OPERATION_MAX_STEPS; i++) {
        const json_t *doc = json_array_get(array, i);
        int type = step_type_from_name(json_str(doc, "type"));
        int status = step_status_from_name(json_str(doc, "status"));
        int64_t attempts = json_int(doc, "attempts", 0);
        if (type < 0 || status < 0 || attempts < 0 || attempts > ATTEMPTS_MOST)
            return false;
        struct operation_step *step =
            operation_add_step(op, (enum step_type)type, json_str_or(doc, "target", ""));
        step->status = (enum step_status)status;
        step->attempts = (int)attempts;
        step->uncertain = json_bool(doc, "uncertain", false);
        step->started_at = json_int(doc, "started_at", 0);
        step->sent_at = json_int(doc, "sent_at", 0);
        step->accepted_at = json_int(doc, "accepted_at", 0);
        step->finished_at = json_int(doc, "finished_at", 0);
    }
    return true;
}

/* A note that cannot be read is left out, because no decision depends on notes. */
static void read_notes(struct operation *op, const json_t *doc)
{
    const json_t *array = json_arr(doc, "notes");
    const int64_t dropped = json_int(doc, "notes_dropped", 0);
    for (size_t i = 0; i < json_array_size(array) && i < OPERATION_MAX_NOTES; i++) {
        const json_t *note = json_array_get(array, i);
        const int64_t step = json_int(note, "step", -1);
        if (json_str(note, "text") && step >= 0 && step < OPERATION_MAX_STEPS)
            add_note(op, json_int(note, "at", 0), (unsigned)step, json_str(note, "text"));
    }
    op->notes_dropped = dropped > 0 && dropped < INT32_MAX ? (unsigned)dropped : 0;
}

/* Whether the steps are consistent. An open operation has a step in progress and no failed step. Only a
 * create and a delete must have a step, because a change may need none. Only a delete deletes, and its first
 * step is the call (operation_delete_call). */
static bool steps_are_sound(const struct operation *op)
{
    bool needs_steps = op->type == OPERATION_CREATE || op->type == OPERATION_DELETE;
    if (operation_status_is_final(op->status))
        return true;
    for (unsigned i = 0; i < op->step_count; i++) {
        const struct operation_step *step = &op->steps[i];
        if (step->status == STEP_FAILED || (step->status == STEP_SENDING && step->attempts < 1))
            return false;
        const bool is_of_delete = step->type == STEP_DELETE_SHOOT || step->type == STEP_WAIT_GONE;
        if (op->type == OPERATION_DELETE ? !i && step->type != STEP_DELETE_SHOOT : is_of_delete)
            return false;
    }
    return op->step_count ? op->step_index < op->step_count : !needs_steps && !op->step_index;
}

struct operation *operation_from_json(const json_t *doc)
{
    int type = operation_type_from_name(json_str(doc, "type"));
    int status = operation_status_from_name(json_str(doc, "status"));
    if (!json_str(doc, "id") || !json_str(doc, "project") || !json_str(doc, "cluster") || type < 0 ||
        status < 0)
        return NULL;
    struct operation *op = operation_new();
    json_copy_str(doc, "id", op->id, sizeof(op->id));
    op->type = (enum operation_type)type;
    op->status = (enum operation_status)status;
    op->project = mem_strdup(json_str(doc, "project"));
    op->cluster = mem_strdup(json_str(doc, "cluster"));
    json_copy_str(doc, "cluster_id", op->cluster_id, sizeof(op->cluster_id));
    op->requested_by = mem_strdup(json_str(doc, "requested_by"));
    op->request_id = mem_strdup(json_str(doc, "request_id"));
    op->cancelled_by = mem_strdup(json_str(doc, "cancelled_by"));
    op->restored = json_bool(doc, "restored", false);
    trace_from_text(json_str(doc, "trace"), &op->trace);
    op->body = json_incref(json_obj(doc, "body"));
    op->error = json_incref(json_obj(doc, "error"));
    problem_update_error_json(op->error);
    op->progress = (int)json_int(doc, "progress", 0);
    op->message = mem_strdup(json_str(doc, "message"));
    read_notes(op, doc);
    bool readable = read_steps(op, json_arr(doc, "steps"));
    op->step_index = (unsigned)json_int(doc, "step_index", 0);
    op->version = json_int(doc, "version", 1);
    op->created_at = json_int(doc, "created_at", 0);
    op->updated_at = json_int(doc, "updated_at", 0);
    op->finished_at = operation_status_is_final(op->status) ? json_int(doc, "finished_at", 0) : 0;
    if (readable && steps_are_sound(op))
        return op;
    operation_free(op);
    return NULL;
}
