/*
 * The requests and answers of Cleura's logins (CL-5, CL-6). Both generations of its API have them: they
 * differ in paths, in the object around the members and in the name of one member, and a driver states these
 * as a form. The answers have the same form. Pure.
 */
#include <string.h>

#include "base/mem.h"
#include "upstream/wire/driver_private.h"

static json_t *auth_body(const struct auth_form *form, const struct config_account *account,
                         enum auth_step step, const struct auth_words *words)
{
    json_t *members = json_object();
    json_set_str(members, "login", account->login);
    if (step == AUTH_STEP_PASSWORD) {
        json_set_str(members, "password", account->password);
        if (words->by_sms)
            json_set_str(members, form->method_member, "sms");
    } else {
        json_set_str(members, "verification", words->verification);
    }
    if (step == AUTH_STEP_CHECK_CODE)
        json_set_int(members, "code", words->code);
    if (!form->wrapper)
        return members;
    json_t *body = json_object();
    json_set_take(body, form->wrapper, members);
    return body;
}

void build_auth_form(const struct auth_form forms[static AUTH_STEP_MAX_],
                     const struct config_account *account, enum auth_step step,
                     const struct auth_words *words, struct request_draft *draft)
{
    const struct auth_form *form = &forms[step];
    *draft = (struct request_draft){"POST", mem_strdup(form->path), NULL};
    if (step == AUTH_STEP_VALIDATE)
        return;
    json_t *body CLEANUP_JSON = auth_body(form, account, step, words);
    draft->body = json_text(body);
}

static void note_method(struct login_answer *answer, const char *method)
{
    answer->sms |= method && !strcmp(method, "sms");
    answer->webauthn |= method && !strcmp(method, "webauthn");
}

static enum login_result decode_second_factor(const json_t *doc, const char *result, struct login_answer *ret)
{
    size_t i;
    json_t *option;
    note_method(ret, json_str(doc, "type"));
    json_array_foreach (json_arr(doc, "options"), i, option)
        note_method(ret, json_string_value(option));
    if (!ret->sms)
        return LOGIN_RESULT_OTHER_FACTOR;
    if (!strcmp(result, "twofactor_options"))
        return LOGIN_RESULT_OPTIONS;
    ret->verification = mem_strdup(json_str(doc, "verification"));
    return ret->verification ? LOGIN_RESULT_CODE : LOGIN_RESULT_GARBLED;
}

/* Whether the text is visible ASCII, because the token becomes the value of a header field. */
static bool is_token(const char *text)
{
    const char *c = text;
    while (c && *c > ' ' && *c <= '~')
        c++;
    return c && c != text && !*c;
}

void decode_login(const char *body, size_t len, struct login_answer *ret)
{
    json_t *doc CLEANUP_JSON = answer_read_small(body, len);
    /* v2's answer to a code contains only the token. */
    const char *result = json_str_or(doc, "result", "login_ok");
    *ret = (struct login_answer){.result = LOGIN_RESULT_GARBLED};
    if (!strncmp(result, "twofactor", 9)) {
        ret->result = decode_second_factor(doc, result, ret);
    } else if (!strcmp(result, "login_ok") && is_token(json_str(doc, "token"))) {
        ret->token = mem_strdup(json_str(doc, "token"));
        ret->result = LOGIN_RESULT_TOKEN;
    }
    json_wipe(doc);
}

void login_answer_done(struct login_answer *answer)
{
    mem_free_secret(answer->token);
    mem_free_secret(answer->verification);
    *answer = (struct login_answer){0};
}
