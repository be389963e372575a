#include "simulator/cloud/request_log.h"

#include "base/mem.h"
#include "simulator/cloud/clock.h"
#include "simulator/cloud/sim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const operation_names[OPERATION_MAX_] = {
#define X(upper, lower) [OPERATION_##upper] = #lower,
    OPERATIONS(X)
#undef X
};

const char *operation_name(enum operation operation)
{
    if (operation == OPERATION_ANY)
        return "*";
    return operation >= 0 && operation < OPERATION_MAX_ ? operation_names[operation] : "invalid";
}

enum operation operation_find(const char *name)
{
    if (!name)
        return OPERATION_INVALID;
    if (!strcmp(name, "*"))
        return OPERATION_ANY;
    for (int i = 0; i < OPERATION_MAX_; i++)
        if (!strcmp(operation_names[i], name))
            return (enum operation)i;
    return OPERATION_INVALID;
}

void request_log_init(struct request_log *log)
{
    memset(log, 0, sizeof(*log));
    log->ring = mem_calloc(REQUEST_LOG_SIZE, sizeof(*log->ring));
    log->started_us = clock_monotonic_us();
    log->creates = json_object();
    log->deletes = json_object();
}

static struct request_entry *entry_at(const struct request_log *log, size_t index)
{
    return &log->ring[(log->first + index) % REQUEST_LOG_SIZE];
}

static void drop_texts(struct request_entry *entry)
{
    free(entry->path);
    free(entry->shoot);
    free(entry->traceparent);
    free(entry->tracestate);
    free(entry->request_id);
}

static void drop_entries(struct request_log *log)
{
    assert(log->used <= REQUEST_LOG_SIZE);
    for (size_t i = 0; i < log->used; i++)
        drop_texts(entry_at(log, i));
    log->first = 0;
    log->used = 0;
}

void request_log_done(struct request_log *log)
{
    drop_entries(log);
    free(log->ring);
    json_decref(log->creates);
    json_decref(log->deletes);
}

void request_log_clear(struct request_log *log)
{
    drop_entries(log);
    (void)json_object_clear(log->creates);
    (void)json_object_clear(log->deletes);
    memset(log->by_operation, 0, sizeof(log->by_operation));
    memset(log->effects, 0, sizeof(log->effects));
    log->requests = 0;
    log->logins = 0;
    log->failed_logins = 0;
    log->max_in_flight = log->in_flight;
}

unsigned request_log_begin(struct request_log *log, enum operation operation)
{
    assert((unsigned)operation < OPERATION_MAX_);
    log->requests++;
    log->by_operation[operation]++;
    log->in_flight++;
    if (log->in_flight > log->max_in_flight)
        log->max_in_flight = log->in_flight;
    return log->in_flight;
}

void request_log_end(struct request_log *log, struct request_entry *entry)
{
    struct request_entry *place;
    assert(log->in_flight);
    log->in_flight--;
    entry->seq = ++log->last_seq;
    if (log->used == REQUEST_LOG_SIZE) {
        place = entry_at(log, 0);
        drop_texts(place);
        log->first = (log->first + 1) % REQUEST_LOG_SIZE;
        log->used--;
    }
    assert(log->used < REQUEST_LOG_SIZE);
    place = entry_at(log, log->used++);
    *place = *entry;
}

void request_log_count_name(json_t *names, const char *name)
{
    json_int_t count = json_integer_value(json_object_get(names, name));
    (void)json_object_set_new(names, name, json_integer(count + 1));
}

static void set_text(json_t *item, const char *key, const char *text)
{
    if (text)
        (void)json_object_set_new(item, key, json_string(text));
}

static json_t *render_entry(const struct request_entry *entry)
{
    json_t *item = json_pack("{s:I, s:I, s:o, s:I, s:s, s:s, s:s, s:i, s:i}", "seq", (json_int_t)entry->seq,
                             "at_us", (json_int_t)entry->at_us, "sim_time", clock_json(entry->sim_us),
                             "duration_us", (json_int_t)entry->duration_us, "method", entry->method, "path",
                             entry->path, "operation", operation_name(entry->operation), "status",
                             entry->status, "in_flight", (int)entry->in_flight);
    if (entry->client_left)
        (void)json_object_set_new(item, "client_left", json_true());
    set_text(item, "shoot", entry->shoot);
    set_text(item, "traceparent", entry->traceparent);
    set_text(item, "tracestate", entry->tracestate);
    set_text(item, "x_request_id", entry->request_id);
    return item;
}

json_t *request_log_items(const struct request_log *log, int64_t since)
{
    json_t *items = json_array();
    for (size_t i = 0; i < log->used; i++)
        if (entry_at(log, i)->seq > since)
            (void)json_array_append_new(items, render_entry(entry_at(log, i)));
    return json_pack("{s:o, s:I}", "items", items, "next", (json_int_t)log->last_seq);
}

json_t *request_log_counters(const struct request_log *log)
{
    json_t *operations = json_object();
    for (int i = 0; i < OPERATION_MAX_; i++)
        (void)json_object_set_new(operations, operation_name((enum operation)i),
                                  json_pack("{s:I, s:I}", "requests", (json_int_t)log->by_operation[i],
                                            "effects", (json_int_t)log->effects[i]));
    return json_pack("{s:i, s:I, s:I, s:I, s:o, s:O, s:O}", "max_in_flight", (int)log->max_in_flight,
                     "requests", (json_int_t)log->requests, "logins", (json_int_t)log->logins,
                     "failed_logins", (json_int_t)log->failed_logins, "by_operation", operations, "creates",
                     log->creates, "deletes", log->deletes);
}
