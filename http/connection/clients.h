/*
 * Finds the client of a connection, for the log and for rate limits: the peer or, when the peer is a trusted
 * proxy, the address in X-Forwarded-For. From other peers the field is ignored, because they can write any
 * value in it.
 *
 * This file also counts the connections of each client address, so that one client cannot use all
 * connections. An address is an IPv4 address or the first half of an IPv6 address. Trusted proxies and Unix
 * sockets are not counted, because they serve many clients.
 */
#ifndef HTTP_CONNECTION_CLIENTS_H
#define HTTP_CONNECTION_CLIENTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum { CLIENT_BYTES = 48 };

/* The address of a peer on a Unix socket. In the list of trusted proxies it means every such peer. */
#define CLIENT_LOCAL "unix"

struct cidr;
struct peer;

/* ---- trusted proxies; constant after trust_init; any thread ---- */

struct trust {
    struct cidr *networks;
    size_t count;
    bool local; /* peers on a Unix socket are trusted */
};

/* `proxies` are networks, addresses and CLIENT_LOCAL; NULL-terminated or NULL. Other entries are ignored. */
void trust_init(struct trust *trust, char *const *proxies);
void trust_done(struct trust *trust);
/* Whether a peer's address, as text, is trusted. */
bool trust_has(const struct trust *trust, const char *address);
/* Returns the client that a trusted proxy names in `forwarded_for`, written into `text`; NULL when the proxy
 * names no client. */
const char *trust_find_client(const struct trust *trust, const char *forwarded_for,
                              char text[static CLIENT_BYTES]);
/* Returns the IPv4 address, or the first half of the IPv6 address, of a client as a number; 0: the client has
 * no such address. */
uint64_t client_network(const char *address);

/* ---- connections of each address; any thread ---- */

struct peers {
    pthread_mutex_t lock; /* protects `open` */
    struct peer *open;    /* the counters, by network */
    const struct trust *trust;
    unsigned limit; /* 0: no limit */
    _Atomic uint64_t refused;
};

/* `trust` must be valid while the struct is in use. */
void peers_init(struct peers *p, const struct trust *trust, unsigned limit);
void peers_done(struct peers *p);
/* Returns the address as a number (client_network); 0: its connections are not counted. */
uint64_t peers_network(const struct peers *p, const struct sockaddr *address);
/* Counts one more connection of the address. Returns false when the address has reached its limit. */
bool peers_enter(struct peers *p, const struct sockaddr *address);
/* Counts a refused connection. */
void peers_refused(struct peers *p);
/* Called when a counted connection was closed. */
void peers_leave(struct peers *p, const struct sockaddr *address);

#endif
