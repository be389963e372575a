#include "daemon/health_check.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"
#include "daemon/daemon.h"

enum { LONGEST_S = 5 };

DEFINE_CLEANUP(easy_cleanup, CURL *, curl_easy_cleanup)

/* Returns the host and port to connect to. A wildcard address is replaced by loopback. */
static char *reachable(const char *listen)
{
    static const struct {
        const char *wildcard, *loopback;
    } hosts[] = {{"0.0.0.0:", "127.0.0.1:"}, {"[::]:", "[::1]:"}};
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        const size_t len = strlen(hosts[i].wildcard);
        if (!strncmp(listen, hosts[i].wildcard, len))
            return mem_printf("%s%s", hosts[i].loopback, listen + len);
    }
    return mem_strdup(listen);
}

static void set_target(CURL *easy, const struct config *config)
{
    const char *listen = config->listen;
    const bool is_unix = !strncmp(listen, "unix:", 5);
    char *where CLEANUP_FREE = is_unix ? mem_strdup("localhost") : reachable(listen);
    char *url CLEANUP_FREE =
        mem_printf("%s://%s/readyz?verbose", config->tls.certificate ? "https" : "http", where);
    if (is_unix)
        (void)curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, listen + 5);
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    /* The certificate is made for the name that clients use, so it cannot be verified here. The request
     * contains no secret. */
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
}

int health_check(const struct config *config)
{
    CURL *easy __attribute__((cleanup(easy_cleanup))) = curl_easy_init();
    if (!easy)
        abort();
    set_target(easy, config);
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)LONGEST_S);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, stdout);
    const CURLcode result = curl_easy_perform(easy);
    long status = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (result != CURLE_OK)
        (void)fprintf(stderr, "shootd: no answer from %s: %s\n", config->listen, curl_easy_strerror(result));
    return result == CURLE_OK && status == 200 ? EXIT_OK : EXIT_RUNTIME;
}
