/*
 * Addresses and networks as bytes. An IPv4 address is stored in its mapped form (::ffff:a.b.c.d), so one
 * function compares both families. A network nevertheless contains only addresses of its own family. Pure
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
    unsigned bits; /* 0 to 128; for IPv4, bits of the mapped form */
};

/* Accepts "10.1.2.3" and "fd00::1"; false for any other text. */
bool ip_parse(const char *text, struct ip *ret_ip);
enum { IP_TEXT_BYTES = 46 };
/* Writes the address in its usual form; a mapped address as IPv4. */
void ip_write(const struct ip *ip, char text[static IP_TEXT_BYTES]);
/* Whether the address is an IPv4 address; true also for mapped addresses. */
bool ip_is_ipv4(const struct ip *ip);
/* Reads the address of a socket; false for families other than IPv4 and IPv6. */
bool ip_from_sockaddr(const struct sockaddr *address, struct ip *ret_ip);
/* Gets the IPv4 address inside a NAT64 address (64:ff9b::/96); false when `ip` is not a NAT64 address. */
bool ip_embedded(const struct ip *ip, struct ip *ret_ip);

/* Returns a number that identifies the owner of an address as well as possible: the IPv4 address, or the
 * first half of the IPv6 address. */
uint64_t ip_network(const struct ip *ip);

/* Accepts "10.0.0.0/8", "fd00::/8" or a single address. Bits after the prefix are ignored. */
bool cidr_parse(const char *text, struct cidr *ret_cidr);
bool cidr_contains(const struct cidr *cidr, const struct ip *ip);

#endif
