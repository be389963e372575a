/* The HTTP side: libmicrohttpd with one thread per connection, so that handlers may sleep. */
#ifndef SIMULATOR_SERVER_H
#define SIMULATOR_SERVER_H

#include <netinet/in.h>
#include <stdint.h>

struct MHD_Daemon;
struct sim;

/* NULL if the address cannot be had. */
struct MHD_Daemon *server_start(struct sim *sim, const struct sockaddr_in *address, uint16_t *ret_port);
void server_stop(struct MHD_Daemon *daemon);

#endif
