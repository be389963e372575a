#include "daemon/login_check.h"

#include <curl/curl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "daemon/daemon.h"
#include "loop/loop.h"
#include "loop/transport.h"
#include "loop/worker.h"
#include "model/problem.h"
#include "upstream/upstream.h"

enum { PATIENCE_S = 30, CONNECTIONS = 16, READER_JOBS = 64, READER_BYTES = 128 * 1024 * 1024 };

struct login_check {
    const struct config *config;
    struct loop *loop;
    struct worker *reader;
    struct transport *transport;
    struct seal_key key; /* for this process only: nothing is stored */
    struct upstream_account **lanes;
    struct proof *proofs;
    size_t open; /* proofs without an answer */
    bool refused, away;
};

/* The proof of one project, and with it of its account. */
struct proof {
    struct login_check *check;
    const struct config_project *project;
    struct upstream_call call;
};

/* Whether Cleura has answered that the configuration is wrong. */
static bool is_refusal(enum upstream_class class)
{
    return class == UPSTREAM_LOGIN_FAILED || class == UPSTREAM_FORBIDDEN || class == UPSTREAM_ABSENT ||
           class == UPSTREAM_REFUSED;
}

static void on_answer(struct upstream_call *call, struct upstream_result *result)
{
    struct proof *proof = CONTAINER_OF(call, struct proof, call);
    struct login_check *check = proof->check;
    const char *account = proof->project->account->name, *project = proof->project->name;
    if (result->class == UPSTREAM_OK) {
        (void)printf("account %s: project %s: %zu cluster%s\n", account, project, result->shoot_count,
                     result->shoot_count == 1 ? "" : "s");
    } else {
        /* the problem's text is cut, and made printable */
        struct problem *why CLEANUP_PROBLEM = upstream_problem(result);
        (void)fprintf(stderr, "shootd: account %s: project %s: %s\n", account, project, why->detail);
        if (is_refusal(result->class))
            check->refused = true;
        else
            check->away = true;
    }
    if (!--check->open)
        loop_stop(check->loop);
}

static void begin(struct login_check *check)
{
    const struct transport_options options = {
        .user_agent = "shootd", .max_connections = CONNECTIONS, .max_age_s = 30, .worker = check->reader};
    static const struct upstream_account_events nobody = {.ctx = NULL};
    const struct config *c = check->config;
    const mono_us until = env_mono(env_real()) + PATIENCE_S * US_PER_S;
    check->transport = transport_curl_new(check->loop, &options);
    check->lanes = mem_calloc(c->account_count + 1, sizeof(struct upstream_account *));
    check->proofs = mem_calloc(c->project_count + 1, sizeof(struct proof));
    for (size_t i = 0; i < c->account_count; i++)
        check->lanes[i] = upstream_account_new(check->loop, check->transport, check->reader, &c->accounts[i],
                                               &check->key, NULL, CONFIG_MAX_ENTRIES, &nobody);
    size_t *asked CLEANUP_FREE = mem_calloc(c->account_count + 1, sizeof(*asked)); /* of each account */
    for (size_t i = 0; i < c->project_count; i++) {
        struct proof *proof = &check->proofs[i];
        const struct config_project *p = &c->projects[i];
        const size_t account = (size_t)(p->account - c->accounts);
        *proof = (struct proof){.check = check, .project = p};
        proof->call = (struct upstream_call){
            .op = UPSTREAM_LIST,
            .region = p->region,
            .project_id = p->project_id,
            .priority = LANE_USER_WAITING,
            .deadline = until + (mono_us)asked[account]++ * p->account->min_spacing_us,
            .on_done = on_answer,
        };
        check->open++;
        upstream_submit(check->lanes[account], &proof->call);
    }
}

static void end(struct login_check *check)
{
    for (size_t i = 0; i < check->config->account_count; i++)
        upstream_account_free(check->lanes[i]);
    check->reader->free(check->reader);
    check->transport->free(check->transport);
    loop_free(check->loop);
    free(check->lanes);
    free(check->proofs);
    explicit_bzero(&check->key, sizeof(check->key));
    curl_global_cleanup();
}

/* An account that no project names is not used, and cannot be proved by reading a project. */
static void tell_unused(const struct config *c)
{
    for (size_t i = 0; i < c->account_count; i++) {
        bool used = false;
        for (size_t j = 0; j < c->project_count; j++)
            used |= c->projects[j].account == &c->accounts[i];
        if (!used)
            (void)printf("account %s: not tried, because no project names it\n", c->accounts[i].name);
    }
}

int login_check(const struct config *config)
{
    const struct env *env = env_real();
    struct login_check check = {.config = config};
    const struct worker_limits reading = {READER_JOBS, READER_BYTES};
    json_object_seed(0);
    if (sodium_init() < 0 || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return EXIT_RUNTIME;
    log_set_level(LOG_LEVEL_ERROR); /* the lines below say what warnings would say */
    env->random(env, check.key.bytes, sizeof(check.key.bytes));
    check.loop = loop_new(env);
    check.reader = worker_new(check.loop, "reader", &reading);
    tell_unused(config);
    begin(&check);
    if (check.open)
        loop_run(check.loop);
    end(&check);
    return check.refused ? EXIT_CONFIG : check.away ? EXIT_DEPENDENCY : EXIT_OK;
}
