/* /apidoc.json: which operations there are, made from the table of routes. The schemas are not repeated. */
#include "simulator/request/exchange.h"
#include "simulator/handlers/handlers.h"
#include "simulator/routes.h"

#include <stdio.h>
#include <string.h>

#define PATH_MAX_SIZE 256

/* "/domains/{d}" becomes "/domains/{domainId}", and the name goes to the list. */
static void spell_path(const char *pattern, char out[PATH_MAX_SIZE], json_t *parameters)
{
    size_t used = 0;

    for (const char *at = pattern; *at != '\0' && used + 1 < PATH_MAX_SIZE; at++) {
        if (*at == '{') {
            const char *name = routes_param_name(at[1]);

            used += (size_t)snprintf(out + used, PATH_MAX_SIZE - used, "{%s}", name);
            json_array_append_new(parameters, json_pack("{s:s, s:s, s:b, s:{s:s}}", "name", name, "in",
                                                        "path", "required", 1, "schema", "type", "string"));
            at += 2;
        } else {
            out[used++] = *at;
        }
    }
    out[used] = '\0';
}

static const char *lower_case(const char *method)
{
    static const char *const methods[][2] = {
        {"GET", "get"}, {"POST", "post"}, {"PUT", "put"}, {"PATCH", "patch"}, {"DELETE", "delete"}};

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(methods[i][0], method) == 0)
            return methods[i][1];
    return method;
}

static void add_route(json_t *paths, const struct route *route)
{
    char path[PATH_MAX_SIZE];
    char status[16];
    json_t *parameters = json_array();
    json_t *methods;

    spell_path(route->pattern, path, parameters);
    snprintf(status, sizeof status, "%d", route->success);
    methods = json_object_get(paths, path);
    if (methods == NULL) {
        methods = json_object();
        json_object_set_new(paths, path, methods);
    }
    json_object_set_new(methods, lower_case(route->method),
                        json_pack("{s:o, s:{s:{s:s}}}", "parameters", parameters, "responses", status,
                                  "description", "Success"));
}

void handle_apidoc(struct exchange *x)
{
    json_t *paths = json_object();
    size_t count;
    const struct route *routes = routes_all(&count);

    for (size_t i = 0; i < count; i++)
        if (routes[i].generation >= 2)
            add_route(paths, &routes[i]);
    answer_json(x, 200,
                json_pack("{s:s, s:{s:s, s:s}, s:o}", "openapi", "3.1.0", "info", "title",
                          "Cleura Cloud Management System API", "version", "1.0.0", "paths", paths));
}
