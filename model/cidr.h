/*
 * IPv4 networks as the caller writes them: read strictly, compared. Rules: GA-10, narrowed by
 * Cleura's P-CIDR (CL-10), which knows IPv4 only and wants the prefix length. Pure; any thread.
 */
#ifndef MODEL_CIDR_H
#define MODEL_CIDR_H

#include <stdbool.h>
#include <stdint.h>

struct ipv4_net {
    uint32_t base; /* host byte order, host bits cleared */
    unsigned bits; /* 0..32 */
};

/* "10.250.0.0/16" and the like; *ret_canonical tells whether no host bits were set. False: not a network. */
bool ipv4_net_parse(const char *text, struct ipv4_net *ret_net, bool *ret_canonical);
/* Whether the two have an address in common. */
bool ipv4_net_overlaps(const struct ipv4_net *left, const struct ipv4_net *right);
/* The canonical text; the caller frees it. */
char *ipv4_net_text(const struct ipv4_net *net);

#endif
