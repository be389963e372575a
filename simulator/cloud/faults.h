/* Faults that tests request. Faults are stored in the order of creation; the first one that matches a request
 * is used. */
#ifndef SIMULATOR_CLOUD_FAULTS_H
#define SIMULATOR_CLOUD_FAULTS_H

#include "simulator/cloud/request_log.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
    FAULT_DROP,
    FAULT_STATUS,
    FAULT_GARBAGE,
    FAULT_TRUNCATE,
    FAULT_OVERSIZE,
    FAULT_DELAY,
    FAULT_SLOW_BODY,
    FAULT_HANG,
    FAULT_FORBIDDEN_IP,
    FAULT_NO_PRIVILEGE,
    FAULT_UNAUTHORIZED,
    FAULT_WRONG_TYPES,
    FAULT_UNKNOWN_ENUM,
    FAULT_REORDER,
    FAULT_OMIT_OPTIONAL,
    FAULT_INVALID_UTF8,
    FAULT_KIND_MAX_,
    FAULT_KIND_INVALID = -1
};

struct fault {
    struct fault *next;
    int64_t id;
    enum operation operation;
    enum fault_kind kind;
    char *shoot;   /* NULL: any shoot */
    int64_t count; /* how often the fault occurs; 0: until it is cleared */
    int64_t skip;  /* how many matching requests come before the fault begins */
    int64_t hits;
    bool effect;
    int status;
    char *body;
    char *content_type;
    json_t *headers;
    unsigned delay_ms;
};

struct faults {
    struct fault *first;
    int64_t last_id;
};

/* Makes a fault from the description. When the description is not valid, returns NULL and adds each reason to
 * `errors`. */
struct fault *faults_add(struct faults *faults, const json_t *description, json_t *errors);
json_t *faults_render(const struct faults *faults);
bool faults_remove(struct faults *faults, int64_t id);
void faults_clear(struct faults *faults);
/* Returns the fault for this request, borrowed, and counts its use. NULL: there is none. */
const struct fault *faults_take(struct faults *faults, enum operation operation, const char *shoot);

#endif
