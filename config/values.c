#include "config/values.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/cidr.h"
#include "base/env.h"
#include "base/mem.h"

bool value_integer(const char *text, int64_t low, int64_t high, int64_t *ret)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        return false;
    *ret = value;
    return true;
}

static const struct {
    const char *suffix;
    int64_t us;
} units[] = {{"ms", US_PER_MS},
             {"s", US_PER_S},
             {"m", 60 * US_PER_S},
             {"h", 3600 * US_PER_S},
             {"d", 86400 * US_PER_S}};

void value_duration_write(int64_t us, char text[static DURATION_BYTES])
{
    size_t i = 0;
    while (us && i + 1 < ARRAY_LEN(units) && us % units[i + 1].us == 0)
        i++;
    (void)snprintf(text, DURATION_BYTES, "%" PRId64 "%s", us / units[i].us, us ? units[i].suffix : "");
}

bool value_duration(const char *text, int64_t *ret_us)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || number < 0 || number > 1000000)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (!strcmp(end, units[i].suffix)) {
            *ret_us = number * units[i].us;
            return true;
        }
    return false;
}

bool value_ratio(const char *text, int *ret_millionths)
{
    enum { DECIMALS = 6, MILLION = 1000000 };
    const char *point = strchr(text, '.'), *digits = point ? point + 1 : "";
    int value = 0;
    if ((*text != '0' && *text != '1') || (text[1] && point != text + 1) || (point && !*digits) ||
        strlen(digits) > DECIMALS || strspn(digits, "0123456789") != strlen(digits))
        return false;
    for (size_t i = 0; i < DECIMALS; i++)
        value = value * 10 + (*digits ? *digits++ - '0' : 0);
    value += (*text - '0') * MILLION;
    *ret_millionths = value;
    return value <= MILLION;
}

bool value_bool(const char *text, bool *ret)
{
    *ret = !strcmp(text, "true");
    return *ret || !strcmp(text, "false");
}

/* ---- hosts and ports ---- */

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
    assert(lowest_port >= 0 && lowest_port <= PORT_MAX);
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

/* Returns the fault of the text after the host. The text must be empty or a port. The default port of the
 * scheme is a fault, because browsers omit it. */
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
