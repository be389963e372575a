/* Problems as answers that are written past libmicrohttpd, on connections where it has nothing to write. */
#ifndef API_RAW_REPLY_H
#define API_RAW_REPLY_H

#include "base/env.h"
#include "model/problem.h"

/* Writes the answer, which announces the end of the connection, as far as the socket takes it at once; the
 * caller ends it. `client` is for the log line. Any thread. */
void raw_reply(const struct env *env, int fd, const char *client, const struct problem *problem);

#endif
