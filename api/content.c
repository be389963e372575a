/* What the header fields say about the body to come and the answer wanted (HT-10 to HT-13, HT-54). */
#include "api/checks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/routes.h"

/* Operations without a body let a small one pass unread: some clients send "{}" with everything. */
enum { IGNORED_BODY = 16 * 1024 };

static struct problem *check_expect(struct request *r)
{
    const char *expect = r->headers.values[HEADER_EXPECT];
    if (!expect || !strcasecmp(expect, "100-continue"))
        return NULL;
    return problem_new(PROBLEM_EXPECTATION_FAILED, "Expect holds something else than 100-continue.");
}

static struct problem *check_length(struct request *r)
{
    size_t limit = r->route->body_limit ? r->route->body_limit : IGNORED_BODY;
    buffer_init(&r->body, limit);
    const char *length = r->headers.values[HEADER_CONTENT_LENGTH];
    if (!length)
        return NULL;
    errno = 0;
    unsigned long long number = strtoull(length, NULL, 10);
    if (errno == 0 && number <= limit)
        return NULL;
    return problem_new(PROBLEM_BODY_TOO_LARGE, "The body is %s bytes long; this operation takes %zu.", length,
                       limit);
}

/* application/json (or a merge patch where one is taken), with charset=utf-8 or without. */
static bool is_json_type(const struct request *r, const char *type)
{
    size_t len = strcspn(type, "; \t");
    bool patch = r->route->flags & ROUTE_MERGE_PATCH && header_item_is(type, len, TYPE_PATCH);
    if (!patch && !header_item_is(type, len, TYPE_JSON))
        return false;
    for (const char *p = strchr(type, ';'); p; p = strchr(p, ';')) {
        p++;
        p += strspn(p, " \t");
        if (!strncasecmp(p, "charset=", 8)) {
            const char *charset = p + 8 + (p[8] == '"');
            if (strncasecmp(charset, "utf-8", 5) != 0 || (charset[5] && !strchr("\"; \t", charset[5])))
                return false;
        }
    }
    return true;
}

static struct problem *check_type(struct request *r)
{
    const char *type = r->headers.values[HEADER_CONTENT_TYPE];
    const char *coding = r->headers.values[HEADER_CONTENT_ENCODING];
    if (!r->has_body || !(r->route->flags & ROUTE_BODY))
        return NULL;
    if (!type || !is_json_type(r, type)) {
        const char *taken = r->route->flags & ROUTE_MERGE_PATCH ? TYPE_PATCH ", " TYPE_JSON : TYPE_JSON;
        struct problem *p =
            problem_new(PROBLEM_UNSUPPORTED_MEDIA_TYPE, "The body has to be one of %s, in UTF-8.", taken);
        problem_set_field(p, r->method == METHOD_PATCH ? "Accept-Patch" : "Accept", taken);
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

bool accepts_stream(const struct request *r)
{
    const char *accept = r->headers.values[HEADER_ACCEPT];
    return r->route->flags & ROUTE_OFFERS_STREAM &&
           accept_quality(accept, TYPE_STREAM) > accept_quality(accept, TYPE_JSON);
}

/* Forms beside JSON. */
static const struct {
    unsigned flag;
    const char *type;
} forms[] = {{ROUTE_OFFERS_YAML, TYPE_YAML}, {ROUTE_OFFERS_STREAM, TYPE_STREAM}};

static struct problem *check_accept(struct request *r)
{
    const char *accept = r->headers.values[HEADER_ACCEPT], *other = NULL;
    if (r->route->flags & ROUTE_ANY_TYPE || accept_quality(accept, TYPE_JSON))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (!(r->route->flags & forms[i].flag))
            continue;
        other = forms[i].type;
        if (accept_quality(accept, other))
            return NULL;
    }
    return problem_new(PROBLEM_NOT_ACCEPTABLE, "Accept takes none of the forms of this resource: %s%s%s.",
                       TYPE_JSON, other ? ", " : "", other ? other : "");
}

struct problem *check_content(struct request *r)
{
    struct problem *p = check_expect(r);
    if (!p)
        p = check_length(r);
    if (!p)
        p = check_type(r);
    return p ? p : check_accept(r);
}
