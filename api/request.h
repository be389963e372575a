/*
 * A request of the API: the server's part, and the application's. Owned by the libmicrohttpd worker of its
 * connection; no other thread uses it.
 */
#ifndef API_REQUEST_H
#define API_REQUEST_H

#include "api/params.h"
#include "base/attrs.h"
#include "http/request.h"
#include "model/api_token.h"
#include "model/command.h"

struct api;
struct problem;
struct route;
struct view_blob;

struct request {
    struct server_request http; /* first member */
    struct api *api;
    const struct route *route; /* NULL until a route matches */
    const char *project;       /* path parameters, or NULL */
    const char *name;          /* of the cluster */
    const char *item;          /* id of an operation, webhook or token, or name of an account */
    const char *delivery;      /* id of a delivery of a webhook */
    struct query_values params;
    struct view_blob *token_blob; /* keeps `token` valid */
    const struct api_token *token;
    unsigned checked; /* number of checks of the header section that were begun (api/request.c) */
    bool awaits_jwt;  /* suspended until a JWT is verified (api/jwt.h) */
    bool is_traced;   /* a write, or a read that calls Cleura */
    bool wants_fresh; /* the client asked for a fresh read of Cleura (api/fresh.h) */
    struct command_idempotency idempotency; /* key: digest, "" when absent */
    /* Turns the command's result into another form, or leaves the result to the common code. NULL: the common
     * code does all. */
    struct problem *(*finish)(struct request *r, struct command *cmd);
};

/* The functions that the HTTP server calls (http/http.h). */
extern const struct http_application api_application;

#endif
