/* Hosts and ports as URLs, listeners and web origins name them. Pure; any thread. */
#ifndef CONFIG_AUTHORITY_H
#define CONFIG_AUTHORITY_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `text` is a host name: labels of letters, digits, '-' and '_'; an all-numeric one is no name. */
bool host_name_is_valid(const char *text);

/*
 * Why the first `len` characters of `text` are no host[:port] with a port from `lowest_port` to 65535; an
 * IPv6 address stands in brackets. With `address_only` a host name is refused and the port is required.
 * NULL when nothing is wrong. Static text.
 */
const char *authority_fault(const char *text, size_t len, bool address_only, int lowest_port);

/* Why `text` is no origin as browsers write it in the Origin field; NULL when it is one. Static text. */
const char *origin_fault(const char *text);

#endif
