#include "api/cors.h"

#include <string.h>

#include "api/api_private.h"

/* Chromium keeps a preflight no longer than this. */
enum { MAX_AGE_S = 7200 };

const char cors_exposed[] =
    "Age, Allow, Cache-Status, ETag, Idempotency-Replayed, Link, Location, "
    "Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id";

bool cors_is_on(const struct api *api)
{
    char *const *origins = api->options.config->cors.origins;
    return origins && origins[0];
}

const char *cors_origin(const struct request *r)
{
    const char *given = r->headers.values[HEADER_ORIGIN];
    if (!given || r->headers.counts[HEADER_ORIGIN] != 1 || !cors_is_on(r->api))
        return NULL;
    for (char *const *origin = r->api->options.config->cors.origins; *origin; origin++)
        if (!strcmp(*origin, given))
            return *origin;
    return NULL;
}

void cors_answer_preflight(struct request *r, const char *allow)
{
    if (!r->headers.values[HEADER_ACR_METHOD] || !cors_origin(r))
        return;
    answer_header(&r->answer, "Access-Control-Allow-Methods", "%s", allow);
    answer_header(&r->answer, "Access-Control-Allow-Headers",
                  "Authorization, Cache-Control, Content-Type, Idempotency-Key, If-Match, If-None-Match, "
                  "Last-Event-ID, Prefer, X-Request-Id, traceparent, tracestate");
    answer_header(&r->answer, "Access-Control-Max-Age", "%d", MAX_AGE_S);
}
