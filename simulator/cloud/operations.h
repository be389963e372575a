/* The operations of the API under one name each, whatever the generation. */
#ifndef SIMULATOR_CLOUD_OPERATIONS_H
#define SIMULATOR_CLOUD_OPERATIONS_H

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
/* "*" gives OPERATION_ANY; an unknown name OPERATION_INVALID. */
enum operation operation_find(const char *name);

#endif
