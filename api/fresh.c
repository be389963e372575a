#include "api/fresh.h"

#include "api/api_private.h"
#include "api/checks.h"
#include "api/headers.h"
#include "api/prefer.h"
#include "api/request.h"

enum { DEFAULT_WAIT_S = 10 };

static bool says_no_cache(const struct request *r)
{
    const char *cursor = r->headers.values[HEADER_CACHE_CONTROL];
    const char *item;
    size_t len;
    while (cursor && header_next_item(&cursor, &item, &len))
        if (header_item_is(item, len, "no-cache"))
            return true;
    return false;
}

static struct problem *finish(struct request *r, struct command *cmd)
{
    const char *source = "shootd; fwd=request; stored";
    if (cmd->fresh_failed)
        source = "shootd; hit; detail=\"Cleura could not be read\"";
    else if (cmd->fresh_recent)
        source = "shootd; hit; detail=\"Cleura was read moments ago\"";
    answer_header(&r->answer, "Cache-Status", "%s", source);
    return r->serve(r);
}

struct problem *fresh_read(struct request *r, struct problem *(*serve)(struct request *r))
{
    if (!says_no_cache(r))
        return serve(r);
    if (throttle_fresh(r)) {
        answer_header(&r->answer, "Cache-Status", "%s",
                      "shootd; hit; detail=\"the token has asked for too many fresh reads\"");
        r->serve = serve; /* says where the answer comes from */
        return serve(r);
    }
    struct command *cmd = request_command(r, COMMAND_FRESH);
    int64_t wait = prefer_read(r).wait_s;
    int64_t most = r->api->limits.wait_max_s;
    if (wait < 0)
        wait = DEFAULT_WAIT_S;
    cmd->deadline = env_mono(r->api->options.env) + (wait < most ? wait : most) * US_PER_S;
    r->serve = serve;
    r->finish = finish;
    return request_park(r, cmd);
}

void fresh_tell_source(struct request *r)
{
    if (!r->serve)
        answer_field(&r->answer, "Cache-Status", "shootd; hit");
}

void fresh_tell_age(struct request *r, wall_us observed_at)
{
    wall_us age = observed_at ? env_wall(r->api->options.env) - observed_at : 0;
    answer_header(&r->answer, "Age", "%lld", (long long)(age > 0 ? age / US_PER_S : 0));
}
