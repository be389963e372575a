/*
 * A request as the API sees it: the engine's part, and what it is about. Owned by the libmicrohttpd worker of
 * its connection; no other thread touches it.
 */
#ifndef API_REQUEST_H
#define API_REQUEST_H

#include "api/params.h"
#include "base/attrs.h"
#include "http/request.h"
#include "model/cluster.h"
#include "model/command.h"

struct api;
struct problem;
struct route;
struct view_blob;

struct request {
    struct server_request http; /* first */
    struct api *api;
    const struct route *route; /* NULL while none matched */
    const char *project;       /* path parameters, or NULL */
    const char *name;          /* the cluster */
    const char *item;          /* id of an operation, webhook or token, name of an account */
    const char *delivery;      /* id, below a webhook */
    struct query_values params;
    struct view_blob *token_blob; /* keeps `token` alive */
    const struct api_token *token;
    bool is_traced;                         /* a write, or a read that asks Cleura */
    struct command_idempotency idempotency; /* key: digest, "" when none was given */
    /* Turns the command's answer into another form, or leaves it to the common way. NULL: none. */
    struct problem *(*finish)(struct request *r, struct command *cmd);
    struct problem *(*serve)(struct request *r); /* answers once a fresh read has ended (api/reads.h) */
};

/* The functions that the engine calls (http/http.h). */
extern const struct http_application api_application;

#endif
