#include "api/peers.h"

#include <stdlib.h>
#include <uthash.h>

#include "api/client.h"
#include "base/cidr.h"
#include "base/mem.h"

struct peer {
    UT_hash_handle hh;
    uint64_t network;
    unsigned count;
};

void peers_init(struct peers *p, const struct trust *trust, unsigned limit)
{
    *p = (struct peers){.trust = trust, .limit = limit};
    (void)pthread_mutex_init(&p->lock, NULL);
}

void peers_done(struct peers *p)
{
    struct peer *peer, *next;
    HASH_ITER (hh, p->open, peer, next) {
        HASH_DEL(p->open, peer);
        free(peer);
    }
    (void)pthread_mutex_destroy(&p->lock);
}

/* 0: it is not counted. */
static uint64_t counted_network(const struct peers *p, const struct sockaddr *address)
{
    struct ip ip;
    if (!p->limit || !address || !ip_from_sockaddr(address, &ip) || trust_has_address(p->trust, &ip))
        return 0;
    return ip_network(&ip);
}

bool peers_enter(struct peers *p, const struct sockaddr *address)
{
    struct peer *peer;
    uint64_t network = counted_network(p, address);
    if (!network)
        return true;
    (void)pthread_mutex_lock(&p->lock);
    HASH_FIND(hh, p->open, &network, sizeof(network), peer);
    if (!peer) {
        peer = MEM_NEW(struct peer);
        peer->network = network;
        HASH_ADD(hh, p->open, network, sizeof(network), peer);
    }
    bool enters = peer->count < p->limit;
    peer->count += enters;
    (void)pthread_mutex_unlock(&p->lock);
    if (!enters)
        atomic_fetch_add(&p->refused, 1);
    return enters;
}

void peers_leave(struct peers *p, const struct sockaddr *address)
{
    struct peer *peer;
    uint64_t network = counted_network(p, address);
    if (!network)
        return;
    (void)pthread_mutex_lock(&p->lock);
    HASH_FIND(hh, p->open, &network, sizeof(network), peer);
    if (peer && --peer->count == 0) {
        HASH_DEL(p->open, peer);
        free(peer);
    }
    (void)pthread_mutex_unlock(&p->lock);
}
