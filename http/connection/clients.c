#include "http/connection/clients.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/cidr.h"
#include "base/lock.h"
#include "base/mem.h"

struct peer {
    UT_hash_handle hh;
    uint64_t network;
    unsigned count;
};

void trust_init(struct trust *trust, char *const *proxies)
{
    size_t count = 0;
    while (proxies && proxies[count])
        count++;
    *trust = (struct trust){.networks = mem_calloc(count + 1, sizeof(*trust->networks))};
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(proxies[i], CLIENT_LOCAL))
            trust->local = true;
        else if (cidr_parse(proxies[i], &trust->networks[trust->count]))
            trust->count++;
    }
}

void trust_done(struct trust *trust)
{
    free(trust->networks);
}

static bool has_address(const struct trust *trust, const struct ip *ip)
{
    for (size_t i = 0; i < trust->count; i++)
        if (cidr_contains(&trust->networks[i], ip))
            return true;
    return false;
}

bool trust_has(const struct trust *trust, const char *address)
{
    struct ip ip;
    return ip_parse(address, &ip) ? has_address(trust, &ip) : trust->local;
}

/* Reads the last item of the list before *end, and sets *end to the start of the item; returns false when the
 * item is not an address. */
static bool take_last(const char *list, const char **end, struct ip *ret_ip)
{
    char text[CLIENT_BYTES];
    const char *stop = *end, *start = stop;
    while (start > list && start[-1] != ',')
        start--;
    *end = start > list ? start - 1 : list;
    start += strspn(start, " \t");
    while (stop > start && strchr(" \t", stop[-1]))
        stop--;
    size_t len = stop > start ? (size_t)(stop - start) : 0;
    if (!len || len >= CLIENT_BYTES)
        return false;
    memcpy(text, start, len);
    text[len] = '\0';
    return ip_parse(text, ret_ip);
}

/* Each proxy appends the address of its peer. The items to the left of an address that is not trusted may be
 * forged. */
const char *trust_find_client(const struct trust *trust, const char *forwarded_for,
                              char text[static CLIENT_BYTES])
{
    const char *end = forwarded_for + strlen(forwarded_for), *found = NULL;
    struct ip ip;
    bool trusted = true;
    while (trusted && end > forwarded_for && take_last(forwarded_for, &end, &ip)) {
        ip_write(&ip, text);
        found = text;
        trusted = has_address(trust, &ip);
    }
    return found;
}

uint64_t client_network(const char *address)
{
    struct ip ip;
    return address && ip_parse(address, &ip) ? ip_network(&ip) : 0;
}

/* ---- connections of each address ---- */

void peers_init(struct peers *p, const struct trust *trust, unsigned limit)
{
    *p = (struct peers){.trust = trust, .limit = limit};
    mutex_init(&p->lock);
}

void peers_done(struct peers *p)
{
    struct peer *peer, *next;
    HASH_ITER (hh, p->open, peer, next) {
        HASH_DEL(p->open, peer);
        free(peer);
    }
    mutex_done(&p->lock);
}

uint64_t peers_network(const struct peers *p, const struct sockaddr *address)
{
    struct ip ip;
    if (!p->limit || !address || !ip_from_sockaddr(address, &ip) || has_address(p->trust, &ip))
        return 0;
    return ip_network(&ip);
}

bool peers_enter(struct peers *p, const struct sockaddr *address)
{
    struct peer *peer;
    uint64_t network = peers_network(p, address);
    if (!network)
        return true;
    mutex_lock(&p->lock);
    HASH_FIND(hh, p->open, &network, sizeof(network), peer);
    if (!peer) {
        peer = MEM_NEW(struct peer);
        peer->network = network;
        HASH_ADD(hh, p->open, network, sizeof(network), peer);
    }
    bool enters = peer->count < p->limit;
    peer->count += enters;
    mutex_unlock(&p->lock);
    return enters;
}

void peers_refused(struct peers *p)
{
    atomic_fetch_add(&p->refused, 1);
}

void peers_leave(struct peers *p, const struct sockaddr *address)
{
    struct peer *peer;
    uint64_t network = peers_network(p, address);
    if (!network)
        return;
    mutex_lock(&p->lock);
    HASH_FIND(hh, p->open, &network, sizeof(network), peer);
    assert(peer && peer->count > 0);
    if (--peer->count == 0) {
        HASH_DEL(p->open, peer);
        free(peer);
    }
    mutex_unlock(&p->lock);
}
