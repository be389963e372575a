/* upstream/: manual logins, tokens from files, and actions that only a person may start, on a virtual
 * clock. */
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/support/account.h"
#include "tests/support/virtual.h"
#include "upstream/wire/driver_private.h"
#include "upstream/upstream.h"

#define OPTIONS  "{\"result\":\"twofactor_options\",\"options\":[\"webauthn\",\"sms\"]}"
#define REQUIRED "{\"result\":\"twofactor_required\",\"type\":\"sms\",\"verification\":\"v1\"}"

struct fixture {
    struct virtual_world world;
    struct loop *loop;
    struct fake_transport *transport;
    struct worker *worker;
    struct config_account config;
    struct seal_key key;
    struct upstream_account *account;
    struct account_state *remembered;
    struct upstream_call call;
    enum upstream_class last;
    int retry_after_s;
    /* Cleura's behaviour */
    bool webauthn_only;
    int code_status; /* the status with which a request for an SMS is answered */
    int64_t good_code;
    const char *good_token; /* a validation accepts this token */
    unsigned passwords, sms, checks, validations;
    /* the outcome of the manual login */
    enum login_outcome outcome;
    unsigned ends;
    int login_retry_s;
    char token_path[64];
};

static struct canned_answer say(int status, const char *body)
{
    return (struct canned_answer){HTTP_ANSWERED, status, body, NULL, US_PER_MS};
}

static struct canned_answer password_answer(struct fixture *f, const char *body)
{
    f->passwords++;
    if (f->webauthn_only)
        return say(201, "{\"result\":\"twofactor_options\",\"options\":[\"webauthn\"]}");
    return say(201, strstr(body, "\"sms\"") || f->config.api == API_V1 ? REQUIRED : OPTIONS);
}

static struct canned_answer code_answer(struct fixture *f, const char *body)
{
    char wanted[64];
    f->checks++;
    (void)snprintf(wanted, sizeof(wanted), "\"code\":%lld", (long long)f->good_code);
    if (!strstr(body, wanted) || !strstr(body, "\"v1\""))
        return say(400, "{\"error\":{\"code\":400,\"message\":\"Wrong code\"}}");
    return say(200, "{\"token\":\"by-sms\"}");
}

static struct canned_answer respond(void *ctx, const struct seen_request *request)
{
    struct fixture *f = ctx;
    if (strstr(request->url, "/tokens/validate")) {
        f->validations++;
        return f->good_token && !strcmp(request->token, f->good_token)
                   ? say(204, NULL)
                   : say(403, "{\"error\":{\"code\":403,\"message\":\"Invalid token\"}}");
    }
    if (strstr(request->url, "request-sms-code") || strstr(request->url, "request2facode")) {
        f->sms++;
        return say(f->code_status, NULL);
    }
    if (strstr(request->url, "tokens-by-sms-code") || strstr(request->url, "verify2fa"))
        return code_answer(f, request->body);
    if (strstr(request->url, "/auth/"))
        return password_answer(f, request->body);
    return say(200, "[]");
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

static void reopen_account(struct fixture *f)
{
    upstream_account_free(f->account);
    open_account(f);
}

static int setup(void **state)
{
    struct fixture *f = MEM_NEW(struct fixture);
    virtual_init(&f->world, 7);
    f->loop = loop_new(&f->world.env);
    f->transport = fake_transport_new(&f->world, f->loop);
    f->worker = inline_worker_new(f->loop);
    f->transport->respond = respond;
    f->transport->ctx = f;
    test_account_init(&f->config);
    f->code_status = 204;
    f->good_code = 123456;
    (void)snprintf(f->token_path, sizeof(f->token_path), "/tmp/shootd-test-token-%d", (int)getpid());
    (void)unlink(f->token_path);
    open_account(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    upstream_account_free(f->account);
    f->transport->transport.free(&f->transport->transport);
    f->worker->free(f->worker);
    loop_free(f->loop);
    account_state_free(f->remembered);
    (void)unlink(f->token_path);
    test_account_done(&f->config);
    free(f->config.token_file);
    free(f);
    return 0;
}

static void on_done(struct upstream_call *call, struct upstream_result *result)
{
    struct fixture *f = CONTAINER_OF(call, struct fixture, call);
    f->last = result->class;
    f->retry_after_s = result->retry_after_s;
}

/* Makes one list call and waits for its end. */
static enum upstream_class list(struct fixture *f)
{
    if (!upstream_call_is_active(&f->call)) {
        f->call = (struct upstream_call){.op = UPSTREAM_LIST,
                                         .region = "Sto2",
                                         .project_id = "p",
                                         .priority = LANE_IDLE_POLL,
                                         .deadline = f->world.now + 10 * US_PER_S,
                                         .on_done = on_done};
        upstream_submit(f->account, &f->call);
    }
    virtual_run(&f->world, f->loop, US_PER_S);
    return f->last;
}

static void on_end(void *ctx, const struct upstream_login_end *end)
{
    struct fixture *f = ctx;
    f->ends++;
    f->outcome = end->outcome;
    f->login_retry_s = end->retry_after_s;
    assert_true(end->message || end->outcome == LOGIN_OUTCOME_OK);
}

static enum login_outcome login(struct fixture *f)
{
    unsigned before = f->ends;
    upstream_login(f->account, f->world.now + 30 * US_PER_S, on_end, f);
    virtual_run(&f->world, f->loop, US_PER_S);
    assert_int_equal(f->ends, before + 1);
    return f->outcome;
}

static enum login_outcome verify(struct fixture *f, int64_t code)
{
    unsigned before = f->ends;
    upstream_verify(f->account, code, f->world.now + 30 * US_PER_S, on_end, f);
    virtual_run(&f->world, f->loop, US_PER_S);
    assert_int_equal(f->ends, before + 1);
    return f->outcome;
}

static struct upstream_account_status status(const struct fixture *f)
{
    struct upstream_account_status s;
    upstream_account_status(f->account, &s);
    return s;
}

static void write_token(struct fixture *f, const char *token)
{
    FILE *file = fopen(f->token_path, "we");
    assert_non_null(file);
    (void)fprintf(file, "%s\n", token);
    (void)fclose(file);
    (void)chmod(f->token_path, 0600);
}

/* ---- manual logins ---- */

static void the_automatic_login_stops_at_the_second_factor(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 3600; i++)
        assert_int_equal(list(f), UPSTREAM_LOGIN_FAILED);
    assert_int_equal(f->passwords, 1);
    assert_int_equal(f->sms, 0);
    assert_true(f->retry_after_s >= 30);
    assert_int_equal(status(f).login, LOGIN_TWO_FACTOR);
    assert_true(status(f).sms && status(f).webauthn);
    /* After a restart the account tries one more login, because the login guard permits it. */
    reopen_account(f);
    for (int i = 0; i < 60; i++)
        (void)list(f);
    assert_int_equal(f->passwords, 2);
}

static void a_restart_within_the_guard_says_why(void **state)
{
    struct fixture *f = *state;
    (void)list(f);
    reopen_account(f);
    (void)list(f);
    assert_int_equal(f->passwords, 1);
    assert_int_equal(status(f).login, LOGIN_TWO_FACTOR);
}

static void code_by_sms_gives_a_token_that_lasts(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(login(f), LOGIN_OUTCOME_CODE_SENT);
    assert_int_equal(f->passwords, f->config.api == API_V1 ? 1 : 2);
    assert_true(status(f).verification_pending);
    assert_int_equal(verify(f, 123456), LOGIN_OUTCOME_OK);
    assert_false(status(f).verification_pending);
    assert_int_equal(status(f).login, LOGIN_OK);
    assert_string_equal(status(f).token_source, "sms_code");
    assert_int_equal(list(f), UPSTREAM_OK);
    f->good_token = "by-sms";
    reopen_account(f);
    assert_int_equal(list(f), UPSTREAM_OK);
    assert_int_equal(f->sms, 1);
    assert_string_equal(status(f).token_source, "sms_code");
    for (unsigned i = 1; i < f->transport->count; i++)
        assert_true(f->transport->seen[i].at - f->transport->seen[i - 1].at >= 100 * US_PER_MS);
}

static int setup_v1(void **state)
{
    int result = setup(state);
    struct fixture *f = *state;
    f->config.api = API_V1;
    reopen_account(f);
    return result;
}

static void waiting_calls_do_not_stand_in_the_way(void **state)
{
    struct fixture *f = *state;
    unsigned before = f->ends;
    f->call = (struct upstream_call){.op = UPSTREAM_LIST,
                                     .region = "Sto2",
                                     .project_id = "p",
                                     .deadline = f->world.now + 60 * US_PER_S,
                                     .on_done = on_done};
    upstream_submit(f->account, &f->call);
    /* The call causes an automatic login, which also serves the manual login. */
    upstream_login(f->account, f->world.now + 30 * US_PER_S, on_end, f);
    virtual_run(&f->world, f->loop, US_PER_S);
    assert_int_equal(f->ends, before + 1);
    assert_int_equal(f->outcome, LOGIN_OUTCOME_CODE_SENT);
    assert_int_equal(f->sms, 1);
}

static void one_login_at_a_time(void **state)
{
    struct fixture *f = *state;
    upstream_login(f->account, f->world.now + 30 * US_PER_S, on_end, f);
    upstream_login(f->account, f->world.now + 30 * US_PER_S, on_end, f);
    assert_int_equal(f->ends, 1);
    assert_int_equal(f->outcome, LOGIN_OUTCOME_BUSY);
    virtual_run(&f->world, f->loop, US_PER_S);
    assert_int_equal(f->outcome, LOGIN_OUTCOME_CODE_SENT);
    assert_int_equal(f->sms, 1);
}

static void nothing_is_begun_after_the_deadline(void **state)
{
    struct fixture *f = *state;
    upstream_login(f->account, f->world.now + US_PER_MS / 2, on_end, f);
    virtual_run(&f->world, f->loop, 5 * US_PER_S);
    assert_int_equal(f->outcome, LOGIN_OUTCOME_UNREACHABLE);
    assert_int_equal(f->sms, 0);
}

static void sms_and_codes_are_guarded(void **state)
{
    struct fixture *f = *state;
    unsigned refused_codes = 0;
    for (int second = 0; second < 3600; second += 2) {
        (void)login(f);
        if (verify(f, 1) == LOGIN_OUTCOME_WRONG_CODE)
            refused_codes++;
        if (second == 58) {
            assert_in_range(f->sms, 2, 4);
            assert_in_range(refused_codes, 2, 4);
        }
    }
    assert_in_range(f->sms, 4, 12);
    assert_in_range(refused_codes, 4, 12);
    assert_true(f->login_retry_s > 0);
    assert_int_equal(f->checks, refused_codes);
}

/* The wall clock is set back by a day: the guards of codes and of logins open when they would have. */
static void a_clock_that_is_set_back_closes_no_guard(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(login(f), LOGIN_OUTCOME_CODE_SENT);
    assert_int_equal(verify(f, 1), LOGIN_OUTCOME_WRONG_CODE);
    f->world.wall_offset -= 86400 * US_PER_S;
    assert_int_equal(verify(f, 123456), LOGIN_OUTCOME_GUARDED);
    assert_in_range(f->login_retry_s, 1, 11);
    virtual_run(&f->world, f->loop, 11 * US_PER_S);
    assert_int_equal(login(f), LOGIN_OUTCOME_CODE_SENT);
    assert_int_equal(verify(f, 123456), LOGIN_OUTCOME_OK);
}

static void a_code_gets_old(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(verify(f, 123456), LOGIN_OUTCOME_NO_CODE);
    assert_int_equal(login(f), LOGIN_OUTCOME_CODE_SENT);
    virtual_run(&f->world, f->loop, 601 * US_PER_S);
    assert_false(status(f).verification_pending);
    assert_int_equal(verify(f, 123456), LOGIN_OUTCOME_NO_CODE);
    assert_int_equal(f->checks, 0);
}

static void a_good_token_is_kept_until_the_code_is_given(void **state)
{
    struct fixture *f = *state;
    (void)login(f);
    assert_int_equal(verify(f, 123456), LOGIN_OUTCOME_OK);
    assert_int_equal(login(f), LOGIN_OUTCOME_OK); /* the code is younger than a minute */
    assert_int_equal(f->sms, 1);
    virtual_run(&f->world, f->loop, 120 * US_PER_S);
    assert_int_equal(login(f), LOGIN_OUTCOME_CODE_SENT);
    assert_int_equal(status(f).login, LOGIN_OK);
    assert_int_equal(list(f), UPSTREAM_OK);
    assert_int_equal(verify(f, 2), LOGIN_OUTCOME_WRONG_CODE);
    assert_int_equal(status(f).login, LOGIN_OK);
    assert_int_equal(list(f), UPSTREAM_OK);
}

static void webauthn_alone_is_reported(void **state)
{
    struct fixture *f = *state;
    f->webauthn_only = true;
    assert_int_equal(login(f), LOGIN_OUTCOME_NO_SMS);
    assert_int_equal(status(f).login, LOGIN_TWO_FACTOR);
    assert_non_null(strstr(status(f).login_message, "token_file"));
    assert_int_equal(login(f), LOGIN_OUTCOME_GUARDED);
}

static void an_sms_that_may_have_been_sent_can_be_used(void **state)
{
    struct fixture *f = *state;
    f->code_status = 500;
    assert_int_equal(login(f), LOGIN_OUTCOME_UNREACHABLE);
    virtual_run(&f->world, f->loop, 60 * US_PER_S);
    assert_int_equal(verify(f, 123456), LOGIN_OUTCOME_OK);
}

static void a_refused_sms_is_reported(void **state)
{
    struct fixture *f = *state;
    f->code_status = 400;
    assert_int_equal(login(f), LOGIN_OUTCOME_REFUSED);
    assert_int_equal(verify(f, 123456), LOGIN_OUTCOME_NO_CODE);
}

/* ---- files ---- */

static void without_password(struct fixture *f)
{
    free(f->config.password);
    f->config.password = NULL;
    f->config.token_file = mem_strdup(f->token_path);
    reopen_account(f);
}

static void each_content_of_the_file_is_tried_once(void **state)
{
    struct fixture *f = *state;
    without_password(f);
    assert_int_equal(list(f), UPSTREAM_LOGIN_FAILED);
    assert_int_equal(status(f).login, LOGIN_NO_PASSWORD);
    write_token(f, "bad");
    for (int i = 0; i < 20; i++)
        assert_int_equal(list(f), UPSTREAM_LOGIN_FAILED);
    assert_int_equal(f->validations, 1);
    f->good_token = "good";
    write_token(f, "good");
    virtual_run(&f->world, f->loop, 2 * US_PER_S);
    assert_int_equal(list(f), UPSTREAM_OK);
    assert_int_equal(status(f).login, LOGIN_OK);
    assert_string_equal(status(f).token_source, "token_file");
    /* The token is stored, so the file is not needed any more. */
    (void)unlink(f->token_path);
    reopen_account(f);
    assert_int_equal(list(f), UPSTREAM_OK);
    assert_string_equal(status(f).token_source, "token_file");
    assert_int_equal(f->passwords, 0);
}

static void a_login_by_hand_looks_at_the_file(void **state)
{
    struct fixture *f = *state;
    without_password(f);
    (void)list(f);
    assert_int_equal(login(f), LOGIN_OUTCOME_NOTHING);
    f->good_token = "good";
    write_token(f, "good");
    assert_int_equal(login(f), LOGIN_OUTCOME_OK);
    assert_int_equal(f->passwords, 0);
}

static void files_for_everybody_are_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const rubbish[] = {"", "two words", "tab\tbed", "caf\xc3\xa9"};
    without_password(f);
    f->good_token = "good";
    write_token(f, "good");
    (void)chmod(f->token_path, 0644);
    assert_int_equal(login(f), LOGIN_OUTCOME_NOTHING);
    for (size_t i = 0; i < ARRAY_LEN(rubbish); i++) {
        write_token(f, rubbish[i]);
        assert_int_equal(login(f), LOGIN_OUTCOME_NOTHING);
    }
    (void)unlink(f->token_path);
    assert_int_equal(mkfifo(f->token_path, 0600), 0);
    assert_int_equal(login(f), LOGIN_OUTCOME_NOTHING); /* the read does not wait for a writer */
    assert_int_equal(f->validations, 0);
}

static void a_new_file_ends_the_wait_for_a_person(void **state)
{
    struct fixture *f = *state;
    f->config.token_file = mem_strdup(f->token_path);
    (void)list(f);
    assert_int_equal(status(f).login, LOGIN_TWO_FACTOR);
    f->good_token = "good";
    write_token(f, "good");
    virtual_run(&f->world, f->loop, 2 * US_PER_S);
    assert_int_equal(list(f), UPSTREAM_OK);
    assert_int_equal(status(f).next_login_at, 0);
}

/* ---- answers ---- */

static void answers_are_understood(void **state)
{
    static const struct {
        const char *body;
        enum login_result result;
    } rows[] = {
        {"{\"result\":\"login_ok\",\"token\":\"t\"}", LOGIN_RESULT_TOKEN},
        {"{\"token\":\"t\"}", LOGIN_RESULT_TOKEN},
        {OPTIONS, LOGIN_RESULT_OPTIONS},
        {REQUIRED, LOGIN_RESULT_CODE},
        {"{\"result\":\"twofactor_required\",\"type\":\"sms\"}", LOGIN_RESULT_GARBLED},
        {"{\"result\":\"twofactor_required\",\"type\":\"webauthn\",\"verification\":\"v\"}",
         LOGIN_RESULT_OTHER_FACTOR},
        {"{\"result\":\"twofactor_options\",\"options\":[\"webauthn\"]}", LOGIN_RESULT_OTHER_FACTOR},
        {"{\"result\":\"twofactor_options\",\"options\":[7,null]}", LOGIN_RESULT_OTHER_FACTOR},
        {"{\"result\":\"twofactor_soon\"}", LOGIN_RESULT_OTHER_FACTOR},
        {"{\"result\":\"login_ok\"}", LOGIN_RESULT_GARBLED},
        {"{\"result\":\"hello\",\"token\":\"t\"}", LOGIN_RESULT_GARBLED},
        {"[]", LOGIN_RESULT_GARBLED},
        {"<html>", LOGIN_RESULT_GARBLED},
        {"", LOGIN_RESULT_GARBLED},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct login_answer answer;
        decode_login(rows[i].body, strlen(rows[i].body), &answer);
        if (answer.result != rows[i].result)
            fail_msg("%s is %d", rows[i].body, answer.result);
        login_answer_done(&answer);
    }
}

static void requests_are_said_as_each_driver_wants_them(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const struct upstream_driver *driver;
        enum auth_step step;
        const char *path, *body;
    } rows[] = {
        {&driver_v2, AUTH_STEP_PASSWORD, "/auth/v2/tokens",
         "{\"login\":\"robot\",\"password\":\"pass\",\"two_factor_method\":\"sms\"}"},
        {&driver_v2, AUTH_STEP_ASK_CODE, "/auth/v2/request-sms-code",
         "{\"login\":\"robot\",\"verification\":\"v\"}"},
        {&driver_v2, AUTH_STEP_CHECK_CODE, "/auth/v2/tokens-by-sms-code",
         "{\"login\":\"robot\",\"verification\":\"v\",\"code\":7}"},
        {&driver_v2, AUTH_STEP_VALIDATE, "/auth/v2/tokens/validate", ""},
        {&driver_v1, AUTH_STEP_PASSWORD, "/auth/v1/tokens",
         "{\"auth\":{\"login\":\"robot\",\"password\":\"pass\",\"twofa_method\":\"sms\"}}"},
        {&driver_v1, AUTH_STEP_ASK_CODE, "/auth/v1/tokens/request2facode",
         "{\"request2fa\":{\"login\":\"robot\",\"verification\":\"v\"}}"},
        {&driver_v1, AUTH_STEP_CHECK_CODE, "/auth/v1/tokens/verify2fa",
         "{\"verify2fa\":{\"login\":\"robot\",\"verification\":\"v\",\"code\":7}}"},
        {&driver_v1, AUTH_STEP_VALIDATE, "/auth/v1/tokens/validate", ""},
    };
    const struct auth_words words = {.by_sms = true, .verification = "v", .code = 7};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct request_draft draft;
        rows[i].driver->build_auth(&f->config, rows[i].step, &words, &draft);
        assert_string_equal(draft.method, "POST");
        assert_string_equal(draft.path, rows[i].path);
        assert_string_equal(draft.body ? draft.body : "", rows[i].body);
        free(draft.path);
        free(draft.body);
    }
}

int main(void)
{
#define WITH_ACCOUNT(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_ACCOUNT(the_automatic_login_stops_at_the_second_factor),
        WITH_ACCOUNT(a_restart_within_the_guard_says_why),
        WITH_ACCOUNT(code_by_sms_gives_a_token_that_lasts),
        cmocka_unit_test_setup_teardown(code_by_sms_gives_a_token_that_lasts, setup_v1, teardown),
        WITH_ACCOUNT(waiting_calls_do_not_stand_in_the_way),
        WITH_ACCOUNT(one_login_at_a_time),
        WITH_ACCOUNT(nothing_is_begun_after_the_deadline),
        WITH_ACCOUNT(sms_and_codes_are_guarded),
        WITH_ACCOUNT(a_code_gets_old),
        WITH_ACCOUNT(a_clock_that_is_set_back_closes_no_guard),
        WITH_ACCOUNT(a_good_token_is_kept_until_the_code_is_given),
        WITH_ACCOUNT(webauthn_alone_is_reported),
        WITH_ACCOUNT(an_sms_that_may_have_been_sent_can_be_used),
        WITH_ACCOUNT(a_refused_sms_is_reported),
        WITH_ACCOUNT(each_content_of_the_file_is_tried_once),
        WITH_ACCOUNT(a_login_by_hand_looks_at_the_file),
        WITH_ACCOUNT(files_for_everybody_are_refused),
        WITH_ACCOUNT(a_new_file_ends_the_wait_for_a_person),
        cmocka_unit_test(answers_are_understood),
        WITH_ACCOUNT(requests_are_said_as_each_driver_wants_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
