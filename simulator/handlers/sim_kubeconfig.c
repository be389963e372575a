#include "simulator/cloud/certificate.h"

#include "base/mem.h"
#include "simulator/cloud/sim_shoot.h"
#include "simulator/cloud/sim.h"
#include "simulator/handlers/handlers.h"
#include "simulator/request/sim_exchange.h"
#include "simulator/wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINIMUM_SECONDS     600
#define CA_LIFE_SECONDS     (INT64_C(3650) * 86400)
#define KUBECONFIG_SIZE_MAX 32768

static const char *const addresses[] = {"external", "internal", "wildcard-tls-seed-bound"};

/* Writes a text with a fixed limit. A longer text is a bug, and ends the program. */
struct kubeconfig_writer {
    char *text;
    size_t used;
};

static void write_line(struct kubeconfig_writer *writer, const char *before, const char *value,
                       const char *after)
{
    size_t room = KUBECONFIG_SIZE_MAX - writer->used;
    int size = snprintf(writer->text + writer->used, room, "%s%s%s\n", before, value, after);
    if (size < 0 || (size_t)size >= room)
        abort();
    writer->used += (size_t)size;
}

static void ca_name(const struct sim_shoot *shoot, int generation, char *out, size_t size)
{
    (void)snprintf(out, size, "sim-ca-%s-%s-%d", shoot->garden_project, shoot->name, generation);
}

/* Returns the time from which certificates are valid: the start of the simulator. The real clock and the
 * simulated clock are past that time, even when the simulated clock was moved. Therefore the certificate is
 * also valid on the real clock of the client. */
static int64_t valid_from(const struct sim *sim)
{
    return sim->clock.started_sim_us / US_PER_SECOND - 60;
}

/* Returns the bundle: the current CA and, between the two steps of a rotation, also the old CA. */
static char *ca_bundle(struct sim *sim, const struct sim_shoot *shoot)
{
    enum ca_stage stage = shoot->ca_stage;
    bool both = stage == CA_PREPARING || stage == CA_PREPARED || stage == CA_COMPLETE;
    char name[128];
    char previous[128];
    ca_name(shoot, shoot->ca_generation, name, sizeof(name));
    ca_name(shoot, shoot->ca_generation - 1, previous, sizeof(previous));
    return certificate_ca_base64(sim->authority, name, both ? previous : NULL, valid_from(sim),
                                 shoot->created_us / US_PER_SECOND + CA_LIFE_SECONDS);
}

static void write_clusters(struct kubeconfig_writer *writer, const struct sim_shoot *shoot,
                           const char *prefix, const char *ca)
{
    write_line(writer, "clusters:", "", "");
    for (size_t i = 0; i < 3; i++) {
        char url[256];
        render_api_url(shoot, addresses[i], url, sizeof(url));
        write_line(writer, "- cluster:", "", "");
        if (i < 2)
            write_line(writer, "    certificate-authority-data: ", ca, "");
        write_line(writer, "    server: ", url, "");
        write_line(writer, "  name: ", prefix, addresses[i]);
    }
}

static void write_contexts(struct kubeconfig_writer *writer, const char *prefix)
{
    write_line(writer, "contexts:", "", "");
    for (size_t i = 0; i < 3; i++) {
        write_line(writer, "- context:", "", "");
        write_line(writer, "    cluster: ", prefix, addresses[i]);
        write_line(writer, "    user: ", prefix, addresses[0]);
        write_line(writer, "  name: ", prefix, addresses[i]);
    }
}

static char *make_kubeconfig(struct sim *sim, const struct sim_shoot *shoot, int64_t now_s, int64_t seconds)
{
    struct kubeconfig_writer writer = {.text = mem_calloc(1, KUBECONFIG_SIZE_MAX)};
    char prefix[160];
    char issuer[128];
    char user[160];
    struct client_credentials client;
    char *ca = ca_bundle(sim, shoot);
    (void)snprintf(prefix, sizeof(prefix), "garden-%s--%s-", shoot->garden_project, shoot->name);
    (void)snprintf(user, sizeof(user), "gardener.cloud:admin:%.60s", "cleura-sim");
    ca_name(shoot, shoot->ca_generation, issuer, sizeof(issuer));
    client = certificate_client(sim->authority, issuer, user, valid_from(sim), now_s + seconds);
    write_line(&writer, "apiVersion: v1", "", "");
    write_line(&writer, "kind: Config", "", "");
    write_line(&writer, "current-context: ", prefix, addresses[0]);
    write_clusters(&writer, shoot, prefix, ca);
    write_contexts(&writer, prefix);
    write_line(&writer, "preferences: {}", "", "");
    write_line(&writer, "users:", "", "");
    write_line(&writer, "- name: ", prefix, addresses[0]);
    write_line(&writer, "  user:", "", "");
    write_line(&writer, "    client-certificate-data: ", client.certificate, "");
    write_line(&writer, "    client-key-data: ", client.key, "");
    free(client.certificate);
    free(client.key);
    free(ca);
    return writer.text;
}

static const json_t *asked_seconds(const struct sim_exchange *x)
{
    if (exchange_generation(x) == 1)
        return json_object_get(json_object_get(x->json, "config"), "expirationSeconds");
    return json_object_get(x->json, "expiration_seconds");
}

static bool check_seconds(struct sim_exchange *x, const json_t *seconds)
{
    const char *key = exchange_generation(x) == 1 ? "expirationSeconds" : "expiration_seconds";
    const char *reason = NULL;
    if (!json_is_integer(seconds))
        reason = "must be an integer";
    else if (json_integer_value(seconds) < MINIMUM_SECONDS)
        reason = "must be at least 600 seconds";
    else if (json_integer_value(seconds) > UINT32_MAX)
        reason = "must not be greater than 4294967295";
    if (reason)
        answer_invalid(x, json_pack("[{s:s, s:s}]", "key", key, "value", reason));
    return !reason;
}

void handle_kubeconfig(struct sim_exchange *x)
{
    const json_t *asked = asked_seconds(x);
    int64_t now_us = clock_now_us(&x->sim->clock);
    int64_t cap = (int64_t)x->sim->settings.kubeconfig_cap_seconds;
    int64_t seconds;
    char *text;
    if (!check_seconds(x, asked))
        return;
    if (!shoot_has_api_server(x->shoot, now_us)) {
        answer_error(x, 409, "The shoot has no API server address yet");
        return;
    }
    seconds = json_integer_value(asked) < cap ? json_integer_value(asked) : cap;
    text = make_kubeconfig(x->sim, x->shoot, now_us / US_PER_SECOND, seconds);
    switch (exchange_generation(x)) {
    case 1:
        answer_json(x, 200, json_string(text));
        break;
    case 2:
        answer_text(x, 201, "text/html", text);
        return;
    default:
        answer_json(x, 201,
                    json_pack("{s:o, s:s}", "expires_at", clock_json(now_us + seconds * US_PER_SECOND),
                              "kubeconfig", text));
        break;
    }
    free(text);
}

/* Answers the two old paths of v1, which do nothing without static tokens; see docs/simulator.md. */
void handle_dead_kubeconfig(struct sim_exchange *x)
{
    answer_error(x, 404, "Not Found: no static token kubeconfig exists");
}
