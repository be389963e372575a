/* Targets of webhooks. The first line is `url`, `allow` (an entry of webhooks.allow) or `header`; the value
 * follows. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "base/mem.h"
#include "webhook/webhook.h"

static void check_url(const char *url)
{
    static char v4[] = "10.0.0.0/8", v6[] = "fd00::/8", host[] = "hooks.example.com";
    static char *allow[] = {v4, host, v6, NULL};
    static int ports[] = {8443, 0};
    const struct config open = {.webhooks = {.allow = allow, .allow_http = true, .ports = ports}};
    static char *none[] = {NULL};
    static int no_ports[] = {0};
    const struct config closed = {.webhooks = {.allow = none, .ports = no_ports}};
    struct problem *of_open CLEANUP_PROBLEM = NULL, *of_closed CLEANUP_PROBLEM = NULL;
    webhook_check_url(&open, url, &of_open);
    webhook_check_url(&closed, url, &of_closed);
    FUZZ_CHECK(!of_open || of_closed); /* the open policy refuses only what the closed policy also refuses */
    if (!of_closed)
        FUZZ_CHECK(webhook_same_origin(url, url));
}

static void check_header(const char *name, const char *value)
{
    struct problem *faults CLEANUP_PROBLEM = NULL;
    webhook_check_header(name, value, "#/headers/0", &faults);
    if (!faults)
        FUZZ_CHECK(!strpbrk(name, "\r\n: ") && !strpbrk(value, "\r\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *line CLEANUP_FREE = fuzz_line(&bytes, &len);
    char *text CLEANUP_FREE = fuzz_text(bytes, len);
    char *rest = line;
    const char *what = fuzz_word(&rest);
    if (!strcmp(what, "allow"))
        (void)webhook_allow_entry_is_valid(text);
    else if (!strcmp(what, "header"))
        check_header(rest, text);
    else
        check_url(text);
    return 0;
}
