/* What was asked of the simulated API: the last requests one by one, and counters. */
#ifndef SIMULATOR_CLOUD_REQUEST_LOG_H
#define SIMULATOR_CLOUD_REQUEST_LOG_H

#include "simulator/cloud/operations.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_LOG_SIZE 100000

struct request_entry {
    int64_t seq;
    int64_t at_us; /* monotonic, since the program started */
    int64_t sim_us;
    int64_t duration_us;
    enum operation operation;
    int status; /* 0: no answer was sent */
    unsigned in_flight;
    bool client_left; /* before the answer */
    char method[12];
    char *path;
    char *shoot;
    char *traceparent; /* of the request, or NULL; the next two alike */
    char *tracestate;
    char *request_id;
};

struct request_log {
    struct request_entry *ring;
    size_t first;
    size_t used;
    int64_t last_seq;
    int64_t started_us;
    unsigned in_flight;
    unsigned max_in_flight;
    int64_t requests;
    int64_t logins;
    int64_t failed_logins;
    int64_t by_operation[OPERATION_MAX_];
    int64_t effects[OPERATION_MAX_];
    json_t *creates;
    json_t *deletes;
};

void request_log_init(struct request_log *log);
void request_log_done(struct request_log *log);
/* Forgets entries and counters; sequence numbers go on. */
void request_log_clear(struct request_log *log);
/* Counts a request in; returns how many are under way with it. */
unsigned request_log_begin(struct request_log *log, enum operation operation);
/* Counts it out and stores the entry (its texts are taken). */
void request_log_end(struct request_log *log, struct request_entry *entry);
void request_log_count_name(json_t *names, const char *name);
json_t *request_log_items(const struct request_log *log, int64_t since);
json_t *request_log_counters(const struct request_log *log);

#endif
