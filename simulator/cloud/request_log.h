/* The requests to the simulated API: details of the latest requests, and counters. */
#ifndef SIMULATOR_CLOUD_REQUEST_LOG_H
#define SIMULATOR_CLOUD_REQUEST_LOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The operations of the API, with one name for both generations. */
#define OPERATIONS(X)                     \
    X(CREATE_TOKEN, create_token)         \
    X(REQUEST_SMS_CODE, request_sms_code) \
    X(VERIFY_SMS_CODE, verify_sms_code)   \
    X(VALIDATE_TOKEN, validate_token)     \
    X(REVOKE_TOKEN, revoke_token)         \
    X(CLOUD_PROFILES, cloud_profiles)     \
    X(BOOTSTRAP, bootstrap)               \
    X(LIST_SHOOTS, list_shoots)           \
    X(CREATE_SHOOT, create_shoot)         \
    X(GET_SHOOT, get_shoot)               \
    X(EDIT_SHOOT, edit_shoot)             \
    X(DELETE_SHOOT, delete_shoot)         \
    X(KUBECONFIG, kubeconfig)             \
    X(KUBECONFIG_V3, kubeconfig_v3)       \
    X(ROTATE_CA, rotate_ca)               \
    X(CA_STAGE, ca_stage)                 \
    X(ENABLE_HA, enable_ha)               \
    X(HIBERNATE, hibernate)               \
    X(WAKE, wake)                         \
    X(MAINTENANCE, maintenance)           \
    X(RECONCILE, reconcile)               \
    X(RETRY, retry)                       \
    X(MONITORING, monitoring)             \
    X(NODE_DETAILS, node_details)         \
    X(WORKER_DETAILS, worker_details)     \
    X(NODE_NAMES, node_names)             \
    X(NODES_OVERVIEW, nodes_overview)     \
    X(SSH_KEY, ssh_key)                   \
    X(UPGRADE_CHECK, upgrade_check)       \
    X(UPGRADE_PREPARE, upgrade_prepare)   \
    X(UPGRADE_REVERT, upgrade_revert)     \
    X(CREATE_WORKER, create_worker)       \
    X(UPDATE_WORKER, update_worker)       \
    X(DELETE_WORKER, delete_worker)       \
    X(NAME_TAKEN, name_taken)             \
    X(CURRENT_USER, current_user)         \
    X(DOMAINS, domains)                   \
    X(CURRENT_PROJECTS, current_projects) \
    X(QUOTA, quota)                       \
    X(OTHER, other)

enum operation {
#define X(upper, lower) OPERATION_##upper,
    OPERATIONS(X)
#undef X
        OPERATION_MAX_,
    OPERATION_ANY = -1,
    OPERATION_INVALID = -2
};

const char *operation_name(enum operation operation);
/* Returns the operation with this name: OPERATION_ANY for "*", OPERATION_INVALID for an unknown name. */
enum operation operation_find(const char *name);

#define REQUEST_LOG_SIZE 100000

struct request_entry {
    int64_t seq;
    int64_t at_us; /* monotonic time since the program started */
    int64_t sim_us;
    int64_t duration_us;
    enum operation operation;
    int status; /* 0: no answer was sent */
    unsigned in_flight;
    bool client_left; /* the client left before the answer */
    char method[12];
    char *path;
    char *shoot;
    char *traceparent; /* values of three header fields of the request; NULL: the request has no such field */
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
/* Removes the entries and the counters. Sequence numbers continue. */
void request_log_clear(struct request_log *log);
/* Counts the beginning of a request. Returns the number of requests in flight, including this one. */
unsigned request_log_begin(struct request_log *log, enum operation operation);
/* Counts the end of a request and stores its entry. Takes over the texts of the entry. */
void request_log_end(struct request_log *log, struct request_entry *entry);
void request_log_count_name(json_t *names, const char *name);
json_t *request_log_items(const struct request_log *log, int64_t since);
json_t *request_log_counters(const struct request_log *log);

#endif
