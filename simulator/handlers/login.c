/* Logins, with and without a second factor. */
#include "simulator/handlers/handlers.h"

#include "simulator/request/sim_exchange.h"
#include "simulator/cloud/sim.h"

#include <stdlib.h>
#include <string.h>

#define SMS_CODE 123456

/* Returns the object with the members of a body. In v1 the object is the value of one named member. */
static const json_t *members_of(const struct sim_exchange *x, const char *wrapper)
{
    return exchange_generation(x) == 1 ? json_object_get(x->json, wrapper) : x->json;
}

static void fail_login(struct sim_exchange *x, const char *message)
{
    x->sim->log.failed_logins++;
    answer_error(x, 400, message);
}

/* True when all these members are strings. Otherwise answers 400 with one error for each member that is not a
 * string. */
static bool has_strings(struct sim_exchange *x, const json_t *members, const char *first, const char *second)
{
    const char *names[] = {first, second};
    json_t *errors = json_array();
    for (size_t i = 0; i < 2; i++)
        if (!json_is_string(json_object_get(members, names[i])))
            (void)json_array_append_new(errors,
                                        json_pack("{s:s, s:s}", "key", names[i], "value", "is required"));
    if (json_array_size(errors) == 0) {
        json_decref(errors);
        return true;
    }
    answer_invalid(x, errors);
    return false;
}

static bool is_password(const struct sim *sim, const json_t *members)
{
    return !strcmp(json_string_value(json_object_get(members, "login")), sim->options->login) &&
           !strcmp(json_string_value(json_object_get(members, "password")), sim->options->password);
}

static void start_two_factor(struct sim_exchange *x, const char *method)
{
    struct auth *auth = &x->sim->auth;
    int status = exchange_generation(x) == 1 ? 200 : 201;
    x->no_effect = true;
    if (!method && exchange_generation(x) != 1) {
        answer_json(
            x, status,
            json_pack("{s:s, s:[s, s]}", "result", "twofactor_options", "options", "sms", "webauthn"));
        return;
    }
    tokens_new_verification(x->sim);
    auth->code_requested = false;
    answer_json(x, status,
                json_pack("{s:s, s:s, s:s}", "result", "twofactor_required", "type",
                          method != NULL ? method : "sms", "verification", auth->verification));
}

void auth_create_token(struct sim_exchange *x)
{
    bool old = exchange_generation(x) == 1;
    const json_t *members = members_of(x, "auth");
    const json_t *method = json_object_get(members, old ? "twofa_method" : "two_factor_method");
    const char *name = json_string_value(method);
    if (!has_strings(x, members, "login", "password")) {
        x->sim->log.failed_logins++;
        return;
    }
    if (!is_password(x->sim, members)) {
        fail_login(x, "Wrong login or password");
        return;
    }
    if (name && strcmp(name, "sms") != 0 && strcmp(name, "webauthn") != 0) {
        fail_login(x, "Unknown two factor method");
        return;
    }
    if (x->sim->options->two_factor) {
        start_two_factor(x, name);
        return;
    }
    answer_json(x, old ? 200 : 201,
                json_pack("{s:s, s:s}", "result", "login_ok", "token", tokens_new(x->sim)));
}

static bool is_waiting(const struct sim *sim, const json_t *members)
{
    return sim->auth.verification[0] &&
           !strcmp(json_string_value(json_object_get(members, "login")), sim->options->login) &&
           !strcmp(json_string_value(json_object_get(members, "verification")), sim->auth.verification);
}

/* True when the member has one of the values, or is absent and not required. Otherwise answers 400. */
static bool is_one_of(struct sim_exchange *x, const json_t *members, const char *name, bool required,
                      const char *const *values)
{
    const json_t *given = json_object_get(members, name);
    const char *text = json_string_value(given);
    if (!required && (!given || json_is_null(given)))
        return true;
    for (; text && *values; values++)
        if (!strcmp(text, *values))
            return true;
    answer_invalid(x, json_pack("[{s:s, s:s}]", "key", name, "value",
                                given == NULL ? "is required" : "is not one of the known values"));
    return false;
}

/* Refuses every hash: hashes are sent in mails, and the simulator sends no mail. */
void auth_create_by_hash(struct sim_exchange *x)
{
    static const char *const types[] = {"adminlogin", "authlogin", "registrationlogin", "resellerlogin",
                                        NULL};
    if (has_strings(x, x->json, "login", "hash") && is_one_of(x, x->json, "type", true, types))
        fail_login(x, "Wrong login or hash");
    else
        x->sim->log.failed_logins++;
}

void auth_request_code(struct sim_exchange *x)
{
    static const char *const languages[] = {"ar", "en", "pl", "se", NULL};
    const json_t *members = members_of(x, "request2fa");
    if (!has_strings(x, members, "login", "verification") ||
        !is_one_of(x, members, "language_code", false, languages))
        return;
    if (!is_waiting(x->sim, members)) {
        answer_error(x, 400, "Unknown verification");
        return;
    }
    x->sim->auth.code_requested = true;
    answer_empty(x, 204);
}

void auth_verify_code(struct sim_exchange *x)
{
    const json_t *members = members_of(x, "verify2fa");
    const json_t *code = json_object_get(members, "code");
    if (!has_strings(x, members, "login", "verification"))
        return;
    if (!json_is_integer(code)) {
        answer_invalid(x, json_pack("[{s:s, s:s}]", "key", "code", "value", "must be an integer"));
        return;
    }
    if (!is_waiting(x->sim, members) || !x->sim->auth.code_requested ||
        json_integer_value(code) != SMS_CODE) {
        fail_login(x, "Wrong code");
        return;
    }
    x->sim->auth.verification[0] = '\0';
    if (exchange_generation(x) == 1)
        answer_json(x, 200, json_pack("{s:s, s:s}", "result", "login_ok", "token", tokens_new(x->sim)));
    else
        answer_json(x, 200, json_pack("{s:s}", "token", tokens_new(x->sim)));
}

void auth_validate(struct sim_exchange *x)
{
    answer_empty(x, 204);
}

void auth_revoke(struct sim_exchange *x)
{
    tokens_revoke(x->sim, exchange_header(x, "X-AUTH-TOKEN"));
    answer_empty(x, 204);
}
