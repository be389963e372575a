/* The route table, made from routes.def, and the match of paths. */
#include "api/routes.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "api/commands.h"
#include "api/resources/handlers.h"
#include "base/attrs.h"

#define P(id) PARAM_BIT(PARAM_##id)
#define PAGE  (P(LIMIT) | P(CURSOR))
#define WRITE (P(DRY_RUN) | P(WAIT))

#define CLUSTER_FILTERS                                                                                     \
    (P(CLUSTER_LIMIT) | P(CURSOR) | P(REGION) | P(PHASE) | P(HEALTH) | P(MANAGED) | P(KUBERNETES_VERSION) | \
     P(Q) | P(LABEL) | P(EXPIRING_BEFORE) | P(CREATED_BEFORE) | P(CREATED_AFTER) | P(AGE) | P(SORT) |       \
     P(FIELDS))
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

const struct route routes[ROUTE_COUNT] = {
#define ROUTE(operation, method, template, handler, command, role, flags, body_limit, params) \
    {#operation,  METHOD_##method, template,   handler, COMMAND_##command,                    \
     ROLE_##role, flags,           body_limit, params},
#include "api/routes.def"
#undef ROUTE
};

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
