/*
 * Decoding that both drivers share. Only known members are copied. Therefore the size of the stored data
 * has a limit, and the data can always be read back. Runs on the worker. Pure.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "upstream/wire/driver_private.h"

enum { PROGRESS_MAX = 100 };

struct shoot *decode_new(struct decoding *d, const json_t *in)
{
    const char *name = json_str(in, "name");
    const json_t *uid = json_object_get(in, "uid");
    const bool has_uid = uid && !json_is_null(uid) && !(json_is_string(uid) && !json_string_length(uid));
    uuid_t parsed;
    if (!name)
        decode_refuse(d, "it has no name");
    else if (!shoot_name_is_possible(name))
        decode_refuse(d, "the name is not possible in Gardener");
    else if (has_uid && (!decode_word(d, in, "uid") || uuid_parse(json_string_value(uid), parsed) != 0))
        decode_refuse(d, "its uid cannot be read");
    if (d->fault)
        return NULL;
    struct shoot *s = MEM_NEW(struct shoot);
    s->name = mem_strdup(name);
    return s;
}

static json_t *decode_taints(struct decoding *d, const json_t *worker)
{
    const unsigned before = d->unread;
    const json_t *array;
    if (!decode_array(d, worker, "taints", &array))
        return NULL;
    json_t *taints = json_array();
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = decode_element(d, array, i);
        json_t *taint = json_object();
        const char *value = decode_word(d, item, "value");
        json_set_str(taint, "key", decode_word(d, item, "key"));
        json_set_str(taint, "value", value ? value : "");
        json_set_str(taint, "effect", decode_word(d, item, "effect"));
        json_append_take(taints, taint);
    }
    return decode_sorted(decode_whole(d, before, taints));
}

/* A name that Gardener does not allow is treated as no name. */
static const char *decode_pool_name(struct decoding *d, const json_t *worker)
{
    const char *name = decode_word(d, worker, "name");
    if (!name || pool_name_is_possible(name))
        return name;
    decode_note(d, worker, "name");
    return NULL;
}

static json_t *decode_pool(struct decoding *d, const json_t *worker, const struct shoot_words *words)
{
    const json_t *machine = decode_member(d, worker, "machine", JSON_OBJECT);
    const json_t *image = decode_member(d, machine, "image", JSON_OBJECT);
    json_t *pool = json_object();
    json_set_str(pool, "name", decode_pool_name(d, worker));
    json_set_str(pool, "machine_type", decode_word(d, machine, "type"));
    json_t *our_image = json_object();
    json_set_str(our_image, "name", decode_word(d, image, "name"));
    json_set_str(our_image, "version", decode_word(d, image, "version"));
    json_set_take(pool, "image", our_image);
    json_set_take(pool, "minimum", decode_number(d, worker, "minimum", NUMBER_MAX));
    json_set_take(pool, "maximum", decode_number(d, worker, "maximum", NUMBER_MAX));
    json_set_take(pool, "max_surge", decode_number(d, worker, words->max_surge, NUMBER_MAX));
    json_set_take(pool, "volume_size_gib",
                  decode_gib(d, decode_member(d, worker, "volume", JSON_OBJECT), "size"));
    json_set_take(pool, "zones", decode_words(d, worker, "zones"));
    json_set_take(pool, "labels", decode_map(d, worker, "labels"));
    json_set_take(pool, "annotations", decode_map(d, worker, "annotations"));
    json_set_take(pool, "taints", decode_taints(d, worker));
    return pool;
}

json_t *decode_pools(struct decoding *d, const json_t *provider, const struct shoot_words *words)
{
    const json_t *workers;
    if (!decode_array(d, provider, "workers", &workers) || !workers)
        return NULL;
    json_t *pools = json_array();
    for (size_t i = 0; i < json_array_size(workers); i++)
        json_append_take(pools, decode_pool(d, decode_element(d, workers, i), words));
    return decode_sorted(pools);
}

json_t *decode_maintenance(struct decoding *d, const json_t *maintenance,
                           const struct maintenance_words *words)
{
    const json_t *window = decode_member(d, maintenance, words->window, JSON_OBJECT);
    const json_t *update = decode_member(d, maintenance, words->update, JSON_OBJECT);
    json_t *ours = json_object();
    json_set_str(ours, "begin", decode_word(d, window, "begin"));
    json_set_str(ours, "end", decode_word(d, window, "end"));
    json_set_take(ours, "auto_update_kubernetes", decode_bool(d, update, words->kubernetes, true));
    json_set_take(ours, "auto_update_machine_image", decode_bool(d, update, words->machine_image, true));
    return ours;
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
        json_append_take(theirs, schedule);
    }
    return theirs;
}

json_t *decode_schedules(struct decoding *d, const json_t *hibernation)
{
    const unsigned before = d->unread;
    const json_t *schedules;
    if (!decode_array(d, hibernation, "schedules", &schedules))
        return NULL;
    json_t *ours = json_array();
    for (size_t i = 0; i < json_array_size(schedules); i++) {
        const json_t *item = decode_element(d, schedules, i);
        json_t *schedule = json_object();
        const char *location = decode_word(d, item, "location");
        json_set_str(schedule, "start", decode_word(d, item, "start"));
        json_set_str(schedule, "end", decode_word(d, item, "end"));
        if (location)
            json_set_str(schedule, "location", location);
        json_append_take(ours, schedule);
    }
    return decode_sorted(decode_whole(d, before, ours));
}

/* ---- the run and the health ---- */

static void take_word(struct decoding *d, json_t *ours, const char *name, const json_t *theirs,
                      const char *their_name)
{
    const char *word = decode_word(d, theirs, their_name);
    if (word)
        json_set_str(ours, name, word);
}

static void take_codes(struct decoding *d, json_t *ours, const json_t *theirs)
{
    json_t *codes = decode_words(d, theirs, "codes");
    json_set_take(ours, "codes", codes ? codes : json_array());
}

static json_t *decode_condition(struct decoding *d, const json_t *item, const struct shoot_words *words)
{
    json_t *condition = json_object();
    json_set_str(condition, "type", decode_word(d, item, "type"));
    json_set_str(condition, "status", decode_word(d, item, "status"));
    take_word(d, condition, "reason", item, "reason");
    const char *message = decode_text(d, item, "message");
    if (message)
        decode_prose(condition, "message", message);
    if (json_object_get(item, "codes"))
        take_codes(d, condition, item);
    take_word(d, condition, "last_transition_time", item, words->condition_since);
    take_word(d, condition, "last_update_time", item, words->condition_updated);
    return condition;
}

/* Returns NULL when the list cannot be read. */
static struct json_doc *decode_conditions(struct decoding *d, const json_t *status, const char *key,
                                          const struct shoot_words *words)
{
    const json_t *array;
    if (!decode_array(d, status, key, &array))
        return NULL;
    json_t *ours = json_array();
    for (size_t i = 0; i < json_array_size(array); i++)
        json_append_take(ours, decode_condition(d, decode_element(d, array, i), words));
    return json_doc_new(decode_sorted(ours));
}

/* Returns NULL when the list cannot be read. */
static struct json_doc *decode_last_errors(struct decoding *d, const json_t *status,
                                           const struct shoot_words *words)
{
    const json_t *array;
    if (!decode_array(d, status, words->last_errors, &array))
        return NULL;
    json_t *errors = json_array();
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *item = decode_element(d, array, i);
        const char *description = decode_text(d, item, "description");
        json_t *error = json_object();
        decode_prose(error, "description", description ? description : "");
        take_codes(d, error, item);
        json_set_str(error, "task_id", decode_word(d, item, words->task_id));
        json_set_str(error, "updated_at", decode_word(d, item, words->operation_at));
        json_append_take(errors, error);
    }
    return json_doc_new(decode_sorted(errors));
}

/* When the operation cannot be read, all its values are unknown, including whether it has ended. */
static void decode_last_operation(struct decoding *d, struct shoot *s, const json_t *in,
                                  const struct shoot_words *words)
{
    const json_t *operation = decode_member(d, in, words->operation, JSON_OBJECT);
    s->progress = SHOOT_PROGRESS_UNKNOWN;
    if (!operation)
        return;
    json_t *progress CLEANUP_JSON = decode_number(d, operation, "progress", PROGRESS_MAX);
    const char *description = decode_text(d, operation, "description");
    s->has_operation = true;
    s->operation_type = mem_strdup(decode_word(d, operation, "type"));
    s->operation_state = mem_strdup(decode_word(d, operation, "state"));
    if (json_is_integer(progress))
        s->progress = (int)json_integer_value(progress);
    s->description = prose_copy(description ? description : "");
    s->operation_at = decode_time(d, operation, words->operation_at);
}

void decode_status(struct decoding *d, struct shoot *s, const json_t *status, const json_t *run_in,
                   const struct shoot_words *words)
{
    json_t *hibernated CLEANUP_JSON = decode_bool(d, status, words->hibernated, false);
    decode_last_operation(d, s, run_in, words);
    s->hibernated = json_is_true(hibernated);
    s->hibernated_unknown = json_is_null(hibernated);
    s->conditions = decode_conditions(d, status, "conditions", words);
    s->constraints = decode_conditions(d, status, "constraints", words);
    s->last_errors = decode_last_errors(d, status, words);
}

json_t *encode_maintenance(const json_t *maintenance, const struct maintenance_words *words)
{
    const char *const updates[][2] = {{"auto_update_kubernetes", words->kubernetes},
                                      {"auto_update_machine_image", words->machine_image}};
    json_t *theirs = json_object();
    json_t *update CLEANUP_JSON = json_object();
    for (size_t i = 0; i < ARRAY_LEN(updates); i++)
        encode_known(update, updates[i][1], maintenance, updates[i][0]);
    if (json_object_size(update))
        json_set_take(theirs, words->update, json_incref(update));
    if (json_str(maintenance, "begin") && json_str(maintenance, "end")) {
        json_t *window = json_object();
        json_set_str(window, "begin", json_str(maintenance, "begin"));
        json_set_str(window, "end", json_str(maintenance, "end"));
        json_set_take(theirs, words->window, window);
    }
    return theirs;
}
