#include "http/message/headers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/attrs.h"
#include "base/text.h"
#include "base/mem.h"

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
    [HEADER_ORIGIN] = FIELD("Origin", false),
    [HEADER_ACR_METHOD] = FIELD("Access-Control-Request-Method", false),
    [HEADER_TRACEPARENT] = FIELD("traceparent", false),
    [HEADER_LAST_EVENT_ID] = FIELD("Last-Event-ID", false),
    [HEADER_FORWARDED_FOR] = FIELD("X-Forwarded-For", true),
};

/* NUL, bare CR and folded lines come through libmicrohttpd (6.5). */
static bool has_control(const char *value, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)value[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return true;
    }
    return false;
}

static void keep(struct headers *h, enum header_id id, const char *value)
{
    if (h->counts[id]++ == 0) {
        h->values[id] = value;
        return;
    }
    if (!known[id].is_list)
        return;
    char *joined = mem_printf("%s, %s", h->values[id], value);
    free(h->joined[id]);
    h->joined[id] = joined;
    h->has_joined = true;
    h->values[id] = joined;
}

/* Found before any cookie of the client, and known again by its address. */
static const char no_cookie_name[] = MHD_HTTP_HEADER_COOKIE;
static const char no_cookie_value[] = "-";

void headers_refuse_cookies(struct MHD_Connection *mhd)
{
    (void)MHD_set_connection_value(mhd, MHD_HEADER_KIND, no_cookie_name, no_cookie_value);
}

/*
 * libmicrohttpd 0.9.75 takes a bare LF, a folded line and a NUL for what other programs do not take them for,
 * and hands over texts that show nothing of it. But it parses in place: texts lie where they were received,
 * with a NUL in place of each byte of a line end. So a line that ended with CR LF, and is whole, ends two
 * bytes before the next one begins; the last one ends four bytes before the section does. Newer libraries
 * refuse such lines themselves and may lay the texts out in another way.
 */
static bool library_parses_in_place(void)
{
    return !strncmp(MHD_get_version(), "0.9.75", strlen("0.9.75"));
}

static const char unclean_line[] =
    "A line of the header section does not end with CR LF, is folded, or holds a NUL.";

static void begin_lines(struct headers *h, const char *version)
{
    h->lines_checked = library_parses_in_place();
    h->next = version + strlen(version) + 2;
}

static void check_line(struct headers *h, const char *key, const char *value, size_t value_len)
{
    if (h->lines_checked && key != h->next)
        h->fault = unclean_line;
    h->next = value + value_len + 2;
}

static void end_lines(struct headers *h, struct MHD_Connection *mhd, const char *method)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (h->lines_checked && (!info || h->next + 2 != method + info->header_size))
        h->fault = unclean_line;
}

static enum MHD_Result collect(void *cls, enum MHD_ValueKind kind, const char *key, size_t key_len,
                               const char *value, size_t value_len)
{
    struct headers *h = cls;
    (void)kind;
    if (key == no_cookie_name)
        return MHD_YES;
    h->field_count++;
    h->bytes += key_len + value_len + 4;
    if (!http_is_token(key, key_len))
        h->fault = "A header field has a malformed name.";
    if (!value)
        value = "";
    check_line(h, key, value, value_len);
    if (has_control(value, value_len))
        h->fault = "A header field holds a control character.";
    for (int id = 0; id < HEADER_MAX_; id++) {
        if (key_len == known[id].len && !strcasecmp(key, known[id].name)) {
            keep(h, (enum header_id)id, value);
            break;
        }
    }
    return MHD_YES;
}

void headers_collect(struct headers *h, struct MHD_Connection *mhd, const char *method, const char *version)
{
    begin_lines(h, version);
    (void)MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, collect, h);
    end_lines(h, mhd, method);
}

void headers_done(struct headers *h)
{
    for (int id = 0; h->has_joined && id < HEADER_MAX_; id++)
        free(h->joined[id]);
}

bool header_next_item(const char **cursor, const char **ret_item, size_t *ret_len)
{
    const char *p = *cursor + strspn(*cursor, ", \t");
    if (!*p)
        return false;
    const char *end = p;
    for (bool quoted = false; *end && (quoted || *end != ','); end++) {
        if (*end == '"')
            quoted = !quoted;
        else if (quoted && *end == '\\' && end[1])
            end++;
    }
    *cursor = end;
    while (end > p && strchr(" \t", end[-1]))
        end--;
    *ret_item = p;
    *ret_len = (size_t)(end - p);
    return true;
}

bool header_item_is(const char *item, size_t len, const char *word)
{
    return strlen(word) == len && !strncasecmp(item, word, len);
}
