#include "cli/issuer.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define DISCOVERY "/.well-known/openid-configuration"

enum { FORM_MAX_BYTES = 64 * 1024, ISSUER_TIMEOUT_MS = 15000 };

void issuer_done(struct cli_issuer *issuer)
{
    free(issuer->url);
    free(issuer->client_id);
    free(issuer->scope);
    free(issuer->device_endpoint);
    free(issuer->token_endpoint);
    free(issuer->ca_file);
    *issuer = (struct cli_issuer){0};
}

void issued_done(struct issued *issued)
{
    mem_free_secret(issued->token);
    mem_free_secret(issued->refresh_token);
    *issued = (struct issued){0};
}

/* ---- the endpoints of the issuer ---- */

bool issuer_url_is_good(const char *url)
{
    bool good =
        strncasecmp(url, "https://", 8) == 0 || (strncasecmp(url, "http://", 7) == 0 && !url_is_open(url));
    for (const char *c = url; *c; c++)
        good = good && (unsigned char)*c > ' ' && (unsigned char)*c < 0x7f && *c != '#';
    return good && !strchr(url, '@');
}

/* Makes a connection to the host of an address. *ret_path is the rest of the address, which may end with a
 * slash or have a query. After a failure, writes a message to `fault` and returns NULL. */
static struct cli_http *connect_to(const char *url, const char *ca_file, const char **ret_path,
                                   struct buffer *fault)
{
    const char *host = strstr(url, "://");
    size_t len = host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/?") : strlen(url);
    char *origin CLEANUP_FREE = mem_strndup(url, len);
    const struct cli_http_options options = {.url = origin, .ca_file = ca_file};
    *ret_path = url + len;
    return http_new(&options, fault);
}

static void ask(const char *url, const char *ca_file, const struct cli_request *request,
                struct cli_answer *ret)
{
    struct buffer fault CLEANUP_BUFFER;
    const char *path;
    buffer_init(&fault, 4096);
    struct cli_http *http CLEANUP(http_cleanup) = connect_to(url, ca_file, &path, &fault);
    struct cli_request rq = *request;
    if (!http) {
        *ret = (struct cli_answer){.end = HTTP_MISTAKEN, .retry_after_s = -1};
        (void)snprintf(ret->error, sizeof(ret->error), "%s", fault.data);
        return;
    }
    rq.path = path;
    rq.timeout_ms = ISSUER_TIMEOUT_MS;
    http_call(http, &rq, ret);
}

char *issuer_reason(const struct cli_answer *answer)
{
    const char *error = json_str(answer->json, "error"), *more = json_str(answer->json, "error_description");
    if (answer->end != HTTP_ANSWERED)
        return mem_strdup(answer->error);
    if (!error)
        return mem_printf("HTTP %ld without a token or an error", answer->status);
    return mem_printf("%s%s%s", error, more ? ": " : "", more ? more : "");
}

static char *endpoint_of(const json_t *document, const char *member)
{
    const char *url = json_str(document, member);
    return url && issuer_url_is_good(url) ? mem_strdup(url) : NULL;
}

int issuer_discover(struct cli_issuer *issuer)
{
    struct cli_answer answer CLEANUP_ANSWER = {0};
    const struct cli_request request = {.method = "GET"};
    assert(!issuer->token_endpoint && !issuer->device_endpoint); /* earlier endpoints would leak */
    if (!issuer_url_is_good(issuer->url))
        return cli_fail(END_REFUSED, "the issuer %s is not https: its tokens could be read in transit",
                        issuer->url);
    char *base CLEANUP_FREE = url_trimmed(issuer->url), *url CLEANUP_FREE = mem_printf("%s" DISCOVERY, base);
    ask(url, issuer->ca_file, &request, &answer);
    if (answer.end != HTTP_ANSWERED || answer.status != 200) {
        char *reason CLEANUP_FREE = issuer_reason(&answer);
        return cli_fail(END_UNREACHABLE, "the issuer %s: %s", issuer->url, reason);
    }
    if (!mem_same_str(json_str(answer.json, "issuer"), issuer->url))
        return cli_fail(END_REFUSED, "the issuer %s says that it is %s", issuer->url,
                        json_str_or(answer.json, "issuer", "none"));
    issuer->token_endpoint = endpoint_of(answer.json, "token_endpoint");
    issuer->device_endpoint = endpoint_of(answer.json, "device_authorization_endpoint");
    if (!issuer->token_endpoint || !issuer->device_endpoint)
        return cli_fail(END_REFUSED, "the issuer %s has no device flow: log in with a token", issuer->url);
    return END_OK;
}

/* ---- forms ---- */

void issuer_post(const char *endpoint, const char *ca_file, const struct form_field *fields, size_t count,
                 struct cli_answer *ret)
{
    struct buffer form;
    assert(issuer_url_is_good(endpoint)); /* the form has secrets */
    buffer_init(&form, FORM_MAX_BYTES);
    for (size_t i = 0; i < count; i++) {
        if (!fields[i].value)
            continue;
        buffer_printf(&form, "%s%s=", form.len ? "&" : "", fields[i].name);
        url_add_escaped(&form, fields[i].value);
    }
    const struct cli_request request = {.method = "POST",
                                        .body = form.data ? form.data : "",
                                        .content_type = "application/x-www-form-urlencoded"};
    ask(endpoint, ca_file, &request, ret);
    if (form.data)
        explicit_bzero(form.data, form.len);
    buffer_done(&form);
}

bool issued_read(const json_t *answer, struct issued *ret)
{
    const char *token = json_str(answer, "access_token"), *type = json_str_or(answer, "token_type", "Bearer");
    const char *refresh = json_str(answer, "refresh_token");
    *ret = (struct issued){.expires_in_s = json_int(answer, "expires_in", -1)};
    if (!token || !token_is_sendable(token) || strcasecmp(type, "Bearer") != 0)
        return false;
    ret->token = mem_strdup(token);
    ret->refresh_token = mem_strdup(refresh);
    return true;
}
