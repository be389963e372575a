/* Reads and compares addresses and networks. Pure functions, any thread. This file does not decide which
 * addresses are allowed. */
#include "base/cidr.h"

#include <assert.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

enum { IP_BITS = 128, IPV4_BITS = 32, MAPPED_BITS = IP_BITS - IPV4_BITS };

static const uint8_t mapped_prefix[MAPPED_BITS / 8] = {[10] = 0xff, [11] = 0xff};
static const uint8_t nat64_prefix[MAPPED_BITS / 8] = {0x00, 0x64, 0xff, 0x9b};

static void ip_set_ipv4(struct ip *ip, const void *four_bytes)
{
    memcpy(ip->bytes, mapped_prefix, sizeof(mapped_prefix));
    memcpy(ip->bytes + sizeof(mapped_prefix), four_bytes, IPV4_BITS / 8);
}

bool ip_is_ipv4(const struct ip *ip)
{
    return !memcmp(ip->bytes, mapped_prefix, sizeof(mapped_prefix));
}

bool ip_parse(const char *text, struct ip *ret_ip)
{
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, text, &four) == 1)
        ip_set_ipv4(ret_ip, &four);
    else if (inet_pton(AF_INET6, text, &six) == 1)
        memcpy(ret_ip->bytes, &six, sizeof(ret_ip->bytes));
    else
        return false;
    return true;
}

bool ip_from_sockaddr(const struct sockaddr *address, struct ip *ret_ip)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in four;
        memcpy(&four, address, sizeof(four));
        ip_set_ipv4(ret_ip, &four.sin_addr);
        return true;
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, address, sizeof(six));
        memcpy(ret_ip->bytes, &six.sin6_addr, sizeof(ret_ip->bytes));
        return true;
    }
    return false;
}

void ip_write(const struct ip *ip, char text[static IP_TEXT_BYTES])
{
    const bool is_four = ip_is_ipv4(ip);
    _Static_assert(IP_TEXT_BYTES == INET6_ADDRSTRLEN, "the longest address");
    (void)inet_ntop(is_four ? AF_INET : AF_INET6, ip->bytes + (is_four ? sizeof(mapped_prefix) : 0), text,
                    IP_TEXT_BYTES);
}

uint64_t ip_network(const struct ip *ip)
{
    uint64_t network;
    memcpy(&network, ip->bytes + (ip_is_ipv4(ip) ? sizeof(network) : 0), sizeof(network));
    return network;
}

bool ip_embedded(const struct ip *ip, struct ip *ret_ip)
{
    if (memcmp(ip->bytes, nat64_prefix, sizeof(nat64_prefix)) != 0)
        return false;
    ip_set_ipv4(ret_ip, ip->bytes + sizeof(nat64_prefix));
    return true;
}

/* Reads the number after the slash: only digits, no sign, at most `max`. */
static bool cidr_parse_bits(const char *text, unsigned max, unsigned *ret_bits)
{
    size_t len = strlen(text);
    if (!len || len > 3 || strspn(text, "0123456789") != len)
        return false;
    unsigned long bits = strtoul(text, NULL, 10);
    if (bits > max)
        return false;
    *ret_bits = (unsigned)bits;
    return true;
}

bool cidr_parse(const char *text, struct cidr *ret_cidr)
{
    char address[INET6_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : strlen(text);
    if (len >= sizeof(address))
        return false;
    memcpy(address, text, len);
    address[len] = '\0';
    struct cidr cidr = {.bits = IP_BITS};
    if (!ip_parse(address, &cidr.base))
        return false;
    /* An address with a colon counts as IPv6, also a mapped one. The 104 in "::ffff:10.0.0.0/104" therefore
     * counts bits of an IPv6 address. */
    bool four = !strchr(address, ':');
    unsigned bits = four ? IPV4_BITS : IP_BITS;
    if (slash && !cidr_parse_bits(slash + 1, bits, &bits))
        return false;
    cidr.bits = four ? MAPPED_BITS + bits : bits;
    *ret_cidr = cidr;
    return true;
}

bool cidr_contains(const struct cidr *cidr, const struct ip *ip)
{
    /* ::/0 contains all IPv6 addresses and no IPv4 address; 0.0.0.0/0 contains all IPv4 addresses. */
    if (ip_is_ipv4(&cidr->base) != ip_is_ipv4(ip))
        return false;
    assert(cidr->bits <= IP_BITS);
    size_t whole = cidr->bits / 8;
    if (memcmp(cidr->base.bytes, ip->bytes, whole) != 0)
        return false;
    unsigned rest = cidr->bits % 8;
    return !rest || !((cidr->base.bytes[whole] ^ ip->bytes[whole]) >> (8 - rest));
}
