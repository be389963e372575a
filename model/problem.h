/*
 * The table of all problem codes (HT-1 to HT-5): code, status, title, responsible, advice. Answers,
 * failed operations, docs/problems.md and openapi.yaml use it.
 *
 * A struct problem is one occurrence: a code, a detail for people, and all faults found. It has one owner and
 * may be moved between threads as a whole.
 */
#ifndef MODEL_PROBLEM_H
#define MODEL_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/json.h"

/* Who has to act so that the request works: the same words as with issues. */
enum problem_responsible { RESPONSIBLE_USER, RESPONSIBLE_OPERATOR, RESPONSIBLE_CLEURA };

/* code, HTTP status, title, responsible, advice */
#define PROBLEM_TABLE(X)                                                                                    \
    X(MALFORMED_REQUEST, "malformed_request", 400, "Malformed request", USER,                               \
      "Send well-formed HTTP/1.1 with one Host, and with either one Content-Length or chunked coding.")     \
    X(INVALID_JSON, "invalid_json", 400, "Invalid JSON", USER,                                              \
      "Send one JSON object without duplicate members.")                                                    \
    X(INVALID_PARAMETER, "invalid_parameter", 400, "Invalid parameter", USER,                               \
      "Correct the query parameters and headers that the member 'errors' lists.")                           \
    X(CURSOR_EXPIRED, "cursor_expired", 400, "Cursor expired", USER,                                        \
      "Begin the list again, without the parameter 'cursor'.")                                              \
    X(UNAUTHENTICATED, "unauthenticated", 401, "Authentication required", USER,                             \
      "Send 'Authorization: Bearer <token>'. The first token is in <state_dir>/admin-token.")               \
    X(INVALID_TOKEN, "invalid_token", 401, "Invalid token", USER,                                           \
      "Use a token that exists and is neither expired nor revoked.")                                        \
    X(FORBIDDEN, "forbidden", 403, "Forbidden", USER, "Use a token with the role that the detail names.")   \
    X(NOT_FOUND, "not_found", 404, "Not found", USER, "Check the path.")                                    \
    X(PROJECT_NOT_FOUND, "project_not_found", 404, "Project not found", USER,                               \
      "GET /v1/projects lists the projects that this token may see.")                                       \
    X(CLUSTER_NOT_FOUND, "cluster_not_found", 404, "Cluster not found", USER,                               \
      "GET /v1/clusters lists the clusters that this token may see.")                                       \
    X(NODE_POOL_NOT_FOUND, "node_pool_not_found", 404, "Node pool not found", USER,                         \
      "GET .../node-pools lists the pools of the cluster.")                                                 \
    X(OPERATION_NOT_FOUND, "operation_not_found", 404, "Operation not found", USER,                         \
      "Finished operations are kept for a time, by default 30 days.")                                       \
    X(WEBHOOK_NOT_FOUND, "webhook_not_found", 404, "Webhook not found", USER,                               \
      "GET /v1/webhooks lists the webhooks that this token may see.")                                       \
    X(DELIVERY_NOT_FOUND, "delivery_not_found", 404, "Delivery not found", USER,                            \
      "GET .../deliveries lists the deliveries of the webhook; they are kept for the same time as events.") \
    X(ACCOUNT_NOT_FOUND, "account_not_found", 404, "Account not found", USER,                               \
      "GET /v1/accounts lists the accounts that this token may see.")                                       \
    X(METHOD_NOT_ALLOWED, "method_not_allowed", 405, "Method not allowed", USER,                            \
      "Use one of the methods in the Allow header.")                                                        \
    X(NOT_ACCEPTABLE, "not_acceptable", 406, "Not acceptable", USER,                                        \
      "Send 'Accept: application/json' (or application/yaml where it is offered).")                         \
    X(REQUEST_TIMEOUT, "request_timeout", 408, "Request not completed in time", USER,                       \
      "Send the whole request within 30 seconds.")                                                          \
    X(CLUSTER_EXISTS, "cluster_exists", 409, "Cluster exists", USER,                                        \
      "Choose another name, or use PUT to change or adopt the existing cluster.")                           \
    X(NODE_POOL_EXISTS, "node_pool_exists", 409, "Node pool exists", USER,                                  \
      "Choose another name, or use PUT or PATCH to change the existing node pool.")                         \
    X(NAME_TAKEN, "name_taken", 409, "Name taken", USER,                                                    \
      "Cluster names are unique in the whole cloud; choose another name.")                                  \
    X(CLUSTER_BUSY, "cluster_busy", 409, "Cluster busy", USER,                                              \
      "Wait for the end of the operation in 'operation_id', then repeat the request.")                      \
    X(CLUSTER_NOT_READY, "cluster_not_ready", 409, "Cluster not ready", USER,                               \
      "Wait until the cluster is ready: GET /v1/operations/{id}?wait=55 waits for an operation.")           \
    X(ACTION_NOT_POSSIBLE, "action_not_possible", 409, "Action not possible now", USER,                     \
      "Repeat when the precondition in the detail is met.")                                                 \
    X(LAST_ADMIN, "last_admin", 409, "Last admin", USER,                                                    \
      "First make another token that has the role admin and the project *.")                                \
    X(CONFIGURATION_INVALID, "configuration_invalid", 409, "Configuration has faults", OPERATOR,            \
      "Correct the configuration file: 'errors' lists its faults. Until then nothing is changed.")          \
    X(NOT_MANAGED, "not_managed", 409, "Cluster not managed by shootd", USER,                               \
      "Adopt the cluster with PUT first, then repeat.")                                                     \
    X(PROJECT_SET_ASIDE, "project_set_aside", 409, "Project set aside", OPERATOR,                           \
      "An admin has to decide where the clusters belong: POST /v1/projects/{project}/confirm-location.")    \
    X(DELETION_PROTECTED, "deletion_protected", 409, "Deletion protection is on", USER,                     \
      "Set deletion_protection to false with PUT, then repeat.")                                            \
    X(IDEMPOTENCY_KEY_IN_USE, "idempotency_key_in_use", 409, "Idempotency key in use", USER,                \
      "A request with this key is still being processed; repeat after the seconds in Retry-After.")         \
    X(OPERATION_NOT_CANCELLABLE, "operation_not_cancellable", 409, "Operation not cancellable", USER,       \
      "The detail has the reason; a step that Cleura has begun continues to its end.")                      \
    X(OPERATION_CANCELLED, "operation_cancelled", 409, "Operation cancelled", USER,                         \
      "The cluster's member 'drift' lists the changes that were not made; request them again if needed.")   \
    X(NO_CODE_AWAITED, "no_code_awaited", 409, "No code awaited", USER,                                     \
      "Begin with POST /v1/accounts/{account}/login, then send the code within 10 minutes.")                \
    X(SECOND_FACTOR_UNUSABLE, "second_factor_unusable", 409, "Second factor unusable", OPERATOR,            \
      "Create an API token in Cleura's control panel and put it into token_file.")                          \
    X(PRECONDITION_FAILED, "precondition_failed", 412, "Precondition failed", USER,                         \
      "Read the resource again and repeat with its new ETag.")                                              \
    X(BODY_TOO_LARGE, "body_too_large", 413, "Body too large", USER,                                        \
      "Send a smaller body; the detail names the limit.")                                                   \
    X(URI_TOO_LONG, "uri_too_long", 414, "URI too long", USER, "Send a request target of at most 8 KiB.")   \
    X(UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", 415, "Unsupported media type", USER,                \
      "Send Content-Type: application/json in UTF-8 without Content-Encoding.")                             \
    X(EXPECTATION_FAILED, "expectation_failed", 417, "Expectation failed", USER,                            \
      "Only 'Expect: 100-continue' is supported.")                                                          \
    X(VALIDATION_FAILED, "validation_failed", 422, "Validation failed", USER,                               \
      "Correct every member named in errors.")                                                              \
    X(IMMUTABLE_FIELD, "immutable_field", 422, "Immutable field", USER,                                     \
      "To change this member, delete the cluster and create it again.")                                     \
    X(IDEMPOTENCY_KEY_REUSED, "idempotency_key_reused", 422, "Idempotency key reused", USER,                \
      "Use a new key for a new request; repeat an old request unchanged: method, path, query and body.")    \
    X(WRONG_CODE, "wrong_code", 422, "Wrong code", USER,                                                    \
      "Send the code of the newest SMS after the seconds in Retry-After, or begin again with login.")       \
    X(FROZEN, "frozen", 423, "Changes are frozen", USER,                                                    \
      "Wait until the freeze ends, or talk to the person who made it; GET /v1/freeze shows who that is.")   \
    X(TOO_MANY_REQUESTS, "too_many_requests", 429, "Too many requests", USER,                               \
      "Wait for the seconds in Retry-After.")                                                               \
    X(REQUEST_QUOTA_EXCEEDED, "request_quota_exceeded", 429, "Request quota exceeded", USER,                \
      "Wait for the seconds in Retry-After. To wait for a result, use ?wait= or an event stream.")          \
    X(HEADERS_TOO_LARGE, "headers_too_large", 431, "Header section too large", USER,                        \
      "Send at most 64 header fields, with at most 16 KiB in all.")                                         \
    X(TOO_MANY_STREAMS, "too_many_streams", 503, "Too many event streams", OPERATOR,                        \
      "Use GET /v1/events?after= meanwhile; limits.streams and limits.streams_per_token are the limits.")   \
    X(INTERNAL_ERROR, "internal_error", 500, "Internal error", OPERATOR,                                    \
      "Repeat later; report request_id to the operator of shootd.")                                         \
    X(METHOD_UNKNOWN, "method_unknown", 501, "Unknown method", USER, "Use a standard HTTP method.")         \
    X(NOT_SUPPORTED, "not_supported", 501, "Not supported", OPERATOR, "The detail has the reason.")         \
    X(UPSTREAM_ERROR, "upstream_error", 502, "Cleura answered with an error", CLEURA,                       \
      "Repeat later, unless the detail names a fault of the request itself.")                               \
    X(UPSTREAM_REFUSED, "upstream_refused", 422, "Cleura refused the request", USER,                        \
      "Correct the fault and repeat; the detail has Cleura's description of the fault.")                    \
    X(UPSTREAM_FORBIDDEN, "upstream_forbidden", 502, "Cleura refused access", OPERATOR,                     \
      "Ask the operator of shootd to check the privileges and the source address of the Cleura account.")   \
    X(UPSTREAM_LOGIN_FAILED, "upstream_login_failed", 503, "Login to Cleura failed", OPERATOR,              \
      "Ask the operator of shootd to check the credentials of the Cleura account.")                         \
    X(UPSTREAM_UNAVAILABLE, "upstream_unavailable", 503, "Cleura is not reachable", CLEURA,                 \
      "Repeat after the seconds in Retry-After; reads from memory still work.")                             \
    X(UPSTREAM_TIMEOUT, "upstream_timeout", 504, "Cleura did not answer in time", CLEURA, "Repeat later.")  \
    X(UPSTREAM_NO_EFFECT, "upstream_no_effect", 502, "Accepted by Cleura without effect", CLEURA,           \
      "Repeat later; if this happens again, send Cleura the times that are in the detail.")                 \
    X(CLUSTER_FAILED, "cluster_failed", 502, "The cluster operation failed at Cleura", CLEURA,              \
      "Read status.errors of the cluster: each entry names the action to take.")                            \
    X(SUPERSEDED, "superseded", 409, "Superseded by a later request", USER,                                 \
      "Follow the operation that 'operation_id' names: it replaced the operation of your request.")         \
    X(STORE_RESTORED, "store_restored", 503, "The store was restored", OPERATOR,                            \
      "Read the cluster, and request the change again if it is still wanted.")                              \
    X(OVERLOADED, "overloaded", 503, "Overloaded", OPERATOR, "Repeat after the seconds in Retry-After.")    \
    X(STORE_UNAVAILABLE, "store_unavailable", 503, "Storage unavailable", OPERATOR,                         \
      "Nothing was accepted; repeat later. The operator of shootd should check the disk.")                  \
    X(ISSUER_UNAVAILABLE, "issuer_unavailable", 503, "Keys of the issuer not available", OPERATOR,          \
      "Repeat after the seconds in Retry-After. The operator of shootd should check the issuer.")           \
    X(OUTCOME_UNKNOWN, "outcome_unknown", 503, "Outcome not known yet", OPERATOR,                           \
      "Read the resource, or repeat with the same Idempotency-Key; a PUT or DELETE may be repeated.")       \
    X(SHUTTING_DOWN, "shutting_down", 503, "Shutting down", OPERATOR,                                       \
      "Repeat after the seconds in Retry-After.")

enum problem_code {
#define X(id, code, status, title, responsible, advice) PROBLEM_##id,
    PROBLEM_TABLE(X)
#undef X
        PROBLEM_MAX_,
};

struct problem_kind {
    const char *code;
    int status;
    const char *title;
    enum problem_responsible responsible;
    const char *advice;
};

/* Returns the row of a code. */
const struct problem_kind *problem_kind(enum problem_code code);
/* Returns the row as {type, code, title, status, responsible, advice}; `type` is the type in problems with
 * this code. The caller owns it. */
json_t *problem_kind_to_json(enum problem_code code);
/* Returns the problem with this code; -1 when the code is unknown. */
int problem_from_name(const char *code);

/* The part of the request with the fault. */
enum fault_place { FAULT_AT_BODY, FAULT_AT_QUERY, FAULT_AT_HEADER };

enum {
    PROBLEM_MAX_FAULTS = 50,
    PROBLEM_TEXT_MAX = 1024, /* the limit in bytes of a detail and of a fault's place; longer texts are cut */
};

struct problem {
    enum problem_code code;
    char *detail;
    json_t *faults;    /* an array of {pointer|parameter|header, code, detail, valid?}, or NULL */
    json_t *extra;     /* further members (for example operation_id), or NULL */
    int retry_after_s; /* 0: no Retry-After */
    bool is_of_path;   /* made by problem_no_project or problem_no_cluster */
    const char *field; /* the name of an additional header field of the answer (Allow, Accept), a static text;
                        * NULL: there is none */
    char *field_value;
};

/* Makes a problem with a formatted detail; the caller owns it. */
struct problem *problem_new(enum problem_code code, const char *detail, ...) ATTR_PRINTF(2, 3);
/* Makes a temporary problem: the client may try again after this many seconds. The calling function owns it.
 */
struct problem *problem_passing(enum problem_code code, int retry_after_s, const char *detail);
/*
 * Make the problem for the name in the path of a request: no object has this name, or the caller may not see
 * it. There is one text for both, so that the answer does not show which it is. The HTTP side may add another
 * name (api/other_name.h).
 */
struct problem *problem_no_project(const char *project);
struct problem *problem_no_cluster(const char *project, const char *name);
/* Adds a sentence to the detail. */
void problem_add_sentence(struct problem *p, const char *format, ...) ATTR_PRINTF(2, 3);
/* Sets Retry-After to the time `us` from now, in seconds, at least 1 and at most what an int holds (68
 * years): times that callers choose may be later. */
void problem_retry_in(struct problem *p, int64_t us);
/* The caller owns the copy. The original must have neither faults nor a field: these concern one request, but
 * the copies answer several requests. */
struct problem *problem_copy(const struct problem *p);
/* Adds a header field to the problem's answer; the name is not copied. */
void problem_set_field(struct problem *p, const char *name, const char *value);
/* NULL is allowed. */
void problem_free(struct problem *p);
DEFINE_CLEANUP(problem_cleanup, struct problem *, problem_free)
#define CLEANUP_PROBLEM CLEANUP(problem_cleanup)

/*
 * Adds a fault to *p. When *p is NULL, it is created with `code`. `where` is a JSON pointer in fragment form
 * ("#/spec/name"), a parameter name or a header name. Takes over `valid` (array of valid values, may be
 * NULL). Faults beyond PROBLEM_MAX_FAULTS are left out (HT-4).
 */
void problem_add_fault(struct problem **p, enum problem_code code, enum fault_place place, const char *where,
                       const char *fault_code, json_t *valid, const char *detail, ...) ATTR_PRINTF(7, 8);

/* Whether further faults are left out. NULL is allowed. */
bool problem_is_full(const struct problem *p);

/* Makes the problem+json body; request_id may be NULL. The caller owns the object. */
json_t *problem_to_json(const struct problem *p, const char *request_id);
/* Makes the shorter form that an operation has in `error`: {code, title, detail, errors?, ...extra}. */
json_t *problem_to_error_json(const struct problem *p);
/* Makes a problem from the shorter form; an internal error when the code is not known (any more). The caller
 * owns it. */
struct problem *problem_from_error_json(const json_t *error);
/* Changes the shorter form as earlier builds stored it to that of today. NULL is allowed. */
void problem_update_error_json(json_t *error);

#endif
