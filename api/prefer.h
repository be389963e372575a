/* The Prefer field (RFC 7240, AO-10). The worker of the request. */
#ifndef API_PREFER_H
#define API_PREFER_H

#include <stdint.h>

struct request;

/* Seconds of "wait=N"; -1 when there is none. Unknown and malformed preferences are passed over. */
int64_t prefer_wait(const struct request *r);

#endif
