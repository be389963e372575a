#include "tests/support/running.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

enum { COMMAND_DEADLINE_S = 600 };

const char small_catalog[] =
    "[{\"name\":\"cleuracloud\",\"kubernetes\":{\"versions\":[{\"version\":\"1.33.7\"},"
    "{\"version\":\"1.34.3\"}]},"
    "\"machine_types\":[{\"name\":\"b.2c4gb\",\"cpu\":\"2\",\"memory\":\"4Gi\"}],"
    "\"machine_images\":[{\"name\":\"gardenlinux\",\"versions\":[{\"version\":\"1877.9.0\"}]}],"
    "\"regions\":[{\"name\":\"Sto2\",\"zones\":[{\"name\":\"nova\"}]}]}]";

/* ---- the result of a command: its ctx ---- */

static char posted, answered, dropped;
static unsigned posted_count; /* the number of commands that were not given back yet */

static bool storage_is_busy(void *ctx)
{
    const struct running *d = ctx;
    struct storage_metrics metrics;
    storage_metrics(d->storage, &metrics);
    return (metrics.queue_depth > 0 && !d->store.is_cut_off && !d->store.is_held) || metrics.queries > 0;
}

/* ---- start and end ---- */

static void init_config(struct config *c, size_t projects, const struct polling *polling)
{
    c->account_count = 1;
    c->accounts = MEM_NEW(struct config_account);
    c->accounts[0] = (struct config_account){.name = mem_strdup("main"),
                                             .cloud = mem_strdup("public"),
                                             .url = mem_strdup("http://127.0.0.1:1"),
                                             .api = API_V2,
                                             .login = mem_strdup("robot"),
                                             .password = mem_strdup("pass"),
                                             .max_in_flight = 1,
                                             .min_spacing_us = 100 * US_PER_MS,
                                             .call_timeout_us = 60 * US_PER_S};
    c->project_count = projects;
    c->projects = mem_calloc(projects, sizeof(*c->projects));
    for (size_t i = 0; i < projects; i++)
        c->projects[i] = (struct config_project){.name = mem_printf("p%02zu", i),
                                                 .account = &c->accounts[0],
                                                 .region = mem_strdup("Sto2"),
                                                 .project_id = mem_printf("id%02zu", i)};
    c->polling.active_us = polling->active_us;
    c->polling.idle_us = polling->idle_us;
    c->polling.discovery_us = polling->discovery_us;
    c->polling.absent_for_us = 300 * US_PER_S;
    c->limits.queue_length = 256;
    c->events.keep_us = INT64_C(30) * 86400 * US_PER_S;
    c->events.keep_count = 1000000;
    c->operations_keep_us = INT64_C(30) * 86400 * US_PER_S;
    c->audit_keep_us = INT64_C(90) * 86400 * US_PER_S;
}

static struct canned_answer nobody(void *ctx, const struct seen_request *request)
{
    return (struct canned_answer){HTTP_NOT_SENT, 0, NULL, NULL, US_PER_MS};
}

void running_init(struct running *d, uint64_t seed, size_t projects, const struct polling *polling)
{
    if (sodium_init() < 0)
        abort();
    json_object_seed(1);
    *d = (struct running){0};
    virtual_init(&d->world, seed);
    init_config(&d->config, projects, polling);
    test_store_init(&d->store);
}

void running_done(struct running *d)
{
    struct config *c = &d->config;
    test_store_done(&d->store);
    for (size_t i = 0; i < c->project_count; i++) {
        free(c->projects[i].name);
        free(c->projects[i].region);
        free(c->projects[i].project_id);
    }
    free(c->projects);
    free(c->accounts[0].name);
    free(c->accounts[0].cloud);
    free(c->accounts[0].url);
    free(c->accounts[0].login);
    free(c->accounts[0].password);
    free(c->accounts);
}

void running_start(struct running *d)
{
    char *token CLEANUP_SECRET = NULL;
    posted_count = 0; /* a failed test may have left posted commands */
    enum store_status status =
        storage_open(&d->store.backend, d->store.location, "test", &d->world.env, &d->storage, NULL);
    assert(status == STORE_OK);
    d->view = view_new();
    d->feed = feed_new(FEED_ENTRIES, FEED_BYTES);
    d->loop = loop_new(&d->world.env);
    d->cleura = fake_transport_new(&d->world, d->loop);
    d->cleura->respond = d->respond;
    d->cleura->ctx = d->ctx;
    d->receivers = fake_transport_new(&d->world, d->loop);
    d->receivers->respond = nobody;
    d->worker = inline_worker_new(d->loop);
    const struct reconcile_options options = {.loop = d->loop,
                                              .upstream_transport = &d->cleura->transport,
                                              .webhook_transport = &d->receivers->transport,
                                              .worker = d->worker,
                                              .copyist = d->worker,
                                              .lister = d->worker,
                                              .storage = d->storage,
                                              .view = d->view,
                                              .feed = d->feed,
                                              .config = &d->config,
                                              .key = &d->key};
    d->reconcile = reconcile_new(&options);
    struct store_visitor visitor = reconcile_visitor(d->reconcile);
    status = storage_load(d->storage, &visitor, NULL);
    assert(status == STORE_OK);
    (void)status;
    reconcile_start(d->reconcile, &token);
    d->world.busy = storage_is_busy;
    d->world.busy_ctx = d;
    storage_start(d->storage);
}

void running_turn(struct running *d)
{
    loop_turn(d->loop, d->world.now + 5 * US_PER_S);
}

static void silent(enum log_level level, const char *message, const char *const *keys,
                   const char *const *values, unsigned count)
{
}

void running_silence_log(void)
{
    log_set_sink(silent);
}

void running_run(struct running *d, int64_t duration_us)
{
    virtual_run(&d->world, d->loop, duration_us);
}

bool running_kill(struct running *d, bool lose_last_turn)
{
    if (lose_last_turn) {
        while (storage_is_busy(d))
            (void)usleep(50);
        d->store.is_cut_off = true;
        loop_turn(d->loop, d->world.now);
    }
    bool in_flight = d->cleura->in_flight > 0;
    storage_close(d->storage);
    d->store.is_cut_off = false;
    d->world.busy = NULL;
    reconcile_free(d->reconcile);
    d->worker->free(d->worker);
    d->cleura->transport.free(&d->cleura->transport);
    d->receivers->transport.free(&d->receivers->transport);
    loop_free(d->loop);
    view_free(d->view);
    feed_free(d->feed);
    assert(posted_count == 0);
    return in_flight;
}

/* ---- commands ---- */

/*
 * Each command is given back exactly once, also when the process ends. A command that is dropped at a kill
 * had no answer.
 */
static void on_reply(struct command *cmd)
{
    bool is_dropped = cmd->reply.problem && cmd->reply.problem->code == PROBLEM_SHUTTING_DOWN;
    assert(cmd->ctx == &posted && posted_count > 0);
    posted_count--;
    cmd->ctx = is_dropped ? &dropped : &answered;
}

struct command *running_command(struct running *d, enum command_type type, const char *project,
                                const char *name, json_t *body)
{
    struct command *cmd = command_new(type);
    cmd->caller.token_name = mem_strdup("tester");
    cmd->caller.role = ROLE_OPERATOR;
    cmd->caller.projects = mem_calloc(2, sizeof(char *));
    cmd->caller.projects[0] = mem_strdup("*");
    cmd->request_id = mem_strdup("req_test");
    cmd->action_name = "theOperation";
    cmd->deadline = d->world.now + COMMAND_DEADLINE_S * US_PER_S;
    cmd->project = mem_strdup(project);
    cmd->name = mem_strdup(name);
    cmd->body = body;
    cmd->give_back = on_reply;
    return cmd;
}

void running_post(struct running *d, struct command *cmd)
{
    if (cmd->give_back == on_reply) {
        assert(!cmd->ctx);
        cmd->ctx = &posted;
        posted_count++;
    }
    reconcile_command(d->reconcile, cmd);
    loop_end_turn(d->loop);
}

bool running_answered(const struct command *cmd)
{
    return cmd->ctx == &answered;
}
