/* upstream/: lanes, tokens, the login guard and the decoders, on a virtual clock. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "tests/support/account.h"
#include "tests/support/virtual.h"
#include "upstream/wire/driver_private.h"
#include "upstream/upstream.h"

struct fixture {
    struct virtual_world world;
    struct loop *loop;
    struct fake_transport *transport;
    struct worker *worker;
    struct config_account config;
    struct seal_key key;
    struct upstream_account *account;
    struct account_state *remembered;
    struct canned_answer answer; /* for all requests except logins */
    struct canned_answer login;
    unsigned logins;
    unsigned done;
    enum upstream_class last;
    int retry_after_s;
    struct list open; /* calls without an answer */
};

struct test_call {
    struct list link;
    struct upstream_call call;
    struct fixture *f;
};

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    struct fixture *f = ctx;
    if (strstr(request->url, "/tokens/validate"))
        return (struct canned_answer){HTTP_ANSWERED, 204, NULL, NULL, US_PER_MS};
    if (strstr(request->url, "/auth/")) {
        f->logins++;
        return f->login;
    }
    return f->answer;
}

static void remember(void *ctx, const struct account_state *state)
{
    struct fixture *f = ctx;
    json_t *doc CLEANUP_JSON = account_state_to_json(state);
    account_state_free(f->remembered);
    f->remembered = account_state_from_json(doc);
}

static void open_account(struct fixture *f)
{
    const struct upstream_account_events events = {.ctx = f, .remember = remember};
    f->account = upstream_account_new(f->loop, &f->transport->transport, f->worker, &f->config, &f->key,
                                      f->remembered, 64, &events);
}

static int setup(void **state)
{
    struct fixture *f = MEM_NEW(struct fixture);
    virtual_init(&f->world, 42);
    f->loop = loop_new(&f->world.env);
    f->transport = fake_transport_new(&f->world, f->loop);
    f->worker = inline_worker_new(f->loop);
    f->transport->respond = respond;
    list_init(&f->open);
    f->transport->ctx = f;
    test_account_init(&f->config);
    f->login = (struct canned_answer){HTTP_ANSWERED, 201, "{\"result\":\"login_ok\",\"token\":\"t1\"}", NULL,
                                      US_PER_MS};
    f->answer = (struct canned_answer){HTTP_ANSWERED, 200, "[]", NULL, 10 * US_PER_MS};
    open_account(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    upstream_account_free(f->account);
    for (struct list *item = list_pop(&f->open); item; item = list_pop(&f->open))
        free(CONTAINER_OF(item, struct test_call, link));
    f->transport->transport.free(&f->transport->transport);
    f->worker->free(f->worker);
    loop_free(f->loop);
    account_state_free(f->remembered);
    test_account_done(&f->config);
    free(f);
    return 0;
}

static void on_done(struct upstream_call *call, struct upstream_result *result)
{
    struct test_call *t = CONTAINER_OF(call, struct test_call, call);
    t->f->done++;
    t->f->last = result->class;
    t->f->retry_after_s = result->retry_after_s;
    list_remove(&t->link);
    free(t);
}

static void submit_with(struct fixture *f, enum upstream_op op, enum lane_priority priority,
                        int64_t deadline_us, const json_t *body)
{
    struct test_call *t = MEM_NEW(struct test_call);
    t->f = f;
    t->call = (struct upstream_call){.op = op,
                                     .region = "Sto2",
                                     .project_id = "p",
                                     .name = "dev",
                                     .body = body,
                                     .priority = priority,
                                     .deadline = f->world.now + deadline_us,
                                     .on_done = on_done};
    list_append(&f->open, &t->link);
    upstream_submit(f->account, &t->call);
}

static void submit(struct fixture *f, enum upstream_op op, enum lane_priority priority, int64_t deadline_us)
{
    submit_with(f, op, priority, deadline_us, NULL);
}

/* ---- the lane ---- */

static void one_call_at_a_time_with_spacing(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 20; i++)
        submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 60 * US_PER_S);
    virtual_run(&f->world, f->loop, 30 * US_PER_S);
    assert_int_equal(f->done, 20);
    assert_int_equal(f->transport->max_in_flight, 1);
    for (unsigned i = 2; i < f->transport->count; i++)
        assert_true(f->transport->seen[i].at - f->transport->seen[i - 1].at >= 100 * US_PER_MS);
}

static void urgent_calls_overtake_but_nothing_starves(void **state)
{
    struct fixture *f = *state;
    struct upstream_account_status status;
    submit(f, UPSTREAM_CATALOG, LANE_DISCOVERY, 600 * US_PER_S);
    f->answer.latency_us = US_PER_S;
    f->answer.body = "[{\"kubernetes\":{\"versions\":[]}}]";
    /* Users write for three minutes. The discovery call must still be sent. */
    for (int i = 0; i < 180; i++) {
        submit(f, UPSTREAM_LIST, LANE_USER_WRITE, 600 * US_PER_S);
        virtual_run(&f->world, f->loop, US_PER_S);
    }
    upstream_account_status(f->account, &status);
    bool catalog_sent = false;
    for (unsigned i = 0; i < f->transport->count; i++)
        catalog_sent |= strstr(f->transport->seen[i].url, "cloud-profiles") != NULL;
    assert_true(catalog_sent);
}

static void deadline_passes_in_the_queue(void **state)
{
    struct fixture *f = *state;
    f->answer.latency_us = 20 * US_PER_S;
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 60 * US_PER_S);
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 5 * US_PER_S);
    virtual_run(&f->world, f->loop, 10 * US_PER_S);
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last, UPSTREAM_EXPIRED);
    assert_int_equal(f->transport->count, 2); /* the login and the first call */
}

static void full_queue_refuses(void **state)
{
    struct fixture *f = *state;
    f->answer.latency_us = 60 * US_PER_S;
    for (int i = 0; i < 64; i++)
        submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 600 * US_PER_S);
    virtual_run(&f->world, f->loop, US_PER_S);
    assert_int_equal(f->done, 0);
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 600 * US_PER_S);
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 600 * US_PER_S);
    assert_int_equal(f->done, 0); /* submit never calls on_done itself */
    virtual_run(&f->world, f->loop, US_PER_S);
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last, UPSTREAM_OVERLOADED);
}

static void retry_after_stops_the_lane(void **state)
{
    struct fixture *f = *state;
    f->answer = (struct canned_answer){HTTP_ANSWERED, 429, "{}", "30", US_PER_MS};
    submit(f, UPSTREAM_LIST, LANE_USER_WAITING, 60 * US_PER_S);
    virtual_run(&f->world, f->loop, US_PER_S);
    assert_int_equal(f->last, UPSTREAM_THROTTLED);
    assert_int_equal(f->retry_after_s, 30);
    unsigned before = f->transport->count;
    submit(f, UPSTREAM_LIST, LANE_USER_WRITE, 120 * US_PER_S);
    virtual_run(&f->world, f->loop, 28 * US_PER_S);
    assert_int_equal(f->transport->count, before);
    f->answer = (struct canned_answer){HTTP_ANSWERED, 200, "[]", NULL, US_PER_MS};
    virtual_run(&f->world, f->loop, 10 * US_PER_S);
    assert_int_equal(f->last, UPSTREAM_OK);
}

static void outage_is_met_with_growing_pauses(void **state)
{
    struct fixture *f = *state;
    f->answer = (struct canned_answer){HTTP_NOT_SENT, 0, NULL, NULL, US_PER_MS};
    for (int i = 0; i < 3600; i++) {
        submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, US_PER_S);
        virtual_run(&f->world, f->loop, US_PER_S);
    }
    /* test_lane.c contains the computation of the limit. */
    assert_in_range(f->transport->count, 40, 67);
}

static void lost_writes_are_uncertain_and_reads_are_not(void **state)
{
    struct fixture *f = *state;
    static const struct {
        struct canned_answer answer;
        enum upstream_class read, write;
    } rows[] = {
        {{HTTP_BROKEN, 0, NULL, NULL, 0}, UPSTREAM_UNREACHABLE, UPSTREAM_UNCERTAIN},
        {{HTTP_TIMEOUT, 0, NULL, NULL, 0}, UPSTREAM_UNREACHABLE, UPSTREAM_UNCERTAIN},
        {{HTTP_NOT_SENT, 0, NULL, NULL, 0}, UPSTREAM_UNREACHABLE, UPSTREAM_UNREACHABLE},
        {{HTTP_TOO_LARGE, 0, NULL, NULL, 0}, UPSTREAM_OVERSIZED, UPSTREAM_UNCERTAIN},
        {{HTTP_ANSWERED, 500, "{}", NULL, 0}, UPSTREAM_UNREACHABLE, UPSTREAM_UNCERTAIN},
        {{HTTP_ANSWERED, 502, "<html>", NULL, 0}, UPSTREAM_UNREACHABLE, UPSTREAM_UNCERTAIN},
        {{HTTP_ANSWERED, 429, "{}", NULL, 0}, UPSTREAM_THROTTLED, UPSTREAM_THROTTLED},
        {{HTTP_ANSWERED, 404, "{}", NULL, 0}, UPSTREAM_ABSENT, UPSTREAM_ABSENT},
        {{HTTP_ANSWERED, 409, "{}", NULL, 0}, UPSTREAM_CONFLICT, UPSTREAM_CONFLICT},
        {{HTTP_ANSWERED, 400, "{}", NULL, 0}, UPSTREAM_REFUSED, UPSTREAM_REFUSED},
        {{HTTP_ANSWERED, 302, "", NULL, 0}, UPSTREAM_GARBLED, UPSTREAM_UNCERTAIN},
        {{HTTP_ANSWERED, 403,
          "{\"error\":{\"code\":403,\"message\":\"No access: Your user does not have access to this "
          "method.\"}}",
          NULL, 0},
         UPSTREAM_FORBIDDEN,
         UPSTREAM_FORBIDDEN},
        {{HTTP_ANSWERED, 403, "{\"error\":{\"code\":403,\"message\":\"Forbidden IP\"}}", NULL, 0},
         UPSTREAM_THROTTLED,
         UPSTREAM_THROTTLED},
        {{HTTP_ANSWERED, 200, "rubbish", NULL, 0}, UPSTREAM_GARBLED, UPSTREAM_UNCERTAIN},
    };
    json_t *spec CLEANUP_JSON = json_pack("{s:s}", "name", "dev");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        f->answer = rows[i].answer;
        f->answer.latency_us = US_PER_MS;
        submit(f, UPSTREAM_GET, LANE_USER_WRITE, 120 * US_PER_S);
        virtual_run(&f->world, f->loop, 60 * US_PER_S);
        if (f->last != rows[i].read)
            fail_msg("row %zu: read is %s", i, upstream_class_name(f->last));
        f->answer.latency_us = US_PER_MS;
        submit_with(f, UPSTREAM_CREATE, LANE_USER_WRITE, 120 * US_PER_S, spec);
        virtual_run(&f->world, f->loop, 60 * US_PER_S);
        if (f->last != rows[i].write)
            fail_msg("row %zu: write is %s", i, upstream_class_name(f->last));
    }
}

/* ---- tokens ---- */

static void rejected_token_is_renewed_once(void **state)
{
    struct fixture *f = *state;
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 60 * US_PER_S);
    virtual_run(&f->world, f->loop, 5 * US_PER_S);
    assert_int_equal(f->logins, 1);
    /* The token stays rejected: one login and one retry, then the call fails. */
    f->answer = (struct canned_answer){
        HTTP_ANSWERED, 403, "{\"error\":{\"code\":403,\"message\":\"Invalid token\"}}", NULL, US_PER_MS};
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 60 * US_PER_S);
    virtual_run(&f->world, f->loop, 5 * US_PER_S);
    assert_int_equal(f->logins, 2);
    assert_int_equal(f->last, UPSTREAM_FORBIDDEN);
}

static void a_call_does_not_outlive_its_deadline_waiting_for_a_login(void **state)
{
    struct fixture *f = *state;
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 60 * US_PER_S);
    virtual_run(&f->world, f->loop, 5 * US_PER_S);
    f->answer = (struct canned_answer){
        HTTP_ANSWERED, 403, "{\"error\":{\"code\":403,\"message\":\"Invalid token\"}}", NULL, US_PER_MS};
    f->login = (struct canned_answer){HTTP_NOT_SENT, 0, NULL, NULL, US_PER_MS};
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 30 * US_PER_S);
    virtual_run(&f->world, f->loop, 40 * US_PER_S);
    assert_int_equal(f->done, 2);
    assert_int_equal(f->last, UPSTREAM_EXPIRED);
}

static void remembered_token_is_validated_not_replaced(void **state)
{
    struct fixture *f = *state;
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 60 * US_PER_S);
    virtual_run(&f->world, f->loop, 5 * US_PER_S);
    upstream_account_free(f->account);
    open_account(f);
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 60 * US_PER_S);
    virtual_run(&f->world, f->loop, 5 * US_PER_S);
    assert_int_equal(f->logins, 1);
    assert_int_equal(f->done, 2);
    assert_string_equal(f->transport->seen[f->transport->count - 1].token, "t1");
    assert_non_null(strstr(f->transport->seen[f->transport->count - 2].url, "/tokens/validate"));
}

static void remembered_token_of_another_login_is_not_used(void **state)
{
    struct fixture *f = *state;
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 60 * US_PER_S);
    virtual_run(&f->world, f->loop, 5 * US_PER_S);
    upstream_account_free(f->account);
    free(f->config.login);
    f->config.login = mem_strdup("other");
    open_account(f);
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 60 * US_PER_S);
    virtual_run(&f->world, f->loop, 5 * US_PER_S);
    assert_int_equal(f->logins, 2);
}

static void wrong_password_is_tried_4_times_a_minute_12_an_hour(void **state)
{
    struct fixture *f = *state;
    f->login = (struct canned_answer){
        HTTP_ANSWERED, 400, "{\"error\":{\"code\":400,\"message\":\"Bad Request\"}}", NULL, US_PER_MS};
    for (int second = 0; second < 3600; second++) {
        submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, US_PER_S);
        virtual_run(&f->world, f->loop, US_PER_S);
        if (second == 59)
            assert_in_range(f->logins, 3, 4);
        if (second == 1800) {
            /* A restart with the same password keeps the guard. */
            upstream_account_free(f->account);
            open_account(f);
        }
    }
    assert_in_range(f->logins, 9, 12);
    assert_int_equal(f->last, UPSTREAM_LOGIN_FAILED);
    unsigned before = f->logins;
    upstream_account_free(f->account);
    free(f->config.password);
    f->config.password = mem_strdup("right");
    f->login = (struct canned_answer){HTTP_ANSWERED, 201, "{\"result\":\"login_ok\",\"token\":\"t2\"}", NULL,
                                      US_PER_MS};
    open_account(f);
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 10 * US_PER_S);
    virtual_run(&f->world, f->loop, 5 * US_PER_S);
    assert_int_equal(f->logins, before + 1);
    assert_int_equal(f->last, UPSTREAM_OK);
}

static void login_during_an_outage_is_no_refusal(void **state)
{
    struct fixture *f = *state;
    struct upstream_account_status status;
    f->login = (struct canned_answer){HTTP_BROKEN, 0, NULL, NULL, US_PER_MS};
    submit(f, UPSTREAM_LIST, LANE_IDLE_POLL, 600 * US_PER_S);
    virtual_run(&f->world, f->loop, 60 * US_PER_S);
    upstream_account_status(f->account, &status);
    assert_int_equal(status.login, LOGIN_UNREACHABLE);
    assert_int_equal(f->done, 0);
    f->login = (struct canned_answer){HTTP_ANSWERED, 201, "{\"result\":\"login_ok\",\"token\":\"t1\"}", NULL,
                                      US_PER_MS};
    virtual_run(&f->world, f->loop, 60 * US_PER_S);
    assert_int_equal(f->done, 1);
    assert_int_equal(f->last, UPSTREAM_OK);
}

static void kubeconfig_falls_back_when_v3_is_unknown(void **state)
{
    struct fixture *f = *state;
    f->answer = (struct canned_answer){HTTP_ANSWERED, 404, "{}", NULL, US_PER_MS};
    submit(f, UPSTREAM_KUBECONFIG, LANE_USER_WAITING, 60 * US_PER_S);
    virtual_run(&f->world, f->loop, 5 * US_PER_S);
    assert_int_equal(f->last, UPSTREAM_ABSENT);
    assert_non_null(
        strstr(f->transport->seen[1].url, "/gardener/v3/public/shoots/Sto2/p/dev/admin-kubeconfig"));
    assert_non_null(
        strstr(f->transport->seen[2].url, "/gardener/v2/public/shoots/Sto2/p/dev/admin-kubeconfig"));
}

/* ---- decoders ---- */

static struct shoot *decode(decode_shoot *one, const json_t *doc)
{
    struct decoding d = {.now = INT64_C(1790000000) * US_PER_S};
    return one(&d, doc);
}

static void both_drivers_decode_to_the_same_words(void **state)
{
    static const char v2[] =
        "{\"name\":\"example\",\"uid\":\"99999999-8888-7777-6666-555555555555\",\"kubernetes\":{\"version\":"
        "\"1.33.7\"},\"purpose\":"
        "\"evaluation\","
        "\"networking\":{\"type\":\"calico\",\"nodes\":\"10.250.0.0/16\"},\"maintenance\":{\"auto_update\":{"
        "\"kubernetes_version\":true,\"machine_image_version\":false},\"time_window\":{\"begin\":\"020000+"
        "0000\",\"end\":"
        "\"030000+0000\"}},\"shoot_provider\":{\"workers\":[{\"name\":\"wg1\",\"machine\":{\"type\":\"b."
        "2c4gb\",\"image\":{"
        "\"name\":\"gardenlinux\",\"version\":\"1877.9.0\"}},\"minimum\":1,\"maximum\":3,\"max_surge\":1,"
        "\"volume\":{\"size\":"
        "\"50Gi\"},\"zones\":[\"nova\"],\"labels\":[{\"key\":\"a\",\"value\":\"b\"}]}]},\"last_operation\":{"
        "\"type\":\"Create\","
        "\"state\":\"Processing\",\"progress\":43,\"description\":\"x\",\"last_update_time\":\"2026-03-01T12:"
        "05:00Z\"},"
        "\"status\":{\"is_hibernated\":false,\"conditions\":[],\"constraints\":[],\"last_errors\":[]}}";
    static const char v1[] = "{\"metadata\":{\"name\":\"example\",\"uid\":\"99999999-8888-7777-6666-"
                             "555555555555\"},\"spec\":{\"purpose\":"
                             "\"evaluation\",\"kubernetes\":{\"version\":"
                             "\"1.33.7\"},\"maintenance\":{\"autoUpdate\":{\"kubernetesVersion\":true,"
                             "\"machineImageVersion\":false},\"timeWindow\":{"
                             "\"begin\":\"020000+0000\",\"end\":\"030000+0000\"}},\"provider\":{\"workers\":["
                             "{\"name\":\"wg1\",\"machine\":{\"type\":"
                             "\"b.2c4gb\",\"image\":{\"name\":\"gardenlinux\",\"version\":\"1877.9.0\"}},"
                             "\"minimum\":1,\"maximum\":3,\"maxSurge\":1,"
                             "\"volume\":{\"size\":\"50Gi\"},\"zones\":[\"nova\"],\"labels\":{\"a\":\"b\"}}]}"
                             "},\"status\":{\"hibernated\":false,"
                             "\"lastOperation\":{\"type\":\"Create\",\"state\":\"Processing\",\"progress\":"
                             "43,\"description\":\"x\"}}}";
    json_t *doc2 CLEANUP_JSON = json_parse_lenient(v2, strlen(v2), NULL);
    json_t *doc1 CLEANUP_JSON = json_parse_lenient(v1, strlen(v1), NULL);
    struct shoot *a = decode(decode_shoot_v2, doc2), *b = decode(decode_shoot_v1, doc1);
    assert_non_null(a);
    assert_non_null(b);
    static const char *const same[] = {"kubernetes_version", "node_pools", "maintenance",
                                       "high_availability",  "uid",        "hibernation_schedules"};
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        if (!json_equal(json_object_get(json_doc_tree(a->observed), same[i]),
                        json_object_get(json_doc_tree(b->observed), same[i])))
            fail_msg("%s differs", same[i]);
    assert_int_equal(a->progress, b->progress);
    assert_string_equal(a->operation_state, b->operation_state);
    assert_int_equal(a->operation_at, 1772366700 * US_PER_S);
    shoot_free(a);
    shoot_free(b);
}

static void rubbish_decodes_to_nothing(void **state)
{
    static const char *const rows[] = {"{}", "[]", "5", "null", "{\"name\":5}", "{\"metadata\":{}}"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *doc CLEANUP_JSON = json_parse_lenient(rows[i], strlen(rows[i]), NULL);
        struct shoot *a = decode(decode_shoot_v2, doc), *b = decode(decode_shoot_v1, doc);
        assert_null(b);
        assert_null(a);
    }
}

/* The names in the configuration choose the drivers. */
static void each_api_has_the_driver_of_its_name(void **state)
{
#define ROW(api, word) {api, #word, &driver_##word},
    static const struct {
        enum api_generation api;
        const char *name;
        const struct upstream_driver *driver;
    } rows[] = {CLEURA_APIS(ROW)};
#undef ROW
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct config_account account = {.api = rows[i].api};
        assert_ptr_equal(driver_of(&account), rows[i].driver);
        assert_string_equal(upstream_abilities_of(&account)->api, rows[i].name);
    }
}

#define SHOOT2 "/gardener/v2/public/shoots/Sto2/p"
#define SHOOT1 "/gardener/v1/public/shoot/Sto2/p"

/* The requests of all calls of both drivers. Each kubeconfig endpoint that Cleura lacks leads to the next. */
static const struct {
    enum upstream_op op;
    int variant;
    const char *v2, *v1; /* method and path; NULL: the API has no such call */
} requests[] = {
    {UPSTREAM_CATALOG, 0, "GET /gardener/v2/public/cloud-profiles", "GET /gardener/v1/public/cloudprofile"},
    {UPSTREAM_BOOTSTRAP, 0, "POST /gardener/v2/public/Sto2/p/bootstrap",
     "POST /gardener/v1/public/secret/Sto2/p/bootstrap"},
    {UPSTREAM_LIST, 0, "GET " SHOOT2, "GET " SHOOT1},
    {UPSTREAM_GET, 0, "GET " SHOOT2 "/dev", "GET " SHOOT1 "/dev"},
    {UPSTREAM_CREATE, 0, "POST " SHOOT2, "POST " SHOOT1},
    {UPSTREAM_DELETE, 0, "DELETE " SHOOT2 "/dev", "DELETE " SHOOT1 "/dev"},
    {UPSTREAM_KUBECONFIG, 0, "POST /gardener/v3/public/shoots/Sto2/p/dev/admin-kubeconfig",
     "POST " SHOOT1 "/dev/adminkubeconfig"},
    {UPSTREAM_KUBECONFIG, 1, "POST " SHOOT2 "/dev/admin-kubeconfig",
     "POST /gardener/v3/public/shoots/Sto2/p/dev/admin-kubeconfig"},
    {UPSTREAM_KUBECONFIG, 2, "POST " SHOOT1 "/dev/adminkubeconfig", "POST " SHOOT2 "/dev/admin-kubeconfig"},
    {UPSTREAM_KUBECONFIG, 3, NULL, NULL},
    {UPSTREAM_PATCH, 0, "PATCH " SHOOT2 "/dev", "PUT " SHOOT1 "/dev"},
    {UPSTREAM_POOL_CREATE, 0, "POST " SHOOT2 "/dev/workers", "POST " SHOOT1 "/dev/worker"},
    {UPSTREAM_POOL_UPDATE, 0, "PUT " SHOOT2 "/dev/workers/it", "PUT " SHOOT1 "/dev/worker/it"},
    {UPSTREAM_POOL_DELETE, 0, "DELETE " SHOOT2 "/dev/workers/it", "DELETE " SHOOT1 "/dev/worker/it"},
    {UPSTREAM_HIBERNATE, 0, "PATCH " SHOOT2 "/dev/hibernate", "POST " SHOOT1 "/dev/hibernate"},
    {UPSTREAM_WAKE, 0, "PATCH " SHOOT2 "/dev/wakeup", "POST " SHOOT1 "/dev/wakeup"},
    {UPSTREAM_WAKE, 1, NULL, NULL},
    {UPSTREAM_RECONCILE, 0, "PATCH " SHOOT2 "/dev/reconcile", NULL},
    {UPSTREAM_RETRY, 0, "PATCH " SHOOT2 "/dev/retry", NULL},
    {UPSTREAM_MAINTAIN, 0, "PATCH " SHOOT2 "/dev/maintenance", NULL},
    {UPSTREAM_ENABLE_HA, 0, "PATCH " SHOOT2 "/dev/ha-control-plane/enable",
     "POST " SHOOT1 "/dev/enable-ha-control-plane"},
    {UPSTREAM_ROTATE_CA, 0, "PATCH " SHOOT2 "/dev/ca/rotate", NULL},
    {UPSTREAM_CA_STAGE, 0, "GET " SHOOT2 "/dev/ca/rotation-stage", NULL},
    {UPSTREAM_MONITORING, 0, "GET " SHOOT2 "/dev/monitoring", "GET " SHOOT1 "/dev/monitoring"},
    {UPSTREAM_NODES, 0, "GET " SHOOT2 "/dev/monitoring/workers/it/nodes/overview", NULL},
    {UPSTREAM_SSH_KEY, 0, "GET " SHOOT2 "/dev/ssh_pk", NULL},
    {UPSTREAM_UPGRADE_CHECK, 0, "GET " SHOOT2 "/dev/upgrade/check?target_version=it", NULL},
    {UPSTREAM_OWN_PROJECTS, 0, "GET /openstack/identity/v1/current-user/projects", NULL},
    {UPSTREAM_QUOTA, 0, "GET /openstack/identity/v2/domains/it/projects/p/quotas/Sto2", NULL},
    {UPSTREAM_NAME_TAKEN, 0, "GET /gardener/v2/public/shoots/dev/is-name-taken", NULL},
};

static void each_driver_says_its_calls(void **state)
{
    struct fixture *f = *state;
    bool seen[UPSTREAM_OP_MAX_] = {false};
    json_t *body CLEANUP_JSON = json_object();
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        const struct upstream_call call = {.op = requests[i].op,
                                           .variant = requests[i].variant,
                                           .region = "Sto2",
                                           .project_id = "p",
                                           .name = "dev",
                                           .item = "it",
                                           .body = body};
        const struct upstream_driver *const drivers[] = {&driver_v2, &driver_v1};
        const char *const wanted[] = {requests[i].v2, requests[i].v1};
        seen[requests[i].op] = true;
        for (size_t d = 0; d < ARRAY_LEN(drivers); d++) {
            struct request_draft draft;
            assert_int_equal(call_endpoint(drivers[d], call.op, call.variant) != NULL, wanted[d] != NULL);
            if (!wanted[d])
                continue;
            build_request(drivers[d], &f->config, &call, &draft);
            char *found CLEANUP_FREE = mem_printf("%s %s", draft.method, draft.path);
            assert_string_equal(found, wanted[d]);
            request_draft_done(&draft);
        }
    }
    for (size_t op = 0; op < UPSTREAM_OP_MAX_; op++)
        assert_true(seen[op]);
}

static void url_segments_are_encoded_UP_8(void **state)
{
    char *text CLEANUP_FREE = url_segment("a/b c..%?#");
    assert_string_equal(text, "a%2Fb%20c..%25%3F%23");
}

int main(void)
{
#define WITH_ACCOUNT(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_ACCOUNT(one_call_at_a_time_with_spacing),
        WITH_ACCOUNT(urgent_calls_overtake_but_nothing_starves),
        WITH_ACCOUNT(deadline_passes_in_the_queue),
        WITH_ACCOUNT(full_queue_refuses),
        WITH_ACCOUNT(retry_after_stops_the_lane),
        WITH_ACCOUNT(outage_is_met_with_growing_pauses),
        WITH_ACCOUNT(lost_writes_are_uncertain_and_reads_are_not),
        WITH_ACCOUNT(rejected_token_is_renewed_once),
        WITH_ACCOUNT(a_call_does_not_outlive_its_deadline_waiting_for_a_login),
        WITH_ACCOUNT(remembered_token_is_validated_not_replaced),
        WITH_ACCOUNT(remembered_token_of_another_login_is_not_used),
        WITH_ACCOUNT(wrong_password_is_tried_4_times_a_minute_12_an_hour),
        WITH_ACCOUNT(login_during_an_outage_is_no_refusal),
        WITH_ACCOUNT(kubeconfig_falls_back_when_v3_is_unknown),
        cmocka_unit_test(both_drivers_decode_to_the_same_words),
        cmocka_unit_test(each_api_has_the_driver_of_its_name),
        WITH_ACCOUNT(each_driver_says_its_calls),
        cmocka_unit_test(rubbish_decodes_to_nothing),
        cmocka_unit_test(url_segments_are_encoded_UP_8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
