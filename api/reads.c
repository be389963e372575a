#include "api/reads.h"

#include <string.h>

#include "api/api_private.h"
#include "api/auth.h"
#include "api/commands.h"
#include "http/message/content.h"
#include "http/message/headers.h"

struct view_blob *read_blob(struct request *r, enum view_section section, const char *key)
{
    const struct view_snapshot *s = view_enter(r->api->options.view);
    struct view_blob *blob = view_find(s, section, key);
    if (blob)
        (void)view_blob_ref(blob);
    view_leave(r->api->options.view);
    return blob;
}

struct problem *read_cluster(struct request *r, struct view_blob **ret)
{
    char key[VIEW_CLUSTER_KEY_BYTES];
    *ret = view_cluster_key(key, r->project, r->name) ? read_blob(r, VIEW_CLUSTERS, key) : NULL;
    return *ret ? NULL
                : problem_new(PROBLEM_CLUSTER_NOT_FOUND, "There is no cluster of this name in the project.");
}

static void release_blob(void *blob)
{
    view_blob_unref(blob);
}

struct problem *answer_with_blob(struct request *r, struct view_blob *blob)
{
    answer_shared(&r->http.answer, MHD_HTTP_OK, TYPE_JSON, blob->body, blob->body_len, &blob->coded, blob,
                  release_blob);
    answer_field(&r->http.answer, "ETag", blob->etag);
    answer_field(&r->http.answer, "Cache-Control", "private, no-cache");
    return blob->etag[0] ? http_apply_conditions(&r->http, blob->etag) : NULL;
}

static struct problem *answer_with_made(struct request *r, char *text, size_t len, const char *cache_control)
{
    char etag[ETAG_DIGEST_BYTES];
    etag_of_bytes(text, len, etag);
    answer_text(&r->http.answer, MHD_HTTP_OK, TYPE_JSON, text, len);
    answer_field(&r->http.answer, "Cache-Control", cache_control);
    answer_field(&r->http.answer, "ETag", etag);
    return http_apply_conditions(&r->http, etag);
}

struct problem *answer_with_text(struct request *r, char *text, size_t len)
{
    return answer_with_made(r, text, len, "private, no-cache");
}

struct problem *answer_with_document(struct request *r, json_t *doc)
{
    char *text = json_text(doc);
    json_decref(doc);
    return answer_with_text(r, text, strlen(text));
}

struct problem *answer_with_public_document(struct request *r, json_t *doc)
{
    char *text = json_text(doc);
    json_decref(doc);
    return answer_with_made(r, text, strlen(text), "no-cache");
}

/* ---- fresh reads: Cache-Control: no-cache (HT-25, promise 2) ---- */

enum { DEFAULT_WAIT_S = 10 };

static bool says_no_cache(const struct request *r)
{
    const char *cursor = r->http.headers.values[HEADER_CACHE_CONTROL];
    const char *item;
    size_t len;
    while (cursor && header_next_item(&cursor, &item, &len))
        if (header_item_is(item, len, "no-cache"))
            return true;
    return false;
}

static struct problem *finish_fresh_read(struct request *r, struct command *cmd)
{
    const char *source = "shootd; fwd=request; stored";
    if (cmd->fresh.outcome == FRESH_FAILED)
        source = "shootd; hit; detail=\"Cleura could not be read\"";
    else if (cmd->fresh.outcome == FRESH_RECENT)
        source = "shootd; hit; detail=\"Cleura was read moments ago\"";
    answer_header(&r->http.answer, "Cache-Status", "%s", source);
    return r->serve(r);
}

struct problem *fresh_read(struct request *r, struct problem *(*serve)(struct request *r))
{
    if (!says_no_cache(r))
        return serve(r);
    if (throttle_fresh(r)) {
        answer_header(&r->http.answer, "Cache-Status", "%s",
                      "shootd; hit; detail=\"the token has asked for too many fresh reads\"");
        r->serve = serve; /* says where the answer comes from */
        return serve(r);
    }
    struct command *cmd = request_command(r, COMMAND_FRESH);
    int64_t wait = prefer_read(&r->http.headers).wait_s;
    int64_t most = r->api->limits.wait_max_s;
    if (wait < 0)
        wait = DEFAULT_WAIT_S;
    cmd->deadline = env_mono(r->api->options.env) + (wait < most ? wait : most) * US_PER_S;
    r->serve = serve;
    r->finish = finish_fresh_read;
    return request_park(r, cmd);
}

void fresh_tell_source(struct request *r)
{
    if (!r->serve)
        answer_field(&r->http.answer, "Cache-Status", "shootd; hit");
}

void fresh_tell_age(struct request *r, wall_us observed_at)
{
    wall_us age = observed_at ? env_wall(r->api->options.env) - observed_at : 0;
    answer_number(&r->http.answer, "Age", age > 0 ? (uint64_t)(age / US_PER_S) : 0);
}
