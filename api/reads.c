#include "api/reads.h"

#include <string.h>

#include "api/api_private.h"
#include "api/conditional.h"

struct view_blob *read_blob(struct request *r, enum view_section section, const char *key)
{
    const struct view_snapshot *s = view_enter(r->api->options.view);
    struct view_blob *blob = view_find(s, section, key);
    if (blob)
        (void)view_blob_ref(blob);
    view_leave(r->api->options.view);
    return blob;
}

struct problem *reply_blob(struct request *r, struct view_blob *blob)
{
    answer_blob(&r->answer, MHD_HTTP_OK, blob);
    answer_field(&r->answer, "Cache-Control", "private, no-cache");
    return blob->etag[0] ? answer_apply_conditions(r, blob->etag) : NULL;
}

static struct problem *reply_made(struct request *r, char *text, size_t len, const char *cache_control)
{
    char etag[ETAG_DIGEST_BYTES];
    etag_of_bytes(text, len, etag);
    answer_text(&r->answer, MHD_HTTP_OK, TYPE_JSON, text, len);
    answer_field(&r->answer, "Cache-Control", cache_control);
    answer_field(&r->answer, "ETag", etag);
    return answer_apply_conditions(r, etag);
}

struct problem *reply_text(struct request *r, char *text, size_t len)
{
    return reply_made(r, text, len, "private, no-cache");
}

struct problem *reply_document(struct request *r, json_t *doc)
{
    char *text = json_text(doc);
    json_decref(doc);
    return reply_text(r, text, strlen(text));
}

struct problem *reply_public(struct request *r, json_t *doc)
{
    char *text = json_text(doc);
    json_decref(doc);
    return reply_made(r, text, strlen(text), "no-cache");
}
