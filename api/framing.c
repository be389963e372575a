/*
 * The framing of a request, before anything else of it is believed. libmicrohttpd 0.9.75 takes what would let
 * a second request hide in the body of the first (6.5, HT-14); everything refused here also closes the
 * connection.
 */
#include "api/checks.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/reaper.h"
#include "api/request.h"
#include "base/attrs.h"

enum { MAX_FIELDS = 64, MAX_HEADER_BYTES = 16 * 1024, MAX_TARGET = 8 * 1024, MAX_PORT = 65535 };

static struct problem *refuse(struct request *r, enum problem_code code, const char *detail)
{
    r->must_close = true;
    return problem_new(code, "%s", detail);
}

#define DIGITS  "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool escapes_are_whole(const char *text)
{
    for (const char *p = strchr(text, '%'); p; p = strchr(p + 1, '%'))
        if (strspn(p + 1, "0123456789abcdefABCDEF") < 2)
            return false;
    return true;
}

/* host[:port], or [address][:port] (RFC 3986 3.2): it may become part of a URL (api/resources/credential.c).
 */
static bool host_is_valid(const char *host)
{
    size_t len = strspn(host, LETTERS DIGITS ".-_%~");
    if (*host == '[') {
        len = 1 + strspn(host + 1, LETTERS DIGITS ".-_%~:");
        len = len > 1 && host[len] == ']' ? len + 1 : 0;
    }
    const char *port = host + len;
    size_t digits = *port == ':' ? strspn(port + 1, DIGITS) : 0;
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

static struct problem *check_coding(struct request *r)
{
    const char *coding = r->headers.values[HEADER_TRANSFER_ENCODING];
    if (!coding)
        return NULL;
    if (r->is_http_1_0)
        return refuse(r, PROBLEM_MALFORMED_REQUEST, "HTTP/1.0 has no Transfer-Encoding.");
    if (r->headers.counts[HEADER_CONTENT_LENGTH])
        return refuse(r, PROBLEM_MALFORMED_REQUEST,
                      "Content-Length and Transfer-Encoding exclude each other.");
    if (!strcasecmp(coding, "chunked"))
        return NULL;
    const char *last = strrchr(coding, ',');
    if (last && !strcasecmp(last + 1 + strspn(last + 1, " \t"), "chunked"))
        return refuse(r, PROBLEM_NOT_SUPPORTED, "The only transfer coding is chunked.");
    return refuse(r, PROBLEM_MALFORMED_REQUEST, "The last transfer coding is not chunked.");
}

static bool length_is_zero(const char *length)
{
    return length[strspn(length, "0")] == '\0';
}

struct problem *check_framing(struct request *r)
{
    const struct headers *h = &r->headers;
    const char *length = h->values[HEADER_CONTENT_LENGTH];
    /* How the library reads chunks is not what others do (a bare LF in an extension, for example). What such
     * a body ends before may be part of it for a proxy: it is not parsed. */
    r->must_close =
        h->counts[HEADER_TRANSFER_ENCODING] || (h->counts[HEADER_CONTENT_LENGTH] && !h->lines_checked);
    r->has_body = h->values[HEADER_TRANSFER_ENCODING] || (length && !length_is_zero(length));
    if (r->peer && r->peer->target_len > MAX_TARGET)
        return refuse(r, PROBLEM_URI_TOO_LONG, "The request target is longer than 8 KiB.");
    if (h->field_count > MAX_FIELDS || h->bytes > MAX_HEADER_BYTES)
        return refuse(r, PROBLEM_HEADERS_TOO_LARGE, "More than 64 header fields or 16 KiB.");
    if (h->fault)
        return refuse(r, PROBLEM_MALFORMED_REQUEST, h->fault);
    const char *fault = duplicate_fault(h);
    if (fault) {
        struct problem *p = refuse(r, PROBLEM_MALFORMED_REQUEST, fault);
        if (h->counts[HEADER_AUTHORIZATION] > 1)
            problem_set_field(p, "WWW-Authenticate", "Bearer realm=\"shootd\", error=\"invalid_request\"");
        return p;
    }
    if (h->values[HEADER_HOST] && !host_is_valid(h->values[HEADER_HOST]))
        return refuse(r, PROBLEM_MALFORMED_REQUEST, "Host is not a valid authority.");
    return check_coding(r);
}
