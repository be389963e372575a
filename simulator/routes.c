/* The table of all paths of both generations and of /_sim/. */
#include "simulator/process.h"

#include "base/attrs.h"
#include "simulator/cloud/check.h"
#include "simulator/handlers/handlers.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define A ROUTE_AUTH
#define R (ROUTE_AUTH | ROUTE_REGION)
#define S (ROUTE_AUTH | ROUTE_REGION | ROUTE_SHOOT)

#define V1  "/gardener/v1/{t}"
#define V1S V1 "/shoot/{r}/{p}/{s}"
#define V2  "/gardener/v2/{t}"
#define V2S V2 "/shoots/{r}/{p}/{s}"
#define ID2 "/openstack/identity/v2"

#define PATH_MAX_SIZE 256

/* The first route that matches is used, so literal segments come before parameters. */
static const struct sim_route routes[] = {
    {"POST", "/auth/v2/tokens", OPERATION_CREATE_TOKEN, 2, 0, 201, auth_create_token},
    {"POST", "/auth/v2/request-sms-code", OPERATION_REQUEST_SMS_CODE, 2, 0, 204, auth_request_code},
    {"POST", "/auth/v2/tokens-by-sms-code", OPERATION_VERIFY_SMS_CODE, 2, 0, 200, auth_verify_code},
    {"POST", "/auth/v2/tokens-by-hash", OPERATION_OTHER, 2, 0, 201, auth_create_by_hash},
    {"POST", "/auth/v2/tokens/validate", OPERATION_VALIDATE_TOKEN, 2, A, 204, auth_validate},
    {"DELETE", "/auth/v2/tokens", OPERATION_REVOKE_TOKEN, 2, A, 204, auth_revoke},
    {"POST", "/auth/v1/tokens", OPERATION_CREATE_TOKEN, 1, 0, 200, auth_create_token},
    {"POST", "/auth/v1/tokens/request2facode", OPERATION_REQUEST_SMS_CODE, 1, 0, 204, auth_request_code},
    {"POST", "/auth/v1/tokens/verify2fa", OPERATION_VERIFY_SMS_CODE, 1, 0, 200, auth_verify_code},
    {"POST", "/auth/v1/tokens/validate", OPERATION_VALIDATE_TOKEN, 1, A, 204, auth_validate},
    {"DELETE", "/auth/v1/tokens", OPERATION_REVOKE_TOKEN, 1, A, 204, auth_revoke},

    {"GET", "/apidoc.json", OPERATION_OTHER, 2, 0, 200, handle_apidoc},

    {"GET", "/identity/v2/current-user", OPERATION_CURRENT_USER, 2, A, 200, handle_current_user},
    {"GET", "/openstack/identity/v1/current-user/projects", OPERATION_CURRENT_PROJECTS, 2, A, 200,
     handle_current_projects},
    {"GET", "/identity/v2/users", OPERATION_OTHER, 2, A, 200, handle_no_access},
    {"POST", "/identity/v2/users", OPERATION_OTHER, 2, A, 200, handle_no_access},
    {"GET", "/identity/v2/user/{u}", OPERATION_OTHER, 2, A, 200, handle_no_access},
    {"PATCH", "/identity/v2/users/{u}", OPERATION_OTHER, 2, A, 200, handle_no_access},
    {"DELETE", "/identity/v2/users/{u}", OPERATION_OTHER, 2, A, 204, handle_no_access},
    {"GET", ID2 "/domains/{d}/endpoints", OPERATION_OTHER, 2, A, 200, handle_domain_endpoints},
    {"POST", ID2 "/domains/{d}/projects", OPERATION_OTHER, 2, A, 201, handle_no_access},
    {"PATCH", ID2 "/domains/{d}/projects/{p}", OPERATION_OTHER, 2, A, 200, handle_no_access},
    {"GET", ID2 "/domains/{d}/projects/{p}/users", OPERATION_OTHER, 2, A, 200, handle_project_users},
    {"GET", ID2 "/domains/{d}/roles", OPERATION_OTHER, 2, A, 200, handle_domain_roles},
    {"GET", ID2 "/domains/{d}/users", OPERATION_OTHER, 2, A, 200, handle_domain_users},
    {"POST", ID2 "/domains/{d}/users", OPERATION_OTHER, 2, A, 201, handle_no_access},
    {"PATCH", ID2 "/domains/{d}/users/{u}", OPERATION_OTHER, 2, A, 200, handle_no_access},
    {"DELETE", ID2 "/domains/{d}/users/{u}", OPERATION_OTHER, 2, A, 204, handle_no_access},
    {"POST", ID2 "/domains/{d}/users/{u}/project-accesses", OPERATION_OTHER, 2, A, 204, handle_no_access},
    {"GET", ID2 "/domains/{d}/users/{u}/projects", OPERATION_OTHER, 2, A, 200, handle_user_projects},
    {"DELETE", ID2 "/domains/{d}/users/{u}/projects/{p}/roles/{i}", OPERATION_OTHER, 2, A, 204,
     handle_no_access},
    {"GET", ID2 "/domains/{d}/users/{u}/projects/{p}/regions/{r}/rc-credentials", OPERATION_OTHER, 2, A, 200,
     handle_rc_credentials},
    {"GET", ID2 "/projects/{m}/logs", OPERATION_OTHER, 2, A, 200, handle_project_logs},
    {"GET", ID2 "/domains", OPERATION_DOMAINS, 2, A, 200, handle_domains},
    {"GET", ID2 "/domains/{d}/projects/{p}/quotas/{r}", OPERATION_QUOTA, 2, A, 200, handle_quota},
    {"GET", "/accesscontrol/v1/openstack/domains", OPERATION_DOMAINS, 1, A, 200, handle_domains},
    {"GET", "/accesscontrol/v1/openstack/{d}/projects", OPERATION_CURRENT_PROJECTS, 1, A, 200,
     handle_v1_projects},

    {"GET", V2 "/cloud-profiles", OPERATION_CLOUD_PROFILES, 2, A, 200, handle_cloud_profiles},
    {"GET", V2 "/shoots/{s}/is-name-taken", OPERATION_NAME_TAKEN, 2, A, 200, handle_name_taken},
    {"POST", V2 "/{r}/{p}/bootstrap", OPERATION_BOOTSTRAP, 2, A, 204, handle_bootstrap},
    {"GET", V2 "/shoots/{r}/{p}", OPERATION_LIST_SHOOTS, 2, R, 200, handle_list_shoots},
    {"POST", V2 "/shoots/{r}/{p}", OPERATION_CREATE_SHOOT, 2, R, 202, handle_create_shoot},
    {"GET", V2S, OPERATION_GET_SHOOT, 2, S, 200, handle_get_shoot},
    {"PATCH", V2S, OPERATION_EDIT_SHOOT, 2, S, 202, handle_edit_shoot},
    {"DELETE", V2S, OPERATION_DELETE_SHOOT, 2, S, 202, handle_delete_shoot},
    {"POST", V2S "/admin-kubeconfig", OPERATION_KUBECONFIG, 2, S, 201, handle_kubeconfig},
    {"POST", "/gardener/v3/{t}/shoots/{r}/{p}/{s}/admin-kubeconfig", OPERATION_KUBECONFIG_V3, 3, S, 201,
     handle_kubeconfig},
    {"PATCH", V2S "/ca/rotate", OPERATION_ROTATE_CA, 2, S, 202, handle_rotate_ca},
    {"GET", V2S "/ca/rotation-stage", OPERATION_CA_STAGE, 2, S, 200, handle_ca_stage},
    {"PATCH", V2S "/ha-control-plane/enable", OPERATION_ENABLE_HA, 2, S, 202, handle_enable_ha},
    {"PATCH", V2S "/hibernate", OPERATION_HIBERNATE, 2, S, 202, handle_hibernate},
    {"PATCH", V2S "/wakeup", OPERATION_WAKE, 2, S, 202, handle_wake},
    {"PATCH", V2S "/maintenance", OPERATION_MAINTENANCE, 2, S, 202, handle_maintenance},
    {"PATCH", V2S "/reconcile", OPERATION_RECONCILE, 2, S, 202, handle_reconcile},
    {"PATCH", V2S "/retry", OPERATION_RETRY, 2, S, 202, handle_retry},
    {"GET", V2S "/monitoring", OPERATION_MONITORING, 2, S, 200, handle_monitoring},
    {"GET", V2S "/monitoring/nodes/{n}", OPERATION_NODE_DETAILS, 2, S, 200, handle_node_details},
    {"GET", V2S "/monitoring/workers/{w}", OPERATION_WORKER_DETAILS, 2, S, 200, handle_worker_details},
    {"GET", V2S "/monitoring/workers/{w}/nodes", OPERATION_NODE_NAMES, 2, S, 200, handle_node_names},
    {"GET", V2S "/monitoring/workers/{w}/nodes/overview", OPERATION_NODES_OVERVIEW, 2, S, 200,
     handle_nodes_overview},
    {"GET", V2S "/ssh_pk", OPERATION_SSH_KEY, 2, S, 200, handle_ssh_key},
    {"GET", V2S "/upgrade/check", OPERATION_UPGRADE_CHECK, 2, S, 200, handle_upgrade_check},
    {"PUT", V2S "/upgrade/prepare", OPERATION_UPGRADE_PREPARE, 2, S, 200, handle_upgrade_prepare},
    {"PATCH", V2S "/upgrade/revert", OPERATION_UPGRADE_REVERT, 2, S, 200, handle_upgrade_revert},
    {"POST", V2S "/workers", OPERATION_CREATE_WORKER, 2, S, 202, handle_create_worker},
    {"PUT", V2S "/workers/{w}", OPERATION_UPDATE_WORKER, 2, S, 202, handle_update_worker},
    {"DELETE", V2S "/workers/{w}", OPERATION_DELETE_WORKER, 2, S, 202, handle_delete_worker},

    {"GET", V1 "/cloudprofile", OPERATION_CLOUD_PROFILES, 1, A, 200, handle_cloud_profiles},
    {"POST", V1 "/secret/{r}/{p}/bootstrap", OPERATION_BOOTSTRAP, 1, A, 204, handle_bootstrap},
    {"GET", V1 "/shoot/{r}/{p}", OPERATION_LIST_SHOOTS, 1, R, 200, handle_list_shoots},
    {"POST", V1 "/shoot/{r}/{p}", OPERATION_CREATE_SHOOT, 1, R, 200, handle_create_shoot},
    {"GET", V1S, OPERATION_GET_SHOOT, 1, S, 200, handle_get_shoot},
    {"PUT", V1S, OPERATION_EDIT_SHOOT, 1, S, 202, handle_edit_shoot},
    {"DELETE", V1S, OPERATION_DELETE_SHOOT, 1, S, 202, handle_delete_shoot},
    {"POST", V1S "/enable-ha-control-plane", OPERATION_ENABLE_HA, 1, S, 202, handle_enable_ha},
    {"POST", V1S "/worker", OPERATION_CREATE_WORKER, 1, S, 202, handle_create_worker},
    {"PUT", V1S "/worker/{w}", OPERATION_UPDATE_WORKER, 1, S, 202, handle_update_worker},
    {"DELETE", V1S "/worker/{w}", OPERATION_DELETE_WORKER, 1, S, 202, handle_delete_worker},
    {"POST", V1S "/hibernate", OPERATION_HIBERNATE, 1, S, 202, handle_hibernate},
    {"POST", V1S "/wakeup", OPERATION_WAKE, 1, S, 202, handle_wake},
    {"POST", V1S "/adminkubeconfig", OPERATION_KUBECONFIG, 1, S, 200, handle_kubeconfig},
    {"GET", V1S "/kubeconfig", OPERATION_KUBECONFIG, 1, S, 200, handle_dead_kubeconfig},
    {"POST", V1S "/Kubeconfig", OPERATION_KUBECONFIG, 1, S, 200, handle_dead_kubeconfig},
    {"GET", V1S "/monitoring", OPERATION_MONITORING, 1, S, 200, handle_monitoring},

    {"GET", "/_sim/healthz", OPERATION_OTHER, 0, 0, 200, control_healthz},
    {"GET", "/_sim/counters", OPERATION_OTHER, 0, 0, 200, control_counters},
    {"GET", "/_sim/requests", OPERATION_OTHER, 0, 0, 200, control_requests},
    {"DELETE", "/_sim/requests", OPERATION_OTHER, 0, 0, 204, control_requests_clear},
    {"GET", "/_sim/clock", OPERATION_OTHER, 0, 0, 200, control_clock},
    {"POST", "/_sim/clock", OPERATION_OTHER, 0, 0, 200, control_clock_set},
    {"GET", "/_sim/faults", OPERATION_OTHER, 0, 0, 200, control_faults},
    {"POST", "/_sim/faults", OPERATION_OTHER, 0, 0, 201, control_faults_add},
    {"DELETE", "/_sim/faults", OPERATION_OTHER, 0, 0, 204, control_faults_clear},
    {"DELETE", "/_sim/faults/{i}", OPERATION_OTHER, 0, 0, 204, control_fault_remove},
    {"GET", "/_sim/tokens", OPERATION_OTHER, 0, 0, 200, control_tokens},
    {"POST", "/_sim/tokens/expire", OPERATION_OTHER, 0, 0, 204, control_tokens_expire},
    {"POST", "/_sim/lifecycle", OPERATION_OTHER, 0, 0, 201, control_lifecycle},
    {"DELETE", "/_sim/lifecycle", OPERATION_OTHER, 0, 0, 204, control_lifecycle_clear},
    {"POST", "/_sim/shoots", OPERATION_OTHER, 0, 0, 201, control_shoots_seed},
    {"DELETE", "/_sim/shoots/{s}", OPERATION_OTHER, 0, 0, 204, control_shoot_vanish},
    {"POST", "/_sim/shoots/{s}/run", OPERATION_OTHER, 0, 0, 200, control_run},
    {"GET", "/_sim/shoots/{s}/conditions", OPERATION_OTHER, 0, 0, 200, control_conditions},
    {"POST", "/_sim/shoots/{s}/conditions", OPERATION_OTHER, 0, 0, 200, control_conditions_set},
    {"DELETE", "/_sim/shoots/{s}/conditions", OPERATION_OTHER, 0, 0, 204, control_conditions_clear},
    {"DELETE", "/_sim/shoots/{s}/conditions/{i}", OPERATION_OTHER, 0, 0, 204, control_condition_clear},
    {"GET", "/_sim/settings", OPERATION_OTHER, 0, 0, 200, control_settings},
    {"POST", "/_sim/settings", OPERATION_OTHER, 0, 0, 200, control_settings_set},
    {"GET", "/_sim/catalog", OPERATION_OTHER, 0, 0, 200, control_catalog},
    {"POST", "/_sim/catalog", OPERATION_OTHER, 0, 0, 200, control_catalog_change},
    {"GET", "/_sim/state", OPERATION_OTHER, 0, 0, 200, control_state},
    {"PUT", "/_sim/state", OPERATION_OTHER, 0, 0, 200, control_state_set},
    {"POST", "/_sim/down", OPERATION_OTHER, 0, 0, 200, control_down},
    {"POST", "/_sim/replay", OPERATION_OTHER, 0, 0, 201, control_replay},
    {"DELETE", "/_sim/replay", OPERATION_OTHER, 0, 0, 204, control_replay_clear},
};

static const struct {
    char letter;
    const char *name;
} params_known[PARAM_MAX_] = {
    [PARAM_TAG] = {'t', "gardenerRegionTag"},
    [PARAM_REGION] = {'r', "openStackRegionTag"},
    [PARAM_PROJECT] = {'p', "openStackProjectId"},
    [PARAM_SHOOT] = {'s', "shootName"},
    [PARAM_WORKER] = {'w', "workerName"},
    [PARAM_NODE] = {'n', "nodeName"},
    [PARAM_DOMAIN] = {'d', "domainId"},
    [PARAM_USER] = {'u', "userId"},
    [PARAM_NAME] = {'m', "projectName"},
    [PARAM_ID] = {'i', "roleId"},
};

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Decodes one segment in place. An escaped NUL makes the path unknown. */
static bool segment_decode(char *text)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        if (in[0] == '%' && hex_value(in[1]) >= 0 && hex_value(in[2]) >= 0) {
            *out = (char)(hex_value(in[1]) * 16 + hex_value(in[2]));
            if (!*out++)
                return false;
            in += 2;
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
    return true;
}

static bool path_split(struct sim_exchange *x)
{
    char *rest = x->decoded;
    assert(!x->route);
    x->segment_count = 0;
    if (*rest++ != '/')
        return false;
    for (;;) {
        char *slash = strchr(rest, '/');
        if (x->segment_count == EXCHANGE_SEGMENTS_MAX)
            return false;
        if (slash)
            *slash = '\0';
        if (!segment_decode(rest))
            return false;
        x->segments[x->segment_count++] = rest;
        if (!slash)
            return true;
        rest = slash + 1;
    }
}

static enum param param_of(char letter)
{
    for (int i = 0; i < PARAM_MAX_; i++)
        if (params_known[i].letter == letter)
            return (enum param)i;
    return PARAM_MAX_;
}

/* Compares a path with a pattern. When they do not match, `params` may be partly filled. */
static bool path_matches(const struct sim_exchange *x, const char *pattern, const char **params)
{
    const char *at = pattern + 1;
    for (size_t i = 0; i < x->segment_count; i++) {
        size_t length = strcspn(at, "/");
        if (length == 3 && at[0] == '{') {
            if (x->segments[i][0] == '\0')
                return false;
            assert(param_of(at[1]) < PARAM_MAX_); /* the table has no other letters */
            params[param_of(at[1])] = x->segments[i];
        } else if (strlen(x->segments[i]) != length || memcmp(x->segments[i], at, length) != 0) {
            return false;
        }
        at += length;
        if (!*at)
            return i + 1 == x->segment_count;
        at++;
    }
    return false;
}

void routes_match(struct sim_exchange *x)
{
    if (!path_split(x))
        return;
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        const char *params[PARAM_MAX_ + 1] = {NULL};
        if (strcmp(routes[i].method, x->method) != 0 || !path_matches(x, routes[i].pattern, params))
            continue;
        x->route = &routes[i];
        memcpy(x->params, params, sizeof(x->params));
        return;
    }
}

bool routes_check_params(struct sim_exchange *x)
{
    static const struct {
        enum param param;
        enum pattern pattern;
        const char *name;
    } checks[] = {{PARAM_SHOOT, PATTERN_SHOOT, "shootName"},
                  {PARAM_WORKER, PATTERN_WORKER, "workerName"},
                  {PARAM_NODE, PATTERN_WORKER, "nodeName"}};
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        const char *value = x->params[checks[i].param];
        if (value && !check_pattern(checks[i].pattern, value)) {
            json_t *errors = json_array();
            check_fail(errors, checks[i].name, "must match pattern");
            answer_invalid(x, errors);
            return false;
        }
    }
    return true;
}

/* ---- /apidoc.json: lists the operations without their schemas ---- */

/* Turns "/domains/{d}" into "/domains/{domainId}", and adds the name to the list `parameters`. */
static void apidoc_spell_path(const char *pattern, char out[PATH_MAX_SIZE], json_t *parameters)
{
    size_t used = 0;
    for (const char *at = pattern; *at && used + 1 < PATH_MAX_SIZE; at++) {
        if (*at == '{') {
            const char *name = params_known[param_of(at[1])].name;
            used += (size_t)snprintf(out + used, PATH_MAX_SIZE - used, "{%s}", name);
            (void)json_array_append_new(parameters,
                                        json_pack("{s:s, s:s, s:b, s:{s:s}}", "name", name, "in", "path",
                                                  "required", 1, "schema", "type", "string"));
            at += 2;
        } else {
            out[used++] = *at;
        }
    }
    out[used] = '\0';
}

static const char *apidoc_method(const char *method)
{
    static const char *const methods[][2] = {
        {"GET", "get"}, {"POST", "post"}, {"PUT", "put"}, {"PATCH", "patch"}, {"DELETE", "delete"}};
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (!strcmp(methods[i][0], method))
            return methods[i][1];
    return method;
}

static void apidoc_add_route(json_t *paths, const struct sim_route *route)
{
    char path[PATH_MAX_SIZE];
    char status[16];
    json_t *parameters = json_array();
    json_t *methods;
    apidoc_spell_path(route->pattern, path, parameters);
    (void)snprintf(status, sizeof(status), "%d", route->success);
    methods = json_object_get(paths, path);
    if (!methods) {
        methods = json_object();
        (void)json_object_set_new(paths, path, methods);
    }
    (void)json_object_set_new(methods, apidoc_method(route->method),
                              json_pack("{s:o, s:{s:{s:s}}}", "parameters", parameters, "responses", status,
                                        "description", "Success"));
}

void handle_apidoc(struct sim_exchange *x)
{
    json_t *paths = json_object();
    for (size_t i = 0; i < ARRAY_LEN(routes); i++)
        if (routes[i].generation >= 2)
            apidoc_add_route(paths, &routes[i]);
    answer_json(x, 200,
                json_pack("{s:s, s:{s:s, s:s}, s:o}", "openapi", "3.1.0", "info", "title",
                          "Cleura Cloud Management System API", "version", "1.0.0", "paths", paths));
}
