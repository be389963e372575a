/*
 * The memory for one list of 10,000 real shoots while it is read: the bytes, the tree of one row, and the
 * rows that are passed on. The data that is stored afterwards does not count. The test measures the peak of a
 * separate process.
 */
#include "tests/support/check.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/mem.h"
#include "tests/support/account.h"
#include "tests/support/virtual.h"
#include "upstream/upstream.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = true }; /* sanitizers keep freed memory for a while, so the peak has no meaning */
#else
enum { SANITIZED = false };
#endif

enum { SHOOTS = 10000, POOLS = 3, MOST_MIB = 200, LEAST_LIST_MIB = 30 };

/* ---- Cleura's answers ---- */

#define CONDITIONS                                                                                          \
    "{\"type\":\"APIServerAvailable\",\"status\":\"True\",\"reason\":\"HealthzRequestSucceeded\","          \
    "\"message\":"                                                                                          \
    "\"API server /healthz endpoint responded with success status code.\",\"codes\":[]},"                   \
    "{\"type\":\"ControlPlaneHealthy\",\"status\":\"True\",\"reason\":\"ControlPlaneRunning\",\"message\":" \
    "\"All control plane components are healthy.\",\"codes\":[]},"                                          \
    "{\"type\":\"ObservabilityComponentsHealthy\",\"status\":\"True\",\"reason\":"                          \
    "\"ObservabilityComponentsRunning\",\"message\":\"All observability components are "                    \
    "healthy.\",\"codes\":"                                                                                 \
    "[]},{\"type\":\"EveryNodeReady\",\"status\":\"True\",\"reason\":\"EveryNodeReady\",\"message\":"       \
    "\"All nodes are ready.\",\"codes\":[]},"                                                               \
    "{\"type\":\"SystemComponentsHealthy\",\"status\":\"True\",\"reason\":\"SystemComponentsRunning\","     \
    "\"message\":\"All system components are healthy.\",\"codes\":[]}"
#define CONSTRAINTS                                                                                     \
    "{\"type\":\"HibernationPossible\",\"status\":\"True\",\"reason\":\"NoProblematicWebhooks\","       \
    "\"message\":"                                                                                      \
    "\"No problematic webhooks found.\",\"codes\":[]},{\"type\":\"MaintenancePreconditionsSatisfied\"," \
    "\"status\":\"True\",\"reason\":\"NoProblematicWebhooks\",\"message\":\"All preconditions for "     \
    "maintenance operations are satisfied.\",\"codes\":[]}"

/* For each generation: the row up to its pools, a pool, the other members. `#` is the number of the shoot, or
 * of the pool. */
static const struct {
    const char *head, *pool, *tail;
} forms[] = {
    [API_V1] =
        {"{\"metadata\":{\"name\":\"shoot-#\",\"uid\":\"4673aa45-797c-4ad0-b4cf-0000000#\"},\"spec\":{"
         "\"purpose\":\"evaluation\",\"region\":\"Sto2\",\"kubernetes\":{\"version\":\"1.33.7\"},"
         "\"hibernation\":"
         "{\"enabled\":false,\"schedules\":[{\"start\":\"0 20 * * 1-5\",\"end\":\"0 6 * * 1-5\"}]},"
         "\"maintenance\":{\"autoUpdate\":{\"kubernetesVersion\":true,\"machineImageVersion\":true},"
         "\"timeWindow\":{\"begin\":\"210000+0000\",\"end\":\"220000+0000\"}},\"provider\":{"
         "\"infrastructureConfig\":{\"floatingPoolName\":\"ext-net\",\"networks\":{\"workers\":\"10.250.0.0/"
         "16\","
         "\"id\":\"4c5d998d-a6ea-4ef9-9d58-d3db6943ebf1\",\"router\":{\"id\":"
         "\"ab5354ed-1aa3-4116-959e-e216365014d5\"}}},\"workers\":[",
         "{\"name\":\"pool#\",\"minimum\":1,\"maximum\":3,\"maxSurge\":1,\"machine\":{\"type\":\"b.2c4gb\","
         "\"image\":{\"name\":\"gardenlinux\",\"version\":\"1877.9.0\"}},\"volume\":{\"size\":\"50Gi\"},"
         "\"labels\":{\"example.com/team\":\"platform\",\"example.com/tier\":\"backend\","
         "\"example.com/cost-centre\":\"4711\"},\"annotations\":{\"example.com/owner\":\"somebody\"},"
         "\"taints\":[{\"key\":\"dedicated\",\"value\":\"batch\",\"effect\":\"NoSchedule\"}],"
         "\"zones\":[\"nova\"]}",
         "]}},\"status\":{\"conditions\":[" CONDITIONS "],\"constraints\":[" CONSTRAINTS
         "],\"lastErrors\":[],"
         "\"hibernated\":false,\"advertisedAddresses\":[{\"name\":\"external\",\"url\":"
         "\"https://api.shoot-#.cyicba.k8s.cleura.cloud\"},{\"name\":\"internal\",\"url\":"
         "\"https://api.shoot-#.cyicba.internal.k8s.cleura.cloud\"},{\"name\":\"wildcard-tls-seed-bound\","
         "\"url\":\"https://api-cyicba--shoot-#.ingress.sto2-1.garden.k8s.cleura.cloud\"}],"
         "\"lastOperation\":{\"type\":\"Create\",\"state\":\"Succeeded\",\"progress\":100,\"description\":"
         "\"Shoot cluster has been successfully "
         "reconciled.\",\"lastUpdateTime\":\"2026-01-22T06:52:19Z\"}}}"},
    [API_V2] =
        {"{\"name\":\"shoot-#\",\"namespace\":\"garden-cyicba\",\"cloud_profile_name\":\"cleuracloud\","
         "\"region\":\"Sto2\",\"purpose\":\"evaluation\",\"kubernetes\":{\"version\":\"1.33.7\","
         "\"enable_static_token_kubeconfig\":false},\"networking\":{\"type\":\"cilium\",\"nodes\":"
         "\"10.250.0.0/16\",\"cilium_provider_config\":{\"hubble\":{\"enabled\":true},\"tunnel\":\"vxlan\"}},"
         "\"maintenance\":{\"auto_update\":{\"kubernetes_version\":true,\"machine_image_version\":true},"
         "\"time_window\":{\"begin\":\"210000+0000\",\"end\":\"220000+0000\"}},\"allowed_cidrs\":["
         "\"192.0.2.0/24\",\"198.51.100.0/24\"],\"control_plane\":null,\"credentials_binding_name\":"
         "\"binding-cyicba\",\"hibernation\":{\"schedules\":[{\"start\":\"0 20 * * 1-5\",\"end\":"
         "\"0 6 * * 1-5\"}]},\"uid\":\"4673aa45-797c-4ad0-b4cf-0000000#\",\"technical_id\":"
         "\"shoot--cyicba--shoot-#\",\"shoot_provider\":{\"type\":\"openstack\",\"control_plane_config\":{"
         "\"load_balancer_provider\":\"amphora\"},\"infrastructure_config\":{\"floating_pool_name\":\"ext-"
         "net\","
         "\"networks\":{\"id\":\"4c5d998d-a6ea-4ef9-9d58-d3db6943ebf1\",\"router\":{\"id\":"
         "\"ab5354ed-1aa3-4116-959e-e216365014d5\"},\"workers\":\"10.250.0.0/16\"}},\"workers\":[",
         "{\"name\":\"pool#\",\"machine\":{\"type\":\"b.2c4gb\",\"architecture\":\"amd64\",\"image\":{"
         "\"name\":"
         "\"gardenlinux\",\"version\":\"1877.9.0\"}},\"minimum\":1,\"maximum\":3,\"max_surge\":1,"
         "\"max_unavailable\":0,\"volume\":{\"size\":\"50Gi\"},\"zones\":[\"nova\"],\"labels\":[{\"key\":"
         "\"example.com/team\",\"value\":\"platform\"},{\"key\":\"example.com/tier\",\"value\":\"backend\"},"
         "{\"key\":\"example.com/cost-centre\",\"value\":\"4711\"}],\"annotations\":[{\"key\":"
         "\"example.com/"
         "owner\",\"value\":\"somebody\"}],\"taints\":[{\"key\":\"dedicated\",\"value\":\"batch\","
         "\"effect\":\"NoSchedule\"}]}",
         "]},\"last_operation\":{\"type\":\"Create\",\"state\":\"Succeeded\",\"progress\":100,"
         "\"description\":"
         "\"Shoot cluster has been successfully reconciled.\",\"last_update_time\":\"2026-01-22T06:52:19Z\"},"
         "\"status\":{\"conditions\":[" CONDITIONS "],\"constraints\":[" CONSTRAINTS "],\"last_errors\":[],"
         "\"is_hibernated\":false}}"},
};

static void add(struct buffer *out, const char *form, unsigned number)
{
    for (const char *mark = strchr(form, '#'); mark; form = mark + 1, mark = strchr(form, '#')) {
        buffer_add(out, form, (size_t)(mark - form));
        buffer_printf(out, "%05u", number);
    }
    buffer_add_str(out, form);
}

static char *list_text(enum api_generation api)
{
    struct buffer out CLEANUP_BUFFER;
    buffer_init(&out, SIZE_MAX);
    for (unsigned i = 0; i < SHOOTS; i++) {
        buffer_add_str(&out, i ? "," : "[");
        add(&out, forms[api].head, i);
        for (unsigned p = 0; p < POOLS; p++) {
            buffer_add_str(&out, p ? "," : "");
            add(&out, forms[api].pool, p);
        }
        add(&out, forms[api].tail, i);
    }
    buffer_add_str(&out, "]");
    return buffer_take(&out, NULL);
}

/* ---- reading ---- */

struct reader {
    struct virtual_world world;
    char *list;
    struct upstream_call call;
    size_t taken;
    enum upstream_class class;
};

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    const struct reader *r = ctx;
    if (strstr(request->url, "/auth/"))
        return (struct canned_answer){HTTP_ANSWERED, 201, "{\"result\":\"login_ok\",\"token\":\"t\"}", NULL,
                                      US_PER_MS};
    return (struct canned_answer){HTTP_ANSWERED, 200, r->list, NULL, US_PER_MS};
}

static void remember(void *ctx, const struct account_state *state)
{
}

static void on_shoots(struct upstream_call *call, struct shoot **shoots, size_t count)
{
    CONTAINER_OF(call, struct reader, call)->taken += count;
}

static void on_done(struct upstream_call *call, struct upstream_result *result)
{
    CONTAINER_OF(call, struct reader, call)->class = result->class;
}

/* Whether all shoots were read. */
static bool read_list(enum api_generation api, char *list)
{
    struct reader *r = MEM_NEW(struct reader);
    struct config_account config;
    struct seal_key key = {0};
    const struct upstream_account_events events = {.ctx = r, .remember = remember};
    virtual_init(&r->world, 3);
    test_account_init(&config);
    config.api = api;
    r->list = list;
    r->class = UPSTREAM_CLASS_MAX_;
    struct loop *loop = loop_new(&r->world.env);
    struct fake_transport *transport = fake_transport_new(&r->world, loop);
    transport->respond = respond;
    transport->ctx = r;
    struct worker *worker = inline_worker_new(loop);
    struct upstream_account *account =
        upstream_account_new(loop, &transport->transport, worker, &config, &key, NULL, 64, &events);
    r->call = (struct upstream_call){.op = UPSTREAM_LIST,
                                     .region = "Sto2",
                                     .project_id = "p",
                                     .deadline = r->world.now + 60 * US_PER_S,
                                     .on_shoots = on_shoots,
                                     .on_done = on_done};
    upstream_submit(account, &r->call);
    virtual_run(&r->world, loop, 5 * US_PER_S);
    return r->class == UPSTREAM_OK && r->taken == SHOOTS; /* no memory is freed: the process ends */
}

/* For comparison: parses the list as a whole. */
static bool parse_whole(enum api_generation api, char *list)
{
    json_t *doc CLEANUP_JSON = json_parse_lenient(list, strlen(list), NULL);
    return json_array_size(doc) == SHOOTS;
}

/* ---- measuring ---- */

static long status_mib(const char *member)
{
    char text[4096];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t len = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    text[len > 0 ? len : 0] = '\0';
    const char *at = strstr(text, member);
    return at ? strtol(at + strlen(member), NULL, 10) / 1024 : -1;
}

struct measured {
    bool ok;
    long list_mib, peak_mib;
};

/* Runs `work` in a separate process, and returns the peak of its memory above the memory that was used
 * before. */
static struct measured measure(enum api_generation api, bool (*work)(enum api_generation api, char *list))
{
    struct measured m = {0};
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        char *list = list_text(api);
        m.list_mib = (long)(strlen(list) >> 20);
        long before = status_mib("VmRSS:");
        m.ok = work(api, list);
        m.peak_mib = status_mib("VmHWM:") - before;
        _exit(write(ends[1], &m, sizeof(m)) == sizeof(m) ? 0 : 1);
    }
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], &m, sizeof(m)), sizeof(m));
    (void)close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(m.ok);
    print_message("list %ld MiB, peak %ld MiB\n", m.list_mib, m.peak_mib);
    return m;
}

static void check(enum api_generation api)
{
    if (SANITIZED)
        skip();
    struct measured m = measure(api, read_list);
    assert_true(m.list_mib >= LEAST_LIST_MIB); /* the shoots are as large as real ones */
    assert_true(m.peak_mib >= m.list_mib);     /* the peak includes the bytes of the list */
    assert_true(m.peak_mib < MOST_MIB);
}

static void b2_ten_thousand_real_shoots_are_read_in_200_mib_v2(void **state)
{
    check(API_V2);
}

static void b2_ten_thousand_real_shoots_are_read_in_200_mib_v1(void **state)
{
    check(API_V1);
}

/* The measurement finds a reader that uses too much memory. */
static void a_list_parsed_as_a_whole_takes_more(void **state)
{
    if (SANITIZED)
        skip();
    assert_true(measure(API_V2, parse_whole).peak_mib > MOST_MIB);
}

int main(void)
{
    if (sodium_init() < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b2_ten_thousand_real_shoots_are_read_in_200_mib_v2),
        cmocka_unit_test(b2_ten_thousand_real_shoots_are_read_in_200_mib_v1),
        cmocka_unit_test(a_list_parsed_as_a_whole_takes_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
