#include "api/fresh.h"

#include "api/api_private.h"
#include "api/auth.h"
#include "api/commands.h"
#include "api/request.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "http/message/content.h"
#include "http/message/headers.h"

enum { DEFAULT_WAIT_S = 10 };

static bool says_no_cache(const struct request *r)
{
    const char *cursor = r->http.headers.values[HEADER_CACHE_CONTROL];
    const char *item;
    size_t len;
    while (cursor && text_next_item(&cursor, &item, &len))
        if (header_item_is(item, len, "no-cache"))
            return true;
    return false;
}

struct problem *fresh_ask(struct request *r)
{
    if (!says_no_cache(r))
        return NULL;
    r->wants_fresh = true;
    if (throttle_fresh(r)) {
        answer_header(&r->http.answer, "Cache-Status", "%s",
                      "shootd; hit; detail=\"the token has asked for too many fresh reads\"");
        return NULL;
    }
    struct command *cmd = request_command(r, COMMAND_FRESH);
    int64_t wait = prefer_read(&r->http.headers).wait_s;
    int64_t most = r->api->limits.wait_max_s;
    if (wait < 0)
        wait = DEFAULT_WAIT_S;
    cmd->deadline = env_mono(r->api->options.env) + (wait < most ? wait : most) * US_PER_S;
    return request_park(r, cmd);
}

void fresh_name_outcome(struct request *r, enum fresh_outcome outcome)
{
    const char *source = "shootd; fwd=request; stored";
    if (outcome == FRESH_FAILED)
        source = "shootd; hit; detail=\"Cleura could not be read\"";
    else if (outcome == FRESH_RECENT)
        source = "shootd; hit; detail=\"Cleura was read moments ago\"";
    answer_header(&r->http.answer, "Cache-Status", "%s", source);
}

void fresh_set_source(struct request *r)
{
    if (!r->wants_fresh)
        answer_field(&r->http.answer, "Cache-Status", "shootd; hit");
}

void fresh_set_age(struct request *r, wall_us observed_at, mono_us heard_at, const char *as_text)
{
    int64_t age = observed_at ? env_mono(r->api->options.env) - heard_at : 0;
    char text[TIME_TEXT_BYTES];
    answer_number(&r->http.answer, "Age", age > 0 ? (uint64_t)(age / US_PER_S) : 0);
    if (observed_at)
        answer_field(&r->http.answer, "Observed-At",
                     as_text ? as_text : time_rfc3339(observed_at, true, text));
}
