#include "tests/support/one_shoot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/support/check.h"

static struct canned_answer answer_shoot(struct one_shoot *cleura, bool list)
{
    static char shoot[1024], text[1100];
    struct canned_answer answer = {HTTP_ANSWERED, 200, text, NULL, 10 * US_PER_MS};
    (void)snprintf(
        shoot, sizeof(shoot),
        "{\"name\":\"dev\",\"uid\":\"%s\",\"kubernetes\":{\"version\":\"1.33.7\"},\"shoot_provider\":{"
        "\"workers\":[%s]},\"last_operation\":{\"type\":\"%s\",\"state\":\"%s\",\"progress\":100,"
        "\"description\":\"\",\"last_update_time\":\"2026-03-01T12:00:00Z\"},\"status\":{"
        "\"is_hibernated\":%s,\"conditions\":[],\"constraints\":[],\"last_errors\":[]}}",
        cleura->uid ? cleura->uid : "", cleura->workers ? cleura->workers : "",
        cleura->type ? cleura->type : "Reconcile", cleura->state ? cleura->state : "Succeeded",
        cleura->hibernated ? "true" : "false");
    if (cleura->raw)
        (void)snprintf(shoot, sizeof(shoot), "%s", cleura->raw);
    if (list) {
        (void)snprintf(text, sizeof(text), "[%s]", cleura->uid ? shoot : "");
    } else if (cleura->uid) {
        (void)snprintf(text, sizeof(text), "%s", shoot);
    } else {
        answer.status = 404;
        answer.body = "{\"error\":{\"code\":404,\"message\":\"Not Found\"}}";
    }
    return answer;
}

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    struct one_shoot *cleura = ctx;
    cleura->calls += strstr(request->url, "/shoots/") != NULL;
    const bool one = strstr(request->url, "/shoots/") && strstr(request->url, "/dev");
    struct canned_answer answer = {HTTP_ANSWERED, 200, "[]", NULL, 10 * US_PER_MS};
    if (cleura->away)
        return (struct canned_answer){HTTP_NOT_SENT, 0, NULL, NULL, US_PER_MS};
    if (one && strcmp(request->method, "GET") != 0) {
        cleura->writes++;
        if (cleura->stage_then)
            cleura->stage = TAKE_PTR(cleura->stage_then);
        (void)snprintf(cleura->last_write, sizeof(cleura->last_write), "%s %s", request->method,
                       request->url);
        answer.body = "{}";
        answer.status = 202;
        if (cleura->refusals && *cleura->refusals) {
            answer.status = *cleura->refusals++;
        } else if (cleura->ineffective) {
            const char *uid = cleura->uid;
            cleura->uid = cleura->writes_have_no_uid ? "" : uid;
            answer = answer_shoot(cleura, false);
            answer.status = 202;
            cleura->uid = uid;
        } else if (!strcmp(request->method, "DELETE")) {
            cleura->type = "Delete";
            cleura->state = "Processing";
        }
    } else if (one && strstr(request->url, "/rotation-stage")) {
        static char stage[64];
        (void)snprintf(stage, sizeof(stage), "{\"stage\":\"%s\"}", cleura->stage ? cleura->stage : "");
        answer.body = stage;
    } else if (one) {
        cleura->reads++;
        answer = answer_shoot(cleura, false);
        if (cleura->read_takes_us)
            answer.latency_us = cleura->read_takes_us;
    } else if (strstr(request->url, "/shoots/") && cleura->next_list) {
        answer = *cleura->next_list;
        cleura->next_list = NULL;
    } else if (strstr(request->url, "/shoots/")) {
        if (!strstr(request->url, "id01"))
            answer = answer_shoot(cleura, true);
    } else if (strstr(request->url, "/cloud-profiles")) {
        answer.body = small_catalog;
    } else {
        answer.status = 201;
        answer.body = "{\"result\":\"login_ok\",\"token\":\"t1\"}";
    }
    return answer;
}

/* ---- the daemon ---- */

static const struct polling polling = {10 * US_PER_S, 3600 * US_PER_S, 3600 * US_PER_S};

struct running *one_shoot_start(struct one_shoot *cleura)
{
    struct running *d = MEM_NEW(struct running);
    running_init(d, 7, cleura->has_second_project ? 2 : 1, &polling);
    d->respond = respond;
    d->ctx = cleura;
    running_start(d);
    running_run(d, MINUTE);
    struct command *put = running_command(d, COMMAND_CLUSTER_PUT, "p00", "dev", json_pack("{s{}}", "spec"));
    running_post(d, put);
    running_run(d, MINUTE);
    assert_true(running_answered(put));
    if (put->reply.problem)
        print_message("%s\n", put->reply.problem->detail);
    assert_int_equal(put->reply.status, 200);
    command_free(put);
    assert_int_equal(cleura->writes, 0);
    return d;
}

void one_shoot_end(struct running *d)
{
    (void)running_kill(d, false);
    running_done(d);
    free(d);
}

struct command *one_shoot_post_version(struct running *d)
{
    struct command *cmd = running_command(d, COMMAND_CLUSTER_PUT, "p00", "dev",
                                          json_pack("{s{ss}}", "spec", "kubernetes_version", "1.34.3"));
    running_post(d, cmd);
    return cmd;
}

struct command *one_shoot_post(struct running *d, enum command_type type)
{
    struct command *cmd = running_command(d, type, "p00", "dev", NULL);
    running_post(d, cmd);
    return cmd;
}
