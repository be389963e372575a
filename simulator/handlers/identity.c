/* Answers requests about the caller, and about domains, regions, projects and quotas. */
#include "simulator/cloud/sim_catalog.h"
#include "simulator/cloud/sim.h"
#include "simulator/handlers/handlers.h"
#include "simulator/request/sim_exchange.h"

#include <stdio.h>
#include <string.h>

#define DOMAIN_NAME "CCP_Domain_000P000"

/* Writes the id of the only domain of a region. The id is always the same. */
static void domain_id(const char *region, char out[DOMAIN_ID_SIZE])
{
    if (!strcmp(region, "Sto2"))
        (void)snprintf(out, DOMAIN_ID_SIZE, "%s", "ffeeddccbbaa99887766554433221100");
    else
        random_spell(random_hash(4, region), "0123456789abcdef", out, DOMAIN_ID_SIZE);
}

void handle_current_user(struct sim_exchange *x)
{
    answer_json(x, 200,
                json_pack("{s:i, s:s, s:b, s:{}, s:{s:i, s:s, s:s}, s:[], s:i, s:n}", "id", ACCOUNT_USER_ID,
                          "name", x->sim->options->login, "admin", 0, "privileges", "currency", "id", 1,
                          "code", "SEK", "name", "krona", "ip_restrictions", "auth_provider_id", 1,
                          "active_deletion_request"));
}

static json_t *id_v1(const struct known_region *region, int id)
{
    char text[16];
    (void)snprintf(text, sizeof(text), "%d", id);
    return region->compliant ? json_integer(id) : json_string(text);
}

static json_t *domain_v1(const struct known_region *region, const char *id)
{
    return json_pack("{s:{s:o, s:s, s:s, s:[{s:o, s:s, s:s, s:s}]}, s:s, s:s, s:s, s:b}", "area", "id",
                     id_v1(region, region->area_id), "name", region->area_name, "tag", region->area_tag,
                     "regions", "zone_id", id_v1(region, region->id), "name", region->v1_name, "status",
                     "active", "region", region->tag, "id", id, "status", "provisioned", "name", DOMAIN_NAME,
                     "enabled", 1);
}

static json_t *domain_v2(const struct known_region *region, const char *id)
{
    return json_pack("{s:s, s:s, s:s, s:b, s:{s:i, s:s, s:s, s:[{s:i, s:s, s:s}]}}", "id", id, "name",
                     DOMAIN_NAME, "status", "provisioned", "enabled", 1, "area", "id", region->area_id,
                     "name", region->area_name, "tag", region->area_tag, "regions", "id", region->id, "name",
                     region->name, "tag", region->tag);
}

void handle_domains(struct sim_exchange *x)
{
    json_t *list = json_array();
    for (size_t i = 0; i < x->sim->options->region_count; i++) {
        struct known_region region = catalog_region(x->sim->options->regions[i]);
        char id[DOMAIN_ID_SIZE];
        domain_id(region.tag, id);
        (void)json_array_append_new(list, exchange_generation(x) == 1 ? domain_v1(&region, id)
                                                                      : domain_v2(&region, id));
    }
    answer_json(x, 200, list);
}

static json_t *make_projects(const struct sim *sim, const char *domain, bool old)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sim->options->project_count; i++) {
        char name[64];
        json_t *project;
        (void)snprintf(name, sizeof(name), i == 0 ? "example-project" : "example-project-%zu", i + 1);
        project = json_pack("{s:s, s:s, s:s, s:b}", "id", sim->options->projects[i], "name", name,
                            "domain_id", domain, "enabled", 1);
        (void)json_object_set_new(project, "description", old ? json_string("") : json_null());
        if (old)
            (void)json_object_set_new(project, "default", json_boolean(i == 0));
        (void)json_array_append_new(list, project);
    }
    return list;
}

void handle_current_projects(struct sim_exchange *x)
{
    json_t *list = json_array();
    for (size_t i = 0; i < x->sim->options->region_count; i++) {
        struct known_region region = catalog_region(x->sim->options->regions[i]);
        char id[DOMAIN_ID_SIZE];
        domain_id(region.tag, id);
        (void)json_array_append_new(list, json_pack("{s:{s:i, s:s, s:s, s:s, s:b, s:b, s:b, s:n, s:n}, s:o}",
                                                    "region", "id", region.id, "name", region.name, "tag",
                                                    region.tag, "network_provider", "ovn",
                                                    "object_storage_enabled", 1, "backup_enabled", 1,
                                                    "dns_enabled", 1, "nameservers_ipv4", "nameservers_ipv6",
                                                    "projects", make_projects(x->sim, id, false)));
    }
    answer_json(x, 200, list);
}

json_t *identity_projects(const struct sim *sim, const char *domain)
{
    return make_projects(sim, domain, false);
}

const char *identity_region_of(const struct sim *sim, const char *domain)
{
    for (size_t i = 0; i < sim->options->region_count; i++) {
        char known[DOMAIN_ID_SIZE];
        domain_id(sim->options->regions[i], known);
        if (!strcmp(known, domain))
            return sim->options->regions[i];
    }
    return NULL;
}

void handle_v1_projects(struct sim_exchange *x)
{
    if (!identity_region_of(x->sim, x->params[PARAM_DOMAIN]))
        answer_error(x, 404, "Not Found: Domain not found");
    else
        answer_json(x, 200, make_projects(x->sim, x->params[PARAM_DOMAIN], true));
}

void handle_quota(struct sim_exchange *x)
{
    const char *region = sim_region(x->sim, x->params[PARAM_REGION], false);
    char domain[DOMAIN_ID_SIZE] = "";
    if (region)
        domain_id(region, domain);
    if (!sim_project(x->sim, x->params[PARAM_PROJECT])) {
        answer_error(x, 404, "Not Found: Project not found");
    } else if (!region || strcmp(domain, x->params[PARAM_DOMAIN]) != 0) {
        answer_error(x, 404, "Not Found: Region does not belong to the domain");
    } else {
        answer_json(x, 200,
                    json_pack("{s:{s:i, s:i, s:i}, s:{s:i, s:i, s:i, s:i, s:i}, s:{s:i, s:i, s:i, s:i, s:i}}",
                              "compute", "cores", 20, "instances", 10, "ram", 51200, "block_storage",
                              "volumes", 50, "gigabytes", 1000, "snapshots", 50, "backups", 10,
                              "backup_gigabytes", 1000, "networking", "floating_ip", 50, "network", 100,
                              "port", 500, "router", 10, "security_group", 10));
    }
}
