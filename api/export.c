#include "api/export.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_private.h"
#include "api/auth.h"
#include "api/commands.h"
#include "api/caller.h"
#include "api/request.h"
#include "base/lock.h"
#include "base/mem.h"
#include "http/event_stream.h"
#include "http/message/content.h"

enum { PAGE_ENTRIES = 200, RETRY_AFTER_S = 10 };

struct export
{
    struct event_stream transport; /* the first member; its lock protects all members below */
    struct audit_query query;      /* the query, including the place where the next page begins */
    bool is_wanted;                /* a page was requested and has not come yet */
    bool is_last;                  /* no page follows `page` */
    char *page;
};

static struct export *export_of(struct event_stream *transport)
{
    return CONTAINER_OF(transport, struct export, transport);
}

/* May run on the loop thread. An export that has ended may still have requested a page, which may come after
 * the API was freed. */
static void export_free(struct event_stream *transport)
{
    struct export *x = export_of(transport);
    audit_query_done(&x->query);
    free(x->page);
    event_stream_done(transport);
    free(x);
}

/* Loop thread. */
static void on_page(struct command *cmd)
{
    struct export *x = cmd->ctx;
    mutex_lock(&x->transport.lock);
    assert(x->is_wanted && !x->page);
    x->is_wanted = false;
    if (cmd->reply.problem || !cmd->reply.text) {
        x->transport.is_broken = true;
    } else {
        x->page = TAKE_PTR(cmd->reply.text);
        x->query.place = cmd->audit.next;
        x->is_last = cmd->audit.next == 0;
    }
    event_stream_resume(&x->transport);
    mutex_unlock(&x->transport.lock);
    command_free(cmd);
    event_stream_unref(&x->transport);
}

static void ask_for_page(struct export *x, struct request *r)
{
    assert(!x->is_wanted && !x->is_last && !x->page); /* one page at a time */
    struct command *cmd = request_command(r, COMMAND_AUDIT);
    cmd->audit.query = audit_query_copy(&x->query);
    cmd->audit.as_lines = true;
    cmd->give_back = on_page;
    event_stream_ref(&x->transport);
    cmd->ctx = x;
    x->is_wanted = true;
    r->api->options.post(r->api->options.post_ctx, cmd);
}

static bool next_piece(struct event_stream *transport)
{
    struct export *x = export_of(transport);
    struct request *r = CONTAINER_OF(transport->request, struct request, http);
    if (x->page) {
        event_stream_begin(transport, x->page, strlen(x->page));
        return true;
    }
    if (x->is_last)
        transport->is_ended = true;
    if (x->is_last || x->is_wanted || transport->is_broken)
        return false;
    const bool holds =
        r->token->issuer ? caller_holds(r->api, r->token) : auth_still_holds(r->api, r->token->digest);
    if (http_is_draining(transport->request) || !holds)
        transport->is_broken = true;
    else
        ask_for_page(x, r);
    return false;
}

static void piece_taken(struct event_stream *transport)
{
    free(TAKE_PTR(export_of(transport)->page));
}

static const struct event_stream_content content = {
    .next = next_piece,
    .taken = piece_taken,
    .free = export_free,
};

struct problem *export_open(struct request *r, struct audit_query *query)
{
    struct problem *p = NULL;
    if (r->http.method == METHOD_HEAD) {
        answer_stream_of(&r->http.answer, NULL, TYPE_LINES);
    } else if (http_is_draining(&r->http)) {
        p = problem_new(PROBLEM_SHUTTING_DOWN, "The server is being stopped.");
        p->retry_after_s = RETRY_AFTER_S;
    } else if (atomic_fetch_add(&r->api->exports, 1) >= EXPORTS_MAX) {
        atomic_fetch_sub(&r->api->exports, 1);
        p = problem_new(PROBLEM_TOO_MANY_REQUESTS, "The largest number of exports run at the same time (%d).",
                        EXPORTS_MAX);
        p->retry_after_s = RETRY_AFTER_S;
    } else {
        struct export *x = MEM_NEW(struct export);
        event_stream_init(&x->transport, &content, &r->http);
        x->query = *query;
        x->query.limit = PAGE_ENTRIES;
        *query = (struct audit_query){0};
        r->http.stream = &x->transport;
        answer_stream_of(&r->http.answer, &x->transport, TYPE_LINES);
    }
    audit_query_done(query);
    return p;
}

bool export_is(const struct request *r)
{
    return r->http.stream && r->http.stream->content == &content;
}

const char *export_completed(struct request *r)
{
    struct export *x = export_of(TAKE_PTR(r->http.stream));
    mutex_lock(&x->transport.lock);
    const bool is_whole = x->is_last && !x->page, was_slow = event_stream_completed(&x->transport);
    const char *end = is_whole ? NULL : x->transport.is_broken ? "broken" : was_slow ? "slow" : "client";
    mutex_unlock(&x->transport.lock);
    r->http.answer.len = x->transport.bytes;
    event_stream_unref(&x->transport);
    atomic_fetch_sub(&r->api->exports, 1);
    return end;
}
