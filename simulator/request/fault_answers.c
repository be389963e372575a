#include "simulator/request/fault_answers.h"

#include "simulator/cloud/faults.h"
#include "simulator/cloud/json_text.h"
#include "simulator/cloud/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void answer_status(const struct fault *fault, struct exchange *x, int status, const char *message)
{
    if (fault->body != NULL)
        answer_text(x, status, "application/json", sim_strdup(fault->body));
    else
        answer_error(x, status, message);
}

static void mangle(struct exchange *x, json_t *(*change)(const json_t *))
{
    json_t *changed;

    if (x->answer == NULL)
        return;
    changed = change(x->answer);
    json_decref(x->answer);
    x->answer = changed;
}

static void answer_garbage(const struct fault *fault, struct exchange *x)
{
    int success = x->route != NULL ? x->route->success : 200;
    const char *body =
        fault->body != NULL ? fault->body : "<html><body>}{ not what you asked for ]]</body></html>";

    answer_text(x, success == 204 ? 200 : success, "text/html", sim_strdup(body));
}

/* The first letter of the first text becomes the beginning of a sequence that does not go on. */
static void answer_invalid_utf8(struct exchange *x)
{
    char *text = x->answer != NULL ? json_text(x->answer, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    char *value = text != NULL ? strstr(text, "\":\"") : NULL;

    if (value != NULL)
        value[3] = '\xc3';
    if (text != NULL)
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

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].status == status)
            return known[i].message;
    return "Simulated fault";
}

/* Kinds that answer in the place of the API act only if the fault says so; the others change the
 * real answer and so always act. */
static bool replaces_answer(enum fault_kind kind)
{
    static const bool replaces[FAULT_KIND_MAX_] = {
        [FAULT_DROP] = true,        [FAULT_STATUS] = true,       [FAULT_GARBAGE] = true,
        [FAULT_HANG] = true,        [FAULT_FORBIDDEN_IP] = true, [FAULT_NO_PRIVILEGE] = true,
        [FAULT_UNAUTHORIZED] = true};

    return replaces[kind];
}

static void apply_kind(const struct fault *fault, struct exchange *x)
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
        mangle(x, mangle_wrong_types);
        return;
    case FAULT_UNKNOWN_ENUM:
        mangle(x, mangle_unknown_enum);
        return;
    case FAULT_REORDER:
        mangle(x, mangle_reorder);
        return;
    case FAULT_OMIT_OPTIONAL:
        mangle(x, mangle_omit_optional);
        return;
    case FAULT_INVALID_UTF8:
        answer_invalid_utf8(x);
        return;
    case FAULT_KIND_MAX_:
    case FAULT_KIND_INVALID:
        return;
    }
}

void faults_apply(const struct fault *fault, struct exchange *x, void (*act)(struct exchange *))
{
    if (fault->effect || !replaces_answer(fault->kind))
        act(x);
    apply_kind(fault, x);
    x->delay_ms = fault->delay_ms;
    if (fault->headers != NULL && x->headers == NULL)
        x->headers = json_incref(fault->headers);
    if (fault->content_type != NULL) {
        free(x->content_type_owned);
        x->content_type_owned = sim_strdup(fault->content_type);
        x->content_type = x->content_type_owned;
    }
}
