/*
 * The framing of a request, before anything else of it is believed. libmicrohttpd 0.9.75 takes what would let
 * a second request hide in the body of the first (6.5, HT-14); everything refused here also closes the
 * connection.
 */
#include "http/message/framing.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/attrs.h"
#include "http/message/headers.h"
#include "model/problem.h"

enum { MAX_FIELDS = 64, MAX_HEADER_BYTES = 16 * 1024, MAX_TARGET = 8 * 1024, MAX_PORT = 65535 };

static bool is_host_character(char c, bool in_brackets)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '_' || c == '%' || c == '~' || (in_brackets && c == ':');
}

static size_t host_length(const char *host, bool in_brackets)
{
    size_t len = 0;
    while (is_host_character(host[len], in_brackets))
        len++;
    return len;
}

static bool escapes_are_whole(const char *text)
{
    for (const char *p = strchr(text, '%'); p; p = strchr(p + 1, '%'))
        if (strspn(p + 1, "0123456789abcdefABCDEF") < 2)
            return false;
    return true;
}

/* host[:port], or [address][:port] (RFC 3986 3.2): it may become part of a URL.
 */
static bool host_is_valid(const char *host)
{
    size_t len = host_length(host, false);
    if (*host == '[') {
        len = 1 + host_length(host + 1, true);
        len = len > 1 && host[len] == ']' ? len + 1 : 0;
    }
    const char *port = host + len;
    size_t digits = 0;
    while (*port == ':' && port[1 + digits] >= '0' && port[1 + digits] <= '9')
        digits++;
    bool has_end =
        !*port || (digits && digits <= 5 && !port[1 + digits] && strtol(port + 1, NULL, 10) <= MAX_PORT);
    return len && has_end && escapes_are_whole(host);
}

/* What must not stand twice, and a list of lengths. */
static const char *duplicate_fault(const struct headers *h)
{
    static const struct {
        enum header_id id;
        const char *fault;
    } once[] = {
        {HEADER_HOST, "Host stands more than once."},
        {HEADER_CONTENT_LENGTH, "Content-Length stands more than once."},
        {HEADER_TRANSFER_ENCODING, "Transfer-Encoding stands more than once."},
        {HEADER_AUTHORIZATION, "Authorization stands more than once."},
        {HEADER_CONTENT_TYPE, "Content-Type stands more than once."},
        {HEADER_EXPECT, "Expect stands more than once."},
    };
    for (size_t i = 0; i < ARRAY_LEN(once); i++)
        if (h->counts[once[i].id] > 1)
            return once[i].fault;
    return NULL;
}

static struct problem *malformed(const char *detail)
{
    return problem_new(PROBLEM_MALFORMED_REQUEST, "%s", detail);
}

static struct problem *check_coding(const struct headers *h, bool is_http_1_0)
{
    const char *coding = h->values[HEADER_TRANSFER_ENCODING];
    if (!coding)
        return NULL;
    if (is_http_1_0)
        return malformed("HTTP/1.0 has no Transfer-Encoding.");
    if (h->counts[HEADER_CONTENT_LENGTH])
        return malformed("Content-Length and Transfer-Encoding exclude each other.");
    if (!strcasecmp(coding, "chunked"))
        return NULL;
    const char *last = strrchr(coding, ',');
    if (last && !strcasecmp(last + 1 + strspn(last + 1, " \t"), "chunked"))
        return problem_new(PROBLEM_NOT_SUPPORTED, "The only transfer coding is chunked.");
    return malformed("The last transfer coding is not chunked.");
}

static bool length_is_zero(const char *length)
{
    return length[strspn(length, "0")] == '\0';
}

struct framing framing_of(const struct headers *h)
{
    const char *length = h->values[HEADER_CONTENT_LENGTH];
    /* How the library reads chunks is not what others do (a bare LF in an extension, for example). What such
     * a body ends before may be part of it for a proxy: it is not parsed. */
    return (struct framing){
        .has_body = h->values[HEADER_TRANSFER_ENCODING] || (length && !length_is_zero(length)),
        .must_close =
            h->counts[HEADER_TRANSFER_ENCODING] || (h->counts[HEADER_CONTENT_LENGTH] && !h->lines_checked),
    };
}

struct problem *framing_check(const struct headers *h, size_t target_len, bool is_http_1_0)
{
    if (target_len > MAX_TARGET)
        return problem_new(PROBLEM_URI_TOO_LONG, "The request target is longer than 8 KiB.");
    if (h->field_count > MAX_FIELDS || h->bytes > MAX_HEADER_BYTES)
        return problem_new(PROBLEM_HEADERS_TOO_LARGE, "More than 64 header fields or 16 KiB.");
    const char *fault = h->fault ? h->fault : duplicate_fault(h);
    if (fault)
        return malformed(fault);
    if (h->values[HEADER_HOST] && !host_is_valid(h->values[HEADER_HOST]))
        return malformed("Host is not a valid authority.");
    return check_coding(h, is_http_1_0);
}
