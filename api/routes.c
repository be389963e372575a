/* The route table. Each row is an operation in openapi.yaml; a test compares them. */
#include "api/routes.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "api/resources/handlers.h"
#include "base/attrs.h"

#define P(id) PARAM_BIT(PARAM_##id)
#define PAGE  (P(LIMIT) | P(CURSOR))
#define WRITE (P(DRY_RUN) | P(WAIT))

#define CLUSTER_FILTERS                                                                    \
    (PAGE | P(REGION) | P(PHASE) | P(HEALTH) | P(MANAGED) | P(VERSION) | P(Q) | P(LABEL) | \
     P(EXPIRING_BEFORE) | P(CREATED_BEFORE) | P(CREATED_AFTER) | P(AGE) | P(SORT) | P(FIELDS))
#define WINDOW (P(SINCE) | P(UNTIL))
#define SEARCH (P(ACTOR) | P(TARGET))
#define STREAM (P(AFTER) | P(LAST_EVENT_ID) | P(TYPE) | P(TICKET))
#define PROBE  (ROUTE_PUBLIC | ROUTE_QUIET | CONTENT_ANY_TYPE)

#define PROJECT  "/v1/projects/{project}"
#define CLUSTER  PROJECT "/clusters/{cluster}"
#define TOKEN    "/v1/tokens/{token}"
#define WEBHOOK  "/v1/webhooks/{webhook}"
#define DELIVERY WEBHOOK "/deliveries/{delivery}"
#define POOLS    CLUSTER "/node-pools"

enum { SMALL_BODY = 64 * 1024, TEMPLATE_BYTES = 80 };

const struct route routes[] = {
    {"getDashboard", METHOD_GET, "/", handle_dashboard, ROLE_VIEWER,
     ROUTE_PUBLIC | CONTENT_ANY_TYPE | ROUTE_ANY_QUERY, 0, 0},
    {"getDashboardFile", METHOD_GET, "/dashboard/{file}", handle_dashboard_file, ROLE_VIEWER,
     ROUTE_PUBLIC | CONTENT_ANY_TYPE, 0, 0},

    {"getLivez", METHOD_GET, "/livez", handle_livez, ROLE_VIEWER, PROBE, 0, P(VERBOSE) | P(EXCLUDE)},
    {"getHealthz", METHOD_GET, "/healthz", handle_livez, ROLE_VIEWER, PROBE, 0, P(VERBOSE) | P(EXCLUDE)},
    {"getReadyz", METHOD_GET, "/readyz", handle_readyz, ROLE_VIEWER, PROBE, 0, P(VERBOSE) | P(EXCLUDE)},
    {"getMetrics", METHOD_GET, "/metrics", handle_metrics, ROLE_VIEWER, PROBE, 0, 0},
    {"getVersion", METHOD_GET, "/version", handle_version, ROLE_VIEWER, ROUTE_PUBLIC, 0, 0},
    {"getOpenapiYaml", METHOD_GET, "/openapi.yaml", handle_openapi_yaml, ROLE_VIEWER,
     ROUTE_PUBLIC | CONTENT_ANY_TYPE, 0, 0},
    {"getOpenapiJson", METHOD_GET, "/openapi.json", handle_openapi_json, ROLE_VIEWER,
     ROUTE_PUBLIC | CONTENT_ANY_TYPE, 0, 0},

    {"getProblem", METHOD_GET, "/problems/{problem}", handle_problem, ROLE_VIEWER,
     ROUTE_PUBLIC | CONTENT_ANY_TYPE, 0, 0},

    {"getAuth", METHOD_GET, "/v1/auth", handle_auth, ROLE_VIEWER, ROUTE_PUBLIC, 0, 0},
    {"whoami", METHOD_GET, "/v1/whoami", handle_whoami, ROLE_VIEWER, 0, 0, 0},
    {"listProjects", METHOD_GET, "/v1/projects", handle_projects, ROLE_VIEWER, 0, 0, PAGE},
    {"getProject", METHOD_GET, PROJECT, handle_project, ROLE_VIEWER, 0, 0, 0},
    {"confirmLocation", METHOD_POST, PROJECT "/confirm-location", handle_location_confirm, ROLE_ADMIN,
     CONTENT_BODY, SMALL_BODY, 0},
    {"getCatalog", METHOD_GET, PROJECT "/catalog", handle_catalog, ROLE_VIEWER, 0, 0, 0},
    {"getQuota", METHOD_GET, PROJECT "/quota", handle_quota, ROLE_VIEWER, 0, 0, 0},
    {"getDurations", METHOD_GET, PROJECT "/durations", handle_durations, ROLE_VIEWER, 0, 0, 0},

    {"getSummary", METHOD_GET, "/v1/summary", handle_summary, ROLE_VIEWER, 0, 0, P(PROJECT)},
    {"listAllIssues", METHOD_GET, "/v1/issues", handle_all_issues, ROLE_VIEWER, 0, 0,
     PAGE | P(PROJECT) | P(SEVERITY) | P(SOURCE)},
    {"listClusters", METHOD_GET, "/v1/clusters", handle_clusters, ROLE_VIEWER, ROUTE_FRESH, 0,
     CLUSTER_FILTERS | P(PROJECT)},
    {"listProjectClusters", METHOD_GET, PROJECT "/clusters", handle_clusters, ROLE_VIEWER, ROUTE_FRESH, 0,
     CLUSTER_FILTERS},
    {"createCluster", METHOD_POST, PROJECT "/clusters", handle_cluster_create, ROLE_OPERATOR,
     CONTENT_BODY | ROUTE_COLLECTION, REQUEST_MAX_BODY, WRITE},
    {"getCluster", METHOD_GET, CLUSTER, handle_cluster, ROLE_VIEWER, ROUTE_FRESH, 0, 0},
    {"putCluster", METHOD_PUT, CLUSTER, handle_cluster_put, ROLE_OPERATOR, CONTENT_BODY, REQUEST_MAX_BODY,
     WRITE},
    {"patchCluster", METHOD_PATCH, CLUSTER, handle_cluster_patch, ROLE_OPERATOR,
     CONTENT_BODY | CONTENT_MERGE_PATCH, REQUEST_MAX_BODY, WRITE},
    {"deleteCluster", METHOD_DELETE, CLUSTER, handle_cluster_delete, ROLE_OPERATOR, 0, 0, WRITE},
    {"listNodePools", METHOD_GET, POOLS, handle_node_pools, ROLE_VIEWER, 0, 0, 0},
    {"createNodePool", METHOD_POST, POOLS, handle_node_pool_create, ROLE_OPERATOR, CONTENT_BODY, SMALL_BODY,
     WRITE},
    {"getNodePool", METHOD_GET, POOLS "/{pool}", handle_node_pool, ROLE_VIEWER, 0, 0, 0},
    {"putNodePool", METHOD_PUT, POOLS "/{pool}", handle_node_pool_put, ROLE_OPERATOR, CONTENT_BODY,
     SMALL_BODY, WRITE},
    {"patchNodePool", METHOD_PATCH, POOLS "/{pool}", handle_node_pool_patch, ROLE_OPERATOR,
     CONTENT_BODY | CONTENT_MERGE_PATCH, SMALL_BODY, WRITE},
    {"deleteNodePool", METHOD_DELETE, POOLS "/{pool}", handle_node_pool_delete, ROLE_OPERATOR, 0, 0, WRITE},
    {"runClusterAction", METHOD_POST, CLUSTER "/actions/{action}", handle_cluster_action, ROLE_OPERATOR, 0, 0,
     WRITE},
    {"getMonitoring", METHOD_GET, CLUSTER "/monitoring", handle_monitoring, ROLE_OPERATOR, ROUTE_SECRET, 0,
     0},
    {"listNodes", METHOD_GET, CLUSTER "/nodes", handle_nodes, ROLE_VIEWER, 0, 0, 0},
    {"getSshKey", METHOD_GET, CLUSTER "/ssh-key", handle_ssh_key, ROLE_OPERATOR, ROUTE_SECRET, 0, 0},
    {"listUpgrades", METHOD_GET, CLUSTER "/upgrades", handle_upgrades, ROLE_VIEWER, 0, 0, 0},
    {"listIssues", METHOD_GET, CLUSTER "/issues", handle_issues, ROLE_VIEWER, 0, 0, 0},
    {"getKubeconfig", METHOD_GET, CLUSTER "/kubeconfig", handle_kubeconfig, ROLE_KUBECONFIG,
     CONTENT_OFFERS_YAML | ROUTE_SECRET, 0,
     P(TTL_SECONDS) | P(MIN_REMAINING_SECONDS) | P(FORMAT) | P(HEADER_FILE) | P(API_VERSION)},
    {"getCredential", METHOD_GET, CLUSTER "/credential", handle_credential, ROLE_KUBECONFIG, ROUTE_SECRET, 0,
     P(TTL_SECONDS) | P(MIN_REMAINING_SECONDS) | P(API_VERSION)},
    {"listClusterEvents", METHOD_GET, CLUSTER "/events", handle_cluster_events, ROLE_VIEWER,
     CONTENT_OFFERS_STREAM, 0, PAGE | WINDOW | P(ORDER) | STREAM},
    {"listClusterOperations", METHOD_GET, CLUSTER "/operations", handle_cluster_operations, ROLE_VIEWER, 0, 0,
     PAGE | P(STATUS) | P(OPERATION_TYPE) | P(SINCE)},

    {"listOperations", METHOD_GET, "/v1/operations", handle_operations, ROLE_VIEWER, 0, 0,
     PAGE | P(PROJECT) | P(CLUSTER) | P(STATUS) | P(OPERATION_TYPE) | P(SINCE)},
    {"getOperation", METHOD_GET, "/v1/operations/{operation}", handle_operation, ROLE_VIEWER, 0, 0, P(WAIT)},
    {"cancelOperation", METHOD_POST, "/v1/operations/{operation}/cancel", handle_operation_cancel,
     ROLE_OPERATOR, 0, 0, 0},
    {"listEvents", METHOD_GET, "/v1/events", handle_events, ROLE_VIEWER, CONTENT_OFFERS_STREAM, 0,
     PAGE | WINDOW | P(ORDER) | STREAM | P(PROJECT) | P(CLUSTER) | SEARCH},
    {"createStreamTicket", METHOD_POST, "/v1/stream-tickets", handle_stream_ticket_create, ROLE_VIEWER,
     ROUTE_SECRET, 0, 0},

    {"listWebhooks", METHOD_GET, "/v1/webhooks", handle_webhooks, ROLE_OPERATOR, 0, 0, PAGE},
    {"createWebhook", METHOD_POST, "/v1/webhooks", handle_webhook_create, ROLE_OPERATOR,
     CONTENT_BODY | ROUTE_SECRET | ROUTE_COLLECTION, SMALL_BODY, 0},
    {"getWebhook", METHOD_GET, WEBHOOK, handle_webhook, ROLE_OPERATOR, 0, 0, 0},
    {"patchWebhook", METHOD_PATCH, WEBHOOK, handle_webhook_patch, ROLE_OPERATOR,
     CONTENT_BODY | CONTENT_MERGE_PATCH, SMALL_BODY, 0},
    {"deleteWebhook", METHOD_DELETE, WEBHOOK, handle_webhook_delete, ROLE_OPERATOR, 0, 0, 0},
    {"enableWebhook", METHOD_POST, WEBHOOK "/enable", handle_webhook_enable, ROLE_OPERATOR, 0, 0, 0},
    {"rotateWebhookSecret", METHOD_POST, WEBHOOK "/rotate-secret", handle_webhook_rotate, ROLE_OPERATOR,
     CONTENT_BODY | CONTENT_BODY_OPTIONAL | ROUTE_SECRET, SMALL_BODY, 0},
    {"testWebhook", METHOD_POST, WEBHOOK "/test", handle_webhook_test, ROLE_OPERATOR, 0, 0, 0},
    {"recoverWebhook", METHOD_POST, WEBHOOK "/recover", handle_webhook_recover, ROLE_OPERATOR, CONTENT_BODY,
     SMALL_BODY, 0},
    {"listDeliveries", METHOD_GET, WEBHOOK "/deliveries", handle_deliveries, ROLE_OPERATOR, 0, 0,
     PAGE | P(DELIVERY_STATUS)},
    {"getDelivery", METHOD_GET, DELIVERY, handle_delivery, ROLE_OPERATOR, 0, 0, 0},
    {"redeliver", METHOD_POST, DELIVERY "/redeliver", handle_redeliver, ROLE_OPERATOR, 0, 0, 0},

    {"listTokens", METHOD_GET, "/v1/tokens", handle_tokens, ROLE_ADMIN, ROUTE_SECRET, 0, PAGE},
    {"createToken", METHOD_POST, "/v1/tokens", handle_token_create, ROLE_ADMIN,
     CONTENT_BODY | ROUTE_SECRET | ROUTE_COLLECTION, SMALL_BODY, 0},
    {"getToken", METHOD_GET, TOKEN, handle_token, ROLE_ADMIN, ROUTE_SECRET, 0, 0},
    {"patchToken", METHOD_PATCH, TOKEN, handle_token_patch, ROLE_ADMIN,
     CONTENT_BODY | CONTENT_MERGE_PATCH | ROUTE_SECRET, SMALL_BODY, 0},
    {"rotateToken", METHOD_POST, TOKEN "/rotate", handle_token_rotate, ROLE_ADMIN,
     CONTENT_BODY | CONTENT_BODY_OPTIONAL | ROUTE_SECRET, SMALL_BODY, 0},
    {"deleteToken", METHOD_DELETE, TOKEN, handle_token_delete, ROLE_ADMIN, ROUTE_SECRET, 0, P(WEBHOOKS)},

    {"listAudit", METHOD_GET, "/v1/audit", handle_audit, ROLE_ADMIN, CONTENT_OFFERS_LINES, 0,
     PAGE | WINDOW | P(PROJECT) | P(CLUSTER) | P(ACTION) | P(TOKEN) | P(OUTCOME) | P(ORDER) |
         P(AUDIT_FORMAT) | SEARCH},

    {"listFreezes", METHOD_GET, "/v1/freeze", handle_freezes, ROLE_VIEWER, 0, 0, 0},
    {"putFreeze", METHOD_PUT, "/v1/freeze", handle_freeze_put, ROLE_ADMIN, CONTENT_BODY, SMALL_BODY, 0},
    {"deleteFreeze", METHOD_DELETE, "/v1/freeze", handle_freeze_delete, ROLE_ADMIN, 0, 0,
     P(SCOPE) | P(PROJECT)},

    {"listBackups", METHOD_GET, "/v1/backups", handle_backups, ROLE_ADMIN, ROUTE_WHOLE, 0, 0},
    {"createBackup", METHOD_POST, "/v1/backups", handle_backup_create, ROLE_ADMIN, ROUTE_WHOLE, 0, 0},
    {"getReload", METHOD_GET, "/v1/reload", handle_last_reload, ROLE_ADMIN, ROUTE_WHOLE, 0, 0},
    {"reloadConfiguration", METHOD_POST, "/v1/reload", handle_reload, ROLE_ADMIN, ROUTE_WHOLE, 0, 0},

    {"listAccounts", METHOD_GET, "/v1/accounts", handle_accounts, ROLE_VIEWER, 0, 0, PAGE},
    {"loginAccount", METHOD_POST, "/v1/accounts/{account}/login", handle_account_login, ROLE_ADMIN, 0, 0, 0},
    {"verifyAccount", METHOD_POST, "/v1/accounts/{account}/verify", handle_account_verify, ROLE_ADMIN,
     CONTENT_BODY, SMALL_BODY, 0},
};

_Static_assert(ARRAY_LEN(routes) == ROUTE_COUNT, "ROUTE_COUNT in routes.h is the number of rows");

/* ---- matching: templates are split once, so that a request only compares whole segments ---- */

enum binding { BIND_PROJECT, BIND_CLUSTER, BIND_DELIVERY, BIND_ITEM };

struct pattern {
    unsigned count;                          /* number of segments */
    const char *literals[PATH_MAX_SEGMENTS]; /* the literal segments; NULL: the segment is a parameter */
    enum binding bindings[PATH_MAX_SEGMENTS];
};

static struct pattern patterns[ROUTE_COUNT];

static enum binding binding_of(const char *name)
{
    static const char *const names[] = {
        [BIND_PROJECT] = "{project}", [BIND_CLUSTER] = "{cluster}", [BIND_DELIVERY] = "{delivery}"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(name, names[i]))
            return (enum binding)i;
    return BIND_ITEM;
}

static void prepare_pattern(struct pattern *p, const char *template)
{
    static char texts[ROUTE_COUNT * TEMPLATE_BYTES];
    static size_t used;
    const size_t len = strlen(template);
    assert(used + len < sizeof(texts));
    char *rest = memcpy(texts + used, template, len + 1);
    used += len + 1;
    rest++; /* skips the first slash */
    for (char *segment; (segment = strsep(&rest, "/")) != NULL; p->count++) {
        assert(p->count < PATH_MAX_SEGMENTS);
        p->literals[p->count] = *segment == '{' ? NULL : segment;
        p->bindings[p->count] = binding_of(segment);
    }
}

static void prepare_patterns(void)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        prepare_pattern(&patterns[i], routes[i].template);
}

void routes_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, prepare_patterns);
}

static bool path_fits(const struct pattern *p, const struct path_segments *path)
{
    if (p->count != path->count)
        return false;
    for (unsigned i = 0; i < p->count; i++)
        if (p->literals[i] ? strcmp(p->literals[i], path->items[i]) != 0 : !*path->items[i])
            return false;
    return true;
}

static void bind_parameters(struct request *r, const struct pattern *p)
{
    const char **const places[] = {[BIND_PROJECT] = &r->project,
                                   [BIND_CLUSTER] = &r->name,
                                   [BIND_DELIVERY] = &r->delivery,
                                   [BIND_ITEM] = &r->item};
    for (unsigned i = 0; i < p->count; i++)
        if (!p->literals[i])
            *places[p->bindings[i]] = r->http.segments.items[i];
}

static unsigned methods_of_path(const struct path_segments *path)
{
    unsigned methods = 0;
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (path_fits(&patterns[i], path))
            methods |= 1U << routes[i].method | 1U << METHOD_OPTIONS |
                       (routes[i].method == METHOD_GET ? 1U << METHOD_HEAD : 0);
    return methods;
}

const struct route *route_match(struct request *r, unsigned *ret_allowed)
{
    const enum method wanted = r->http.method == METHOD_HEAD ? METHOD_GET : r->http.method;
    const struct path_segments *path = &r->http.segments;
    assert(patterns[0].count); /* routes_prepare must have been called */
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (routes[i].method != wanted || !path_fits(&patterns[i], path))
            continue;
        bind_parameters(r, &patterns[i]);
        return &routes[i];
    }
    *ret_allowed = methods_of_path(path);
    return NULL;
}

bool route_prefers_stream(const struct request *r)
{
    const struct content_rules rules = route_content(r->route);
    return content_prefers_stream(&r->http.headers, &rules);
}
