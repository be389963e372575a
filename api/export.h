/*
 * The audit log as one answer of any length, an entry a line. It holds one page: the next one is asked of the
 * store when the client has taken the one before, so that its pace bounds everything. Before each page the
 * token is looked up again. An export that cannot go on is cut, so that nobody takes it for whole.
 */
#ifndef API_EXPORT_H
#define API_EXPORT_H

#include <stdbool.h>

#include "model/kept.h"

struct problem;
struct request;

/* At the same time. */
enum { EXPORTS_MAX = 4 };

/* Decides the answer; takes what `query` owns. The worker of the request. */
struct problem *export_open(struct request *r, struct audit_query *query);
/* Whether what the request streams is an export. */
bool export_is(const struct request *r);
/* The request of an export is completed; returns how it ended, for the access log. Its worker. */
const char *export_completed(struct request *r);

#endif
