/* The HTTP server: libmicrohttpd with one thread per connection, so handlers may sleep. */
#ifndef SIMULATOR_SERVER_H
#define SIMULATOR_SERVER_H

#include <netinet/in.h>
#include <stdint.h>

struct MHD_Daemon;
struct sim;

/* Starts the server. Returns NULL if the address is not available. */
struct MHD_Daemon *server_start(struct sim *sim, const struct sockaddr_in *address, uint16_t *ret_port);
void server_stop(struct MHD_Daemon *daemon);

#endif
