/*
 * Who a request comes from, for the log, the audit log and quotas of wrong credentials: the peer of the
 * connection or, when that is a proxy we trust, the client that it tells of in X-Forwarded-For. Whoever is
 * not trusted can write there what it likes and is not believed.
 */
#ifndef API_CLIENT_H
#define API_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLIENT_BYTES = 48 };

struct cidr;
struct ip;
struct connection;
struct request;

/* The proxies of the configuration; does not change after api_start. */
struct trust {
    struct cidr *networks;
    size_t count;
    bool local; /* whoever comes through a Unix socket */
};

/* `proxies` as in the configuration, checked there; NULL-terminated or NULL. */
void trust_init(struct trust *trust, char *const *proxies);
void trust_done(struct trust *trust);
/* Whether the peer at the other end of a connection is one of them. */
bool trust_has(const struct trust *trust, const struct connection *peer);

/* Whether an address is that of one of them. */
bool trust_has_address(const struct trust *trust, const struct ip *ip);

/* Sets r->client; after the header section was collected. The worker of the request. */
void client_identify(struct request *r);
/* The IPv4 address or the first half of the IPv6 address of a client; 0: none. */
uint64_t client_network(const struct request *r);

#endif
