#include "config/authority.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cidr.h"
#include "base/mem.h"
#include "config/values.h"

enum { LABEL_MAX = 63, HOST_MAX = 253, PORT_MAX = 65535 };

static bool looks_numeric(const char *text)
{
    return strspn(text, "0123456789.") == strlen(text);
}

bool host_name_is_valid(const char *text)
{
    static const char signs[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (!*text || strlen(text) > HOST_MAX || looks_numeric(text))
        return false;
    while (*text) {
        size_t len = strspn(text, signs);
        if (!len || len > LABEL_MAX || text[0] == '-' || text[len - 1] == '-' ||
            (text[len] && text[len] != '.'))
            return false;
        text += len + (text[len] == '.');
    }
    return true;
}

static const char *host_fault(const char *host, bool address_only)
{
    struct ip ip;
    size_t len = strlen(host);
    if (*host == '[') {
        char *inner CLEANUP_FREE = mem_strndup(host + 1, len > 1 ? len - 2 : 0);
        bool ok = host[len - 1] == ']' && ip_parse(inner, &ip) && strchr(inner, ':');
        return ok ? NULL : "has a malformed IPv6 address";
    }
    if (looks_numeric(host))
        return ip_parse(host, &ip) ? NULL : "has an IPv4 address that is not four numbers from 0 to 255";
    if (address_only)
        return "has a name where an address must be";
    return host_name_is_valid(host) ? NULL : "has a host that is no name of letters, digits, '-' and '.'";
}

const char *authority_fault(const char *text, size_t len, bool address_only, int lowest_port)
{
    char *host CLEANUP_FREE = mem_strndup(text, len);
    char *bracket = *host == '[' ? strchr(host, ']') : NULL;
    char *colon = strchr(bracket ? bracket : host, ':');
    int64_t port;
    if (colon)
        *colon++ = '\0';
    if (!*host)
        return "has no host";
    const char *fault = host_fault(host, address_only);
    if (fault || (!colon && !address_only))
        return fault;
    if (!colon)
        return "has no port";
    if (strspn(colon, "0123456789") == strlen(colon) && value_integer(colon, lowest_port, PORT_MAX, &port))
        return NULL;
    return lowest_port ? "has a port that is no number from 1 to 65535"
                       : "has a port that is no number from 0 (any free port) to 65535";
}

/* ---- origins ---- */

#define HOST_SIGNS "abcdefghijklmnopqrstuvwxyz0123456789.-_"

static bool begins_with(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

/* What follows the host: nothing, or a port that is not the scheme's own, which browsers leave out. */
static const char *port_fault(const char *text, const char *usual)
{
    if (!*text)
        return NULL;
    if (*text != ':')
        return "must end after host and port: no path, query or slash, lower case only";
    char *end;
    long port = strtol(++text, &end, 10);
    if (strspn(text, "0123456789") != strlen(text) || *text == '0' || end == text || port < 1 || port > 65535)
        return "has a port that is no number from 1 to 65535";
    return !strcmp(text, usual) ? "names the port that browsers leave out" : NULL;
}

const char *origin_fault(const char *text)
{
    if (!strcmp(text, "*") || !strcmp(text, "null"))
        return "is not one origin: name each exactly";
    bool https = begins_with(text, "https://");
    if (!https && !begins_with(text, "http://"))
        return "must begin with https:// or http://";
    const char *host = text + (https ? 8 : 7);
    size_t len = *host == '[' ? strcspn(host, "]") + 1 : strspn(host, HOST_SIGNS);
    if (*host == '[' && (host[len - 1] != ']' || strspn(host + 1, "0123456789abcdef:.") != len - 2))
        return "has a malformed IPv6 address";
    if (!len)
        return "has no host name in lower case";
    return port_fault(host + len, https ? "443" : "80");
}
