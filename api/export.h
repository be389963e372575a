/*
 * Sends the audit log as one answer of any length, one entry per line. An export holds only one page in
 * memory. It requests the next page from the store when the client has read the current one, so the client
 * determines the speed. Before each page the token is looked up again. When an export cannot continue, it
 * ends without its last chunk, so that the client can see that the export is incomplete.
 */
#ifndef API_EXPORT_H
#define API_EXPORT_H

#include <stdbool.h>

#include "model/kept.h"

struct problem;
struct request;

/* Limit of simultaneous exports. */
enum { EXPORTS_MAX = 4 };

/* Sets the answer; takes over the content of `query`. Runs on the worker of the request. */
struct problem *export_open(struct request *r, struct audit_query *query);
/* Whether the request streams an export. */
bool export_is(const struct request *r);
/* Called when the request of an export is completed; returns how it ended, for the access log. Runs on its
 * worker. */
const char *export_completed(struct request *r);

#endif
