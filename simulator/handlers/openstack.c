/* Answers the calls for OpenStack identity: endpoints, users, roles and logs of a domain. Also answers the
 * calls that need more privileges than the user has. */
#include "base/attrs.h"
#include "simulator/cloud/sim_catalog.h"
#include "simulator/cloud/sim.h"
#include "simulator/handlers/handlers.h"
#include "simulator/request/sim_exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_LIMIT_DEFAULT 50
#define LOG_LIMIT_MAX     200
#define LOG_OFFSET_MAX    1000

static const char *const roles[] = {"member", "swiftoperator", "load-balancer_member"};

#define ROLE_COUNT (ARRAY_LEN(roles))

/* Returns 32 hex digits. The digits are always the same for the same name. */
static json_t *stable_id(uint64_t salt, const char *name)
{
    char id[DOMAIN_ID_SIZE];
    random_spell(random_hash(salt, name), "0123456789abcdef", id, sizeof(id));
    return json_string(id);
}

static json_t *user_id(const struct sim_exchange *x)
{
    return stable_id(8, x->sim->options->login);
}

static bool is_the_user(const struct sim_exchange *x)
{
    json_t *id = user_id(x);
    bool same = !strcmp(json_string_value(id), x->params[PARAM_USER]);
    json_decref(id);
    return same;
}

static bool find_domain(struct sim_exchange *x)
{
    if (identity_region_of(x->sim, x->params[PARAM_DOMAIN]))
        return true;
    answer_error(x, 404, "Not Found: Domain not found");
    return false;
}

static json_t *make_roles(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ROLE_COUNT; i++)
        (void)json_array_append_new(list,
                                    json_pack("{s:o, s:s}", "id", stable_id(9, roles[i]), "name", roles[i]));
    return list;
}

static json_t *make_users(const struct sim_exchange *x)
{
    return json_pack("[{s:o, s:s, s:s, s:b, s:n, s:n}]", "id", user_id(x), "name", x->sim->options->login,
                     "domain_id", x->params[PARAM_DOMAIN], "enabled", 1, "description", "default_project_id");
}

void handle_domain_roles(struct sim_exchange *x)
{
    if (find_domain(x))
        answer_json(x, 200, make_roles());
}

void handle_domain_users(struct sim_exchange *x)
{
    if (find_domain(x))
        answer_json(x, 200, make_users(x));
}

/* Answers with the users of a project. For an unknown project the answer is an empty list, not an error. */
void handle_project_users(struct sim_exchange *x)
{
    if (find_domain(x))
        answer_json(x, 200, sim_project(x->sim, x->params[PARAM_PROJECT]) ? make_users(x) : json_array());
}

void handle_user_projects(struct sim_exchange *x)
{
    json_t *projects;
    json_t *project;
    json_t *list;
    size_t i;
    if (!find_domain(x))
        return;
    list = json_array();
    projects = identity_projects(x->sim, x->params[PARAM_DOMAIN]);
    json_array_foreach (projects, i, project)
        if (is_the_user(x))
            (void)json_array_append_new(
                list, json_pack("{s:O, s:O, s:O, s:o}", "id", json_object_get(project, "id"), "name",
                                json_object_get(project, "name"), "domain_id",
                                json_object_get(project, "domain_id"), "roles", make_roles()));
    json_decref(projects);
    answer_json(x, 200, list);
}

void handle_domain_endpoints(struct sim_exchange *x)
{
    static const struct {
        const char *name;
        const char *url;
    } services[] = {{"keystone", "https://identity.example.invalid:5000/v3"},
                    {"nova", "https://compute.example.invalid:8774/v2.1"},
                    {"neutron", "https://network.example.invalid:9696"}};
    const char *region = identity_region_of(x->sim, x->params[PARAM_DOMAIN]);
    json_t *list;
    if (!find_domain(x))
        return;
    list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(services); i++)
        (void)json_array_append_new(
            list, json_pack("{s:s, s:[{s:o, s:s, s:s, s:s, s:s}]}", "name", services[i].name, "endpoints",
                            "id", stable_id(10, services[i].name), "interface", "public", "region", region,
                            "region_id", region, "url", services[i].url));
    answer_json(x, 200, list);
}

void handle_rc_credentials(struct sim_exchange *x)
{
    const char *region = sim_region(x->sim, x->params[PARAM_REGION], false);
    char text[512];
    if (!find_domain(x))
        return;
    if (!region || !sim_project(x->sim, x->params[PARAM_PROJECT]) || !is_the_user(x)) {
        answer_error(x, 404, "Not Found");
        return;
    }
    (void)snprintf(text, sizeof(text),
                   "export OS_AUTH_URL=https://identity.example.invalid:5000/v3\n"
                   "export OS_PROJECT_ID=%s\nexport OS_REGION_NAME=%s\nexport OS_USERNAME=%.100s\n",
                   x->params[PARAM_PROJECT], region, x->sim->options->login);
    answer_json(x, 200, json_pack("{s:s}", "rc_data", text));
}

/* Reads a number. Answers 400 for a text that is not a number, and for a number outside its limits. */
static bool read_number(struct sim_exchange *x, const char *name, long otherwise, long most, long *ret_number)
{
    const char *text = exchange_query(x, name);
    char *end;
    *ret_number = otherwise;
    if (!text)
        return true;
    *ret_number = strtol(text, &end, 10);
    if (end != text && !*end && *ret_number >= 0 && *ret_number <= most)
        return true;
    answer_invalid(x,
                   json_pack("[{s:s, s:s}]", "key", name, "value", "must be an integer within its bounds"));
    return false;
}

/* Answers with one entry for each project: its creation. */
void handle_project_logs(struct sim_exchange *x)
{
    const char *region = x->sim->options->regions[0];
    json_t *projects = identity_projects(x->sim, "");
    json_t *list = json_array();
    json_t *project;
    long limit;
    long offset;
    size_t i;
    if (!read_number(x, "limit", LOG_LIMIT_DEFAULT, LOG_LIMIT_MAX, &limit) ||
        !read_number(x, "offset", 0, LOG_OFFSET_MAX, &offset)) {
        json_decref(list);
        json_decref(projects);
        return;
    }
    json_array_foreach (projects, i, project) {
        if (strcmp(json_string_value(json_object_get(project, "name")), x->params[PARAM_NAME]) != 0 ||
            limit == 0 || offset > 0)
            continue;
        (void)json_array_append_new(
            list, json_pack("{s:s, s:o, s:s, s:s, s:s, s:O, s:i, s:s, s:i, s:n, s:n}", "action",
                            "project.create", "date", clock_json(x->sim->clock.started_sim_us), "ip",
                            "192.0.2.10", "login", x->sim->options->login, "meta", "", "project_id",
                            json_object_get(project, "id"), "region_id", catalog_region(region).id,
                            "region_name", region, "user_login_id", ACCOUNT_USER_ID, "target", "text"));
    }
    json_decref(projects);
    answer_json(x, 200, list);
}

void handle_no_access(struct sim_exchange *x)
{
    answer_error(x, 403, "No access: Your user does not have access to this method.");
}
