/* The request body: bounded while it comes in, parsed once it is whole (MH-3, conventions 0.3). */
#include "api/checks.h"

#include <stdint.h>

#include "api/idempotency.h"
#include "api/routes.h"

enum { BODY_VALUES_MAX = 100000 };

bool body_append(struct request *r, const char *bytes, size_t len)
{
    r->body_seen += len;
    if (r->answer.status == 0 && r->route && r->route->flags & ROUTE_BODY)
        (void)buffer_add(&r->body, bytes, len);
    return r->body_seen <= 4 * r->body.max;
}

struct problem *check_body(struct request *r)
{
    if (r->body_seen > r->body.max) {
        r->must_close = true;
        return problem_new(PROBLEM_BODY_TOO_LARGE, "The body is longer than the %zu bytes of this operation.",
                           r->body.max);
    }
    idempotency_take_fingerprint(r);
    if (!(r->route->flags & ROUTE_BODY))
        return NULL;
    if (!r->body.len && r->route->flags & ROUTE_BODY_OPTIONAL)
        return NULL;
    if (!r->body.len) {
        return problem_new(PROBLEM_INVALID_JSON, "The body is empty; a JSON object is needed.");
    }
    static const struct json_limits limits = {SIZE_MAX, BODY_VALUES_MAX, BODY_VALUES_MAX};
    if (json_scan(r->body.data, r->body.len, &limits) == JSON_SCAN_TOO_MANY_VALUES)
        return problem_new(PROBLEM_BODY_TOO_LARGE, "The body has more than %d values.", BODY_VALUES_MAX);
    struct json_fault fault;
    r->document = json_parse_strict(r->body.data, r->body.len, &fault);
    buffer_done(&r->body);
    if (!r->document)
        return problem_new(PROBLEM_INVALID_JSON, "Line %d, column %d: %s.", fault.line, fault.column,
                           fault.text);
    if (!json_is_object(r->document))
        return problem_new(PROBLEM_INVALID_JSON, "The body is not a JSON object.");
    return NULL;
}
