/* From struct answer to a queued response, and the access line after it. The worker of the request. */
#ifndef API_RESPOND_H
#define API_RESPOND_H

#include "api/request.h"

/* Queues r->answer, once. */
enum MHD_Result respond_send(struct request *r);
/* The canonical line (OB-12); `outcome` is NULL when the answer was sent whole. */
void access_log_write(struct request *r, int64_t duration_us, const char *outcome);

#endif
