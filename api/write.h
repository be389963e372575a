/*
 * What all writes of clusters have in common on the HTTP side: dry runs, and how long the answer may wait for
 * the end of the operation (AO-10 to AO-12). The worker of the request.
 */
#ifndef API_WRITE_H
#define API_WRITE_H

#include "api/park.h"

struct request;

/* A command with dry_run and wait as the request says. */
struct command *write_command(struct request *r, enum command_type type);
/* As request_park; the answer says which preferences were followed. */
struct problem *write_park(struct request *r, struct command *cmd);

#endif
