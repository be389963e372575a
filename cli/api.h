/*
 * The calls of the REST API that shootctl makes, in one table; a test compares it with openapi.yaml. The
 * functions report failures on standard error and return an exit code. One thread.
 */
#ifndef CLI_API_H
#define CLI_API_H

#include <stdbool.h>

#include "cli/shootctl.h"

/* name, method, path */
#define API_TABLE(X)                                                                \
    X(VERSION, "GET", "/version")                                                   \
    X(AUTH, "GET", "/v1/auth")                                                      \
    X(WHOAMI, "GET", "/v1/whoami")                                                  \
    X(PROJECTS, "GET", "/v1/projects")                                              \
    X(CATALOG, "GET", "/v1/projects/{project}/catalog")                             \
    X(SUMMARY, "GET", "/v1/summary")                                                \
    X(ALL_CLUSTERS, "GET", "/v1/clusters")                                          \
    X(CLUSTERS, "GET", "/v1/projects/{project}/clusters")                           \
    X(CREATE, "POST", "/v1/projects/{project}/clusters")                            \
    X(CLUSTER, "GET", "/v1/projects/{project}/clusters/{cluster}")                  \
    X(PUT, "PUT", "/v1/projects/{project}/clusters/{cluster}")                      \
    X(PATCH, "PATCH", "/v1/projects/{project}/clusters/{cluster}")                  \
    X(DELETE, "DELETE", "/v1/projects/{project}/clusters/{cluster}")                \
    X(ACTION, "POST", "/v1/projects/{project}/clusters/{cluster}/actions/{action}") \
    X(UPGRADES, "GET", "/v1/projects/{project}/clusters/{cluster}/upgrades")        \
    X(ISSUES, "GET", "/v1/projects/{project}/clusters/{cluster}/issues")            \
    X(CLUSTER_EVENTS, "GET", "/v1/projects/{project}/clusters/{cluster}/events")    \
    X(OPERATION, "GET", "/v1/operations/{operation}")                               \
    X(CANCEL, "POST", "/v1/operations/{operation}/cancel")                          \
    X(EVENTS, "GET", "/v1/events")                                                  \
    X(KUBECONFIG, "GET", "/v1/projects/{project}/clusters/{cluster}/kubeconfig")    \
    X(CREDENTIAL, "GET", "/v1/projects/{project}/clusters/{cluster}/credential")

enum api_call {
#define API_MEMBER(name, method, path) API_##name,
    API_TABLE(API_MEMBER)
#undef API_MEMBER
};

/* A call, and its path, in which the parameters are filled in (escaped). api_target_done frees it. */
struct api_target {
    enum api_call call;
    struct buffer path;
};
void api_target_init(struct api_target *target, enum api_call call, const char *first, const char *second,
                     const char *third);
void api_target_done(struct api_target *target);
#define CLEANUP_TARGET CLEANUP(api_target_done)
/* Adds a query parameter, escaped. A NULL value adds nothing. */
void api_query(struct api_target *target, const char *name, const char *value);

/* Sends the request with the method and path of the target, and does not report a failure. `request` may be
 * NULL. */
void api_call_raw(struct cli *cli, const struct api_target *target, const struct cli_request *request,
                  struct cli_answer *ret);
/* Does the same as api_call_raw and reports a failure. Returns END_OK for any 2xx and 304. */
int api_call(struct cli *cli, const struct api_target *target, const struct cli_request *request,
             struct cli_answer *ret);
/* Returns END_OK when the body of a successful answer is an object. Otherwise reports that the server is not
 * shootd, and returns END_UNREACHABLE. */
int api_check_object(const struct cli *cli, const json_t *json);
/* Reads an object with GET. When the result is END_OK, *ret_json is an object, which the caller owns;
 * otherwise it is NULL. */
int api_get(struct cli *cli, const struct api_target *target, json_t **ret_json);

/* A list that is read item by item, one page in memory at a time. The caller initializes it with {.cli = ...,
 * .target = ...}. */
struct api_list {
    struct cli *cli;
    const struct api_target *target;
    json_t *items;     /* the items of the page */
    size_t at;         /* the index in `items` of the next item */
    size_t pages;      /* the number of pages that were read so far */
    char *cursor;      /* the cursor of the next page; NULL: there is no next page */
    bool stands_still; /* the server returned the cursor of the same page again */
    int code;
    int64_t newest_sequence;   /* of the first page of a list of events */
    struct cli_answer failure; /* the answer of the request that failed; zeroed: no request failed */
};
/* Returns the next item, borrowed until the next call; NULL at the end of the list, or when the list cannot
 * be read. */
json_t *api_list_next(struct api_list *list);
/* Frees the list. Returns END_OK, or reports why the list could not be read and returns an exit code. */
int api_list_end(struct api_list *list);
/* Does the same as api_list_end, but does not report a failed request: *ret_failure is the answer of that
 * request, and is zeroed when no request failed. The caller frees it with http_answer_done in both cases. */
int api_list_end_quiet(struct api_list *list, struct cli_answer *ret_failure);
/* Returns the items of a page, borrowed. When the page has no member `items`, reports this fault and returns
 * NULL; the exit code is then END_UNREACHABLE. */
json_t *api_items(const json_t *page);

#endif
