#include "model/cidr.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { IPV4_BITS = 32 };

static uint32_t net_mask(unsigned bits)
{
    return bits ? UINT32_MAX << (IPV4_BITS - bits) : 0;
}

/* No sign, blank or leading zero: Cleura's pattern takes none of them. */
static bool parse_bits(const char *text, unsigned *ret_bits)
{
    size_t len = strlen(text);
    if (len < 1 || len > 2 || strspn(text, "0123456789") != len || (len == 2 && text[0] == '0'))
        return false;
    *ret_bits = (unsigned)strtoul(text, NULL, 10);
    return *ret_bits <= IPV4_BITS;
}

bool ipv4_net_parse(const char *text, struct ipv4_net *ret_net, bool *ret_canonical)
{
    char address[INET_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : sizeof(address);
    struct in_addr in;
    unsigned bits;
    if (len >= sizeof(address))
        return false;
    memcpy(address, text, len);
    address[len] = '\0';
    if (inet_pton(AF_INET, address, &in) != 1 || !parse_bits(slash + 1, &bits))
        return false;
    uint32_t given = ntohl(in.s_addr);
    *ret_net = (struct ipv4_net){.base = given & net_mask(bits), .bits = bits};
    *ret_canonical = ret_net->base == given;
    return true;
}

bool ipv4_net_overlaps(const struct ipv4_net *left, const struct ipv4_net *right)
{
    uint32_t common = net_mask(left->bits < right->bits ? left->bits : right->bits);
    return !((left->base ^ right->base) & common);
}

char *ipv4_net_text(const struct ipv4_net *net)
{
    return mem_printf("%u.%u.%u.%u/%u", net->base >> 24, net->base >> 16 & 255, net->base >> 8 & 255,
                      net->base & 255, net->bits);
}
