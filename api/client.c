#include "api/client.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/request.h"
#include "base/cidr.h"
#include "base/mem.h"
#include "config/config.h"

void trust_init(struct trust *trust, char *const *proxies)
{
    size_t count = 0;
    while (proxies && proxies[count])
        count++;
    *trust = (struct trust){.networks = mem_calloc(count + 1, sizeof(*trust->networks))};
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(proxies[i], CONFIG_LOCAL_PROXY))
            trust->local = true;
        else if (cidr_parse(proxies[i], &trust->networks[trust->count]))
            trust->count++;
    }
}

void trust_done(struct trust *trust)
{
    free(trust->networks);
}

bool trust_has_address(const struct trust *trust, const struct ip *ip)
{
    for (size_t i = 0; i < trust->count; i++)
        if (cidr_contains(&trust->networks[i], ip))
            return true;
    return false;
}

bool trust_has(const struct trust *trust, const struct connection *peer)
{
    struct ip ip;
    return ip_parse(peer->address, &ip) ? trust_has_address(trust, &ip) : trust->local;
}

/* The last item of the list that ends before *end, which becomes its start; false when it is no address. */
static bool take_last(const char *list, const char **end, char text[static CLIENT_BYTES], struct ip *ret_ip)
{
    const char *stop = *end, *start = stop;
    while (start > list && start[-1] != ',')
        start--;
    *end = start > list ? start - 1 : list;
    start += strspn(start, " \t");
    while (stop > start && strchr(" \t", stop[-1]))
        stop--;
    size_t len = stop > start ? (size_t)(stop - start) : 0;
    if (!len || len >= CLIENT_BYTES)
        return false;
    memcpy(text, start, len);
    text[len] = '\0';
    return ip_parse(text, ret_ip);
}

/* Each proxy appends whom it was asked by: what stands left of an address that is not trusted was sent by it.
 */
static void believe(struct request *r, const char *list)
{
    const char *end = list + strlen(list);
    char text[CLIENT_BYTES];
    struct ip ip;
    bool trusted = true;
    while (trusted && end > list && take_last(list, &end, text, &ip)) {
        memcpy(r->forwarded_for, text, sizeof(text));
        r->client = r->forwarded_for;
        trusted = trust_has_address(&r->api->trust, &ip);
    }
}

void client_identify(struct request *r)
{
    r->client = r->peer ? r->peer->address : NULL;
    if (r->peer && r->peer->is_proxy && r->headers.counts[HEADER_FORWARDED_FOR])
        believe(r, r->headers.values[HEADER_FORWARDED_FOR]);
}

uint64_t client_network(const struct request *r)
{
    struct ip ip;
    return r->client && ip_parse(r->client, &ip) ? ip_network(&ip) : 0;
}
