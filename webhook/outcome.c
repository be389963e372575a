/* The outcome table of docs/webhooks.md. Pure functions, any thread. */
#include "webhook/outcome.h"

#include <string.h>

#include "base/attrs.h"

static const char *const names[ATTEMPT_RESULT_MAX_] = {
#define X(id, name) [ATTEMPT_##id] = name,
    ATTEMPT_RESULT_TABLE(X)
#undef X
};

const char *attempt_result_name(enum attempt_result result)
{
    return names[result];
}

static enum attempt_result result_of_status(int status)
{
    static const struct {
        int from;
        int to;
        enum attempt_result result;
    } rows[] = {
        /* the first match counts */
        {200, 299, ATTEMPT_DELIVERED},    {300, 399, ATTEMPT_REDIRECT},     {410, 410, ATTEMPT_GONE},
        {429, 429, ATTEMPT_THROTTLED},    {502, 502, ATTEMPT_THROTTLED},    {504, 504, ATTEMPT_THROTTLED},
        {400, 499, ATTEMPT_CLIENT_ERROR}, {500, 599, ATTEMPT_SERVER_ERROR},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (status >= rows[i].from && status <= rows[i].to)
            return rows[i].result;
    return ATTEMPT_ODD_STATUS;
}

/* The transport's short class of a request that never left. */
static enum attempt_result result_of_error(const char *error)
{
    static const struct {
        const char *error;
        enum attempt_result result;
    } rows[] = {
        {"resolve", ATTEMPT_RESOLVE}, {"connect", ATTEMPT_CONNECT},
        {"tls", ATTEMPT_TLS},         {"certificate", ATTEMPT_CERTIFICATE},
        {"timeout", ATTEMPT_TIMEOUT}, {"address_refused", ATTEMPT_ADDRESS_REFUSED},
    };
    for (size_t i = 0; error && i < ARRAY_LEN(rows); i++)
        if (!strcmp(rows[i].error, error))
            return rows[i].result;
    return ATTEMPT_NOT_SENT;
}

enum attempt_result attempt_result_of(const struct http_answer *answer)
{
    switch (answer->outcome) {
    case HTTP_ANSWERED:
        return result_of_status(answer->status);
    case HTTP_TOO_LARGE:
        /* Its status decides where the transport tells it; without one nobody knows what was said. */
        return answer->status ? result_of_status(answer->status) : ATTEMPT_ANSWER_TOO_LARGE;
    case HTTP_TIMEOUT:
        return ATTEMPT_TIMEOUT;
    case HTTP_BROKEN:
        return ATTEMPT_CONNECTION_LOST;
    case HTTP_NOT_SENT:
    case HTTP_CANCELLED:
    case HTTP_OUTCOME_MAX_:
        break;
    }
    return result_of_error(answer->error);
}
