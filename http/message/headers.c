#include "http/message/headers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/attrs.h"
#include "base/text.h"
#include "base/mem.h"
#include "model/problem.h"

#define FIELD(name, is_list)            \
    {                                   \
        name, sizeof(name) - 1, is_list \
    }

static const struct {
    const char *name;
    size_t len;
    bool is_list;
} known[HEADER_MAX_] = {
    [HEADER_HOST] = FIELD("Host", false),
    [HEADER_CONTENT_LENGTH] = FIELD("Content-Length", false),
    [HEADER_TRANSFER_ENCODING] = FIELD("Transfer-Encoding", false),
    [HEADER_CONTENT_TYPE] = FIELD("Content-Type", false),
    [HEADER_CONTENT_ENCODING] = FIELD("Content-Encoding", false),
    [HEADER_AUTHORIZATION] = FIELD("Authorization", false),
    [HEADER_EXPECT] = FIELD("Expect", false),
    [HEADER_REQUEST_ID] = FIELD("X-Request-Id", false),
    [HEADER_ACCEPT] = FIELD("Accept", true),
    [HEADER_ACCEPT_ENCODING] = FIELD("Accept-Encoding", true),
    [HEADER_IF_MATCH] = FIELD("If-Match", true),
    [HEADER_IF_NONE_MATCH] = FIELD("If-None-Match", true),
    [HEADER_PREFER] = FIELD("Prefer", true),
    [HEADER_CACHE_CONTROL] = FIELD("Cache-Control", true),
    [HEADER_IDEMPOTENCY_KEY] = FIELD("Idempotency-Key", false),
    [HEADER_SEC_FETCH_SITE] = FIELD("Sec-Fetch-Site", false),
    [HEADER_ORIGIN] = FIELD("Origin", false),
    [HEADER_ACR_METHOD] = FIELD("Access-Control-Request-Method", false),
    [HEADER_TRACEPARENT] = FIELD("traceparent", false),
    [HEADER_LAST_EVENT_ID] = FIELD("Last-Event-ID", false),
    [HEADER_FORWARDED_FOR] = FIELD("X-Forwarded-For", true),
};

/* Finds NUL, bare CR and folded lines, which libmicrohttpd accepts. */
static bool has_control(const char *value, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)value[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return true;
    }
    return false;
}

static void keep_copy(struct headers *h, enum header_id id, char *text)
{
    free(h->joined[id]);
    h->joined[id] = text;
    h->has_joined = true;
    h->values[id] = text;
}

/* Stores the first `len` bytes of `value`, which is a string. */
static void keep(struct headers *h, enum header_id id, const char *value, size_t len)
{
    assert(id < HEADER_MAX_);
    if (h->counts[id]++ == 0) {
        h->values[id] = value;
        if (value[len])
            keep_copy(h, id, mem_strndup(value, len));
    } else if (known[id].is_list) {
        keep_copy(h, id, mem_printf("%s, %.*s", h->values[id], (int)len, value));
    }
}

/* Returns the length without blanks at the end. Blanks around a value do not belong to it (RFC 9110 5.5), but
 * the library removes only the blanks before the value. */
static size_t length_without_blanks(const char *value, size_t len)
{
    while (len && (value[len - 1] == ' ' || value[len - 1] == '\t'))
        len--;
    return len;
}

/*
 * Whether the field decides where the body ends. The library has already read these fields, with the blanks
 * after their values. It refuses a Content-Length with such a blank. When Transfer-Encoding is `chunked `
 * (with a blank), the library takes all bytes until the end of the connection as the body. shootd refuses
 * such a request, because a proxy in front of shootd might see another end of the body.
 */
static bool is_framing(enum header_id id)
{
    return id == HEADER_TRANSFER_ENCODING || id == HEADER_CONTENT_LENGTH;
}

/* A Cookie field that the library finds before the fields of the client, so that the library parses no
 * cookies. collect() recognizes this field by its address. */
static const char no_cookie_name[] = MHD_HTTP_HEADER_COOKIE;
static const char no_cookie_value[] = "-";

void headers_refuse_cookies(struct MHD_Connection *mhd)
{
    (void)MHD_set_connection_value(mhd, MHD_HEADER_KIND, no_cookie_name, no_cookie_value);
}

static const char unclean_line[] =
    "A line of the header section does not end with CR LF, is folded, or holds a NUL.";

static enum MHD_Result collect(void *cls, enum MHD_ValueKind kind ATTR_UNUSED, const char *key,
                               size_t key_len, const char *value, size_t value_len)
{
    struct headers *h = cls;
    if (key == no_cookie_name)
        return MHD_YES;
    h->field_count++;
    h->bytes += key_len + value_len + 4;
    if (!http_is_token(key, key_len))
        h->fault = "A header field has a malformed name.";
    if (!value)
        value = "";
    if (h->lines_checked && key != h->next)
        h->fault = unclean_line;
    h->next = value + value_len + 2;
    if (has_control(value, value_len))
        h->fault = "A header field holds a control character.";
    const size_t len = length_without_blanks(value, value_len);
    enum header_id id = 0;
    while (id < HEADER_MAX_ && (key_len != known[id].len || strcasecmp(key, known[id].name) != 0))
        id++;
    if (id == HEADER_MAX_)
        return MHD_YES;
    keep(h, id, value, len);
    if (len != value_len && is_framing(id))
        h->fault = "Content-Length or Transfer-Encoding ends with a blank.";
    return MHD_YES;
}

/*
 * libmicrohttpd 0.9.75 accepts a bare LF, a folded line and a NUL, which other programs read differently. The
 * texts that the library returns do not show these faults. But the library parses in place: texts stay where
 * they were received, with a NUL in place of each byte of a line end. Therefore a line that ended with CR LF
 * ends two bytes before the next line begins. The last line ends four bytes before the end of the section.
 * Newer libraries refuse such lines themselves, and their texts may be placed differently.
 */
void headers_collect(struct headers *h, struct MHD_Connection *mhd, const char *method, const char *version)
{
    h->lines_checked = !strncmp(MHD_get_version(), "0.9.75", strlen("0.9.75"));
    h->next = version + strlen(version) + 2;
    (void)MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, collect, h);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (h->lines_checked && (!info || h->next + 2 != method + info->header_size))
        h->fault = unclean_line;
}

void headers_done(struct headers *h)
{
    for (int id = 0; h->has_joined && id < HEADER_MAX_; id++)
        free(h->joined[id]);
}

bool header_item_is(const char *item, size_t len, const char *word)
{
    return strlen(word) == len && !strncasecmp(item, word, len);
}

/* ---- framing: libmicrohttpd 0.9.75 accepts forms in which a second request can be hidden in the body of the
 * first (HT-14). Every refusal here also closes the connection ---- */

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

/* Whether the value is host[:port] or [address][:port] (RFC 3986 3.2). The value is checked because it may
 * become a part of a URL. */
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

/* Returns the fault when a field is repeated that must occur only once; NULL: there is no such field. */
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

struct framing framing_of(const struct headers *h)
{
    const char *length = h->values[HEADER_CONTENT_LENGTH];
    /* The library reads some chunks differently from other programs (for example a bare LF in an extension).
     * For a proxy, bytes that the library sees after the end may belong to the body. Therefore these bytes
     * are not parsed. */
    return (struct framing){
        .has_body = h->values[HEADER_TRANSFER_ENCODING] || (length && length[strspn(length, "0")] != '\0'),
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
