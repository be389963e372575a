#include "api/reads.h"

#include "api/api_private.h"

struct view_blob *read_blob(struct request *r, enum view_section section, const char *key)
{
    const struct view_snapshot *s = view_enter(r->api->options.view);
    struct view_blob *blob = view_find(s, section, key);
    if (blob)
        (void)view_blob_ref(blob);
    view_leave(r->api->options.view);
    return blob;
}

void reply_blob(struct request *r, struct view_blob *blob)
{
    answer_blob(&r->answer, MHD_HTTP_OK, blob);
    answer_header(&r->answer, "Cache-Control", "private, no-cache");
    if (blob->etag[0])
        answer_apply_conditions(r, blob->etag);
}
