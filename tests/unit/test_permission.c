/*
 * Tokens expire, are restricted and are rotated while their requests are in progress (AU-5). A command has
 * the rights that its token has at the decision. An answer that only reports something is given only to a
 * caller that may see it at that moment. On a virtual clock.
 */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/string_list.h"
#include "tests/support/one_shoot.h"

#define UID "11111111-8888-4777-8666-555555555555"

struct token {
    char id[40];
    uint8_t digest[TOKEN_DIGEST_BYTES];
};

static void settle(struct running *d)
{
    running_run(d, US_PER_S);
}

/* Returns the token in an answer. */
static struct token read_token(const struct command *cmd)
{
    struct token t = {.id = ""};
    assert_true(running_answered(cmd));
    assert_null(cmd->reply.problem);
    json_t *doc CLEANUP_JSON = json_loads(cmd->reply.text, 0, NULL);
    token_digest(json_str(doc, "token"), t.digest);
    (void)snprintf(t.id, sizeof(t.id), "%s", json_str(doc, "id"));
    return t;
}

static struct token make_token(struct running *d, const char *role, const char *project, int days)
{
    struct command *cmd = running_command(
        d, COMMAND_TOKEN_CREATE, NULL, NULL,
        json_pack("{sssss[s]si}", "name", "ci", "role", role, "projects", project, "expires_in_days", days));
    running_post(d, cmd);
    settle(d);
    struct token t = read_token(cmd);
    command_free(cmd);
    return t;
}

/* Makes a request of the token, without posting it. */
static struct command *command_of(struct running *d, const struct token *t, enum command_type type,
                                  const char *project, json_t *body)
{
    struct command *cmd = running_command(d, type, project, project ? "dev" : NULL, body);
    memcpy(cmd->caller.token_id, t->id, sizeof(t->id));
    memcpy(cmd->caller.digest, t->digest, sizeof(t->digest));
    cmd->action_name = "theOperation";
    cmd->least_role = ROLE_OPERATOR;
    return cmd;
}

/* Changes the token by a command of the operator. */
static void change_token(struct running *d, const struct token *t, enum command_type type, json_t *body)
{
    struct command *cmd = running_command(d, type, NULL, NULL, body);
    memcpy(cmd->id, t->id, sizeof(t->id));
    running_post(d, cmd);
    settle(d);
    assert_true(running_answered(cmd));
    assert_null(cmd->reply.problem);
    command_free(cmd);
}

static void revoke(struct running *d, const struct token *t)
{
    change_token(d, t, COMMAND_TOKEN_DELETE, NULL);
}

/* Returns the code of the problem in the answer; -1: there is no problem. */
static int code_of(const struct command *cmd)
{
    assert_true(running_answered(cmd));
    return cmd->reply.problem ? (int)cmd->reply.problem->code : -1;
}

/* Posts the command, and frees it after its answer. */
static int answer(struct running *d, struct command *cmd)
{
    running_post(d, cmd);
    settle(d);
    const int code = code_of(cmd);
    command_free(cmd);
    return code;
}

static json_t *new_admin(void)
{
    return json_pack("{sssss[s]}", "name", "mine", "role", "admin", "projects", "*");
}

/* `text`: an entry such as "denied 401 theOperation" for each audit entry about the token, the newest
 * first. */
static void expect_audit(struct running *d, const struct token *t, const char *text)
{
    struct command *cmd = running_command(d, COMMAND_AUDIT, NULL, NULL, NULL);
    cmd->audit.query = (struct audit_query){
        .limit = 10, .tokens = string_list_copy((char *[]){(char *)(uintptr_t)t->id, NULL})};
    running_post(d, cmd);
    settle(d);
    json_t *entries CLEANUP_JSON = json_loads(cmd->reply.text, 0, NULL);
    char *audited CLEANUP_FREE = mem_strdup("");
    size_t i;
    json_t *entry;
    json_array_foreach (entries, i, entry) {
        char *before CLEANUP_FREE = audited;
        audited = mem_printf("%s%s%s %d %s", before, *before ? ", " : "", json_str(entry, "outcome"),
                             (int)json_int(entry, "status", 0), json_str(entry, "action"));
    }
    command_free(cmd);
    assert_string_equal(audited, text);
}

static void a_revoked_token_has_no_effect(void **state)
{
    struct one_shoot cleura = {.uid = UID, .has_second_project = true};
    struct running *d = one_shoot_start(&cleura);
    struct token t = make_token(d, "admin", "*", 1);
    struct command *late[] = {command_of(d, &t, COMMAND_TOKEN_CREATE, NULL, new_admin()),
                              command_of(d, &t, COMMAND_CLUSTER_DELETE, "p00", NULL),
                              command_of(d, &t, COMMAND_KUBECONFIG, "p00", NULL)};
    assert_int_equal(answer(d, command_of(d, &t, COMMAND_TOKEN_CREATE, NULL, new_admin())), -1);
    revoke(d, &t);
    for (size_t i = 0; i < ARRAY_LEN(late); i++)
        assert_int_equal(answer(d, late[i]), PROBLEM_INVALID_TOKEN);
    expect_audit(d, &t,
                 "denied 401 theOperation, denied 401 theOperation, denied 401 theOperation, success 201 "
                 "theOperation");
    assert_int_equal(cleura.writes, 0);
    one_shoot_end(d);
}

/* The order of the decisions counts, not the order in which the store has committed. */
static void a_revocation_counts_from_its_decision_on(void **state)
{
    struct one_shoot cleura = {.uid = UID, .has_second_project = true};
    struct running *d = one_shoot_start(&cleura);
    struct token t = make_token(d, "admin", "*", 1);
    struct command *before = command_of(d, &t, COMMAND_TOKEN_CREATE, NULL, new_admin());
    struct command *itself = command_of(d, &t, COMMAND_TOKEN_DELETE, NULL, NULL);
    memcpy(itself->id, t.id, sizeof(t.id));
    struct command *behind = command_of(d, &t, COMMAND_TOKEN_CREATE, NULL, new_admin());
    running_post(d, before);
    running_post(d, itself);
    running_post(d, behind);
    settle(d);
    assert_int_equal(code_of(before), -1);
    assert_int_equal(code_of(itself), -1);
    assert_int_equal(code_of(behind), PROBLEM_INVALID_TOKEN);
    command_free(before);
    command_free(itself);
    command_free(behind);
    one_shoot_end(d);
}

static void a_token_counts_with_its_projects_and_role_of_now(void **state)
{
    struct one_shoot cleura = {.uid = UID, .has_second_project = true};
    struct running *d = one_shoot_start(&cleura);
    struct token t = make_token(d, "operator", "*", 1);
    struct command *admins = command_of(d, &t, COMMAND_TOKEN_CREATE, NULL, new_admin());
    admins->least_role = ROLE_ADMIN;
    assert_int_equal(answer(d, admins), PROBLEM_FORBIDDEN);
    change_token(d, &t, COMMAND_TOKEN_PATCH, json_pack("{s[s]}", "projects", "p01"));
    struct command *of_all = command_of(d, &t, COMMAND_BACKUP, NULL, NULL);
    of_all->needs_all_projects = true;
    assert_int_equal(answer(d, of_all), PROBLEM_FORBIDDEN);
    assert_int_equal(answer(d, command_of(d, &t, COMMAND_CLUSTER_DELETE, "p00", NULL)),
                     PROBLEM_PROJECT_NOT_FOUND);
    assert_int_equal(answer(d, command_of(d, &t, COMMAND_EVENTS, NULL, NULL)), PROBLEM_FORBIDDEN);
    struct command *webhook =
        command_of(d, &t, COMMAND_WEBHOOK_CREATE, NULL,
                   json_pack("{sss[s]}", "url", "https://example.com/", "projects", "p00"));
    assert_int_equal(answer(d, webhook), PROBLEM_VALIDATION_FAILED);
    expect_audit(
        d, &t,
        "error 422 theOperation, denied 403 theOperation, denied 404 theOperation, denied 403 theOperation, "
        "denied 403 theOperation");
    one_shoot_end(d);
}

static void an_old_secret_and_an_old_token_end_for_what_is_under_way(void **state)
{
    struct one_shoot cleura = {.uid = UID, .has_second_project = true};
    struct running *d = one_shoot_start(&cleura);
    struct token t = make_token(d, "operator", "*", 1);
    change_token(d, &t, COMMAND_TOKEN_ROTATE, json_pack("{si}", "grace_seconds", 60));
    assert_int_equal(answer(d, command_of(d, &t, COMMAND_CLUSTER_DELETE, "p99", NULL)),
                     PROBLEM_PROJECT_NOT_FOUND);
    running_run(d, MINUTE);
    assert_int_equal(answer(d, command_of(d, &t, COMMAND_CLUSTER_DELETE, "p99", NULL)),
                     PROBLEM_INVALID_TOKEN);
    struct token other = make_token(d, "operator", "*", 1);
    change_token(d, &other, COMMAND_TOKEN_ROTATE, json_pack("{si}", "grace_seconds", 0));
    assert_int_equal(answer(d, command_of(d, &other, COMMAND_CLUSTER_DELETE, "p99", NULL)),
                     PROBLEM_INVALID_TOKEN);
    struct token short_one = make_token(d, "operator", "*", 1);
    running_run(d, INT64_C(24) * 60 * MINUTE);
    assert_int_equal(answer(d, command_of(d, &short_one, COMMAND_CLUSTER_DELETE, "p99", NULL)),
                     PROBLEM_INVALID_TOKEN);
    one_shoot_end(d);
}

/* An operation that waits, and the commands that wait for its end. */
struct waiting_case {
    struct one_shoot cleura;
    struct running *d;
    struct token t;
    struct command *write; /* answered at the end of the operation */
    struct command *read;
};

static void begin_waiting(struct waiting_case *c)
{
    *c = (struct waiting_case){.cleura = {.uid = UID, .has_second_project = true}};
    c->d = one_shoot_start(&c->cleura);
    c->t = make_token(c->d, "operator", "*", 1);
    c->cleura.away = true;
    c->write = command_of(c->d, &c->t, COMMAND_CLUSTER_DELETE, "p00", NULL);
    c->write->wait_until = c->d->world.now + 30 * US_PER_S;
    running_post(c->d, c->write);
    settle(c->d);
    assert_false(running_answered(c->write));
    c->read = command_of(c->d, &c->t, COMMAND_OPERATION_WAIT, NULL, NULL);
    memcpy(c->read->id, c->write->reply.operation_id, sizeof(c->read->id));
    c->read->deadline = c->d->world.now + 30 * US_PER_S;
    running_post(c->d, c->read);
    settle(c->d);
    assert_false(running_answered(c->read));
}

static void end_waiting(struct waiting_case *c)
{
    command_free(c->write);
    command_free(c->read);
    one_shoot_end(c->d);
}

static void waiting_cluster_is_read_again(void **state)
{
    struct waiting_case c;
    begin_waiting(&c);
    running_run(c.d, MINUTE);
    assert_int_equal(code_of(c.read), -1);
    assert_int_equal(c.read->reply.status, 200);
    assert_int_equal(c.write->reply.status, 202);
    end_waiting(&c);

    begin_waiting(&c);
    revoke(c.d, &c.t);
    running_run(c.d, MINUTE);
    assert_int_equal(code_of(c.read), PROBLEM_INVALID_TOKEN);
    assert_int_equal(code_of(c.write), -1); /* the write was accepted */
    assert_int_equal(c.write->reply.status, 202);
    expect_audit(c.d, &c.t, "denied 401 theOperation, success 202 theOperation");
    end_waiting(&c);

    begin_waiting(&c);
    change_token(c.d, &c.t, COMMAND_TOKEN_PATCH, json_pack("{s[s]}", "projects", "p01"));
    running_run(c.d, MINUTE);
    assert_int_equal(code_of(c.read), PROBLEM_OPERATION_NOT_FOUND);
    assert_int_equal(c.write->reply.status, 202);
    end_waiting(&c);
}

static void a_kept_answer_is_not_given_to_who_is_revoked(void **state)
{
    struct one_shoot cleura = {.uid = UID, .has_second_project = true};
    struct running *d = one_shoot_start(&cleura);
    struct token t = make_token(d, "admin", "*", 1);
    struct command *first = command_of(d, &t, COMMAND_TOKEN_CREATE, NULL, new_admin());
    memset(first->idempotency.key, 'a', sizeof(first->idempotency.key) - 1);
    memset(first->idempotency.fingerprint, 'b', sizeof(first->idempotency.fingerprint) - 1);
    struct command *again = command_of(d, &t, COMMAND_TOKEN_CREATE, NULL, new_admin());
    again->idempotency = first->idempotency;
    assert_int_equal(answer(d, first), -1);
    struct command *itself = command_of(d, &t, COMMAND_TOKEN_DELETE, NULL, NULL);
    memcpy(itself->id, t.id, sizeof(t.id));
    running_post(d, again); /* the store looks up the key */
    running_post(d, itself);
    settle(d);
    assert_int_equal(code_of(again), PROBLEM_INVALID_TOKEN);
    command_free(again);
    command_free(itself);
    one_shoot_end(d);
}

static bool holds(const struct command_caller *caller)
{
    const bool *is_good = caller->holds_ctx;
    return *is_good;
}

/* A caller with a JWT or a certificate has no token in the reconciler. The HTTP side decides whether the
 * caller is still valid. */
static void other_callers_are_looked_at_too(void **state)
{
    struct one_shoot cleura = {.uid = UID, .has_second_project = true};
    struct running *d = one_shoot_start(&cleura);
    struct token t = {.id = "oidc_0123"};
    bool is_good = true;
    for (int i = 0; i < 2; i++) {
        struct command *cmd = command_of(d, &t, COMMAND_CLUSTER_DELETE, "p99", NULL);
        cmd->caller.holds = holds;
        cmd->caller.holds_ctx = &is_good;
        assert_int_equal(answer(d, cmd), is_good ? PROBLEM_PROJECT_NOT_FOUND : PROBLEM_INVALID_TOKEN);
        is_good = false;
    }
    expect_audit(d, &t, "denied 401 theOperation, error 404 theOperation");
    one_shoot_end(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_revoked_token_has_no_effect),
        cmocka_unit_test(a_revocation_counts_from_its_decision_on),
        cmocka_unit_test(a_token_counts_with_its_projects_and_role_of_now),
        cmocka_unit_test(an_old_secret_and_an_old_token_end_for_what_is_under_way),
        cmocka_unit_test(waiting_cluster_is_read_again),
        cmocka_unit_test(a_kept_answer_is_not_given_to_who_is_revoked),
        cmocka_unit_test(other_callers_are_looked_at_too),
    };
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
