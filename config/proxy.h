/*
 * The forward proxy of calls to Cleura and to issuers. The key `http_proxy` of an account or issuer decides;
 * without it the environment does (https_proxy, all_proxy, no_proxy). Hosts on loopback never have a proxy.
 * Deliveries of webhooks do not use these functions: a proxy would connect to addresses that the policy of
 * webhooks refuses. Any thread.
 */
#ifndef CONFIG_PROXY_H
#define CONFIG_PROXY_H

#include "config/config.h"

/* The value of `http_proxy` for no proxy. */
#define CONFIG_NO_PROXY "none"

/* Returns the proxy for a URL, http://[user:password@]host[:port]; NULL: the URL has none. `setting` is the
 * value of `http_proxy`, or NULL. The caller frees the result, which may be a secret (mem_free_secret). */
char *proxy_for(const char *setting, const char *url);
/* Returns the fault of a result of proxy_for, a static text without its value; NULL when valid. */
const char *proxy_fault(const char *proxy);
/* Logs the proxy of each account and of each issuer, without credentials. */
void proxies_log(const struct config *config);

#endif
