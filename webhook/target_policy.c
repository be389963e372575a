/*
 * Decides which targets of webhooks are allowed (WH-18 to WH-20). The URL is checked when a webhook is
 * created, with libcurl's own parser, so that the check and the request interpret the URL in the same way.
 * The address is checked again for every connection, because DNS may change. Reads only the configuration;
 * any thread.
 */
#include "webhook/webhook.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "base/cidr.h"

enum { URL_MAX_BYTES = 2048, PORT_HTTPS = 443, PORT_HTTP = 80 };

#define URL_FORM "https://host[:port]/path"

/* The kind of entry that webhooks.allow must contain before shootd may connect to an address. */
enum reach {
    REACH_PUBLIC,   /* no entry is needed */
    REACH_PRIVATE,  /* a network or a host is needed: the address belongs to a private network */
    REACH_RESERVED, /* a network is needed: the address is unassigned or has a special purpose */
    REACH_METADATA, /* a network is needed that is not larger than the one in the table row below: a service
                     * that gives out secrets may be at this address */
};

/*
 * The first row that contains the address is used, so the public rows are at the end. An address that is in
 * no row is REACH_RESERVED. The rows contain all addresses of the IANA registries of special-purpose
 * addresses (WH-20).
 */
static const struct {
    const char *network;
    enum reach reach;
} space[] = {
    /* services for the machines of a cloud, such as metadata */
    {"169.254.0.0/16", REACH_METADATA},
    {"168.63.129.16/32", REACH_METADATA},
    {"100.100.100.200/32", REACH_METADATA},
    {"192.0.0.192/32", REACH_METADATA},
    {"fd00:ec2::/32", REACH_METADATA},
    {"fd20:ce::254/128", REACH_METADATA},
    {"fd00:42::42/128", REACH_METADATA},
    {"fd00:c1::a9fe:a9fe/128", REACH_METADATA},
    /* private networks */
    {"10.0.0.0/8", REACH_PRIVATE},
    {"100.64.0.0/10", REACH_PRIVATE},
    {"127.0.0.0/8", REACH_PRIVATE},
    {"172.16.0.0/12", REACH_PRIVATE},
    {"192.168.0.0/16", REACH_PRIVATE},
    {"198.18.0.0/15", REACH_PRIVATE},
    {"::1/128", REACH_PRIVATE},
    {"fc00::/7", REACH_PRIVATE},
    {"fec0::/10", REACH_PRIVATE},
    /* networks with a special purpose */
    {"0.0.0.0/8", REACH_RESERVED},
    {"192.0.0.0/24", REACH_RESERVED},
    {"192.0.2.0/24", REACH_RESERVED},
    {"192.31.196.0/24", REACH_RESERVED},
    {"192.52.193.0/24", REACH_RESERVED},
    {"192.88.99.0/24", REACH_RESERVED},
    {"192.175.48.0/24", REACH_RESERVED},
    {"198.51.100.0/24", REACH_RESERVED},
    {"203.0.113.0/24", REACH_RESERVED},
    {"224.0.0.0/3", REACH_RESERVED},
    {"2001::/23", REACH_RESERVED},
    {"2001:db8::/32", REACH_RESERVED},
    {"2002::/16", REACH_RESERVED},
    {"2620:4f:8000::/48", REACH_RESERVED},
    {"3ffe::/16", REACH_RESERVED},
    {"3fff::/20", REACH_RESERVED},
    /* public */
    {"0.0.0.0/0", REACH_PUBLIC},
    {"2000::/3", REACH_PUBLIC},
};

/* Returns what the address needs in webhooks.allow, and the network of its row. */
static enum reach reach_of(const struct ip *ip, struct cidr *ret_row)
{
    for (size_t i = 0; i < ARRAY_LEN(space); i++)
        if (cidr_parse(space[i].network, ret_row) && cidr_contains(ret_row, ip))
            return space[i].reach;
    *ret_row = (struct cidr){0};
    return REACH_RESERVED;
}

/* Whether a network of webhooks.allow with at least `min_bits` bits contains the address. */
static bool is_in_allow_list(const struct config *config, const struct ip *ip, unsigned min_bits)
{
    struct cidr cidr;
    for (size_t i = 0; config->webhooks.allow && config->webhooks.allow[i]; i++)
        if (cidr_parse(config->webhooks.allow[i], &cidr) && cidr.bits >= min_bits && cidr_contains(&cidr, ip))
            return true;
    return false;
}

/* ---- host names in `allow` ---- */

static size_t host_len(const char *host)
{
    size_t len = strlen(host);
    return len && host[len - 1] == '.' ? len - 1 : len; /* a dot at the end (the DNS root) is ignored */
}

static bool host_is_listed(const struct config *config, const char *host)
{
    for (size_t i = 0; config->webhooks.allow && config->webhooks.allow[i]; i++) {
        const char *entry = config->webhooks.allow[i];
        if (host_len(entry) == host_len(host) && !strncasecmp(entry, host, host_len(host)))
            return true;
    }
    return false;
}

/* ---- addresses ---- */

/* Whether the policy allows the address. For a NAT64 address, the rules of the IPv4 address in it apply;
 * webhooks.allow may contain either of the two addresses. */
static bool is_reachable(const struct config *config, const struct ip *ip, bool allowed_host)
{
    struct ip embedded;
    struct cidr row;
    const struct ip *target = ip_embedded(ip, &embedded) ? &embedded : ip;
    enum reach reach = reach_of(target, &row);
    unsigned min_bits = reach == REACH_METADATA ? row.bits : 0;
    return reach == REACH_PUBLIC || (reach == REACH_PRIVATE && allowed_host) ||
           is_in_allow_list(config, target, min_bits) || is_in_allow_list(config, ip, min_bits);
}

bool webhook_address_allowed(void *ctx, const char *host, const struct sockaddr *address)
{
    struct ip ip;
    return ip_from_sockaddr(address, &ip) && is_reachable(ctx, &ip, host_is_listed(ctx, host));
}

bool webhook_allow_entry_is_valid(const char *entry)
{
    static const char name_chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    struct cidr cidr;
    if (cidr_parse(entry, &cidr))
        return true;
    size_t len = strlen(entry);
    /* An entry with only digits and dots is a mistyped address, not a name. */
    return len && len <= 253 && strspn(entry, name_chars) == len && strspn(entry, "0123456789.") != len;
}

/* ---- URLs ---- */

struct target {
    const struct config *config;
    const char *url;
    char *scheme;
    char *host; /* the host, without brackets */
    char *port; /* the port; NULL: the default of the scheme */
    char *user;
    char *password;
    bool is_literal;
    struct ip ip; /* the address, if is_literal */
};

static void fault(struct problem **faults, const char *code, json_t *valid, const char *detail)
{
    problem_add_fault(faults, PROBLEM_VALIDATION_FAILED, FAULT_AT_BODY, "#/url", code, valid, "%s", detail);
}

static void check_scheme(const struct target *t, struct problem **faults)
{
    bool http_ok = t->config->webhooks.allow_http;
    if (!strcasecmp(t->scheme, "https") || (http_ok && !strcasecmp(t->scheme, "http")))
        return;
    fault(faults, "scheme_not_allowed",
          http_ok ? json_pack("[ss]", "https", "http") : json_pack("[s]", "https"),
          http_ok ? "must begin with https:// or http://" : "must begin with https://");
}

/* Host names must be ASCII: shootd does not convert them. The owner converts the name, and then sees when it
 * only looks like another host. */
static void check_host(const struct target *t, struct problem **faults)
{
    for (const char *c = t->host; c && *c; c++)
        if ((unsigned char)*c >= 0x80) {
            fault(faults, "host_not_ascii", NULL, "must name its host in ASCII (xn--...)");
            return;
        }
}

static void check_userinfo(const struct target *t, struct problem **faults)
{
    if (t->user || t->password)
        fault(faults, "userinfo_not_allowed", json_pack("[s]", URL_FORM),
              "must not contain a user name or password");
}

static void check_fragment(const struct target *t, struct problem **faults)
{
    if (strchr(t->url, '#'))
        fault(faults, "fragment_not_allowed", json_pack("[s]", URL_FORM), "must not contain a fragment (#)");
}

static bool port_is_listed(const struct config *config, long port)
{
    if (port == PORT_HTTPS || (port == PORT_HTTP && config->webhooks.allow_http))
        return true;
    for (const int *p = config->webhooks.ports; p && *p; p++)
        if (*p == port)
            return true;
    return false;
}

static json_t *valid_ports(const struct config *config)
{
    json_t *ports = json_array();
    json_append_take(ports, json_integer(PORT_HTTPS));
    if (config->webhooks.allow_http)
        json_append_take(ports, json_integer(PORT_HTTP));
    for (const int *p = config->webhooks.ports; p && *p; p++)
        json_append_take(ports, json_integer(*p));
    return ports;
}

static void check_port(const struct target *t, struct problem **faults)
{
    if (!t->port || port_is_listed(t->config, strtol(t->port, NULL, 10)))
        return;
    if (t->is_literal ? is_in_allow_list(t->config, &t->ip, 0) : host_is_listed(t->config, t->host))
        return;
    fault(faults, "port_not_allowed", valid_ports(t->config),
          "names a port that is not allowed (webhooks.ports)");
}

static void check_literal(const struct target *t, struct problem **faults)
{
    if (t->is_literal && !is_reachable(t->config, &t->ip, false))
        fault(faults, "address_not_allowed", NULL,
              "names an address that is not public and not in a network of webhooks.allow");
}

static void (*const checks[])(const struct target *t, struct problem **faults) = {
    check_scheme, check_host, check_userinfo, check_fragment, check_port, check_literal,
};

/* Recognizes all forms that a resolver interprets as an address without asking DNS, for example 0x7f.1,
 * 2130706433 and 0177.0.0.1. */
static bool parse_literal(const char *host, struct ip *ret_ip)
{
    struct in_addr four;
    char plain[INET_ADDRSTRLEN];
    char *bare CLEANUP_FREE = mem_strndup(host, host_len(host));
    if (ip_parse(bare, ret_ip))
        return true;
    return inet_aton(bare, &four) && inet_ntop(AF_INET, &four, plain, sizeof(plain)) &&
           ip_parse(plain, ret_ip);
}

static char *url_part(CURLU *parsed, CURLUPart part, unsigned flags)
{
    char *text = NULL;
    return curl_url_get(parsed, part, &text, flags) == CURLUE_OK ? text : NULL;
}

static void split(CURLU *parsed, struct target *t)
{
    t->scheme = url_part(parsed, CURLUPART_SCHEME, 0);
    t->host = url_part(parsed, CURLUPART_HOST, CURLU_URLDECODE);
    t->port = url_part(parsed, CURLUPART_PORT, 0);
    t->user = url_part(parsed, CURLUPART_USER, 0);
    t->password = url_part(parsed, CURLUPART_PASSWORD, 0);
    size_t len = t->host ? strlen(t->host) : 0;
    if (len > 2 && t->host[0] == '[') {
        memmove(t->host, t->host + 1, len - 2);
        t->host[len - 2] = '\0';
    }
    t->is_literal = t->host && parse_literal(t->host, &t->ip);
}

static void target_done(struct target *t)
{
    curl_free(t->scheme);
    curl_free(t->host);
    curl_free(t->port);
    curl_free(t->user);
    curl_free(t->password);
}

void webhook_check_url(const struct config *config, const char *url, struct problem **faults)
{
    if (strlen(url) > URL_MAX_BYTES) {
        fault(faults, "too_long", NULL, "must have at most 2048 bytes");
        return;
    }
    CURLU *parsed = curl_url();
    if (!parsed)
        abort();
    struct target t = {.config = config, .url = url};
    /* Other schemes are parsed, too, so that the fault can name the scheme. */
    CURLUcode code = curl_url_set(parsed, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME);
    if (code == CURLUE_OK)
        split(parsed, &t);
    if (code != CURLUE_OK || !t.scheme)
        fault(faults, "invalid_url", json_pack("[s]", URL_FORM), "must be an absolute URL");
    else
        for (size_t i = 0; i < ARRAY_LEN(checks); i++)
            checks[i](&t, faults);
    target_done(&t);
    curl_url_cleanup(parsed);
}

static bool same_part(CURLU *a, CURLU *b, CURLUPart part)
{
    char *left = NULL, *right = NULL;
    bool is_same = curl_url_get(a, part, &left, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                   curl_url_get(b, part, &right, CURLU_DEFAULT_PORT) == CURLUE_OK && !strcasecmp(left, right);
    curl_free(left);
    curl_free(right);
    return is_same;
}

bool webhook_same_origin(const char *url, const char *other)
{
    CURLU *a = curl_url(), *b = curl_url();
    bool is_same = a && b && curl_url_set(a, CURLUPART_URL, url, 0) == CURLUE_OK &&
                   curl_url_set(b, CURLUPART_URL, other, 0) == CURLUE_OK &&
                   same_part(a, b, CURLUPART_SCHEME) && same_part(a, b, CURLUPART_HOST) &&
                   same_part(a, b, CURLUPART_PORT);
    curl_url_cleanup(a);
    curl_url_cleanup(b);
    return is_same;
}
