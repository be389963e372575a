/*
 * The handlers of the route table (api/routes.def). Each runs on the worker of its request after all checks
 * that the table declares. It fills r->http.answer, suspends the request (api/commands.h), or returns a
 * problem. A handler never blocks.
 */
#ifndef API_RESOURCES_HANDLERS_H
#define API_RESOURCES_HANDLERS_H

struct problem;
struct request;

#define ROUTE(operation, method, template, handler, ...) struct problem *handler(struct request *r);
#include "api/routes.def"
#undef ROUTE

#endif
