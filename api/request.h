/*
 * A request of the API, with the server's part and the application's part. It belongs to the libmicrohttpd
 * worker of its connection; no other thread uses it.
 */
#ifndef API_REQUEST_H
#define API_REQUEST_H

#include "api/params.h"
#include "base/attrs.h"
#include "http/server_request.h"
#include "model/api_token.h"
#include "model/command.h"

struct api;
struct problem;
struct route;
struct view_blob;

struct request {
    struct server_request http; /* the first member */
    struct api *api;
    const struct route *route; /* NULL until a route matches */
    const char *project;       /* path parameters, or NULL */
    const char *name;          /* the name of the cluster */
    const char *item;          /* the id of an operation, webhook or token, or the name of an account */
    const char *delivery;      /* the id of a delivery of a webhook */
    struct query_values params;
    struct view_blob *token_blob; /* keeps `token` valid */
    const struct api_token *token;
    unsigned checked; /* number of checks of the header section that were begun (api/request.c) */
    bool awaits_jwt;  /* suspended until a JWT is verified (api/jwt.h) */
    bool is_traced;   /* the request is a write, or a read that calls Cleura */
    bool wants_fresh; /* the client asked for a fresh read of Cleura (api/fresh.h) */
    struct command_idempotency idempotency; /* the digest of the key; "" when there is no key */
    /* Makes the answer from the command's result, or leaves that to the common code by returning NULL without
     * an answer. When this member is NULL, the common code makes the answer. */
    struct problem *(*finish)(struct request *r, struct command *cmd);
};

/* The functions that the HTTP server calls (http/http.h). */
extern const struct http_application api_application;

#endif
