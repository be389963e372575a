/*
 * What the shoots of both generations share: only members that we know are taken over, so that what is kept
 * is bounded and can always be read back. Runs on the worker. Pure.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "upstream/wire/generation_private.h"

enum { PROGRESS_MAX = 100 };

struct shoot *decode_new(struct decoding *d, const char *name)
{
    if (!name)
        (void)decode_refuse(d, "it has no name");
    else if (!shoot_name_is_possible(name))
        (void)decode_refuse(d, "Gardener has no such name");
    if (d->fault)
        return NULL;
    struct shoot *s = MEM_NEW(struct shoot);
    s->name = mem_strdup(name);
    return s;
}

struct shoot *decode_finish(const struct decoding *d, struct shoot *s)
{
    if (!d->fault)
        return s;
    shoot_free(s);
    return NULL;
}

json_t *decode_taints(struct decoding *d, const json_t *array)
{
    json_t *taints = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item) {
        json_t *taint = json_object();
        const char *value = decode_word(d, item, "value");
        json_set_str(taint, "key", decode_word(d, item, "key"));
        json_set_str(taint, "value", value ? value : "");
        json_set_str(taint, "effect", decode_word(d, item, "effect"));
        (void)json_array_append_new(taints, taint);
    }
    return decode_sorted(taints);
}

static json_t *decode_pool(struct decoding *d, const json_t *worker, const struct shoot_words *words)
{
    const json_t *machine = decode_member(d, worker, "machine", JSON_OBJECT);
    const json_t *image = decode_member(d, machine, "image", JSON_OBJECT);
    const char *name = decode_word(d, worker, "name");
    if (!name || !pool_name_is_possible(name))
        (void)decode_refuse(d, "a node pool has no name, or one that Gardener cannot have");
    json_t *pool = json_object();
    json_set_str(pool, "name", name);
    json_set_str(pool, "machine_type", decode_word(d, machine, "type"));
    json_t *our_image = json_object();
    json_set_str(our_image, "name", decode_word(d, image, "name"));
    json_set_str(our_image, "version", decode_word(d, image, "version"));
    json_set_take(pool, "image", our_image);
    json_set_int(pool, "minimum", decode_number(d, worker, "minimum", 0));
    json_set_int(pool, "maximum", decode_number(d, worker, "maximum", 0));
    json_set_int(pool, "max_surge", decode_number(d, worker, words->max_surge, 1));
    json_set_int(pool, "volume_size_gib", decode_gib(json_str(json_obj(worker, "volume"), "size")));
    json_set_take(pool, "zones", decode_words(d, decode_member(d, worker, "zones", JSON_ARRAY)));
    json_set_take(pool, "labels", decode_map(d, json_object_get(worker, "labels")));
    json_set_take(pool, "annotations", decode_map(d, json_object_get(worker, "annotations")));
    json_set_take(pool, "taints", decode_taints(d, decode_member(d, worker, "taints", JSON_ARRAY)));
    return pool;
}

json_t *decode_pools(struct decoding *d, const json_t *workers, const struct shoot_words *words)
{
    json_t *pools = json_array();
    size_t i;
    json_t *worker;
    if (!workers)
        (void)decode_refuse(d, "it has no list of node pools");
    json_array_foreach (workers, i, worker)
        (void)json_array_append_new(pools, decode_pool(d, worker, words));
    return decode_sorted(pools);
}

json_t *encode_schedules(const json_t *schedules)
{
    json_t *theirs = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (schedules, i, item) {
        json_t *schedule = json_object();
        if (json_str(item, "start"))
            json_set_str(schedule, "start", json_str(item, "start"));
        if (json_str(item, "end"))
            json_set_str(schedule, "end", json_str(item, "end"));
        (void)json_array_append_new(theirs, schedule);
    }
    return theirs;
}

json_t *decode_schedules(struct decoding *d, const json_t *schedules)
{
    json_t *ours = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (schedules, i, item) {
        json_t *schedule = json_object();
        json_set_str(schedule, "start", decode_word(d, item, "start"));
        json_set_str(schedule, "end", decode_word(d, item, "end"));
        if (decode_word(d, item, "location"))
            json_set_str(schedule, "location", decode_word(d, item, "location"));
        (void)json_array_append_new(ours, schedule);
    }
    return decode_sorted(ours);
}

static void take_word(struct decoding *d, json_t *ours, const char *name, const json_t *theirs,
                      const char *their_name)
{
    const char *word = decode_word(d, theirs, their_name);
    if (word)
        json_set_str(ours, name, word);
}

json_t *decode_conditions(struct decoding *d, const json_t *array, const struct shoot_words *words)
{
    json_t *ours = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item) {
        json_t *condition = json_object();
        take_word(d, condition, "type", item, "type");
        take_word(d, condition, "status", item, "status");
        take_word(d, condition, "reason", item, "reason");
        if (json_str(item, "message"))
            decode_prose(condition, "message", json_str(item, "message"));
        if (json_arr(item, "codes"))
            json_set_take(condition, "codes", decode_words(d, json_arr(item, "codes")));
        take_word(d, condition, "last_transition_time", item, words->condition_since);
        take_word(d, condition, "last_update_time", item, words->condition_updated);
        (void)json_array_append_new(ours, condition);
    }
    return decode_sorted(ours);
}

json_t *decode_last_errors(struct decoding *d, const json_t *array, const struct shoot_words *words)
{
    json_t *errors = json_array();
    size_t i;
    json_t *item;
    json_array_foreach (array, i, item) {
        json_t *error = json_object();
        decode_prose(error, "description", json_str_or(item, "description", ""));
        json_set_take(error, "codes", decode_words(d, json_arr(item, "codes")));
        json_set_str(error, "task_id", decode_word(d, item, words->task_id));
        json_set_str(error, "updated_at", decode_word(d, item, words->operation_at));
        (void)json_array_append_new(errors, error);
    }
    return decode_sorted(errors);
}

/* What is not a percentage tells nothing. */
void decode_last_operation(struct decoding *d, struct shoot *s, const json_t *operation,
                           const struct shoot_words *words)
{
    if (!operation)
        return;
    s->has_operation = true;
    s->operation_type = mem_strdup(decode_word(d, operation, "type"));
    s->operation_state = mem_strdup(decode_word(d, operation, "state"));
    int64_t progress = json_int(operation, "progress", 0);
    s->progress = progress >= 0 && progress <= PROGRESS_MAX ? (int)progress : 0;
    s->description = prose_copy(json_str_or(operation, "description", ""));
    s->operation_at = decode_time(d, json_str(operation, words->operation_at));
    if (!s->operation_state)
        (void)decode_refuse(d, "its last operation has no state");
}
