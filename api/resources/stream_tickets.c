/* POST /v1/stream-tickets: what a browser shows in place of a token (api/tickets.h). */
#include "api/resources/handlers.h"

#include <sodium.h>
#include <string.h>

#include "api/api_private.h"
#include "api/request.h"
#include "base/mem.h"
#include "base/timefmt.h"

enum { RETRY_AFTER_S = 10 };

struct problem *handle_stream_ticket_create(struct request *r)
{
    char ticket[TICKET_BYTES];
    const struct env *env = r->api->options.env;
    if (!tickets_issue(&r->api->tickets, env, r->token->digest, ticket)) {
        struct problem *p =
            problem_new(PROBLEM_TOO_MANY_REQUESTS, "Too many tickets are unused; each ends after %d seconds.",
                        TICKET_LIFETIME_S);
        p->retry_after_s = RETRY_AFTER_S;
        return p;
    }
    char time[TIME_TEXT_BYTES];
    (void)time_rfc3339(env_wall(env) + TICKET_LIFETIME_S * US_PER_S, false, time);
    char *text = mem_printf("{\"ticket\":\"%s\",\"expires_at\":\"%s\"}", ticket, time);
    sodium_memzero(ticket, sizeof(ticket));
    answer_text(&r->http.answer, MHD_HTTP_CREATED, TYPE_JSON, text, strlen(text));
    r->http.answer.secret = true;
    answer_field(&r->http.answer, "Cache-Control", "no-store");
    return NULL;
}
