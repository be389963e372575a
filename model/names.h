/*
 * The fixed sets of words of the API, each with one table of names. Pure, any thread. Words that Cleura
 * chooses (conditions, error codes, operation states) stay strings, so that unknown values are passed on
 * unchanged.
 */
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

#include <stdbool.h>

enum phase {
    PHASE_PENDING,
    PHASE_CREATING,
    PHASE_READY,
    PHASE_DEGRADED,
    PHASE_UPDATING,
    PHASE_HIBERNATING,
    PHASE_HIBERNATED,
    PHASE_WAKING,
    PHASE_RETRYING,
    PHASE_FAILED,
    PHASE_DELETING,
    PHASE_UNKNOWN,
    PHASE_MAX_,
};

enum health { HEALTH_HEALTHY, HEALTH_PROGRESSING, HEALTH_UNHEALTHY, HEALTH_UNKNOWN, HEALTH_MAX_ };

/* Tables of names, as ROW(member, name). Only these tables list the members. */
#define OPERATION_TYPES(ROW)                              \
    ROW(OPERATION_CREATE, "create")                       \
    ROW(OPERATION_UPDATE, "update")                       \
    ROW(OPERATION_DELETE, "delete")                       \
    ROW(OPERATION_HIBERNATE, "hibernate")                 \
    ROW(OPERATION_WAKE, "wake")                           \
    ROW(OPERATION_RECONCILE, "reconcile")                 \
    ROW(OPERATION_RETRY, "retry")                         \
    ROW(OPERATION_MAINTAIN, "maintain")                   \
    ROW(OPERATION_ENABLE_HA, "enable-ha")                 \
    ROW(OPERATION_ROTATE_CA_PREPARE, "rotate-ca-prepare") \
    ROW(OPERATION_ROTATE_CA_COMPLETE, "rotate-ca-complete")
#define NAMES_MEMBER(member, name) member,

enum operation_type { OPERATION_TYPES(NAMES_MEMBER) OPERATION_TYPE_MAX_ };

enum operation_status {
    OPERATION_PENDING,
    OPERATION_RUNNING,
    OPERATION_SUCCEEDED,
    OPERATION_FAILED,
    OPERATION_CANCELLED,
    OPERATION_STATUS_MAX_,
};

/* Each role includes the rights of the role before it. */
enum role { ROLE_VIEWER, ROLE_KUBECONFIG, ROLE_OPERATOR, ROLE_ADMIN, ROLE_MAX_ };

#define EVENT_TYPES(ROW)                                                                            \
    ROW(EVENT_CLUSTER_CREATED, "cluster.created")                                                   \
    ROW(EVENT_CLUSTER_READY, "cluster.ready")                                                       \
    ROW(EVENT_CLUSTER_UPDATED, "cluster.updated")                                                   \
    ROW(EVENT_CLUSTER_DEGRADED, "cluster.degraded")                                                 \
    ROW(EVENT_CLUSTER_RECOVERED, "cluster.recovered")                                               \
    ROW(EVENT_CLUSTER_FAILED, "cluster.failed")                                                     \
    ROW(EVENT_CLUSTER_HIBERNATED, "cluster.hibernated")                                             \
    ROW(EVENT_CLUSTER_WOKEN, "cluster.woken")                                                       \
    ROW(EVENT_CLUSTER_DELETED, "cluster.deleted")                                                   \
    ROW(EVENT_CLUSTER_DISCOVERED, "cluster.discovered")                                             \
    ROW(EVENT_CLUSTER_ADOPTED, "cluster.adopted")                                                   \
    ROW(EVENT_CLUSTER_DRIFTED, "cluster.drifted")                                                   \
    ROW(EVENT_CLUSTER_RETRYING, "cluster.retrying") /* Gardener failed and tries again by itself */ \
    ROW(EVENT_CLUSTER_UNREACHABLE,                                                                  \
        "cluster.unreachable") /* Cleura does not show the cluster, or does not show its state */   \
    ROW(EVENT_OPERATION_STARTED, "operation.started")                                               \
    ROW(EVENT_OPERATION_SUCCEEDED, "operation.succeeded")                                           \
    ROW(EVENT_OPERATION_FAILED, "operation.failed")                                                 \
    ROW(EVENT_VERSION_EXPIRING, "version.expiring")                                                 \
    ROW(EVENT_ACCOUNT_LOGIN_FAILED, "account.login_failed")                                         \
    ROW(EVENT_ACCOUNT_RECOVERED, "account.recovered")                                               \
    ROW(EVENT_WEBHOOK_DISABLED, "webhook.disabled")                                                 \
    ROW(EVENT_WEBHOOK_TEST, "webhook.test")                                                         \
    ROW(EVENT_TOKEN_EXPIRING, "token.expiring")                                                     \
    ROW(EVENT_FREEZE_STARTED, "freeze.started") /* changes are refused from this time on */         \
    ROW(EVENT_FREEZE_ENDED, "freeze.ended")

/* EVENT_NONE means no event, and has no name. */
enum event_type { EVENT_NONE, EVENT_TYPES(NAMES_MEMBER) EVENT_TYPE_MAX_ };

/* The types of steps. Each has a row in reconcile/operations/step_kinds.c. */
#define STEP_TYPES(ROW)                      \
    ROW(STEP_BOOTSTRAP, "bootstrap")         \
    ROW(STEP_CREATE_SHOOT, "create_shoot")   \
    ROW(STEP_DELETE_SHOOT, "delete_shoot")   \
    ROW(STEP_WAIT_READY, "wait_ready")       \
    ROW(STEP_WAIT_GONE, "wait_gone")         \
    ROW(STEP_PATCH_CLUSTER, "patch_cluster") \
    ROW(STEP_UPDATE_POOL, "update_pool")     \
    ROW(STEP_CREATE_POOL, "create_pool")     \
    ROW(STEP_DELETE_POOL, "delete_pool")     \
    ROW(STEP_HIBERNATE, "hibernate")         \
    ROW(STEP_WAKE, "wake")                   \
    ROW(STEP_ENABLE_HA, "enable_ha")         \
    ROW(STEP_RECONCILE, "reconcile")         \
    ROW(STEP_RETRY, "retry")                 \
    ROW(STEP_MAINTAIN, "maintain")           \
    ROW(STEP_ROTATE_CA, "rotate_ca")

enum step_type { STEP_TYPES(NAMES_MEMBER) STEP_TYPE_MAX_ };

enum step_status {
    STEP_PENDING,
    STEP_SENDING,
    STEP_WAITING,
    STEP_DONE,
    STEP_FAILED,
    STEP_SKIPPED,
    STEP_STATUS_MAX_
};

const char *phase_name(enum phase phase);
const char *health_name(enum health health);
const char *operation_type_name(enum operation_type type);
const char *operation_status_name(enum operation_status status);
const char *step_type_name(enum step_type type);
const char *step_status_name(enum step_status status);
const char *role_name(enum role role);
const char *event_type_name(enum event_type type);

/* Return the value of a name; -1 for NULL and unknown names. */
int phase_from_name(const char *name);
int health_from_name(const char *name);
int operation_type_from_name(const char *name);
int operation_status_from_name(const char *name);
int step_type_from_name(const char *name);
int step_status_from_name(const char *name);
int role_from_name(const char *name);
int event_type_from_name(const char *name);

/* The pattern is "*", "cluster.*" or an exact name. */
bool event_type_matches(enum event_type type, const char *pattern);

/* Whether the status is final: a final status never changes. */
bool operation_status_is_final(enum operation_status status);

/* The regular expressions for texts in requests, each compiled once. */
#define PATTERN_DNS_LABEL   "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
#define PATTERN_VERSION     "^[0-9]+([.][0-9]+)*$"
#define PATTERN_UUID        "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
#define PATTERN_WINDOW_TIME "^([01][0-9]|2[0-3])[0-5][0-9][0-5][0-9]([+](0[0-9]|1[0-4])|-(0[0-9]|1[0-2]))00$"
/* The part of Cleura's pattern for cron expressions (P-CRON, CL-10) that matches five fields. The pattern may
 * match anywhere in the string. */
#define PATTERN_CRON "((([0-9]+,)+[0-9]+|[0-9*]+(/|-)[0-9]+|[0-9]+|[*]) ?){5,7}"

/* `pattern` is one of the patterns above. */
bool pattern_matches(const char *pattern, const char *text);

#endif
