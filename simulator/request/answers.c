/* Makes answers that do not come from a handler: recorded answers, and answers that a fault changes. Called
 * with the lock. */
#include "simulator/request/answers.h"

#include "base/mem.h"
#include "base/attrs.h"
#include "simulator/cloud/faults.h"
#include "simulator/cloud/sim.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void answer_status(const struct fault *fault, struct sim_exchange *x, int status, const char *message)
{
    if (fault->body)
        answer_text(x, status, "application/json", mem_strdup(fault->body));
    else
        answer_error(x, status, message);
}

static void answer_mangle(struct sim_exchange *x, json_t *(*change)(const json_t *))
{
    json_t *changed;
    if (!x->answer)
        return;
    changed = change(x->answer);
    json_decref(x->answer);
    x->answer = changed;
}

static void answer_garbage(const struct fault *fault, struct sim_exchange *x)
{
    int success = x->route ? x->route->success : 200;
    const char *body = fault->body ? fault->body : "<html><body>}{ not what you asked for ]]</body></html>";
    answer_text(x, success == 204 ? 200 : success, "text/html", mem_strdup(body));
}

/* Replaces the first letter of the first text with the beginning of an incomplete UTF-8 sequence. */
static void answer_invalid_utf8(struct sim_exchange *x)
{
    char *text = x->answer ? json_text(x->answer, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    char *value = text ? strstr(text, "\":\"") : NULL;
    if (value)
        value[3] = '\xc3';
    if (text)
        answer_text(x, x->status, "application/json", text);
}

static const char *status_message(int status)
{
    static const struct {
        int status;
        const char *message;
    } known[] = {{400, "Bad Request"},
                 {404, "Not Found"},
                 {409, "Conflict"},
                 {429, "Too Many Requests"},
                 {500, "Internal Server Error"},
                 {502, "Bad Gateway"},
                 {503, "Service Unavailable"},
                 {504, "Gateway Timeout"}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i].status == status)
            return known[i].message;
    return "Simulated fault";
}

/* Whether faults of this kind replace the answer of the API. With such a fault, the real work is done only if
 * the fault requests that. The other kinds change the real answer, so the work is always done. */
static bool replaces_answer(enum fault_kind kind)
{
    static const bool replaces[FAULT_KIND_MAX_] = {
        [FAULT_DROP] = true,        [FAULT_STATUS] = true,       [FAULT_GARBAGE] = true,
        [FAULT_HANG] = true,        [FAULT_FORBIDDEN_IP] = true, [FAULT_NO_PRIVILEGE] = true,
        [FAULT_UNAUTHORIZED] = true};
    assert((unsigned)kind < FAULT_KIND_MAX_);
    return replaces[kind];
}

static void apply_kind(const struct fault *fault, struct sim_exchange *x)
{
    switch (fault->kind) {
    case FAULT_DROP:
        x->delivery = DELIVER_DROP;
        return;
    case FAULT_HANG:
        x->delivery = DELIVER_HANG;
        return;
    case FAULT_STATUS:
        answer_status(fault, x, fault->status, status_message(fault->status));
        return;
    case FAULT_GARBAGE:
        answer_garbage(fault, x);
        return;
    case FAULT_FORBIDDEN_IP:
        answer_status(fault, x, 403, "Forbidden IP address");
        return;
    case FAULT_NO_PRIVILEGE:
        answer_status(fault, x, 403, "No access: Your user does not have access to this method.");
        return;
    case FAULT_UNAUTHORIZED:
        answer_status(fault, x, 401, "Invalid token");
        return;
    case FAULT_TRUNCATE:
        x->delivery = DELIVER_TRUNCATED;
        return;
    case FAULT_OVERSIZE:
        x->delivery = DELIVER_OVERSIZE;
        return;
    case FAULT_SLOW_BODY:
        x->delivery = DELIVER_SLOW;
        return;
    case FAULT_DELAY:
        return;
    case FAULT_WRONG_TYPES:
        answer_mangle(x, mangle_wrong_types);
        return;
    case FAULT_UNKNOWN_ENUM:
        answer_mangle(x, mangle_unknown_enum);
        return;
    case FAULT_REORDER:
        answer_mangle(x, mangle_reorder);
        return;
    case FAULT_OMIT_OPTIONAL:
        answer_mangle(x, mangle_omit_optional);
        return;
    case FAULT_INVALID_UTF8:
        answer_invalid_utf8(x);
        return;
    case FAULT_KIND_MAX_:
    case FAULT_KIND_INVALID:
        return;
    }
}

void faults_apply(const struct fault *fault, struct sim_exchange *x, void (*act)(struct sim_exchange *))
{
    if (fault->effect || !replaces_answer(fault->kind))
        act(x);
    apply_kind(fault, x);
    x->delay_ms = fault->delay_ms;
    if (fault->headers && !x->headers)
        x->headers = json_incref(fault->headers);
    if (fault->content_type) {
        free(x->content_type_owned);
        x->content_type_owned = mem_strdup(fault->content_type);
        x->content_type = x->content_type_owned;
    }
}

/* ---- recorded traffic ---- */

static const char *replay_check(const json_t *answer)
{
    json_int_t status = json_integer_value(json_object_get(answer, "status"));
    const json_t *headers = json_object_get(answer, "headers");
    if (operation_find(json_string_value(json_object_get(answer, "operation"))) == OPERATION_INVALID)
        return "unknown operation";
    if (status < 200 || status > 599)
        return "status must be 200 to 599";
    return !headers || json_is_object(headers) ? NULL : "headers must be an object";
}

const char *replay_load(struct sim *sim, const json_t *answers)
{
    size_t i;
    json_t *answer;
    if (!json_is_array(answers))
        return "answers must be an array";
    json_array_foreach (answers, i, answer) {
        const char *reason = replay_check(answer);
        if (reason)
            return reason;
    }
    (void)json_array_extend(sim->replay, (json_t *)(uintptr_t)answers);
    return NULL;
}

static void replay_give(struct sim_exchange *x, const json_t *recorded)
{
    int status = (int)json_integer_value(json_object_get(recorded, "status"));
    json_t *body = json_object_get(recorded, "body");
    json_t *headers = json_object_get(recorded, "headers");
    if (!body)
        answer_empty(x, status);
    else if (json_is_string(body))
        answer_text(x, status, "text/plain", mem_strdup(json_string_value(body)));
    else
        answer_json(x, status, json_incref(body));
    x->headers = json_incref(headers);
}

bool replay_answer(struct sim_exchange *x)
{
    size_t i;
    json_t *recorded;
    json_array_foreach (x->sim->replay, i, recorded) {
        enum operation wanted = operation_find(json_string_value(json_object_get(recorded, "operation")));
        if (wanted != OPERATION_ANY && wanted != exchange_operation(x))
            continue;
        replay_give(x, recorded);
        (void)json_array_remove(x->sim->replay, i);
        return true;
    }
    return false;
}

/* ---- as text ---- */

#define DIGITS_MAX 17 /* 17 digits are enough for every double */

void real_text(double value, char out[REAL_TEXT_SIZE])
{
    int digits = 0;
    int exponent;
    do
        snprintf(out, REAL_TEXT_SIZE, "%.*e", digits, value);
    while (++digits < DIGITS_MAX && strtod(out, NULL) != value);
    exponent = (int)strtol(strchr(out, 'e') + 1, NULL, 10);
    if (exponent >= -4 && exponent < 16)
        (void)snprintf(out, REAL_TEXT_SIZE, "%.*f", digits - 1 > exponent ? digits - 1 - exponent : 1, value);
}

/* Returns the end of the string that begins at `quote`. */
static const char *string_end(const char *quote)
{
    const char *at = quote + 1;
    while (*at != '"')
        at += *at == '\\' ? 2 : 1;
    return at + 1;
}

/* Shortens the numbers in a text, in place: no number becomes longer. */
static void shorten_reals(char *text)
{
    const char *in = text;
    char *out = text;
    while (*in) {
        char number[REAL_TEXT_SIZE] = "";
        const char *from = in;
        size_t size = 1;
        if (*in == '"') {
            size = (size_t)(string_end(in) - in);
        } else if (*in == '-' || (*in >= '0' && *in <= '9')) {
            size = strspn(in, "+-0123456789.eE");
            if (strcspn(in, ".eE") < size)
                real_text(strtod(in, NULL), number);
        }
        in += size;
        if (*number && strlen(number) < size) {
            from = number;
            size = strlen(number);
        }
        memmove(out, from, size);
        out += size;
    }
    *out = '\0';
}

char *json_text(const json_t *value, size_t flags)
{
    char *text = json_dumps(value, flags);
    if (text)
        shorten_reals(text);
    return text;
}
