/* Answers requests for monitoring credentials, node metrics and the SSH key. The numbers are invented, and
 * are the same in every answer. */
#include "simulator/cloud/sim_catalog.h"

#include "base/mem.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"
#include "simulator/handlers/handlers.h"
#include "simulator/request/sim_exchange.h"
#include "simulator/wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES        5
#define SAMPLE_STEP_US (60 * US_PER_SECOND)
#define GIB            (1024.0 * 1024.0 * 1024.0)
#define NODE_NAME_SIZE 200

static json_t *credentials(const struct sim_shoot *shoot, const char *kind)
{
    char url[256];
    char password[25];
    render_api_url(shoot, kind, url, sizeof(url));
    random_spell(random_hash(random_hash(5, shoot->uid), kind), "abcdefghijkmnopqrstuvwxyz23456789", password,
                 sizeof(password));
    return json_pack("{s:s, s:s, s:s}", "url", url, "username", "admin", "password", password);
}

void handle_monitoring(struct sim_exchange *x)
{
    if (!shoot_has_api_server(x->shoot, clock_now_us(&x->sim->clock))) {
        answer_error(x, 404, "Monitoring is not available yet");
        return;
    }
    answer_json(x, 200,
                json_pack("{s:o, s:o}", "prometheus", credentials(x->shoot, "prometheus"), "plutono",
                          credentials(x->shoot, "plutono")));
}

void handle_ssh_key(struct sim_exchange *x)
{
    char key[512];
    (void)snprintf(key, sizeof(key),
                   "-----BEGIN OPENSSH PRIVATE KEY-----\n"
                   "U0lNVUxBVEVELVNTSC1LRVktTk9ULVJFQUw=\n"
                   "%s\n"
                   "-----END OPENSSH PRIVATE KEY-----\n",
                   x->shoot->uid);
    answer_text(x, 200, "text/plain", mem_strdup(key));
}

static const json_t *find_worker(struct sim_exchange *x)
{
    const json_t *worker = shoot_worker(x->shoot, x->params[PARAM_WORKER]);
    if (!worker)
        answer_error(x, 404, "Worker group not found");
    return worker;
}

void handle_node_names(struct sim_exchange *x)
{
    const json_t *worker = find_worker(x);
    json_t *names = json_array();
    size_t count;
    if (!worker) {
        json_decref(names);
        return;
    }
    count = shoot_node_count(x->shoot, worker, clock_now_us(&x->sim->clock));
    for (size_t i = 0; i < count; i++) {
        char name[NODE_NAME_SIZE];
        shoot_node_name(x->shoot, worker, i, name, sizeof(name));
        (void)json_array_append_new(names, json_string(name));
    }
    answer_json(x, 200, json_pack("{s:o}", "node_names", names));
}

static double machine_number(const struct sim *sim, const json_t *worker, const char *member)
{
    const json_t *wanted = json_object_get(json_object_get(worker, "machine"), "type");
    json_t *type;
    size_t i;
    json_array_foreach (json_object_get(sim->catalog, "machine_types"), i, type) {
        const json_t *value = json_object_get(type, member);
        if (!json_equal(json_object_get(type, "name"), wanted))
            continue;
        return json_is_string(value) ? strtod(json_string_value(value), NULL) : json_number_value(value);
    }
    return 2;
}

/* Returns a number between 0 and 1. The number is always the same for the same node. */
static double share_of(const char *name, uint64_t salt)
{
    return (double)(random_hash(salt, name) % 1000) / 1000;
}

static json_t *overview(const struct sim *sim, const json_t *worker, const char *node)
{
    double cores = machine_number(sim, worker, "cpu") - 0.07;
    double bytes = (machine_number(sim, worker, "memory") - 1.2) * GIB;
    double used_cores = 0.08 + cores * 0.3 * share_of(node, 6);
    double used_bytes = bytes * (0.2 + 0.4 * share_of(node, 7));
    return json_pack("{s:O, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "worker_group",
                     json_object_get(worker, "name"), "node_name", node, "cpu_usage", used_cores,
                     "allocatable_cpu", cores, "idle_cpu", cores - used_cores, "memory_usage", used_bytes,
                     "allocatable_memory", bytes, "unused_memory", bytes - used_bytes, "pods", 14.0);
}

void handle_nodes_overview(struct sim_exchange *x)
{
    const json_t *worker = find_worker(x);
    json_t *list;
    size_t count;
    if (!worker)
        return;
    list = json_array();
    count = shoot_node_count(x->shoot, worker, clock_now_us(&x->sim->clock));
    for (size_t i = 0; i < count; i++) {
        char name[NODE_NAME_SIZE];
        shoot_node_name(x->shoot, worker, i, name, sizeof(name));
        (void)json_array_append_new(list, overview(x->sim, worker, name));
    }
    answer_json(x, 200, list);
}

/* Returns a series of values as decimal strings; the newest is the last. */
static json_t *series(int64_t now_us, double value)
{
    json_t *samples = json_array();
    for (int i = SAMPLES - 1; i >= 0; i--) {
        char text[32];
        (void)snprintf(text, sizeof(text), "%.6g", value * (1 - 0.01 * i));
        (void)json_array_append_new(
            samples, json_pack("{s:o, s:s}", "time", clock_json(now_us - i * SAMPLE_STEP_US), "value", text));
    }
    return samples;
}

void handle_worker_details(struct sim_exchange *x)
{
    const json_t *worker = find_worker(x);
    int64_t now_us = clock_now_us(&x->sim->clock);
    double nodes;
    if (!worker)
        return;
    nodes = (double)shoot_node_count(x->shoot, worker, now_us);
    answer_json(
        x, 200,
        json_pack("{s:O, s:o, s:o, s:o, s:o, s:o, s:o}", "worker_name", json_object_get(worker, "name"),
                  "cpu_usage", series(now_us, 0.083 * nodes), "memory_usage", series(now_us, 0.93 * nodes),
                  "cpu_utilization", series(now_us, 4.391667), "memory_utilization", series(now_us, 33.35398),
                  "number_of_nodes", series(now_us, nodes), "number_of_pods", series(now_us, 14 * nodes)));
}

static const json_t *find_node(const struct sim_exchange *x)
{
    int64_t now_us = clock_now_us(&x->sim->clock);
    json_t *worker;
    size_t w;
    json_array_foreach (json_object_get(x->shoot->spec, "workers"), w, worker) {
        size_t count = shoot_node_count(x->shoot, worker, now_us);
        for (size_t i = 0; i < count; i++) {
            char name[NODE_NAME_SIZE];
            shoot_node_name(x->shoot, worker, i, name, sizeof(name));
            if (!strcmp(name, x->params[PARAM_NODE]))
                return worker;
        }
    }
    return NULL;
}

void handle_node_details(struct sim_exchange *x)
{
    const json_t *worker = find_node(x);
    int64_t now = clock_now_us(&x->sim->clock);
    double cores;
    double gib;
    if (!worker) {
        answer_error(x, 404, "Node not found");
        return;
    }
    cores = machine_number(x->sim, worker, "cpu");
    gib = machine_number(x->sim, worker, "memory");
    answer_json(
        x, 200,
        json_pack("{s:s, s:f, s:f, s:{s:o, s:o, s:o, s:o}, s:{s:o, s:o, s:o, s:o}, s:{s:o, s:o, s:o}}",
                  "node_name", x->params[PARAM_NODE], "cpu_utilization", 4.391667, "memory_utilization",
                  33.35398, "cpu_usage", "used", series(now, 0.0836), "allocatable",
                  series(now, cores - 0.07), "idle", series(now, cores - 0.15), "total", series(now, cores),
                  "memory_usage", "used", series(now, 0.93), "allocatable", series(now, gib - 1.2),
                  "available", series(now, gib - 0.93), "total", series(now, gib), "filesystem_size", "size",
                  series(now, 49.1), "free", series(now, 41.7), "available", series(now, 39.6)));
}
