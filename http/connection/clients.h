/*
 * The client at the other end: the peer of the connection or, when that is a proxy we trust, the one that it
 * names in X-Forwarded-For: for the log, and for rate limits. A peer that is not trusted can write there what
 * it likes and is not believed.
 *
 * And how many connections each client's address has open, so that one cannot take them all. An address is an
 * IPv4 address or the first half of an IPv6 address; proxies that are trusted and Unix sockets, behind which
 * many clients stand, are not counted.
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

/* The address of whoever comes through a Unix socket; among trusted proxies: all of them. */
#define CLIENT_LOCAL "unix"

struct cidr;
struct peer;

/* ---- trusted proxies; does not change after trust_init; any thread ---- */

struct trust {
    struct cidr *networks;
    size_t count;
    bool local; /* whoever comes through a Unix socket */
};

/* `proxies` are networks, addresses and CLIENT_LOCAL; NULL-terminated or NULL. Any other entry is left
 * out. */
void trust_init(struct trust *trust, char *const *proxies);
void trust_done(struct trust *trust);
/* Whether a peer's address, as text, is that of one of them. */
bool trust_has(const struct trust *trust, const char *address);
/* The client that a trusted proxy names in `forwarded_for`, written into `text`; NULL when it names none. */
const char *trust_find_client(const struct trust *trust, const char *forwarded_for,
                              char text[static CLIENT_BYTES]);
/* The IPv4 address or the first half of the IPv6 address of a client; 0: none. */
uint64_t client_network(const char *address);

/* ---- connections of each address; any thread ---- */

struct peers {
    pthread_mutex_t lock; /* guards `open` */
    struct peer *open;    /* by network */
    const struct trust *trust;
    unsigned limit; /* 0: none */
    _Atomic uint64_t refused;
};

/* `trust` has to outlive it. */
void peers_init(struct peers *p, const struct trust *trust, unsigned limit);
void peers_done(struct peers *p);
/* Counts one more connection of the address; false, and a refusal is counted, when it has as many as it may.
 */
bool peers_enter(struct peers *p, const struct sockaddr *address);
/* One of those that entered is closed. */
void peers_leave(struct peers *p, const struct sockaddr *address);

#endif
