/*
 * Addresses and networks as bytes. An IPv4 address is kept in its mapped form (::ffff:a.b.c.d), so both
 * families are compared by one function; a network still contains only addresses of its own family. Pure
 * functions, any thread.
 */
#ifndef BASE_CIDR_H
#define BASE_CIDR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct ip {
    uint8_t bytes[16];
};

struct cidr {
    struct ip base;
    unsigned bits; /* 0..128, counted on the mapped form for IPv4 */
};

/* "10.1.2.3" or "fd00::1"; false for anything else. */
bool ip_parse(const char *text, struct ip *ret_ip);
/* Also of mapped addresses. */
bool ip_is_ipv4(const struct ip *ip);
/* False for other families than IPv4 and IPv6. */
bool ip_from_sockaddr(const struct sockaddr *address, struct ip *ret_ip);
/* The IPv4 address that a NAT64 address (64:ff9b::/96) leads to; false when it is not one. */
bool ip_embedded(const struct ip *ip, struct ip *ret_ip);

/* The owner of the address, as far as it can be known: the IPv4 address, or the first half of the IPv6
 * address. */
uint64_t ip_network(const struct ip *ip);

/* "10.0.0.0/8", "fd00::/8" or a single address; bits behind the prefix are ignored. */
bool cidr_parse(const char *text, struct cidr *ret_cidr);
bool cidr_contains(const struct cidr *cidr, const struct ip *ip);

#endif
