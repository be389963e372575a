#include "config/proxy.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/attrs.h"
#include "base/cidr.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/values.h"

/* Returns the first of the variables that has a value; NULL when none has. */
static const char *variable(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return value;
    }
    return NULL;
}

/* Returns where the host of a URL or proxy begins, behind the scheme and credentials. */
static const char *authority_of(const char *url)
{
    const char *scheme_end = strstr(url, "://");
    const char *from = scheme_end ? scheme_end + 3 : url;
    const char *end = from + strcspn(from, "/?#");
    for (const char *at = end; at > from; at--)
        if (at[-1] == '@')
            return at;
    return from;
}

static char *host_of(const char *url)
{
    const char *from = authority_of(url);
    if (*from == '[')
        return mem_strndup(from + 1, strcspn(from + 1, "]"));
    return mem_strndup(from, strcspn(from, ":/?#"));
}

/* Whether an entry of no_proxy names the host: as a name, a domain above it, an address or a network. */
static bool names_host(const char *entry, const char *host)
{
    struct cidr network;
    struct ip address;
    if (ip_parse(host, &address))
        return cidr_parse(entry, &network) && cidr_contains(&network, &address);
    entry += *entry == '.';
    const size_t len = strlen(entry), host_len = strlen(host);
    return len && len <= host_len && !strcasecmp(host + host_len - len, entry) &&
           (len == host_len || host[host_len - len - 1] == '.');
}

static bool is_on_list(const char *list, const char *host)
{
    static const char separators[] = ", \t";
    while (list && *(list += strspn(list, separators))) {
        char *entry CLEANUP_FREE = mem_strndup(list, strcspn(list, separators));
        if (!strcmp(entry, "*") || names_host(entry, host))
            return true;
        list += strlen(entry);
    }
    return false;
}

char *proxy_for(const char *setting, const char *url)
{
    static const char *const proxies[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    static const char *const direct[] = {"no_proxy", "NO_PROXY"};
    char *host CLEANUP_FREE = host_of(url);
    if (is_on_list("localhost,127.0.0.0/8,::1", host) || strncasecmp(url, "https://", 8) != 0)
        return NULL;
    if (setting)
        return strcmp(setting, CONFIG_NO_PROXY) != 0 ? mem_strdup(setting) : NULL;
    const char *proxy = variable(proxies, ARRAY_LEN(proxies));
    if (!proxy || is_on_list(variable(direct, ARRAY_LEN(direct)), host))
        return NULL;
    return mem_printf("%s%s", strstr(proxy, "://") ? "" : "http://", proxy);
}

const char *proxy_fault(const char *proxy)
{
    const char *from = authority_of(proxy), *end = from + strcspn(from, "/?#");
    if (strncasecmp(proxy, "http://", 7) != 0 || strcmp(end, *end ? "/" : "") != 0)
        return "is not http://host:port";
    return authority_fault(from, (size_t)(end - from), false, 1);
}

/* One of `account` and `issuer` is NULL. */
static void log_proxy(const char *setting, const char *url, const char *account, const char *issuer)
{
    char *proxy CLEANUP_SECRET = proxy_for(setting, url);
    if (!proxy) {
        log_info("calls use no proxy", "account", account, "issuer", issuer);
        return;
    }
    char *shown CLEANUP_FREE = mem_printf("http://%s", authority_of(proxy));
    log_info("calls use a proxy", "account", account, "issuer", issuer, "proxy", shown, "source",
             setting ? "configuration" : "environment");
}

void proxies_log(const struct config *config)
{
    for (size_t i = 0; i < config->account_count; i++)
        log_proxy(config->accounts[i].http_proxy, config->accounts[i].url, config->accounts[i].name, NULL);
    for (size_t i = 0; i < config->oidc.issuer_count; i++)
        log_proxy(config->oidc.issuers[i].http_proxy, config->oidc.issuers[i].issuer, NULL,
                  config->oidc.issuers[i].issuer);
}
