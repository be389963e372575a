#include "model/names.h"

#include <assert.h>
#include <pthread.h>
#include <regex.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/text.h"
#include "model/kept.h"
#include "model/webhook.h"

static const char *const phases[] = {
    [PHASE_PENDING] = "pending",       [PHASE_CREATING] = "creating", [PHASE_READY] = "ready",
    [PHASE_DEGRADED] = "degraded",     [PHASE_UPDATING] = "updating", [PHASE_HIBERNATING] = "hibernating",
    [PHASE_HIBERNATED] = "hibernated", [PHASE_WAKING] = "waking",     [PHASE_RETRYING] = "retrying",
    [PHASE_FAILED] = "failed",         [PHASE_DELETING] = "deleting", [PHASE_UNKNOWN] = "unknown",
};

static const char *const healths[] = {
    [HEALTH_HEALTHY] = "healthy",
    [HEALTH_PROGRESSING] = "progressing",
    [HEALTH_UNHEALTHY] = "unhealthy",
    [HEALTH_UNKNOWN] = "unknown",
};

#define NAMES_ROW(member, name) [member] = name,

static const char *const operation_types[] = {OPERATION_TYPES(NAMES_ROW)};

static const char *const step_types[] = {STEP_TYPES(NAMES_ROW)};

static const char *const step_statuses[] = {
    [STEP_PENDING] = "pending", [STEP_SENDING] = "sending", [STEP_WAITING] = "waiting",
    [STEP_DONE] = "done",       [STEP_FAILED] = "failed",   [STEP_SKIPPED] = "skipped",
};

static const char *const operation_statuses[] = {
    [OPERATION_PENDING] = "pending", [OPERATION_RUNNING] = "running",     [OPERATION_SUCCEEDED] = "succeeded",
    [OPERATION_FAILED] = "failed",   [OPERATION_CANCELLED] = "cancelled",
};

static const char *const roles[] = {
    [ROLE_VIEWER] = "viewer",
    [ROLE_KUBECONFIG] = "kubeconfig",
    [ROLE_OPERATOR] = "operator",
    [ROLE_ADMIN] = "admin",
};

static const char *const event_types[] = {EVENT_TYPES(NAMES_ROW)};

static const char *const delivery_statuses[] = {
    [DELIVERY_PENDING] = "pending", [DELIVERY_DELIVERED] = "delivered", [DELIVERY_FAILED] = "failed"};

static const char *const delivery_waits[] = {
    [WAIT_NONE] = NULL, [WAIT_TIME] = "time", [WAIT_TURN] = "turn", [WAIT_ANSWER] = "answer"};

static const char *const webhook_states[] = {
    [WEBHOOK_ENABLED] = "enabled", [WEBHOOK_FAILING] = "failing", [WEBHOOK_DISABLED] = "disabled"};

static const char *const attempt_results[] = {
#define X(id, name) [ATTEMPT_##id] = name,
    ATTEMPT_RESULT_TABLE(X)
#undef X
};

static const char *const signature_schemes[] = {[SIGNATURE_V1] = "v1", [SIGNATURE_V1A] = "v1a"};

static const char *const audit_outcomes[] = {
    [AUDIT_SUCCESS] = "success",
    [AUDIT_DENIED] = "denied",
    [AUDIT_ERROR] = "error",
};

static const char *const own_actions[] = {OWN_ACTIONS(NAMES_ROW)};

#define DEFINE_NAMES(type, prefix, table)                         \
    const char *prefix##_name(type value)                         \
    {                                                             \
        assert((size_t)value < ARRAY_LEN(table) && table[value]); \
        return table[value];                                      \
    }                                                             \
    int prefix##_from_name(const char *name)                      \
    {                                                             \
        return word_index(table, ARRAY_LEN(table), name);         \
    }

DEFINE_NAMES(enum phase, phase, phases)
DEFINE_NAMES(enum health, health, healths)
DEFINE_NAMES(enum operation_type, operation_type, operation_types)
DEFINE_NAMES(enum operation_status, operation_status, operation_statuses)
DEFINE_NAMES(enum step_type, step_type, step_types)
DEFINE_NAMES(enum step_status, step_status, step_statuses)
DEFINE_NAMES(enum role, role, roles)
DEFINE_NAMES(enum event_type, event_type, event_types)
DEFINE_NAMES(enum delivery_status, delivery_status, delivery_statuses)
DEFINE_NAMES(enum webhook_state, webhook_state, webhook_states)
DEFINE_NAMES(enum attempt_result, attempt_result, attempt_results)
DEFINE_NAMES(int, audit_outcome, audit_outcomes)
DEFINE_NAMES(enum signature_scheme, signature_scheme, signature_schemes)

const char *delivery_wait_name(enum delivery_wait wait)
{
    assert((size_t)wait < ARRAY_LEN(delivery_waits));
    return delivery_waits[wait];
}

const char *own_action_name(enum own_action action)
{
    assert((size_t)action < ARRAY_LEN(own_actions));
    return own_actions[action];
}

bool operation_status_is_final(enum operation_status status)
{
    return status != OPERATION_PENDING && status != OPERATION_RUNNING;
}

bool event_type_matches(enum event_type type, const char *pattern)
{
    const char *name = event_type_name(type);
    size_t len = strlen(pattern);
    if (len && pattern[len - 1] == '*')
        return !strncmp(pattern, name, len - 1);
    return !strcmp(pattern, name);
}

static const char *const patterns[] = {PATTERN_DNS_LABEL, PATTERN_VERSION, PATTERN_UUID, PATTERN_WINDOW_TIME,
                                       PATTERN_CRON};
static regex_t patterns_compiled[ARRAY_LEN(patterns)]; /* never freed */
static pthread_once_t patterns_once = PTHREAD_ONCE_INIT;

static void patterns_compile(void)
{
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        if (regcomp(&patterns_compiled[i], patterns[i], REG_EXTENDED | REG_NOSUB) != 0)
            abort();
}

bool pattern_matches(const char *pattern, const char *text)
{
    (void)pthread_once(&patterns_once, patterns_compile);
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        if (!strcmp(patterns[i], pattern))
            return regexec(&patterns_compiled[i], text, 0, NULL, 0) == 0;
    abort(); /* these patterns are constants of shootd */
}
