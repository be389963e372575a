#include "http/message/content.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/attrs.h"
#include "base/text.h"
#include "http/message/headers.h"
#include "model/problem.h"

/* The limit of a foreign type in the text of a problem. */
enum { TYPE_SHOWN_MAX = 100 };
/* Operations without a body ignore a body up to this size, because some clients always send "{}". */
enum { IGNORED_BODY = 16 * 1024 };

/* ---- Accept ---- */

unsigned item_weight(const char *p, const char *end)
{
    unsigned value = 1000;
    const char *q = p;
    for (; q < end && *q != ';'; q++)
        ;
    while (q < end) {
        q++;
        q += strspn(q, " \t");
        if ((*q == 'q' || *q == 'Q') && q[1] == '=') {
            char *stop;
            double number = strtod(q + 2, &stop);
            value = number >= 0.0 && number <= 1.0 && stop > q + 2 ? (unsigned)(number * 1000.0 + 0.5) : 1000;
        }
        for (; q < end && *q != ';'; q++)
            ;
    }
    return value;
}

/* Returns how exactly a range matches the type: 3 for the whole type, 2 for its first half, 1 for any type, 0
 * for no match. */
static int specificity(const char *range, size_t len, const char *type)
{
    size_t main_len = strcspn(type, "/");
    if (len == strlen(type) && !strncasecmp(range, type, len))
        return 3;
    if (len == main_len + 2 && !strncasecmp(range, type, main_len + 1) && range[len - 1] == '*')
        return 2;
    return len == 3 && !memcmp(range, "*/*", 3);
}

unsigned accept_quality(const char *accept, const char *type)
{
    if (!accept || !*accept)
        return 1000;
    int best = 0;
    unsigned quality = 0;
    const char *item;
    size_t len;
    while (text_next_item(&accept, &item, &len)) {
        size_t range_len = 0;
        while (range_len < len && !strchr("; \t", item[range_len]))
            range_len++;
        int rank = specificity(item, range_len, type);
        if (rank > best) {
            best = rank;
            quality = item_weight(item, item + len);
        }
    }
    return quality;
}

/* ---- the checks ---- */

struct problem *content_check_expect(const struct headers *h)
{
    const char *expect = h->values[HEADER_EXPECT];
    if (!expect || !strcasecmp(expect, "100-continue"))
        return NULL;
    return problem_new(PROBLEM_EXPECTATION_FAILED, "Expect holds something else than 100-continue.");
}

size_t content_limit(const struct content_rules *rules)
{
    return rules->body_limit ? rules->body_limit : IGNORED_BODY;
}

static struct problem *check_length(const struct headers *h, const struct content_rules *rules)
{
    size_t limit = content_limit(rules);
    const char *length = h->values[HEADER_CONTENT_LENGTH];
    if (!length)
        return NULL;
    errno = 0;
    unsigned long long number = strtoull(length, NULL, 10);
    if (errno == 0 && number <= limit)
        return NULL;
    return problem_new(PROBLEM_BODY_TOO_LARGE, "The body is %s bytes long; this operation takes %zu.", length,
                       limit);
}

/* Whether the type is application/json (or a merge patch, if the rules allow it), without a charset or with
 * utf-8 (also written utf8). */
static bool is_json_type(const struct content_rules *rules, const char *type)
{
    size_t len = strcspn(type, "; \t");
    bool patch = rules->flags & CONTENT_MERGE_PATCH && header_item_is(type, len, TYPE_PATCH);
    if (!patch && !header_item_is(type, len, TYPE_JSON))
        return false;
    for (const char *p = strchr(type, ';'); p; p = strchr(p, ';')) {
        p++;
        p += strspn(p, " \t");
        if (!strncasecmp(p, "charset=", 8)) {
            const char *charset = p + 8 + (p[8] == '"');
            const size_t charset_len = strcspn(charset, "\"; \t");
            if (!header_item_is(charset, charset_len, "utf-8") &&
                !header_item_is(charset, charset_len, "utf8"))
                return false;
        }
    }
    return true;
}

static struct problem *wrong_type(const char *type, const char *taken)
{
    return type ? problem_new(PROBLEM_UNSUPPORTED_MEDIA_TYPE,
                              "The body has to be one of %s, in UTF-8; its Content-Type is '%.*s'.", taken,
                              (int)utf8_cut(type, TYPE_SHOWN_MAX), type)
                : problem_new(PROBLEM_UNSUPPORTED_MEDIA_TYPE,
                              "The body has to be one of %s, in UTF-8; it has no Content-Type.", taken);
}

static struct problem *check_type(const struct headers *h, const struct content_rules *rules, bool is_patch,
                                  bool has_body)
{
    const char *type = h->values[HEADER_CONTENT_TYPE];
    const char *coding = h->values[HEADER_CONTENT_ENCODING];
    if (!has_body || !(rules->flags & CONTENT_BODY))
        return NULL;
    if (!type || !is_json_type(rules, type)) {
        const char *taken = rules->flags & CONTENT_MERGE_PATCH ? TYPE_PATCH ", " TYPE_JSON : TYPE_JSON;
        struct problem *p = wrong_type(type, taken);
        problem_set_field(p, is_patch ? "Accept-Patch" : "Accept", taken);
        return p;
    }
    if (coding && strcasecmp(coding, "identity") != 0) {
        struct problem *p =
            problem_new(PROBLEM_UNSUPPORTED_MEDIA_TYPE, "The body has to come without a content coding.");
        problem_set_field(p, "Accept-Encoding", "identity");
        return p;
    }
    return NULL;
}

bool content_prefers_stream(const struct headers *h, const struct content_rules *rules)
{
    const char *accept = h->values[HEADER_ACCEPT];
    return rules->flags & CONTENT_OFFERS_STREAM &&
           accept_quality(accept, TYPE_STREAM) > accept_quality(accept, TYPE_JSON);
}

/* The media types that an operation may offer in addition to JSON. */
static const struct {
    unsigned flag;
    const char *type;
} forms[] = {{CONTENT_OFFERS_YAML, TYPE_YAML},
             {CONTENT_OFFERS_STREAM, TYPE_STREAM},
             {CONTENT_OFFERS_LINES, TYPE_LINES}};

static struct problem *check_accept(const struct headers *h, const struct content_rules *rules)
{
    const char *accept = h->values[HEADER_ACCEPT], *other = NULL;
    if (rules->flags & CONTENT_ANY_TYPE || accept_quality(accept, TYPE_JSON))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (!(rules->flags & forms[i].flag))
            continue;
        other = forms[i].type;
        if (accept_quality(accept, other))
            return NULL;
    }
    return problem_new(PROBLEM_NOT_ACCEPTABLE, "Accept takes none of the forms of this resource: %s%s%s.",
                       TYPE_JSON, other ? ", " : "", other ? other : "");
}

struct problem *content_check(const struct headers *h, const struct content_rules *rules, bool is_patch,
                              bool has_body)
{
    assert(rules->flags & CONTENT_BODY || !(rules->flags & (CONTENT_BODY_OPTIONAL | CONTENT_MERGE_PATCH)));
    struct problem *p = check_length(h, rules);
    if (!p)
        p = check_type(h, rules, is_patch, has_body);
    return p ? p : check_accept(h, rules);
}

/* ---- gzip ---- */

enum {
    WINDOW_BITS_GZIP = 15 + 16,
    MEMORY_LEVEL = 8,
};

int coding_quality(const char *accept_encoding, const char *coding)
{
    const char *item;
    size_t len;
    int found = -1;
    while (accept_encoding && text_next_item(&accept_encoding, &item, &len)) {
        size_t name = 0;
        while (name < len && !strchr("; \t", item[name]))
            name++;
        if (header_item_is(item, name, coding))
            return (int)item_weight(item, item + len);
        if (header_item_is(item, name, "*"))
            found = (int)item_weight(item, item + len);
    }
    return found;
}

bool compress_is_wanted(const char *accept_encoding)
{
    const int gzip = coding_quality(accept_encoding, "gzip");
    return gzip > 0 && gzip >= coding_quality(accept_encoding, "identity");
}

bool compress_begin(struct z_stream_s *z, int level)
{
    assert(level >= 1 && level <= 9);
    return deflateInit2(z, level, Z_DEFLATED, WINDOW_BITS_GZIP, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
}

struct http_coded *compress_bytes(const char *bytes, size_t len, int level)
{
    assert(bytes);
    struct http_coded *coded = malloc(sizeof(*coded) + len);
    z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)bytes, .avail_in = (uInt)len};
    if (!coded || !compress_begin(&z, level)) {
        free(coded);
        return NULL;
    }
    z.next_out = (Bytef *)coded->bytes;
    z.avail_out = (uInt)len - 1; /* a form that is not smaller than the body is useless */
    int r = deflate(&z, Z_FINISH);
    coded->len = z.total_out;
    (void)deflateEnd(&z);
    if (r == Z_STREAM_END)
        return coded;
    free(coded);
    return NULL;
}

/* ---- the Prefer field ---- */

/* Reads digits, or digits in quotes. */
static void take_wait(struct preferences *p, const char *value)
{
    char *end;
    value += *value == '"';
    if (p->wait_s >= 0 || *value < '0' || *value > '9')
        return;
    long long seconds = strtoll(value, &end, 10);
    if (!*end || strchr("\",; \t", *end))
        p->wait_s = seconds;
}

static void take_async(struct preferences *p, const char *value ATTR_UNUSED)
{
    p->respond_async = true;
}

static void take_return(struct preferences *p, const char *value)
{
    value += *value == '"';
    size_t len = strcspn(value, "\",; \t");
    if (p->minimal || p->representation)
        return;
    p->minimal = header_item_is(value, len, "minimal");
    p->representation = header_item_is(value, len, "representation");
}

static const struct {
    const char *name;
    void (*take)(struct preferences *p, const char *value);
} preferences[] = {{"wait", take_wait}, {"respond-async", take_async}, {"return", take_return}};

struct preferences prefer_read(const struct headers *h)
{
    struct preferences p = {.wait_s = -1};
    const char *cursor = h->values[HEADER_PREFER];
    const char *item;
    size_t len;
    while (cursor && text_next_item(&cursor, &item, &len)) {
        size_t name_len = strcspn(item, "=;, \t");
        const char *value = item + name_len + strspn(item + name_len, " \t");
        value = *value == '=' ? value + 1 + strspn(value + 1, " \t") : "";
        for (size_t i = 0; i < ARRAY_LEN(preferences); i++)
            if (header_item_is(item, name_len, preferences[i].name))
                preferences[i].take(&p, value);
    }
    return p;
}
