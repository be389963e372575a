#include "config/origin.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
