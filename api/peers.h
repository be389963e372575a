/*
 * How many connections each client's address has open, so that one cannot take them all. An address is an
 * IPv4 address or the first half of an IPv6 address; proxies that are trusted and Unix sockets, behind which
 * many clients stand, are not counted. Any thread.
 */
#ifndef API_PEERS_H
#define API_PEERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct peer;
struct trust;

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
